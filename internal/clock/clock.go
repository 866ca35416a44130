// Package clock takes time and ids from the context, so that a run can be made
// exactly reproducible.
package clock

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Clock gives time and ids. It is safe for concurrent use.
type Clock interface {
	Now() time.Time
	// ID returns a new id whose text sorts by time.
	ID() string
}

type key struct{}

// With returns a context whose time and ids come from c.
func With(ctx context.Context, c Clock) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// From returns the context's clock, or the system's.
func From(ctx context.Context) Clock {
	if c, ok := ctx.Value(key{}).(Clock); ok {
		return c
	}
	return system{}
}

type system struct{}

func (system) Now() time.Time { return time.Now() }

// ID is a UUIDv7 whose fraction of a millisecond keeps ids of this process in
// the order in which they were made.
func (system) ID() string {
	now := time.Now()
	tick := now.UnixMilli()<<12 | int64(now.Nanosecond()%1e6)<<12/1e6
	for {
		last := newest.Load()
		tick = max(tick, last+1)
		if newest.CompareAndSwap(last, tick) {
			break
		}
	}
	return format(7, uint64(tick)>>12, uint64(tick)&0xfff, rand.Uint64())
}

// newest is the last tick given out: milliseconds, and 4096ths of one.
var newest atomic.Int64

// AgentID is a new UUIDv4.
func AgentID() string {
	return format(4, rand.Uint64()>>16, rand.Uint64()&0xfff, rand.Uint64())
}

// format writes a UUID of the given version: 48 bits, 12 bits and 62 bits. Ids
// are names and no secrets, so a fast generator will do.
func format(version byte, high, mid, low uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], high<<16|uint64(version)<<12|mid)
	binary.BigEndian.PutUint64(b[8:], low&(1<<62-1)|1<<63)
	var text [36]byte
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:36], b[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// Stamp is the time of an event: UTC, to the microsecond, which is what every
// store keeps.
func Stamp(c Clock) time.Time { return c.Now().UTC().Truncate(time.Microsecond) }
