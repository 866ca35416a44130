package config

import (
	"maps"
	"testing"
)

func TestTracesURL(t *testing.T) {
	for _, c := range []struct {
		name    string
		cfg     Telemetry
		env     map[string]string
		want    string
		headers map[string]string
		why     bool
	}{
		{name: "nothing"},
		{name: "a base", cfg: Telemetry{Endpoint: "http://c:4318"}, want: "http://c:4318/v1/traces"},
		{name: "the whole address", cfg: Telemetry{Endpoint: "http://c:4318/v1/traces"}, want: "http://c:4318/v1/traces"},
		{
			name: "headers with variables", cfg: Telemetry{Endpoint: "https://c", Headers: map[string]string{"A": "Bearer ${TOKEN}"}},
			env: map[string]string{"TOKEN": "t"}, want: "https://c/v1/traces", headers: map[string]string{"A": "Bearer t"},
		},
		{
			name: "the environment", env: map[string]string{otelAll: "http://e:4318/", otelHeaders: "a=b%20c, bad name=x,d=e"},
			want: "http://e:4318/v1/traces", headers: map[string]string{"a": "b c", "d": "e"},
		},
		{name: "for traces alone", env: map[string]string{otelAll: "http://e", otelTraces: "http://t/x"}, want: "http://t/x"},
		{
			name: "the environment's headers stay with its endpoint", cfg: Telemetry{Endpoint: "http://c"},
			env: map[string]string{otelAll: "http://e", otelHeaders: "a=b"}, want: "http://c/v1/traces",
		},
		{name: "turned off", cfg: Telemetry{Endpoint: "http://c"}, env: map[string]string{otelOff: "true"}},
		{name: "no exporter", env: map[string]string{otelAll: "http://e", otelExporter: "none"}},
		{name: "gRPC", env: map[string]string{otelAll: "http://e", otelProtocol: "grpc"}, why: true},
		{name: "no URL", env: map[string]string{otelAll: "e:4317"}, why: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, headers, why := c.cfg.TracesURL(func(name string) string { return c.env[name] })
			if got != c.want || (why != "") != c.why || len(headers)+len(c.headers) > 0 && !maps.Equal(headers, c.headers) {
				t.Errorf("%q, %v, %q", got, headers, why)
			}
		})
	}
}
