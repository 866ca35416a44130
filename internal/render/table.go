package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table writes rows in aligned columns, two blanks apart. The last column is
// cut to lastRunes.
func Table(w io.Writer, s Style, header []string, rows [][]string) {
	shown := make([][]string, len(rows))
	for i, row := range rows {
		shown[i] = slices.Clone(row)
		for j := range row[:max(0, len(row)-1)] {
			shown[i][j] = oneLine(row[j])
		}
	}
	rows = shown
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

// oneLine shows what a cell of a table may not hold.
func oneLine(cell string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Safe(cell))
}

const lastRunes = 80

func tableRow(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if i == len(cells)-1 {
			b.WriteString(line(cell, lastRunes))
			break
		}
		b.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))+2))
	}
	return strings.TrimRight(b.String(), " ")
}
