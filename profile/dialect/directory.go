package dialect

// The files of a directory profile, by their paths from its folder. The tools
// folder may lie in the profile's folder, beside it, or one level higher.
const (
	dirMain     = "config.json"
	dirPrompt   = "system_prompt.txt"
	dirSubagent = "subagent_system_prompt.txt"
	dirPersona  = "../persona.txt"
)

// DirectoryParts gives the files of a directory profile, by their slash paths
// from the folder of main. A folder is a directory profile if it holds main and
// every required file. An optional path may lead up to two folders higher, and
// its last segment may be a pattern of path.Match. File.Beside has each file
// that exists under its path as it is given here, or as the pattern matched.
func DirectoryParts() (main string, required, optional []string) {
	return dirMain, []string{dirPrompt}, []string{
		dirSubagent, dirPersona,
		"tools/enabled.json", "../tools/enabled.json", "../../tools/enabled.json",
		"tools/*.yaml", "../tools/*.yaml", "../../tools/*.yaml",
	}
}
