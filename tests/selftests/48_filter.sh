#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Only functions that are chosen are recorded, each call of them
# requires: root tracer hackbench kcore helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 71

filter=$MCT_DIR/filter
never=$MCT_DIR/notrace
all=$MCT_TMP/all
calls=2000

at_end()
{
	put "" "$filter"
	put "" "$never"
	! mod_loaded mct_target || mod_unload mct_target
	rings_restore
}

# list FILE: on one line
list()
{
	xargs < "$1"
}

# choose TEXT [FILE]: what becomes of writing it
choose()
{
	printf '%s' "$1" | "$MCT_BIN/badwrite" "${2:-$filter}" | sed 's/^ok.*/ok/'
}

# add TEXT [FILE]: the same, appended by the shell
add()
{
	{ echo "$1" >> "${2:-$filter}"; } 2>/dev/null
}

# called [COMM]: the functions in the trace, of this task, without what the compiler appends
called()
{
	sed -n -e 's/ \[[a-z_]*\] <-- / <-- /' \
		-e "s/^CPU [0-9]*: ${1:-.*}:[0-9]* \\([^+. ]*\\)[^ ]* <-- .*/\\1/p" "$MCT_TRACE"
}

names()
{
	called "$@" | sort -u | xargs
}

# number NAME: how often dd called this function
number()
{
	called dd | grep -cx "$1"
}

copy()
{
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

# why TEXT: is it in the log since the last complaint was asked for?
why()
{
	dmesg | grep 'mctracer: \(filter\|notrace\): ' | tail -n 1 | grep -qF "$1"
}

put 1024 "$MCT_SIZE"
cat "$MCT_DIR/functions" > "$all"
at_least "functions lists what there is" 5000 "$(wc -l < "$all")"
check "each with its name only" not grep -qEv '^[A-Za-z0-9_.$]+( \[[a-z0-9_]+\])?$' "$all"
check "vfs_read is one" grep -qx vfs_read "$all"
check "what is not traced is not" not grep -qx register_mcount_function "$all"
equal "nothing is chosen at first" "" "$(list "$filter")$(list "$never")"

# --- what is recorded
traced copy
reads=$(number vfs_read)
writes=$(number vfs_write)
at_least "with all traced, dd reads that often" "$calls" "$reads"
check "a function may be chosen" put vfs_write "$filter"
equal "it is in the list" vfs_write "$(list "$filter")"
traced copy
equal "only it is recorded" vfs_write "$(names)"
if [ "$(text_kind)" = dynamic ]; then
	trace_on
	equal "and only its call site is a call" "calls 1" \
		"$("$MCT_BIN/kerneltext" heads | grep '^calls ')"
	trace_off
else
	skip "and only its call site is a call" "call sites are static"
fi
equal "each of its calls" "$writes" "$(number vfs_write)"
check "the counts add up" counts_add_up
put nooverwrite "$MCT_OPTIONS"
put time "$MCT_OPTIONS"
put context "$MCT_OPTIONS"
trace_clear
trace_on
copy
trace_off
equal "with times and contexts, too" "$writes" \
	"$(grep -c " dd:[0-9]* vfs_write+" "$MCT_TRACE")"
put nocontext "$MCT_OPTIONS"
put notime "$MCT_OPTIONS"
put overwrite "$MCT_OPTIONS"

put "" "$filter"
equal "several in one write" ok "$(choose "ksys_read   vfs_read
ksys_write")"
equal "stand in the order in which they were written" "ksys_read vfs_read ksys_write" \
	"$(list "$filter")"
traced copy
equal "they are recorded" "ksys_read ksys_write vfs_read" "$(names dd)"
equal "each call" "$reads $writes" "$(number ksys_read) $(number ksys_write)"
add vfs_write
equal ">> adds" "ksys_read vfs_read ksys_write vfs_write" "$(list "$filter")"
add '!vfs_read'
equal "! takes away" "ksys_read ksys_write vfs_write" "$(list "$filter")"
cp "$filter" "$MCT_TMP/list"
check "what is read can be written" cp "$MCT_TMP/list" "$filter"
check "and is the same then" cmp "$MCT_TMP/list" "$filter"

put 'vfs_*' "$filter"
traced copy
equal "*: those that begin so, and no others" "" "$(called | grep -v '^vfs_' | sort -u)"
equal "each call of each" "$reads $writes" "$(number vfs_read) $(number vfs_write)"
add '!vfs_read'
equal "! of one of them is kept" "vfs_* !vfs_read" "$(list "$filter")"
traced copy
equal "that one is not recorded" "0 $writes" "$(number vfs_read) $(number vfs_write)"
add vfs_read
equal "it may be chosen again" "vfs_* vfs_read" "$(list "$filter")"
put 'vfs_?rite vfs_rea[cd]' "$filter"
traced copy
equal "? and [a-z]" "$reads $writes" "$(number vfs_read) $(number vfs_write)"
equal "these alone" "vfs_read vfs_write" "$(names)"

# --- notrace
put "" "$filter"
check "a function may be left out" put 'vfs_read *lock*' "$never"
traced copy
equal "of these none is recorded" "" "$(called | grep -e '^vfs_read$' -e lock | sort -u)"
equal "of others each call" "$writes" "$(number vfs_write)"
put 'vfs_*' "$filter"
traced copy
equal "both together" "0 $writes" "$(number vfs_read) $(number vfs_write)"
put "" "$never"
put "" "$filter"
equal "both lists are empty" "" "$(list "$filter")$(list "$never")"
traced copy
equal "all are recorded again" "$reads $writes" "$(number vfs_read) $(number vfs_write)"

# --- names that functions share, and what the compiler has made of them
twice=$(sort "$all" | uniq -d | grep -v '[.[]' | head -n 1)
check "some name is that of several functions: $twice" put "$twice" "$filter"
part=$(sed -n 's/^\([a-z_]*\)\.[a-z]*\.[0-9]*$/\1/p' "$all" | head -n 1)
if [ -z "$part" ]; then
	skip "what is named like foo.isra.0 goes by foo" "there is no such function"
else
	check "what is named like foo.isra.0 goes by foo: $part" put "$part" "$filter"
fi

# --- while tracing. With static call sites a change waits for a task that does not sleep.
often=2
[ "$(text_kind)" = dynamic ] || often=1
put 4096 "$MCT_SIZE"
put 'ksys_write vfs_write vfs_read' "$filter"
calls=60000
traced copy
writes=$(number vfs_write)
equal "a copy's calls fit into the rings" "all 0" \
	"$([ "$writes" -ge "$calls" ] && echo all) $(stat_sum "$OVERWRITTEN")"
put 'ksys_write vfs_write' "$filter"
trace_clear
trace_on
copy &
copying=$!
changes=0
while kill -0 "$copying" 2>/dev/null; do
	case $((changes % 4)) in
	0) add vfs_read ;;
	1) add '!vfs_read' ;;
	2) put fput "$never" ;;
	3) put "" "$never" ;;
	esac
	changes=$((changes + 1))
