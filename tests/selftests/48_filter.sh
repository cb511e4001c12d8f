#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Each call of the selected functions is recorded, and no other call
# requires: root tracer hackbench kcore taskset helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 116

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
	! mod_loaded mct_twin || mod_unload mct_twin
	rings_restore
}

# list FILE: print the list on one line
list()
{
	xargs < "$1"
}

# choose TEXT [FILE]: write it; print "ok" or the error
choose()
{
	printf '%s' "$1" | "$MCT_BIN/badwrite" "${2:-$filter}" | sed 's/^ok.*/ok/'
}

# add TEXT [FILE]: append it with the shell's >>
add()
{
	{ echo "$1" >> "${2:-$filter}"; } 2>/dev/null
}

# called [COMM]: print the functions in the trace, of this task, without the compiler's suffixes
called()
{
	sed -n -e 's/ \[[a-z_]*\] <-- / <-- /' \
		-e "s/^CPU [0-9]*: ${1:-.*}:[0-9]* \\([^+. ]*\\)[^ ]* <-- .*/\\1/p" "$MCT_TRACE"
}

names()
{
	called "$@" | sort -u | xargs
}

# number NAME: count dd's calls of this function
number()
{
	called dd | grep -cx "$1"
}

# lines_of FILE: save the calls, with callers, in order, of a dd that runs alone on CPU 0
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

# regex GLOBS: print a regular expression for the beginning of these functions' lines
regex()
{
	printf '%s\n' "$1" | tr ' ' '\n' |
		sed -e 's/[.$]/\\&/g' -e 's/\*/[^ +]*/g' -e 's/?/[^ +]/g' | tr '\n' '|' |
		sed 's/^\(.*\)|$/^(\1)(\\.[^ +]*)?\\+0x/'
}

# lines_but GLOBS NOT FILE: print the file's lines of functions that match GLOBS but not NOT
lines_but()
{
	grep -E "$(regex "$1")" "$3" | grep -vE "$(regex "${2:-none}")"
}

# same_lines NAME FILTER NOTRACE: report whether dd's lines with these lists equal the lines that
# grep selects from all its lines. Without a filter compare only steady functions, because
# interrupts and faults add other lines.
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

# why TEXT: succeed if the tracer's last complaint in the log contains the text
why()
{
	dmesg | grep 'mctracer: \(filter\|notrace\): ' | tail -n 1 | grep -qF "$1"
}

# seen_of MODULE: print which functions its work calls, as the trace shows them
seen_of()
{
	traced mod_set "$1" calls 10
	called | grep '^mct_.*_' | sort | uniq -c | xargs
}

# write_back LIST: write to the list, in place of all lines, what is read from it
write_back()
{
	cat "$1" > "$MCT_TMP/list" && cp "$MCT_TMP/list" "$1"
}

# both FIRST LAST: load FIRST, write to filter a pattern that matches a function of each module,
# then load LAST and unload it. FIRST's function stays selected, and the list can be written back.
both()
{
	mod_load "$1"
	put 'mct_t*_leaf' "$filter"
	mod_load "$2"
	equal "$2 loaded last: the pattern selects the functions of both modules" \
		"10 ${1}_leaf 10 ${2}_leaf" "$(seen_of "$1") $(seen_of "$2")"
	mod_unload "$2"
	equal "$2 unloaded: the function of $1 stays selected" "10 ${1}_leaf" "$(seen_of "$1")"
	equal "$2 unloaded: the list shows the pattern as it was written" \
		'mct_t*_leaf' "$(list "$filter")"
	check "$2 unloaded: the list can be written back" write_back "$filter"
	equal "$2 unloaded: what was written back selects the function of $1" \
		"10 ${1}_leaf" "$(seen_of "$1")"
	mod_load "$2"
	equal "$2 loaded again: the pattern selects its function again" "10 ${2}_leaf" \
		"$(seen_of "$2")"
	mod_unload "$2"
	put 'mct_t*' "$filter"
	put 'mct_t*_leaf' "$never"
	mod_load "$2"
	mod_unload "$2"
	equal "$2 unloaded: notrace shows the pattern as it was written" \
		'mct_t*_leaf' "$(list "$never")"
	check "$2 unloaded: notrace can be written back" write_back "$never"
	equal "$2 unloaded: the function of $1 stays excluded" "10 ${1}_branch" \
		"$(seen_of "$1")"
	put "" "$never"
	put "" "$filter"
	mod_unload "$1"
}

