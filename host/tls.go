package host

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certLook is how often a certificate's files are looked at, while clients come.
const certLook = time.Second

// TLS returns a configuration with the certificate of two PEM files, which are read
// again when they have changed: a renewed certificate needs no restart. One that
// cannot be read then leaves the last one in use, and is logged. log may be nil.
func TLS(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &certificate{cert: certFile, key: keyFile, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}

type certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	now    *tls.Certificate
	seen   [2]stamp // of the files, as they were tried last
	looked time.Time
}

// stamp changes when a file does.
type stamp struct {
	size int64
	time time.Time
}

func (c *certificate) stamps() (s [2]stamp) {
	for i, file := range []string{c.cert, c.key} {
		if info, err := os.Stat(file); err == nil {
			s[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return s
}

func (c *certificate) load() error {
	c.seen = c.stamps()
	now, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.now = &now
	}
	return err
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= certLook {
		c.looked = now
		if c.stamps() != c.seen {
			if err := c.load(); err != nil {
				c.log.Error("the new certificate cannot be used, and the last one stays", "cert", c.cert, "key", c.key, "error", err)
			}
		}
	}
	return c.now, nil
}
