package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// certificate writes one for this machine, and its key.
func (w *workspace) certificate() {
	w.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	as := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, as, as, &key.PublicKey, key)
	if err != nil {
		w.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	w.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

// TestServerWithKeysAndTLS works with a server that asks who calls, and whose certificate
// only SSL_CERT_FILE vouches for.
func TestServerWithKeysAndTLS(t *testing.T) {
	w := newWorkspace(t)
	w.certificate()
	w.write("roster.yaml", "defaults: {model: builtin/demo}\nserver: {auth: {kind: keys}, tls: {cert: cert.pem, key: key.pem}}\n")
	keys := map[string]string{}
	for _, role := range []string{"viewer", "runner"} {
		var made struct{ Key string }
		if r := w.run(nil, "keys", "add", role, "--role", role, "--json"); json.Unmarshal([]byte(r.stdout), &made) != nil || made.Key == "" {
			t.Fatalf("%+v", r)
		}
		keys[role] = made.Key
	}
	serve := w.command("serve", "--addr", "127.0.0.1:0", "--json", "--quiet")
	serve.Env = append(serve.Env, "ROSTER_TRUST=1")
	_, url := w.served(serve)
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Fatalf("it serves %s", url)
	}
	w.write("runner.key", keys["runner"]+"\n")
	for _, c := range []struct {
		name, line, key string
		code            int
		want            string
	}{
		{"a viewer looks", "list", keys["viewer"], 0, "worker"},
		{"a viewer does not run", "run worker hello", keys["viewer"], 1, "takes the role runner"},
		{"a runner does, with a file", "run worker hello --key-file runner.key", "", 0, ""},
		{"usage", "usage --by user", keys["viewer"], 0, "runner"},
		{"another key", "list", "rk_none", 1, "is not taken"},
		{"no key", "list", "", 1, "key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.run([]string{"SSL_CERT_FILE=cert.pem", "ROSTER_SERVER=" + url, "ROSTER_KEY=" + c.key}, strings.Fields(c.line)...)
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.want) {
				t.Errorf("%+v", r)
			}
			for _, key := range keys {
				if strings.Contains(r.stdout+r.stderr, key) {
					t.Errorf("it shows a key: %+v", r)
				}
			}
		})
	}
	if r := w.run([]string{"ROSTER_KEY=" + keys["viewer"]}, "--server", url, "list"); r.code != 1 || !strings.Contains(r.stderr, "certificate") {
		t.Errorf("a certificate that nobody vouches for: %+v", r)
	}
}
