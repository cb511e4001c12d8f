#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Many objects at once, reused addresses, and more objects than the limit
# requires: root tracer hackbench helper:badwrite helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter
pid=$MCT_DIR/pid
toggles=50

at_end()
{
	put "" "$pid"
	put "" "$triggers"
	put "" "$filter"
	rings_restore
}

if [ "$(set_to 'alloc_empty_file:follow ret')" = "write EOPNOTSUPP" ]; then
	skip_all "what is returned can't be followed"
fi
put "" "$triggers"

plan 27

# Follow each open file from its allocation to its release.
rules()
{
	printf '%s\n' 'alloc_empty_file:follow ret' '__fput:unfollow 1' > "$triggers"
}

# begun, ended: print the numbers of objects, in the order of the trace
begun()
{
	sed -n 's/^CPU.* +#\([0-9]*\):ret.*/\1/p' "$MCT_TRACE"
}

ended()
{
	sed -n 's/^CPU.* __fput+[^ ]* -#\([0-9]*\):1 .*/\1/p' "$MCT_TRACE"
}

put 4096 "$MCT_SIZE"
check "the triggers can be set" rules
traced sh -c 'for i in 1 2 3 4 5 6 7 8; do cat /dev/null; done'
equal "each object has its own number" "$(begun | sort -un | wc -l)" "$(begun | wc -l)"
check "at least eight objects are followed" [ "$(begun | wc -l)" -ge 8 ]
# Addresses are reused: an open gets the address of the file that was closed last.
put 'alloc_empty_file:followed:args' "$triggers"
rules
add '__fput:followed:args'
traced sh -c 'i=0; while [ $i -lt 50 ]; do : < /dev/null; i=$((i + 1)); done'
addresses=$(sed -n 's/^CPU.* __fput+[^(]*(\([^,]*\),.* -#.*/\1/p' "$MCT_TRACE" | sort | uniq -c |
	sort -rn | awk 'NR == 1 { print $1 }')
diag "one address was used $addresses times"
if grep -q ' __asan_load8$' /proc/kallsyms; then
	skip "an address is used at least 20 times" "KASAN keeps what was freed"
elif grep -q ' file_free_rcu$' /proc/kallsyms; then
	skip "an address is used at least 20 times" "a file is freed after a grace period"
else
	check "an address is used at least 20 times" [ "$addresses" -ge 20 ]
fi
equal "each use of an address is a new object" "" "$(ended | sort -n | uniq -d)"
check "each line is well-formed" examine "$MCT_TRACE"

# reused: print how many objects were allocated again before a trigger saw their end
reused()
{
	sed -n 's/^# \([0-9]*\) objects were allocated again before an end was seen$/\1/p' \
		"$triggers" | grep . || echo 0
}

equal "no object is allocated again before its end is seen" 0 "$(reused)"
put 'alloc_empty_file:follow ret' "$triggers"
traced sh -c 'i=0; while [ $i -lt 50 ]; do : < /dev/null; i=$((i + 1)); done'
diag "without a trigger that sees the end, $(reused) objects were allocated again"
if [ "$addresses" -ge 20 ]; then
	at_least "objects that are allocated again are counted" 20 "$(reused)"
else
	skip "objects that are allocated again are counted" "few addresses are used again here"
fi

# There are more dentries than the limit of objects, and no trigger unfollows them.
put 16384 "$MCT_SIZE"
put '__d_alloc:follow ret' "$triggers"
traced find /proc /sys > /dev/null
full=$(grep -c '^# follow: too many objects .* __d_alloc+' "$MCT_TRACE")
begun=$(sed -n 's/^CPU.* __d_alloc+.* +#\([0-9]*\):ret.*/\1/p' "$MCT_TRACE" | wc -l)
diag "$begun followed, $full refused"
check "the trace has a line for each object beyond the limit" [ "$full" -ge 100 ]
check "as many objects are followed as the limit allows" [ "$begun" -ge 1024 ]
put "" "$triggers"
rules
traced cat /dev/null
equal "new triggers release all objects" 0 "$(grep -c '^# follow: too many' "$MCT_TRACE")"
check "new objects are followed after that" [ "$(begun | wc -l)" -ge 1 ]

