package catalog

import (
	"net/netip"
	"net/url"
	"strings"
)

// ollamaURL makes a base URL of OLLAMA_HOST, which may be a URL, a host or
// host:port, and may be the address that the server listens on. It returns ""
// for what is none of these.
func ollamaURL(host string) string {
	const port = "11434"
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	name := u.Hostname()
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	p := u.Port()
	if p == "" && u.Scheme == "http" {
		p = port
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if p != "" {
		name += ":" + p
	}
	return u.Scheme + "://" + name + strings.TrimSuffix(u.Path, "/") + "/v1"
}
