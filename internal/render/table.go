package render

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table writes rows in aligned columns, two blanks apart. The last column is
// cut to lastRunes.
func Table(w io.Writer, s Style, header []string, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintln(w, s.paint(bold, tableRow(header, widths)))
	for _, row := range rows {
		fmt.Fprintln(w, tableRow(row, widths))
	}
}

const lastRunes = 80

func tableRow(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if i == len(cells)-1 {
			b.WriteString(line(cell, lastRunes))
			break
		}
		cell = Safe(cell)
		b.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))+2))
	}
	return strings.TrimRight(b.String(), " ")
}