# More tasks than the table of calls has entries wait in a call that has the same file as argument.
# Each has its later calls in the trace, or a line says that it has not.
readers=1400
mkfifo "$MCT_TMP/fifo"
put 'fifo_open:follow 2 +calls' "$triggers"
put 'fifo_open vfs_read mutex_lock*' "$filter"
trace_clear
trace_on
exec 3<> "$MCT_TMP/fifo"
many_readers()
{
	local i=0
	while [ $i -lt $readers ]; do
		dd bs=1 count=1 <&3 > /dev/null 2>&1 &
		i=$((i + 1))
	done
	sleep 5
	yes '' | head -n $readers >&3
	wait
}
many_readers
trace_off
exec 3>&-
of_fifo=$(sed -n 's/^CPU.* fifo_open+.* +#\([0-9]*\):2 .*/\1/p' "$MCT_TRACE")
# Print: readers, those with a later call, those with a line that says it is missing, neither.
told=$(awk -v "object=#$of_fifo" '
	{ task = ""; for (i = 1; i <= NF; i++) if ($i ~ /^[^ ]+:[0-9]+$/ && task == "") task = $i }
	/^CPU.* vfs_read[+]/ && index($0, object ":1") { reads[task] = 1 }
	/^CPU.* mutex_lock(_nested)?[+]/ && $0 ~ object "[: ]" { later[task]++ }
	/^# follow: too many/ { refused[task] = 1 }
	END {
		for (task in reads) {
			all++
			if (later[task] >= 2)
				have++
			else if (task in refused)
				lost++
			else
				silent++
		}
		print all + 0, have + 0, lost + 0, silent + 0
	}' "$MCT_TRACE")
diag "tasks, with later calls, with a line about them, with neither: $told"
# shellcheck disable=SC2086 # four numbers
set -- $told
at_least "many tasks wait in a call of the followed object" $readers "$1"
at_least "some of them have no place" 100 "$3"
equal "no later calls are left out without a line" 0 "$4"
put "" "$triggers"
put "" "$filter"

# Objects end while others find no free place.
files()
{
	local i=0
	while [ $i -lt 100 ]; do
		: < /dev/null
		i=$((i + 1))
	done
}

open_while_full()
{
	find /proc /sys > /dev/null &
	files &
	files &
	files
	wait
	sleep 1		# some kernels free a file after a grace period
}

put 32768 "$MCT_SIZE"
put 2 /proc/sys/vm/drop_caches
put '__d_alloc:follow ret' "$triggers"
# A file that could not be opened is freed without __fput().
for rule in 'alloc_empty_file:follow ret' '__fput:unfollow 1' 'kmem_cache_free:unfollow 2'; do
	add "$rule"
done
traced open_while_full
# opened, released: write the numbers of the files that the trace shows, except those of this shell,
# which opens files to switch tracing off
opened()
{
	sed -n -e "/:$$ /d" -e 's/^CPU.* alloc_empty_file+.* +#\([0-9]*\):ret.*/\1/p' "$MCT_TRACE" |
		sort > "$MCT_TMP/files"
}

released()
{
	sed -n 's/^CPU.* -#\([0-9]*\):[0-9].*/\1/p' "$MCT_TRACE" | sort > "$MCT_TMP/ended"
}

# kept: print the numbers of the opened files that stay followed
kept()
{
	grep -vxFf "$MCT_TMP/ended" "$MCT_TMP/files" | xargs
}

opened
released
at_least "files are followed while the limit is reached" 10 "$(wc -l < "$MCT_TMP/files")"
equal "no file stays followed after its release" "" "$(kept)"

# followed_now: print the number of followed objects
followed_now()
{
	sed -n 's/^# \([0-9][0-9]*\) objects are followed$/\1/p' "$triggers"
}

# followed_by_load: start four tasks that open and close files, and are alone recorded: this shell
# opens files, too. They write one line each time, until $MCT_TMP/stop is there.
followed_by_load()
{
	rm -f "$MCT_TMP/stop"
	sh -c 'while [ ! -e "$0/go" ]; do sleep 0.1; done
		for i in 1 2 3 4; do
			while [ ! -e "$0/stop" ]; do : < /dev/null; done &
		done
		wait' "$MCT_TMP" &
	opener=$!
	put "$opener children" "$pid"
	: > "$MCT_TMP/go"
}

load_ends()
{
	: > "$MCT_TMP/stop"
	wait "$opener"
	rm -f "$MCT_TMP/go"
	sleep 1		# a file may be freed after a grace period
}

# none_kept WHAT FILE: toggle FILE while tasks open and close files; tracing is on at the end.
# Objects from before the last toggle are not followed any more, and later files are released.
none_kept()
{
	trace_clear
	trace_on
	light_load_start
	followed_by_load
	toggles_start "$2"
	wait_until 200 toggles_reach $toggles
	toggles_stop
	check "$1: no toggle failed" not toggles_failed
	trace_on
	trace_clear
	sleep 1
	load_ends
	load_stop
	put 0 "$MCT_DIR/tracing_on"
	opened
	released
	at_least "$1: files are followed after the toggles" 10 "$(wc -l < "$MCT_TMP/files")"
	equal "$1: no file stays followed after the load" "" "$(kept)"
	equal "$1: no object is followed after the load" 0 "$(followed_now)"
	put 1 "$MCT_DIR/tracing_on"
}

# Only files: a dentry that a task of the load allocates may stay, for a file of this shell.
put 'alloc_empty_file:follow ret' "$triggers"
add '__fput:unfollow 1'
add 'kmem_cache_free:unfollow 2'
# Few call sites, so that a toggle is quick.
put 'alloc_empty_file __fput kmem_cache_free vfs_open do_dentry_open fput filp_close' "$filter"
none_kept "ctrl" "$MCT_CTRL"
none_kept "kernel.mcount_enabled" "$MCT_SYSCTL"

# Objects begin to be followed on one CPU while another one frees objects from before a toggle.
i=0
files=0
lasting=
while [ $i -lt 10 ]; do
	followed_by_load
	put $((i % 2)) "$MCT_CTRL"
	put 0 "$MCT_SYSCTL"
	trace_clear
	trace_on
	sleep 0.2
	load_ends
	put 0 "$MCT_DIR/tracing_on"
	opened
	released
	files=$((files + $(wc -l < "$MCT_TMP/files")))
	stays=$(kept)
	lasting="$lasting${stays:+ round $i: $stays}"
	[ "$(followed_now)" = 0 ] || lasting="$lasting round $i: $(followed_now) objects"
	put 1 "$MCT_DIR/tracing_on"
	i=$((i + 1))
done
at_least "files are followed while tracing begins" 100 "$files"
equal "no file stays followed that was opened while tracing begins" "" "$lasting"
finish
