package host_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
)

// certified writes a new certificate for 127.0.0.1 and its key.
func certified(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestTLSFiles(t *testing.T) {
	dir := t.TempDir()
	cert, key := certified(t, dir, "one")
	other := t.TempDir()
	_, otherKey := certified(t, other, "two")
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, cert, key string
		ok              bool
	}{
		{"both", cert, key, true},
		{"no file", filepath.Join(dir, "none.pem"), key, false},
		{"no key", cert, filepath.Join(dir, "none.pem"), false},
		{"the key of another", cert, otherKey, false},
		{"the two exchanged", key, cert, false},
		{"an empty file", empty, key, false},
		{"a folder", dir, key, false},
	} {
		if _, err := host.TLS(c.cert, c.key, nil); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestTLS serves over TLS, with a certificate that is renewed while it does.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := certified(t, dir, "one")
	var log lockedBuffer
	conf, err := host.TLS(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := host.Listen(t.Context(), "127.0.0.1:0", host.Access{TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	srv := host.Server("", host.New(host.Deps{}))
	srv.TLSConfig = conf
	served := make(chan error, 1)
	go func() { served <- srv.ServeTLS(l, "", "") }()
	t.Cleanup(func() { srv.Close(); <-served })
	dial := func(c *tls.Config) (string, uint16, error) {
		c.InsecureSkipVerify = true // who it is of is what is looked at
		conn, err := tls.Dial("tcp", l.Addr().String(), c)
		if err != nil {
			return "", 0, err
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, conn.ConnectionState().Version, nil
	}
	if name, version, err := dial(&tls.Config{}); err != nil || name != "one" || version != tls.VersionTLS13 {
		t.Fatal(name, version, err)
	}
	if _, _, err := dial(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if _, version, err := dial(&tls.Config{MaxVersion: tls.VersionTLS12}); err != nil || version != tls.VersionTLS12 {
		t.Error(version, err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	res, err := client.Get("https://" + l.Addr().String() + "/health")
	if err != nil || res.StatusCode != 200 || res.ProtoMajor != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	res.Body.Close()
	if res, err := http.Get("http://" + l.Addr().String() + "/health"); err == nil {
		if res.Body.Close(); res.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %d", res.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()

	becomes := func(want string) {
		t.Helper()
		for late := time.Now().Add(20 * time.Second); ; {
			name, _, err := dial(&tls.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if name == want && (want != "one" || strings.Contains(log.String(), "cannot be used")) {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("the certificate is of %s, want %s; log: %s", name, want, log.String())
			}
		}
	}
	if err := os.WriteFile(cert, []byte("half a certi"), 0o600); err != nil {
		t.Fatal(err)
	}
	becomes("one") // which was not lost, and that is said
	certified(t, dir, "two")
	becomes("two")
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestOrigins: pages of other servers may use this one where they are named, and
// only where callers are asked who they are.
func TestOrigins(t *testing.T) {
	s := openSite(t, siteOptions{change: func(d *host.Deps) {
		d.Hosts, d.Origins = []string{"Roster.example.com"}, []string{"https://app.example.com"}
		d.Identify = everybody
	}})
	preflight := []string{"Origin", "https://app.example.com", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization"}
	a := s.do("OPTIONS", "/chat", "", preflight...)
	if h := a.header; a.status != 204 || h.Get("Access-Control-Allow-Origin") != "https://app.example.com" || h.Get("Access-Control-Allow-Credentials") != "" ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") || h.Get("Vary") != "Origin" {
		t.Errorf("%d %v", a.status, h)
	}
	if a := s.get("/profiles", "Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"); a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("%d %v", a.status, a.header)
	}
	for _, other := range []string{"https://evil.example", "http://app.example.com", "https://app.example.com.evil.example", "https://app.example.com:444", "null", "HTTPS://APP.EXAMPLE.COM"} {
		preflight[1] = other
		if a := s.do("OPTIONS", "/chat", "", preflight...); a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", other, a.status, a.header)
		}
	}
	for name, want := range map[string]int{"roster.example.com": 200, "roster.example.com:443": 200, "192.0.2.7": 200, "[2001:db8::1]:80": 200, "evil.example": 403, "roster.example.com.evil.example": 403, "x.roster.example.com": 403} {
		if a := s.get("/profiles", "Host", name); a.status != want {
			t.Errorf("Host %s: %d", name, a.status)
		}
	}
	open := openSite(t, siteOptions{change: func(d *host.Deps) { d.Origins = []string{"https://app.example.com"} }})
	if a := open.get("/profiles", "Origin", "https://app.example.com"); a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("where nobody is asked: %d", a.status)
	}
}
