# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# What the tests of the rings and of their files share. To be sourced after
# lib.sh; the test begins with small rings and the options as they are at boot.

MCT_OPTIONS=$MCT_DIR/options
MCT_SIZE=$MCT_DIR/buffer_size_kb

# What only the tests use; the last is one more column of stats.
# shellcheck disable=SC2034
{
	MCT_PIPE=$MCT_DIR/trace_pipe
	RING_RECORDS=5000	# a full small ring has at least so many
	READ=7
}
RING_KB=64

rings_kb=$(cat "$MCT_SIZE")

# A test that changes more redefines this, and calls rings_restore.
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

# Work that goes on until load_stop and leaves the CPUs time for others: what
# patches the kernel's text has to wait for them many times.
light_load_start()
{
	load_repeat "hackbench -g 1 -f 2 -l 100"
}

# A few records.
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

# For each CPU at rest: written = read + entries + overwritten + lost. Of
# $1, a copy of stats, if given.
counts_add_up()
{
	awk '/^#/ { next }
	     NF < 7 { print "short line: " $0; bad = 1 }
	     $3 != $7 + $2 + $4 + $5 { print "does not add up: " $0; bad = 1 }
	     { n++ }
	     END { exit bad || !n }' "${1:-$MCT_STATS}"
}

# The records of trace, or of another file, without what is not a record.
records_of()
{
	sed '/^#/d' "${1:-$MCT_TRACE}"
}

# The sum of the "# lost N" lines of a file.
gaps_of()
{
	awk '/^# lost [0-9]+$/ { n += $3 } END { printf "%.0f\n", n }' "$1"
}

# getppid_time NAME FILE: when, in a trace with times, the task NAME first called it
getppid_time()
{
	sed -n "s/^\\[\\([0-9.]*\\)\\] CPU [0-9]*: $1:[0-9]* [^ ]*getppid+.*/\\1/p" \
		"$2" | head -n 1
}

# backwards FILE: how many records, in a trace with times, are older than the one
# before of the same CPU
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

# Does each CPU's trace have as many records as stats says are in its ring?
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

# Is the column of each CPU that is online at least $2?
each_cpu_has()
{
	local cpu
	for cpu in $(cpu_list online); do
		[ "$(stat_cpu "$cpu" "$1")" -ge "$2" ] || return 1
	done
}

# $calls reads of one byte, and as many writes
copy()
{
	# shellcheck disable=SC2154 # the test's
	dd if=/dev/zero of=/dev/null bs=1 count="$calls" 2>/dev/null
}

# traced COMMAND...: what is recorded then is in the trace
traced()
{
	trace_clear
	trace_on
	"$@"
	trace_off
}

# --- triggers, for tests of these

# set_to TEXT: what becomes of writing it into the file
set_to()
{
	printf '%s' "$1" | "$MCT_BIN/badwrite" "$MCT_DIR/triggers" | sed 's/^ok.*/ok/'
}

add()
{
	{ echo "$1" >> "$MCT_DIR/triggers"; } 2>/dev/null
}

# lines: the file without comments
lines()
{
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$MCT_DIR/triggers"
}

# hits LINE: how often what the one says has happened that begins so
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

# seen: what is recorded of mct_shapes: a word for each call "FUNCTION<CALLER", return
# "FUNCTION>CALLER", jump to a function that returns instead "FUNCTION~CALLER", in order, with ?
# for a caller that is not known.
seen()
{
	sed -n -e '/^#/d' -e 's/ \[mct_shapes\]//g' -e 's/+0x[0-9a-f]*\/0x[0-9a-f]*//g' \
		-e 's/^.*CPU [0-9]*: [^ ]*:[0-9]* shape_//' -e 's/ after ~*[0-9]* ns//' \
		-e 's/, called before$/ --> ?/' -e 's/ <-- /</p' -e 's/ returns --> />/p' \
		-e 's/ goes on --> /~/p' "$MCT_TRACE" | xargs
}

rings_small
