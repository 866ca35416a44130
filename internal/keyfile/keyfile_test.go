package keyfile

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errors"

	"filippo.io/age"
)

const planted = "sk-planted-0123456789"

func none(string) string { return "" }

func TestSetAndKey(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	s := New(home, none)
	if s.Has("p") {
		t.Error("a store that is empty has a key")
	}
	made, err := s.Set("p", "https://Models.example.com/v1", planted)
	if err != nil || made != filepath.Join(home, DefaultIdentity) {
		t.Fatalf("Set: %q, %v", made, err)
	}
	for path, mode := range map[string]fs.FileMode{made: 0o600, s.Path("p"): 0o600, filepath.Join(home, "keys"): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if data, _ := os.ReadFile(s.Path("p")); bytes.Contains(data, []byte("planted")) || !bytes.HasPrefix(data, []byte("age-encryption.org/v1")) {
		t.Errorf("the file is %q", data)
	}
	fresh := New(home, none)
	if len(fresh.Secrets()) != 0 {
		t.Error("a secret is known before it was read")
	}
	for address, want := range map[string]string{
		"https://models.example.com/v1": planted, "https://models.example.com": planted,
		"https://evil.example.com/v1": "", "http://models.example.com/v1": "", "https://models.example.com:8443/v1": "", "": "",
	} {
		got, err := fresh.Key("p", address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Key(%q) = %q, %v", address, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("the error tells the key: %v", err)
		}
	}
	if got := fresh.Secrets(); len(got) != 1 || got[0] != planted {
		t.Errorf("secrets %q", got)
	}
	// Another process exchanges it.
	if made, err := s.Set("p", "https://models.example.com", "sk-second-0123456789"); err != nil || made != "" {
		t.Fatalf("Set: %q, %v", made, err)
	}
	if got, err := fresh.Key("p", "https://models.example.com"); err != nil || got != "sk-second-0123456789" {
		t.Errorf("after it was exchanged: %q, %v", got, err)
	}
	if got := fresh.Secrets(); len(got) != 2 {
		t.Errorf("the key before is not hidden any more: %q", got)
	}
	if list, err := fresh.List(); err != nil || len(list) != 1 || list[0].Provider != "p" {
		t.Errorf("List: %v, %v", list, err)
	}
	if err := fresh.Remove("p"); err != nil || fresh.Has("p") {
		t.Errorf("Remove: %v", err)
	}
	if err := fresh.Remove("p"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove again: %v", err)
	}
	if _, err := fresh.Key("p", "https://models.example.com"); err == nil {
		t.Error("a key that was removed is given")
	}
}

// A file of age's own, with the identity that the user names, is read.
func TestByHand(t *testing.T) {
	dir := t.TempDir()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	identity := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(identity, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(dir, func(string) string { return identity })
	write := func(text string) {
		var b bytes.Buffer
		w, _ := age.Encrypt(&b, id.Recipient())
		w.Write([]byte(text))
		w.Close()
		os.MkdirAll(filepath.Dir(s.Path("p")), 0o700)
		if err := os.WriteFile(s.Path("p"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, says := range map[string]string{
		planted + "\nhttps://h/v1\n": "", planted: "second line", "\nhttps://h": "empty", "two words\nhttps://h": "blank", planted + "\nnowhere": "second line",
	} {
		s.Forget("p", time.Now().Add(time.Hour))
		write(text)
		_, err := s.Key("p", "https://h")
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "planted")) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	write(planted + "\nhttps://h\n")
	os.Chmod(identity, 0o640)
	s.Forget("p", time.Now().Add(time.Hour))
	if _, err := s.Key("p", "https://h"); err == nil {
		t.Error("an identity that others read is used")
	}
	os.Chmod(identity, 0o600)
	if key, err := s.Key("p", "https://h"); err != nil || key != planted {
		t.Errorf("after it was mended: %q, %v", key, err)
	}
	for name, spoil := range map[string]func(){
		"others may read the age identity": func() { os.Chmod(identity, 0o640) },
		"is not a file":                    func() { os.Remove(identity); os.Mkdir(identity, 0o700) },
		"is no age identity":               func() { os.Remove(identity); os.WriteFile(identity, []byte("AGE-SECRET-KEY-1PLANTED"), 0o600) },
		"there is no age identity":         func() { os.Remove(identity) },
		"is not opened by": func() {
			other, _ := age.GenerateX25519Identity()
			os.WriteFile(identity, []byte(other.String()), 0o600)
		},
	} {
		os.RemoveAll(identity)
		os.WriteFile(identity, []byte(id.String()), 0o600)
		spoil()
		s.Forget("p", time.Now().Add(time.Hour))
		if _, err := s.Key("p", "https://h"); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "PLANTED") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Nothing is made where the user has named an identity.
	os.RemoveAll(identity)
	if _, err := s.Set("p", "https://h", planted); err == nil {
		t.Error("a key is stored without an identity")
	}
}

func TestRefused(t *testing.T) {
	s := New(t.TempDir(), none)
	for _, c := range [][3]string{
		{"../p", "https://h", planted}, {"", "https://h", planted}, {".p", "https://h", planted}, {"a b", "https://h", planted},
		{"p", "https://h", ""}, {"p", "https://h", "a\nb"}, {"p", "https://h", "a\x00b"}, {"p", "file:///x", planted}, {"p", "", planted},
	} {
		if _, err := s.Set(c[0], c[1], c[2]); err == nil {
			t.Errorf("Set(%q) works", c)
		}
		if s.Has(c[0]) {
			t.Errorf("there is a key for %q", c[0])
		}
	}
}
