package spec

// Sandbox says where commands run. The zero Sandbox is the machine's default.
type Sandbox struct {
	// Kind is none, landlock, bubblewrap or docker; empty: landlock where the
	// kernel has it, else none.
	Kind string `json:"kind,omitempty"`
	// Preset is the name by which it was asked for, if it was.
	Preset string `json:"preset,omitempty"`
	// Read are further files and folders that may be read: absolute paths outside
	// of the workspace.
	Read      []string `json:"read,omitempty"`
	NoNetwork bool     `json:"no_network,omitempty"`
	Image     string   `json:"image,omitempty"` // of docker
}

// strength orders the kinds. The default is between the one and the other: it is
// one of them.
func strength(kind string) int {
	switch kind {
	case "none":
		return 0
	case "landlock":
		return 2
	case "bubblewrap":
		return 3
	case "docker":
		return 4
	}
	return 1
}

// Weaker says that commands would reach more than under another: by the kind or
// the network. What may be read is not compared.
func (s Sandbox) Weaker(than Sandbox) bool {
	return strength(s.Kind) < strength(than.Kind) || !s.NoNetwork && than.NoNetwork
}

// Within gives the sandbox at least the walls of another.
func (s Sandbox) Within(other Sandbox) Sandbox {
	if strength(s.Kind) < strength(other.Kind) {
		s.Kind, s.Preset, s.Image = other.Kind, other.Preset, other.Image
	}
	s.NoNetwork = s.NoNetwork || other.NoNetwork
	if other.Preset == "public" {
		s.Preset, s.Read = other.Preset, nil
	}
	return s
}

// Distrusted gives what is left of it in a workspace that is no longer trusted.
func (s Sandbox) Distrusted() Sandbox {
	if s.Kind == "none" {
		s.Kind = ""
	}
	if s.Preset == "maintenance" {
		s.Preset = ""
	}
	s.Read = nil
	return s
}
