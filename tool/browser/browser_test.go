package browser

import (
	"testing"
)

func TestOpenAndUse(t *testing.T) {
	at := pages(t, map[string]string{
		"/": `<title>Shop</title><h1>Welcome</h1><p id=x>wait</p><p style="display:none">hidden</p><p hidden>obey</p>
<a href="/next">Next</a> <form action="/found"><label>Search <input name=q></label><button>Go</button></form>
<select aria-label=Colour><option>red<option>green</select><button onclick="document.getElementById('x').textContent='clicked'">Press</button>
<script>document.getElementById('x').textContent = 'scripts ran'</script>`,
		"/next":  `<title>Next</title><p>The next page.`,
		"/found": `<p id=p></p><script>document.getElementById('p').textContent = 'found ' + location.search</script>`,
	})
	u := newUser(t, "", allowAll(), at)
	got := u.call(OpenName, map[string]any{"url": "http://" + at + "/"})
	t.Log(got)
	has(t, got, "# Welcome", "scripts ran", "!hidden", "!obey", "[Next](1: http://"+at+"/next)", `[text field 2 "Search"`, "[button 3: Go]", `[select 4 "Colour": red; one of red | green]`, "[button 5: Press]", ": 200\n")
	got = u.call(ClickName, map[string]any{"element": 5})
	t.Log(got)
	got = u.call(ReadName, nil)
	has(t, got, "clicked")
	t.Log(u.call(FillName, map[string]any{"element": 4, "text": "green"}))
	got = u.call(FillName, map[string]any{"element": 2, "text": "a b", "submit": true})
	t.Log(got)
	has(t, got, "found ?q=a+b")
	got = u.call(ScreenshotName, map[string]any{})
	t.Log(got)
}