put 1024 "$MCT_SIZE"
cat "$MCT_DIR/functions" > "$all"
at_least "functions lists thousands of functions" 5000 "$(wc -l < "$all")"
check "functions has one name per line" not grep -qEv '^[A-Za-z0-9_.$]+( \[[a-z0-9_]+\])?$' "$all"
check "functions lists vfs_read" grep -qx vfs_read "$all"
check "functions does not list untraced functions" not grep -qx register_mcount_function "$all"
equal "both lists are empty at first" "" "$(list "$filter")$(list "$never")"

# --- recorded calls
traced copy
reads=$(number vfs_read)
writes=$(number vfs_write)
at_least "with all functions traced each read of dd is recorded" "$calls" "$reads"
check "a function can be selected" put vfs_write "$filter"
equal "the function is in the list" vfs_write "$(list "$filter")"
traced copy
equal "only the selected function is recorded" vfs_write "$(names)"
if [ "$(text_kind)" = dynamic ]; then
	trace_on
	equal "only the selected function's call site is a call" "calls 1" \
		"$("$MCT_BIN/kerneltext" heads | grep '^calls ')"
	trace_off
else
	skip "only the selected function's call site is a call" "call sites are static"
fi
equal "each call of the selected function is recorded" "$writes" "$(number vfs_write)"
check "the counts add up" counts_add_up
put nooverwrite "$MCT_OPTIONS"
put time "$MCT_OPTIONS"
put context "$MCT_OPTIONS"
trace_clear
trace_on
copy
trace_off
equal "each call is recorded with times and contexts" "$writes" \
	"$(grep -c " dd:[0-9]* vfs_write+" "$MCT_TRACE")"
put nocontext "$MCT_OPTIONS"
put notime "$MCT_OPTIONS"
put overwrite "$MCT_OPTIONS"

put "" "$filter"
equal "several functions can be written at once" ok "$(choose "ksys_read   vfs_read
ksys_write")"
equal "the list has the order of the write" "ksys_read vfs_read ksys_write" \
	"$(list "$filter")"
traced copy
equal "all functions of the list are recorded" "ksys_read ksys_write vfs_read" "$(names dd)"
equal "each call of these functions is recorded" \
	"$reads $writes" "$(number ksys_read) $(number ksys_write)"
add vfs_write
equal ">> adds a function" "ksys_read vfs_read ksys_write vfs_write" "$(list "$filter")"
add '!vfs_read'
equal "! removes a function" "ksys_read ksys_write vfs_write" "$(list "$filter")"
cp "$filter" "$MCT_TMP/list"
check "the list can be written back" cp "$MCT_TMP/list" "$filter"
check "the list is the same after that" cmp "$MCT_TMP/list" "$filter"

put 'vfs_*' "$filter"
traced copy
equal "a pattern with * selects no other functions" "" "$(called | grep -v '^vfs_' | sort -u)"
equal "each call of the pattern's functions is recorded" \
	"$reads $writes" "$(number vfs_read) $(number vfs_write)"
add '!vfs_read'
equal "! of one function of a pattern is in the list" "vfs_* !vfs_read" "$(list "$filter")"
traced copy
equal "the function behind ! is not recorded" "0 $writes" "$(number vfs_read) $(number vfs_write)"
add vfs_read
equal "the function behind ! can be selected again" "vfs_* vfs_read" "$(list "$filter")"
add '!ksys_read'
equal "! of a function that was not selected is in the list" "vfs_* vfs_read !ksys_read" \
	"$(list "$filter")"
