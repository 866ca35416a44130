package config

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// Telemetry says where traces are sent. The zero Telemetry sends none.
type Telemetry struct {
	Endpoint string            // of a collector (OTLP over HTTP), without /v1/traces; empty: none is named
	Headers  map[string]string // that go with each request; ${NAME} in them is a variable
	Service  string            // the name that the traces have; empty: roster
	Sample   float64           // the share of traces that are sent; 0 to 1
	Content  bool              // with what is said
	At       source.Origin
}

// telemetry reads it as a whole: headers must not go to the endpoint that another file
// names.
func (s section) telemetry(it item) {
	acts := s.mayAll(it)
	found, wrong := Telemetry{Sample: 1, At: it.at}, len(s.ds)
	s.each(it, func(it item) {
		it.key = strings.ReplaceAll(it.key, "_", "-")
		switch it.key {
		case "endpoint":
			found.Endpoint = s.searchURL(it)
		case "headers":
			found.Headers = map[string]string{}
			s.each(it, func(it item) { s.telemetryHeader(found.Headers, it) })
		case "service-name":
			found.Service, _ = s.text(it)
		case "sample":
			text, ok := s.text(it)
			if f, err := strconv.ParseFloat(text, 64); ok && (err != nil || !(f >= 0 && f <= 1)) {
				s.notAllowed(it, "%s takes a share from 0 to 1, not %q", it.path, text)
			} else {
				found.Sample = f
			}
		case "content":
			v, _ := s.oneOf(it, "true", "false")
			found.Content = v == "true"
		default:
			s.unknown(it, "endpoint", "headers", "service-name", "sample", "content")
		}
	})
	if isNull(it.node) || profile.Refused(s.ds[wrong:]) {
		return
	}
	if len(found.Headers) > 0 && strings.HasPrefix(found.Endpoint, "http:") && !trust.Loopback(found.Endpoint) {
		s.notAllowed(it, "telemetry would send its headers over http, where others can read them; use https")
	} else if acts {
		s.cfg.Telemetry = found
	}
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (s section) telemetryHeader(into map[string]string, it item) {
	v, ok := s.text(it)
	switch {
	case !ok:
	case !headerName.MatchString(it.key):
		s.notAllowed(it, "%q is not the name of a header", it.key)
	case strings.ContainsAny(v, "\r\n\x00"):
		s.notAllowed(it, "%s has a character that a header cannot have", it.path)
	default:
		into[it.key] = v
	}
}

// The variables by which OpenTelemetry is configured everywhere, as far as they count
// here. Who has set one wants traces.
const (
	otelOff      = "OTEL_SDK_DISABLED"
	otelExporter = "OTEL_TRACES_EXPORTER"
	otelProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	otelTraces   = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otelAll      = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otelHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"
	otelService  = "OTEL_SERVICE_NAME"
)

// TracesURL is where traces go, with the headers: by the configuration, or by the
// variables of OpenTelemetry where it names no endpoint. Empty: nowhere. why says that
// the variables ask for what cannot be done.
func (t *Telemetry) TracesURL(getenv func(string) string) (address string, headers map[string]string, why string) {
	if getenv(otelOff) == "true" || getenv(otelExporter) == "none" {
		return "", nil, ""
	}
	if t.Endpoint != "" {
		headers = map[string]string{}
		for name, v := range t.Headers {
			headers[name] = variable.ReplaceAllStringFunc(v, func(v string) string { return getenv(v[2 : len(v)-1]) })
		}
		return tracesOf(t.Endpoint), headers, ""
	}
	address = getenv(otelTraces)
	if address == "" && getenv(otelAll) != "" {
		address = tracesOf(getenv(otelAll))
	}
	if address == "" {
		return "", nil, ""
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", nil, otelAll + " is no http or https URL"
	}
	if p := getenv(otelProtocol); p != "" && p != "http/protobuf" {
		return "", nil, otelProtocol + " is " + p + ", and only http/protobuf is spoken here"
	}
	headers = map[string]string{}
	for pair := range strings.SplitSeq(getenv(otelHeaders), ",") {
		name, v, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if decoded, err := url.PathUnescape(v); ok && err == nil && headerName.MatchString(name) && !strings.ContainsAny(decoded, "\r\n\x00") {
			headers[name] = decoded
		}
	}
	return address, headers, ""
}

// ServiceName is the name that the traces have.
func (t *Telemetry) ServiceName(getenv func(string) string) string {
	if t.Service != "" {
		return t.Service
	}
	return getenv(otelService)
}

// tracesOf is where a collector takes traces.
func tracesOf(endpoint string) string {
	const path = "/v1/traces"
	endpoint = strings.TrimSuffix(endpoint, "/")
	if strings.HasSuffix(endpoint, path) {
		return endpoint
	}
	return endpoint + path
}

var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
