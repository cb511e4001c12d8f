#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Only functions that are chosen are recorded, each call of them
# requires: root tracer hackbench kcore taskset helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 83

filter=$MCT_DIR/filter
never=$MCT_DIR/notrace
pid=$MCT_DIR/pid
all=$MCT_TMP/all
calls=2000

at_end()
{
	put "" "$filter"
	put "" "$never"
	put "" "$pid"
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

# lines_of FILE: into it, what one dd calls that is alone on CPU 0, and from where, in order
lines_of()
{
	rm -f "$MCT_TMP/go"
	mkfifo "$MCT_TMP/go"
	(
		read -r go < "$MCT_TMP/go"
		exec taskset "$go" dd if=/dev/zero of=/dev/null bs=1 count="$calls" status=none
	) &
	put $! "$pid"
	trace_clear
	trace_on
	echo 1 > "$MCT_TMP/go"
	wait $!
	trace_off
	put "" "$pid"
	sed -n 's/^CPU [0-9]*: dd:[0-9]* //p' "$MCT_TRACE" > "$1"
}

# regex GLOBS: what these lines begin with, where the function is one of them
regex()
{
	printf '%s\n' "$1" | tr ' ' '\n' |
		sed -e 's/[.$]/\\&/g' -e 's/\*/[^ +]*/g' -e 's/?/[^ +]/g' | tr '\n' '|' |
		sed 's/^\(.*\)|$/^(\1)(\\.[^ +]*)?\\+0x/'
}

# lines_but GLOBS NOT FILE: the lines of the file for the functions of GLOBS but not of NOT
lines_but()
{
	grep -E "$(regex "$1")" "$3" | grep -vE "$(regex "${2:-none}")"
}

# same_lines NAME FILTER NOTRACE: dd's lines with these written are those of all its lines that
# grep finds. Without a filter others come, too, as interrupts and faults happen.
same_lines()
{
	put "$2" "$filter"
	put "$3" "$never"
	lines_of "$MCT_TMP/chosen"
	lines_but "${2:-$steady}" "$3" "$MCT_TMP/full" > "$MCT_TMP/wanted"
	[ -n "$2" ] || {
		lines_but "$steady" "" "$MCT_TMP/chosen" > "$MCT_TMP/steady"
		mv "$MCT_TMP/steady" "$MCT_TMP/chosen"
	}
	diag "$(wc -l < "$MCT_TMP/wanted") lines: $1"
	check "$1" diff "$MCT_TMP/wanted" "$MCT_TMP/chosen"
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

# --- the same work with all recorded and with a choice comes to the same lines. Of functions that
# only the path of system calls goes through: each time as often, and in the same order. What has
# several names, as __x64_sys_getpid is also __do_sys_getpid, must be matched by all of them.
steady='vfs_* ksys_* __[dix]*_sys_* read_zer? wr[h-j]te_null rw_verify_area'
calls=300
put 8192 "$MCT_SIZE"
lines_of "$MCT_TMP/full"
equal "all that dd calls fits into the rings" 0 "$(stat_sum "$OVERWRITTEN")"
lines_of "$MCT_TMP/again"
for name in full again; do
	lines_but "$steady" "" "$MCT_TMP/$name" > "$MCT_TMP/$name.steady"
done
at_least "some of it is what it does for each byte" $((calls * 6)) \
	"$(wc -l < "$MCT_TMP/full.steady")"
check "and the same again, line by line" diff "$MCT_TMP/full.steady" "$MCT_TMP/again.steady"
same_lines "with a filter there are the lines that grep finds in all" "$steady" ""
same_lines "also with a list of what is not recorded" "$steady" '__*_sys_writ? vfs_w* read_[a-z]*'
same_lines "or with that alone" "" 'vfs_r??d ksys_* __[dix]*_sys_re*'
same_lines "also of few functions" 'vfs_[rw]?[a-z]* *_null' 'vfs_write'
put "" "$never"
put "$steady" "$filter"
add '!vfs_*'
add '!ksys_w*'
lines_of "$MCT_TMP/chosen"
lines_but "$steady" 'vfs_* ksys_w*' "$MCT_TMP/full" > "$MCT_TMP/wanted"
check "also what is taken away with !" diff "$MCT_TMP/wanted" "$MCT_TMP/chosen"
put "" "$filter"
put 1024 "$MCT_SIZE"
calls=2000

# --- names that functions share, and what the compiler has made of them
twice=$(sort "$all" | uniq -d | grep -v '[.[]' | head -n 1)
check "some name is that of several functions: $twice" put "$twice" "$filter"
part=$(sed -n 's/^\([a-z_]*\)\.[a-z]*\.[0-9]*$/\1/p' "$all" | head -n 1)
if [ -z "$part" ]; then
	skip "what is named like foo.isra.0 goes by foo" "there is no such function"
else
	check "what is named like foo.isra.0 goes by foo: $part" put "$part" "$filter"
fi

# --- while tracing, once in each copy
put 4096 "$MCT_SIZE"
put 'ksys_write vfs_write vfs_read' "$filter"
calls=7500
rounds=8
traced copy
writes=$(number vfs_write)
equal "a copy's calls fit into the rings" "all 0" \
	"$([ "$writes" -ge "$calls" ] && echo all) $(stat_sum "$OVERWRITTEN")"
put 'ksys_write vfs_write' "$filter"
trace_clear
trace_on
changes=0
while [ "$changes" -lt "$rounds" ]; do
	copy &
	copying=$!
	case $((changes % 4)) in
	0) add vfs_read ;;
	1) add '!vfs_read' ;;
	2) put fput "$never" ;;
	3) put "" "$never" ;;
	esac || break
	changes=$((changes + 1))
	wait "$copying"
done
trace_off
equal "the choice can be changed meanwhile" "$rounds" "$changes"
put "" "$never"
equal "what stays chosen loses nothing meanwhile" \
	"$((rounds * writes)) $((rounds * writes)) 0" \
	"$(number vfs_write) $(number ksys_write) $(stat_sum "$OVERWRITTEN")"
check "the counts add up after that" counts_add_up

# --- modules
if reason=$(missing testmod:mct_target); [ -n "$reason" ]; then
	for name in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
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

	# A name without a module, of which only that module has functions.
	check "a module's function is chosen by its name alone" put mct_target_leaf "$filter"
	put 'mct_target_*:count' "$MCT_DIR/triggers"
	traced mod_set mct_target calls 10
	mod_unload mct_target
	equal "when the module has gone the list names it" \
		"mct_target_leaf:mod:mct_target # not loaded" "$(list "$filter")"
	equal "what is read can still be written back" ok "$(choose "$(cat "$filter")")"
	check "and no address of the module is shown" \
		not grep -qE '[0-9a-f]{8}' "$MCT_DIR/triggers"
	put "" "$MCT_DIR/triggers"
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
