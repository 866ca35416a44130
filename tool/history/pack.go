package history

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// pack is one file with contents, each once. Nothing in it changes. It is not
// synced: it serves as long as the machine runs, and what it gives is held
// against its digest.
type pack struct {
	mu   sync.Mutex
	file *os.File
	size int64
	has  map[digest]int64
}

func openPack(path string) (*pack, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &pack{file: f, size: size, has: map[digest]int64{}}, nil
}

// known takes in what a tree says of the pack.
func (p *pack) known(n *node) {
	if n == nil {
		return
	}
	if n.kind == kindFile && n.why == kept {
		p.has[n.digest] = n.at
	}
	for _, c := range n.children {
		p.known(c)
	}
}

var errFull = errors.New("there is too much to keep")

// put adds a content, unless it is there, and says where it begins.
func (p *pack) put(sum digest, data []byte) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.has[sum]; ok {
		return at, nil
	}
	if p.size+int64(len(data)) > maxPack {
		return 0, errFull
	}
	if _, err := p.file.WriteAt(data, p.size); err != nil {
		return 0, err
	}
	at := p.size
	p.size += int64(len(data))
	p.has[sum] = at
	return at, nil
}

// read gives the content of a node.
func (p *pack) read(n *node) ([]byte, error) {
	data := make([]byte, n.stamp.size)
	if _, err := p.file.ReadAt(data, n.at); err != nil && !(errors.Is(err, io.EOF) && len(data) == 0) {
		return nil, fmt.Errorf("what was kept of %s cannot be read: %w", n.name, err)
	}
	if sha256.Sum256(data) != n.digest {
		return nil, fmt.Errorf("what was kept of %s is not what it held", n.name)
	}
	return data, nil
}

// clear begins anew.
func (p *pack) clear() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = 0
	clear(p.has)
	return p.file.Truncate(0)
}
