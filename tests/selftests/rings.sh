# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Shared code for tests of the rings and of the tracer's files, sourced after lib.sh. Sets small
# rings and the options of boot time.

MCT_OPTIONS=$MCT_DIR/options
MCT_SIZE=$MCT_DIR/buffer_size_kb

# For the tests alone. READ is one more column of stats.
# shellcheck disable=SC2034
{
	MCT_PIPE=$MCT_DIR/trace_pipe
	RING_RECORDS=5000	# minimum in a full small ring
	READ=7
}
RING_KB=64

rings_kb=$(cat "$MCT_SIZE")

# A test that changes more redefines at_end and calls rings_restore.
at_end()
{
	rings_restore
}

rings_restore()
{
	put overwrite "$MCT_OPTIONS"
	put notime "$MCT_OPTIONS"
	put "$rings_kb" "$MCT_SIZE"
}

rings_small()
{
	put overwrite "$MCT_OPTIONS"
	put notime "$MCT_OPTIONS"
	put "$RING_KB" "$MCT_SIZE"
}

# per_cpu CPU FILE
per_cpu()
{
	echo "$MCT_DIR/per_cpu/cpu$1/$2"
}

# Work on all CPUs, enough to fill small rings several times.
work()
{
	hackbench -g 1 -f 4 -l 20 >/dev/null
}

# Start load that leaves CPU time for other tasks, until load_stop. The kernel's code that patches
# text has to wait for these tasks many times.
light_load_start()
{
	load_repeat "hackbench -g 1 -f 2 -l 100"
}

# Record a few calls.
moment()
{
	trace_on
	trace_off
}

storm()
{
	trace_on
	work
	trace_off
}

# Check for each CPU, once tracing has stopped: written = read + entries + overwritten + lost. $1
# is a copy of stats, if given.
counts_add_up()
{
	awk '/^#/ { next }
	     NF < 7 { print "short line: " $0; bad = 1 }
	     $3 != $7 + $2 + $4 + $5 { print "does not add up: " $0; bad = 1 }
	     { n++ }
	     END { exit bad || !n }' "${1:-$MCT_STATS}"
}

# Print the records of trace or of another file, without its comment lines.
records_of()
{
	sed '/^#/d' "${1:-$MCT_TRACE}"
}

# Print the sum of the "# lost N" lines of a file.
gaps_of()
{
	awk '/^# lost [0-9]+$/ { n += $3 } END { printf "%.0f\n", n }' "$1"
}

# getppid_time NAME FILE: print the time of task NAME's first getppid() call, in a trace with times
getppid_time()
{
	sed -n "s/^\\[\\([0-9.]*\\)\\] CPU [0-9]*: $1:[0-9]* [^ ]*getppid+.*/\\1/p" \
		"$2" | head -n 1
}

# backwards FILE: count the records, in a trace with times, that are older than the previous record
# of their CPU
backwards()
{
	awk '!/^#/ {
		split(substr($1, 2, length($1) - 2), t, ".")
		cpu = $3
		if (t[1] < s[cpu] || (t[1] == s[cpu] && t[2] "" < ns[cpu] ""))
			n++
		s[cpu] = t[1]
		ns[cpu] = t[2]
	} END { print n + 0 }' "$1"
}

# Succeed if each CPU's trace has as many records as its entries column in stats.
entries_are_there()
{
	local cpu n bad=
	for cpu in $(cpu_list possible); do
		n=$(records_of "$(per_cpu "$cpu" trace)" | wc -l)
		[ "$n" -eq "$(stat_cpu "$cpu" "$ENTRIES")" ] && continue
		echo "CPU $cpu: $n records, stats:"
		cat "$MCT_STATS"
		bad=1
	done
	[ -z "$bad" ]
}

# each_cpu_has COLUMN N: succeed if the column is at least N for each online CPU
each_cpu_has()
{
	local cpu
	for cpu in $(cpu_list online); do
		[ "$(stat_cpu "$cpu" "$1")" -ge "$2" ] || return 1
	done
}

# Make $calls reads of one byte and as many writes.
copy()
{
	# shellcheck disable=SC2154 # set by the test
	dd if=/dev/zero of=/dev/null bs=1 count="$calls" 2>/dev/null
}

# traced COMMAND...: clear the trace and record while the command runs
traced()
{
	trace_clear
	trace_on
	"$@"
	trace_off
}

# --- for tests of triggers

# set_to TEXT: write it to triggers, and print "ok" or the error
set_to()
{
	printf '%s' "$1" | "$MCT_BIN/badwrite" "$MCT_DIR/triggers" | sed 's/^ok.*/ok/'
}

add()
{
	{ echo "$1" >> "$MCT_DIR/triggers"; } 2>/dev/null
}

# lines: print triggers without comments
lines()
{
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$MCT_DIR/triggers"
}

# hits LINE: print the hit count of the trigger that begins with LINE
hits()
{
	sed -n "s/^$1[^#]*# \\([0-9]*\\) hits.*/\\1/p" "$MCT_DIR/triggers"
}

why()
{
	dmesg | grep 'mctracer: triggers: ' | tail -n 1 | grep -qF "$1"
}

snapshot_there()
{
	cat "$MCT_DIR/snapshot" > "$MCT_TMP/snapshot" 2>/dev/null
}

# seen: print one word for each record of mct_shapes, in order: "FUNCTION<CALLER" for a call,
# "FUNCTION>CALLER" for a return, "FUNCTION~CALLER" for a jump to a function that returns instead.
# CALLER is ? if it is unknown.
seen()
{
	sed -n -e '/^#/d' -e 's/ \[mct_shapes\]//g' -e 's/+0x[0-9a-f]*\/0x[0-9a-f]*//g' \
		-e 's/^.*CPU [0-9]*: [^ ]*:[0-9]* shape_//' -e 's/ after ~*[0-9]* ns//' \
		-e 's/, called before$/ --> ?/' -e 's/ <-- /</p' -e 's/ returns --> />/p' \
		-e 's/ goes on --> /~/p' "$MCT_TRACE" | xargs
}

rings_small