cp "$filter" "$MCT_TMP/list"
check "a list with such a ! can be written back" cp "$MCT_TMP/list" "$filter"
put 'vfs_read' "$filter"
add '!vfs_*'
equal "! of all selected functions is in the list" "vfs_read !vfs_*" "$(list "$filter")"
add vfs_read
equal "! is dropped when nothing is selected before it" "vfs_read" "$(list "$filter")"
put 'vfs_?rite vfs_rea[cd]' "$filter"
traced copy
equal "patterns with ? and [a-z] select their functions" \
	"$reads $writes" "$(number vfs_read) $(number vfs_write)"
equal "patterns with ? and [a-z] select no other functions" "vfs_read vfs_write" "$(names)"

# --- notrace
put "" "$filter"
check "functions can be excluded" put 'vfs_read *lock*' "$never"
traced copy
equal "no excluded function is recorded" "" "$(called | grep -e '^vfs_read$' -e lock | sort -u)"
equal "each call of other functions is recorded" "$writes" "$(number vfs_write)"
put 'vfs_*' "$filter"
traced copy
equal "filter and notrace work together" "0 $writes" "$(number vfs_read) $(number vfs_write)"
put "" "$never"
put "" "$filter"
equal "both lists can be emptied" "" "$(list "$filter")$(list "$never")"
traced copy
equal "all functions are recorded with empty lists" \
	"$reads $writes" "$(number vfs_read) $(number vfs_write)"

# --- The same work gives the same lines with all functions recorded and with a selection. Compare
# functions that only the path of system calls uses: they are called as often and in the same order
# each time. All names of a function must match, since __x64_sys_getpid is also __do_sys_getpid.
steady='vfs_* ksys_* __[dix]*_sys_* read_zer? wr[h-j]te_null rw_verify_area'
calls=300
put 8192 "$MCT_SIZE"
lines_of "$MCT_TMP/full"
equal "all of dd's calls fit into the rings" 0 "$(stat_sum "$OVERWRITTEN")"
lines_of "$MCT_TMP/again"
for name in full again; do
	lines_but "$steady" "" "$MCT_TMP/$name" > "$MCT_TMP/$name.steady"
done
at_least "the steady functions are called for each byte" $((calls * 6)) \
	"$(wc -l < "$MCT_TMP/full.steady")"
check "a second run has the same lines" diff "$MCT_TMP/full.steady" "$MCT_TMP/again.steady"
same_lines "a filter gives the lines that grep finds in all lines" "$steady" ""
same_lines "a filter and a notrace list give the lines that grep finds" \
	"$steady" '__*_sys_writ? vfs_w* read_[a-z]*'
same_lines "a notrace list alone gives the lines that grep finds" \
	"" 'vfs_r??d ksys_* __[dix]*_sys_re*'
same_lines "a filter of few functions gives the lines that grep finds" \
	'vfs_[rw]?[a-z]* *_null' 'vfs_write'
put "" "$never"
put "$steady" "$filter"
add '!vfs_*'
add '!ksys_w*'
lines_of "$MCT_TMP/chosen"
lines_but "$steady" 'vfs_* ksys_w*' "$MCT_TMP/full" > "$MCT_TMP/wanted"
check "a filter with ! gives the lines that grep finds" diff "$MCT_TMP/wanted" "$MCT_TMP/chosen"
put "" "$filter"
put 1024 "$MCT_SIZE"
calls=2000

# --- shared names, and names with the compiler's suffixes
twice=$(sort "$all" | uniq -d | grep -v '[.[]' | head -n 1)
check "a name of several functions can be selected: $twice" put "$twice" "$filter"
part=$(sed -n 's/^\([a-z_]*\)\.[a-z]*\.[0-9]*$/\1/p' "$all" | head -n 1)
if [ -z "$part" ]; then
	skip "a name like foo.isra.0 can be selected as foo" "there is no such function"
else
	check "a name like foo.isra.0 can be selected as foo: $part" put "$part" "$filter"
fi

