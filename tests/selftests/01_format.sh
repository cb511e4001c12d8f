#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Each line of a trace taken under load has the documented form
# requires: root tracer hackbench helper:tracecheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 9

load_start
trace_on
sleep 3
trace_off
load_stop

trace=$MCT_TMP/trace
cat "$MCT_TRACE" > "$trace"

head -n 5 "$trace" | sed 's/[0-9][0-9]*$/N/' > "$MCT_TMP/header"
cat > "$MCT_TMP/wanted" <<-EOF
	# mode: function
	# entries: N
	# written: N
	# overwritten: N
	# lost: N
EOF
check "the header has its lines in order" \
	cmp "$MCT_TMP/wanted" "$MCT_TMP/header"
equal "entries is the sum of stats" \
	"$(stat_sum "$ENTRIES")" "$(header entries "$trace")"
equal "written is the sum of stats" \
	"$(stat_sum "$WRITTEN")" "$(header written "$trace")"
equal "overwritten is the sum of stats" \
	"$(stat_sum "$OVERWRITTEN")" "$(header overwritten "$trace")"
equal "lost is the sum of stats" \
	"$(stat_sum "$LOST")" "$(header lost "$trace")"

# Check the format with one regular expression first, and then each part with tracecheck.
symbol='([^][ ]+\+0x[0-9a-f]+/0x[0-9a-f]+( \[[^][ ]+\])?|\[unknown\])'
record="^CPU [0-9]+: [^[:cntrl:]]{0,15}:[0-9]+ $symbol <-- $symbol\$"
equal "each line is a header or a record" \
	0 "$(LC_ALL=C grep -Evc -e '^#' -e "$record" "$trace")"
equal "no line shows a raw address" \
	0 "$(grep -Fc -e ' 0x' -e ffffffff "$trace")"
check "offsets are inside functions, names and numbers are complete" \
	examine "$trace"
at_least "the trace has as many records as full rings" 65536 "$(found records)"
diag "$(found records) records, $(found unknown) with [unknown]"
finish
