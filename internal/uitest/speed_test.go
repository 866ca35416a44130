package uitest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLongSession: of a session of 5,000 events only what is seen is in the page, and
// all of it can be reached.
func TestLongSession(t *testing.T) {
	p := open(t, shop)
	p.show("/sessions/" + longest)
	const log = `document.querySelector("[role=log]")`
	p.until(log)
	for _, c := range []struct{ to, text string }{
		{log + ".scrollHeight", "Nothing is missing on this page."}, {"0", "Read the books of the shop again"}, {log + ".scrollHeight", "Nothing is missing on this page."},
	} {
		evaluate[chromedp.Void](p, log+`.scrollTop = `+c.to)
		p.until(log + `.innerText.includes(` + quote(c.text) + `)`)
		if n := evaluate[int](p, log+`.querySelectorAll("[data-index]").length`); n == 0 || n > 100 {
			t.Errorf("%d rows are in the page", n)
		}
	}
}

// BenchmarkScroll scrolls through a session of 5,000 events, half a screen a frame, and
// measures how long each frame took.
func BenchmarkScroll(b *testing.B) {
	p := open(b, shop)
	p.show("/sessions/" + longest)
	p.until(`document.querySelector("[role=log]").scrollHeight > 10000`)
	var frames []float64
	for b.Loop() {
		frames = append(frames, evaluate[[]float64](p, `new Promise((done) => {
			const box = document.querySelector("[role=log]"), times = [];
			let at = 0, last = 0;
			const step = (now) => {
				if (last > 0) times.push(now - last);
				last = now;
				box.scrollTop = at += 300;
				if (at < box.scrollHeight && times.length < 600) requestAnimationFrame(step);
				else done(times);
			};
			requestAnimationFrame(step);
		})`)...)
	}
	report(b, "frame", frames)
	b.ReportMetric(float64(len(frames))/float64(b.N), "frames/op")
}

// BenchmarkFilter types a word into the search above 10,000 profiles, and measures until
// what fits is painted.
func BenchmarkFilter(b *testing.B) {
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("profiles/p%05d.md", i)] = fmt.Sprintf("---\nname: p%05d\ndescription: Does number %d of what there is to do.\n---\nDo it.\n", i, i)
	}
	d := newDesk(b, files)
	d.show("/profiles")
	d.shows("10,000")
	var times []float64
	for i := 0; b.Loop(); i++ {
		times = append(times, evaluate[float64](d.tab, fmt.Sprintf(`new Promise((done) => {
			const box = document.querySelector("input[type=search]"), status = document.querySelector("[role=search] [role=status]");
			const before = status.innerText, began = performance.now();
			Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, %q);
			box.dispatchEvent(new Event("input", { bubbles: true }));
			const look = () => {
				if (status.innerText === before) setTimeout(look, 1);
				else requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
			};
			look();
		})`, []string{"number 1", "p00", "7 of what", ""}[i%4])))
	}
	report(b, "filter", times)
}

// BenchmarkFirstPaint opens the page for the first time, with nothing in a cache.
func BenchmarkFirstPaint(b *testing.B) {
	var paint, list []float64
	for b.Loop() {
		p := open(b, shop)
		p.show("/profiles")
		p.until(`document.querySelector("main li")`)
		list = append(list, evaluate[float64](p, `performance.now()`))
		paint = append(paint, evaluate[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
	report(b, "paint", paint)
	report(b, "list", list)
}

// report gives the median and the 99th of a hundred, in milliseconds.
func report(b *testing.B, name string, ms []float64) {
	b.Helper()
	slices.Sort(ms)
	b.ReportMetric(ms[len(ms)/2], name+"-p50-ms")
	b.ReportMetric(ms[len(ms)*99/100], name+"-p99-ms")
	b.ReportMetric(0, "ns/op") // of which the browser's part is not told apart
}
