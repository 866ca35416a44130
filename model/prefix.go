package model

type prefixForm struct {
	renderer string
	bytes    []byte
}

// Wire returns the prefix in a provider's form, encoded once for each renderer
// in a row and kept. The result must not be changed.
func (p *Prefix) Wire(renderer string, encode func(*Prefix) ([]byte, error)) ([]byte, error) {
	if w := p.wire.Load(); w != nil && w.renderer == renderer {
		return w.bytes, nil
	}
	b, err := encode(p)
	if err != nil {
		return nil, err
	}
	p.wire.Store(&prefixForm{renderer, b})
	return b, nil
}
