package telemetry

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxSeries bounds the label values of one metric. What comes beyond is counted under
// "other": a model may call tools by names that it makes up.
const maxSeries = 500

// family is one metric with its label values. It writes the text format of Prometheus
// (version 0.0.4). The official library does the same and takes 5 MB of memory of each
// command that is run.
type family struct {
	name, help, kind string // counter, gauge or histogram
	labels           []string
	bounds           []float64 // of a histogram's buckets, ascending

	mu     sync.Mutex
	series map[[maxLabels]string]*series
}

const maxLabels = 3

type series struct {
	values  [maxLabels]string
	value   float64  // of a histogram the sum
	buckets []uint64 // each without those before; the last is beyond all bounds
}

func newFamily(kind, name, help string, labels ...string) *family {
	return &family{name: name, help: help, kind: kind, labels: labels, series: map[[maxLabels]string]*series{}}
}

func newHistogram(name, help string, bounds []float64, labels ...string) *family {
	f := newFamily("histogram", name, help, labels...)
	f.bounds = bounds
	return f
}

// of finds the series of label values, and makes it; f.mu is held.
func (f *family) of(values []string) *series {
	var key [maxLabels]string
	copy(key[:], values)
	s := f.series[key]
	if s == nil && len(f.series) >= maxSeries {
		for i := range f.labels {
			key[i] = "other"
		}
		s = f.series[key]
	}
	if s == nil {
		for i := range key { // what is kept is not part of a larger text
			key[i] = strings.Clone(key[i])
		}
		s = &series{values: key}
		if f.bounds != nil {
			s.buckets = make([]uint64, len(f.bounds)+1)
		}
		f.series[key] = s
	}
	return s
}

func (f *family) add(n float64, values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(values).value += n
}

func (f *family) observe(v float64, values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.of(values)
	s.value += v
	i, _ := slices.BinarySearch(f.bounds, v)
	s.buckets[i]++
}

// sorted copies the series.
func (f *family) sorted() []series {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]series, 0, len(f.series))
	for _, s := range f.series {
		one := *s
		one.buckets = slices.Clone(s.buckets)
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b series) int {
		return cmp.Or(strings.Compare(a.values[0], b.values[0]), strings.Compare(a.values[1], b.values[1]), strings.Compare(a.values[2], b.values[2]))
	})
	return all
}

// write writes all series. A metric without labels is there from the beginning.
func (f *family) write(w *bufio.Writer) {
	all := f.sorted()
	if len(all) == 0 && len(f.labels) == 0 && f.bounds == nil {
		all = []series{{}}
	}
	if len(all) == 0 {
		return
	}
	w.WriteString("# HELP " + f.name + " " + f.help + "\n# TYPE " + f.name + " " + f.kind + "\n")
	for i := range all {
		s := &all[i]
		if f.bounds == nil {
			f.sample(w, "", s, "", s.value)
			continue
		}
		count := uint64(0)
		for j, n := range s.buckets {
			count += n
			bound := math.Inf(1)
			if j < len(f.bounds) {
				bound = f.bounds[j]
			}
			f.sample(w, "_bucket", s, number(bound), float64(count))
		}
		f.sample(w, "_sum", s, "", s.value)
		f.sample(w, "_count", s, "", float64(count))
	}
}

func (f *family) sample(w io.StringWriter, suffix string, s *series, le string, value float64) {
	var b strings.Builder
	b.WriteString(f.name + suffix)
	sep := "{"
	for i, label := range f.labels {
		b.WriteString(sep + label + `="` + escape.Replace(strings.ToValidUTF8(s.values[i], "\uFFFD")) + `"`)
		sep = ","
	}
	if le != "" {
		b.WriteString(sep + `le="` + le + `"`)
		sep = ","
	}
	if sep == "," {
		b.WriteString("}")
	}
	_, _ = w.WriteString(b.String() + " " + number(value) + "\n") // the writer keeps its error
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