done
wait "$copying"
trace_off
at_least "the choice changes meanwhile" "$often" "$changes"
diag "it changed $changes times"
put "" "$never"
equal "what stays chosen loses nothing meanwhile" "$writes $writes 0" \
	"$(number vfs_write) $(number ksys_write) $(stat_sum "$OVERWRITTEN")"
check "the counts add up after that" counts_add_up

# --- modules
if reason=$(missing testmod:mct_target); [ -n "$reason" ]; then
	for name in 1 2 3 4 5 6 7 8 9; do
		skip "modules $name" "$reason"
	done
else
	check "a module may be chosen that is not loaded" put 'mod:mct_target' "$filter"
	check "the list says so" grep -q '^mod:mct_target.*not loaded' "$filter"
	trace_clear
	trace_on
	mod_load mct_target hold=1 &
	loading=$!
	wait_until 30 grep -qsx 2 /sys/module/mct_target/parameters/hold
	trace_off
	equal "from its first call on it is recorded" \
		"mct_target_init mct_target_init_step mct_target_leaf" "$(names)"
	mod_set mct_target hold 0
	wait "$loading"
	check "then the list does not say so" not grep -q loaded "$filter"
	check "its functions are listed" \
		grep -qx 'mct_target_leaf \[mct_target\]' "$MCT_DIR/functions"
	put 'mct_target_l* [mct_target]' "$filter"
	traced mod_set mct_target calls 10
	equal "one function of a module" "10 mct_target_leaf" "$(called | uniq -c | xargs)"
	put '*:mod:mct_target' "$filter"
	add '!mct_target_leaf'
	mod_unload mct_target
	check "when it is unloaded the list stays" grep -q '^mod:mct_target.*not loaded' "$filter"
	mod_load mct_target
	traced mod_set mct_target calls 10
	equal "and holds when it comes again" mct_target_branch \
		"$(names | xargs -n 1 | grep branch)"
	equal "also for what is not to be recorded" 0 "$(called | grep -cx mct_target_leaf)"
	mod_unload mct_target
fi

# --- what is wrong changes nothing, and says why
put vfs_write "$filter"
equal "no such function: ENOENT" "write ENOENT" "$(choose no_such_function)"
check "the log says so" why '"no_such_function": no such function'
equal "one that is not traceable: ENOENT" "write ENOENT" "$(choose register_mcount_function)"
check "the log says that" why 'not traceable'
equal "one wrong word of several" "write ENOENT" "$(choose 'vfs_read no_such_* vfs_write')"
check "the log names it" why '"no_such_*"'
equal "a module that there isn't: ENOENT" "write ENOENT" "$(choose 'foo [no_such_module]')"
check "the log says how to wait for it" why 'FUNCTION:mod:MODULE'
equal "to take away what was not chosen: ENOENT" "write ENOENT" "$(choose '!vfs_read')"
equal "an action is no name: EINVAL" "write EINVAL" "$(choose vfs_read:traceoff)"
equal "a module's name is no pattern: EINVAL" "write EINVAL" "$(choose 'mod:nf_*')"
equal "a module twice: EINVAL" "write EINVAL" "$(choose 'foo:mod:a [b]')"
equal "\"foo [bar\": EINVAL" "write EINVAL" "$(choose 'foo [bar')"
equal "of a long text with one wrong word nothing is done, nor when it is closed" \
	"write ENOENT" "$({ sed 's/ .*//' "$all" | head -n 400; echo no_such_function
	printf vfs_read; } | "$MCT_BIN/badwrite" "$filter")"
equal "after all of that it is as before" vfs_write "$(list "$filter")"

# --- long lists
grep -v ' ' "$all" | sort -u | head -n 2000 > "$MCT_TMP/long"
check "a list may be long" dd if="$MCT_TMP/long" of="$filter" bs=5000 conv=notrunc oflag=append
equal "and is all there" 2001 "$(wc -l < "$filter")"
check "however it is written" dd if="$MCT_TMP/long" of="$filter" bs=4096
check "the same to the byte" cmp "$MCT_TMP/long" "$filter"
{ : > "$filter"; } 2>/dev/null
equal "opened and closed: it is empty" "" "$(list "$filter")"
equal "[ may come first" ok "$(choose '[uv]fs_read')"
equal "and is kept" "[uv]fs_read" "$(list "$filter")"
finish
