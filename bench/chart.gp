# SPDX-License-Identifier: GPL-2.0
# usage: gnuplot -e "data='FILE'; chart='FILE.svg'" chart.gp
# Draws the data that report.py wrote: the slowdown of each workload, as bars with numbers.
set terminal svg size 1000,460 font "sans-serif,13" background "white"
set output chart
set title "Slowdown by workload: instructions, against a kernel without a function tracer"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set yrange [0:*]
set offsets 0, 0, graph 0.08, 0
set ytics nomirror format "%gx"
set grid ytics lc rgb "#dddddd"
set border 3
set key autotitle columnhead outside top center horizontal reverse Left
set xtics nomirror scale 0
step = 1.0 / 6	# from bar to bar: 5 bars and a gap as wide as a bar
plot data using 2:xtic(1) lc rgb "#9aa0a6", \
	"" using 3 lc rgb "#1a9850", \
	"" using 4 lc rgb "#1f78b4", \
	"" using 5 lc rgb "#f4a742", \
	"" using 6 lc rgb "#d73027", \
	"" using ($0 - 2 * step):2:(sprintf("%.1f", $2)) with labels offset 0,0.5 font ",9" notitle, \
	"" using ($0 - step):3:(sprintf("%.1f", $3)) with labels offset 0,0.5 font ",9" notitle, \
	"" using ($0):4:(sprintf("%.1f", $4)) with labels offset 0,0.5 font ",9" notitle, \
	"" using ($0 + step):5:(sprintf("%.0f", $5)) with labels offset 0,0.5 font ",9" notitle, \
	"" using ($0 + 2 * step):6:(sprintf("%.0f", $6)) with labels offset 0,0.5 font ",9" notitle