# --- change the selection while tracing, once during each dd
put 4096 "$MCT_SIZE"
put 'ksys_write vfs_write vfs_read' "$filter"
calls=7500
rounds=8
traced copy
writes=$(number vfs_write)
equal "the calls of one dd fit into the rings" "all 0" \
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
equal "the selection can be changed while tracing" "$rounds" "$changes"
put "" "$never"
equal "functions that stay selected lose no call meanwhile" \
	"$((rounds * writes)) $((rounds * writes)) 0" \
	"$(number vfs_write) $(number ksys_write) $(stat_sum "$OVERWRITTEN")"
check "the counts add up after that" counts_add_up

# --- modules
if reason=$(missing testmod:mct_target); [ -n "$reason" ]; then
	for name in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
		skip "modules $name" "$reason"
	done
else
	check "a module can be selected before its load" put 'mod:mct_target' "$filter"
	check "the list shows that the module is not loaded" \
		grep -q '^mod:mct_target.*not loaded' "$filter"
	trace_clear
	trace_on
	mod_load mct_target hold=1 &
	loading=$!
	wait_until 30 grep -qsx 2 /sys/module/mct_target/parameters/hold
	trace_off
	equal "the module is recorded from its first call on" \
		"mct_target_init mct_target_init_step mct_target_leaf" "$(names)"
	mod_set mct_target hold 0
	wait "$loading"
	check "the list no longer shows that the module is not loaded" not grep -q loaded "$filter"
	check "functions lists the module's functions" \
		grep -qx 'mct_target_leaf \[mct_target\]' "$MCT_DIR/functions"
	check "a function of the module's init can be selected again when it is gone" \
		put 'mct_target_init_step:mod:mct_target' "$filter"
	put 'mct_target_l* [mct_target]' "$filter"
	traced mod_set mct_target calls 10
	equal "one function of a module can be selected" \
		"10 mct_target_leaf" "$(called | uniq -c | xargs)"
	put '*:mod:mct_target' "$filter"
	add '!mct_target_leaf'
	mod_unload mct_target
	check "the list stays when the module unloads" \
		grep -q '^mod:mct_target.*not loaded' "$filter"
	mod_load mct_target
	traced mod_set mct_target calls 10
	equal "the list applies when the module loads again" mct_target_branch \
		"$(names | xargs -n 1 | grep branch)"
	equal "the list's exclusion applies when the module loads again" \
		0 "$(called | grep -cx mct_target_leaf)"

	# A name without a module, when only that module has such a function.
	check "a module's function can be selected by its name alone" put mct_target_leaf "$filter"
	put 'mct_target_*:count' "$MCT_DIR/triggers"
	traced mod_set mct_target calls 10
	mod_unload mct_target
	equal "the list names the module after its unload" \
		"mct_target_leaf:mod:mct_target # not loaded" "$(list "$filter")"
	equal "the list can be written back after the unload" ok "$(choose "$(cat "$filter")")"
	check "triggers shows no address of the unloaded module" \
		not grep -qE '[0-9a-f]{8}' "$MCT_DIR/triggers"
	put "" "$MCT_DIR/triggers"
	put 'mct_*:mod:mct_target mct_target_leaf:mod:mct_target' "$filter"
	add '!mct_target_leaf:mod:mct_target'
	mod_load mct_target
	traced mod_set mct_target calls 10
	equal "a function that was excluded before the load is not recorded" \
		0 "$(called | grep -cx mct_target_leaf)"
	at_least "the other functions are recorded" 1 "$(called | grep -c mct_target_branch)"
	put 'vfs_read mct_target_leaf' "$filter"
	mod_unload mct_target
	add '!mct_target_leaf'
	equal "a name that waits can be removed" vfs_read "$(grep -v '^#' "$filter")"
	mod_load mct_target
	put 'vfs_read mct_target_leaf' "$filter"
	mod_unload mct_target
	add '!mct_target_leaf:mod:mct_target'
	equal "a name that waits can be excluded by the line that is shown" \
		0 "$(grep -c '^mct_target_leaf' "$filter")"
	shown=$(grep -v '^#' "$filter")
	put "$shown" "$filter"
	equal "that list can be written back" "$shown" "$(grep -v '^#' "$filter")"
	mod_load mct_target
	put 'vfs_read mct_target_* mct_target_leaf [mct_target]' "$filter"
	mod_unload mct_target
	check "a function of an absent module can be removed as it was written" \
		add '!mct_target_leaf [mct_target]'
	mod_load mct_target
	put 'vfs_read mct_target_* mct_target_leaf' "$filter"
	mod_unload mct_target
	add '!mct_target_leaf'
	equal "a name that a pattern still selects stays excluded" \
		"!mct_target_leaf:mod:mct_target # not loaded" "$(tail -n 1 "$filter" | xargs)"
	mod_load mct_target
	traced mod_set mct_target calls 10
	equal "it is excluded when the module loads again" \
		0 "$(called | grep -cx mct_target_leaf)"
	at_least "other functions of the pattern are recorded" 1 \
		"$(called | grep -c mct_target_branch)"
	mod_unload mct_target
	put "" "$filter"
fi
if reason=$(missing testmod:mct_target; missing testmod:mct_twin); [ -n "$reason" ]; then
	for name in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
		skip "two modules $name" "$reason"
	done
else
	both mct_target mct_twin
	both mct_twin mct_target
fi

# --- a wrong write changes nothing, and the log has the reason
put vfs_write "$filter"
equal "an unknown function is ENOENT" "write ENOENT" "$(choose no_such_function)"
check "the log names the unknown function" why '"no_such_function": no such function'
equal "a function that is not traceable is ENOENT" \
	"write ENOENT" "$(choose register_mcount_function)"
check "the log reports that the function is not traceable" why 'not traceable'
equal "one wrong word of several is ENOENT" \
	"write ENOENT" "$(choose 'vfs_read no_such_* vfs_write')"
check "the log names the wrong word" why '"no_such_*"'
equal "an unknown module is ENOENT" "write ENOENT" "$(choose 'foo [no_such_module]')"
check "the log explains how to wait for a module" why 'FUNCTION:mod:MODULE'
put "" "$filter"
equal "removing a function from an empty list is ENOENT" "write ENOENT" "$(choose '!vfs_read')"
check "the log reports that nothing was selected" why 'no function was selected before'
put vfs_write "$filter"
equal "an action in a filter is EINVAL" "write EINVAL" "$(choose vfs_read:traceoff)"
equal "a pattern as a module's name is EINVAL" "write EINVAL" "$(choose 'mod:nf_*')"
equal "two modules in one entry are EINVAL" "write EINVAL" "$(choose 'foo:mod:a [b]')"
equal "\"foo [bar\" is EINVAL" "write EINVAL" "$(choose 'foo [bar')"
equal "a long text with one wrong word changes nothing, not even on close" \
	"write ENOENT" "$({ sed 's/ .*//' "$all" | head -n 400; echo no_such_function
	printf vfs_read; } | "$MCT_BIN/badwrite" "$filter")"
equal "after these errors the list is as before" vfs_write "$(list "$filter")"

# --- long lists
grep -v ' ' "$all" | sort -u | head -n 2000 > "$MCT_TMP/long"
check "a long list can be appended" \
	dd if="$MCT_TMP/long" of="$filter" bs=5000 conv=notrunc oflag=append
equal "the long list is complete" 2001 "$(wc -l < "$filter")"
check "a long list can be written in pieces of another size" \
	dd if="$MCT_TMP/long" of="$filter" bs=4096
check "the long list is the same to the byte" cmp "$MCT_TMP/long" "$filter"
{ : > "$filter"; } 2>/dev/null
equal "opening with O_TRUNC and closing empties the list" "" "$(list "$filter")"
equal "a pattern can begin with [" ok "$(choose '[uv]fs_read')"
equal "the pattern that begins with [ is in the list" "[uv]fs_read" "$(list "$filter")"
finish
