#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Triggers at returns tell what is returned, and after how long
# requires: root tracer kcore testmod:mct_shapes helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

triggers=$MCT_DIR/triggers
mode=$MCT_DIR/mode
filter=$MCT_DIR/filter
pid=$MCT_DIR/pid
on=$MCT_DIR/tracing_on
snapshot=$MCT_DIR/snapshot
running=
# What a slow call sleeps, and what is slow: far more than others are kept waiting.
sleeps=2000
slow=1500ms

[ -e "$mode" ] || skip_all "there is no mode"
put graph "$mode" || skip_all "this kernel does not see returns"
put function "$mode"

plan 82

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put "" "$pid"
	put 0 "$snapshot"
	put 1 "$on"
	put function "$mode"
	[ -z "$running" ] || wait "$running"
	! mod_loaded mct_shapes || mod_unload mct_shapes
	rings_restore
}

shape()
{
	traced mod_set mct_shapes shape "$1"
}

# values: what is said to be returned, in the trace's order; - for returns without that
values()
{
	sed -n -e 's/^CPU .* returns$/-/p' -e t -e 's/^CPU .* returns after .*/-/p' -e t \
		-e 's/^CPU .* returns, called before/-/p' -e t \
		-e 's/^CPU .* returns \([^ ]*\).*/\1/p' "$MCT_TRACE" | xargs
}

# marks ACTION: what lines of this action say, without addresses and times
marks()
{
	sed -n -e "s/^# $1 \\[[0-9.]*\\] CPU [0-9]*: [^ ]* //p" "$MCT_TRACE" |
		sed -e 's/+0x[0-9a-f]*\/0x[0-9a-f]*//' -e 's/ \[mct_shapes\]//' \
			-e 's/ after [0-9]* ns/ after/'
}

# chains: the functions of each chain
chains()
{
	awk '/^    -- / { sub(/[+].*/, "", $2); chain = chain " " $2; next }
		{ if (chain != "") print substr(chain, 2); chain = "" }
		END { if (chain != "") print substr(chain, 2) }' "$MCT_TRACE"
}

# changed: the functions with call sites that are calls now, and were none in the text "before": at
# their heads, which is a site, or before a return; and how many other places are not as there
changed()
{
	text_save now
	"$MCT_BIN/kerneltext" diff -l "$MCT_TMP/text.before" "$MCT_TMP/text.now" |
		grep -E '^(site|return|other) ' | sort -u | xargs
}

# number WHAT: lines of shape_int that say so
number()
{
	grep -c "^CPU .* shape_int+.* $1 " "$MCT_TRACE"
}

mod_load mct_shapes ms="$sleeps"
put 1024 "$MCT_SIZE"
put 'mod:mct_shapes' "$filter"

# --- ret
check "ret is set" put shape_int:ret "$triggers"
equal "it is in the list" shape_int:ret "$(lines)"
shape ints
ints="0 1 4711 -1 -22 -4095 -4096 2147483647 -2147483648"
equal "in function mode each return comes with what is returned" "$ints" "$(values)"
equal "and how long it took, and to where" 9 \
	"$(grep -c ' returns [-0-9]* after ~*[0-9]* ns --> run_ints+' "$MCT_TRACE")"
equal "each is a hit" 9 "$(hits shape_int:ret)"
shape either
equal "others have none" -22 "$(values)"
put graph "$mode"
shape ints
equal "in graph mode, too" "$ints" "$(values)"
equal "and each is recorded once" "9 9" "$(number '<--') $(number returns)"
put shape_int:ret:3 "$triggers"
shape ints
equal "three times only" "0 1 4711 - - - - - -" "$(values)"
equal "then none is left" shape_int:ret:0 "$(lines)"
put shape_u64:ret "$triggers"
shape numbers
equal "64 bits" "5 -2 0x123456789abcdef0 -12" "$(values)"
put function "$mode"
put shape_end "$filter"
put shape_int:ret "$triggers"
shape ints
equal "what is not chosen is recorded all the same" "$ints" "$(values)"
equal "without the call" "0 9" "$(number '<--') $(grep -c 'shape_int+.* returns [-0-9]*$' \
	"$MCT_TRACE")"

# --- what it changes. A return is a NOP until it was a call once.
put "" "$triggers"
put graph "$mode"
trace_on
trace_off
put function "$mode"
text_save before
put shape_int:ret "$triggers"
equal "while off it changes no call site" "other 0" "$(changed)"
trace_on
equal "only its own returns call, and what is chosen" \
	"other 0 return shape_int site shape_end" "$(changed)"
put "shape_sleep:slow $slow:count" "$triggers"
equal "where a time is taken so does the head, too" \
	"other 0 return shape_sleep site shape_end site shape_sleep" "$(changed)"
put "" "$triggers"
equal "without triggers none but what is chosen" "other 0 site shape_end" "$(changed)"
trace_off
text_save after
check "when it is off the text is as before" text_same before after
put 'mod:mct_shapes' "$filter"

# --- pointers, to one who may not see addresses
restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)
put 0 $restrict
address=$(sed -n 's/^\([0-9a-f]*\) t shape_six\t\[mct_shapes\]$/\1/p' /proc/kallsyms)
put 2 $restrict
put shape_pointer:ret "$triggers"
shape pointers
check "a pointer may be NULL, or an error" \
	test "$(values | xargs -n 1 | tail -n 2 | xargs)" = "0 -12"
hashed='0x[0-9a-f(_][0-9a-z_)]*'
values | xargs -n 1 | sed '3,$d' > "$MCT_TMP/pointers"
diag "$(xargs < "$MCT_TMP/pointers")"
check "one to memory is hashed" sh -c "sed 1d '$MCT_TMP/pointers' | grep -qx '$hashed'"
check "that to a module is known" test -n "$address"
check "it is hashed" sh -c "head -n 1 '$MCT_TMP/pointers' | grep -qx '$hashed'"
wrong=
for raw in "$address" $((0x${address:-0})); do
	! grep -qiF -e "$raw" "$MCT_TMP/pointers" || wrong="$wrong $raw"
done
equal "it is not told" "" "$wrong"
put 0 $restrict
equal "to one who may it is" "0x$address" "$(values | xargs -n 1 | head -n 1)"
put "$restricted" $restrict

# --- what others return
put "shape_end:mark" "$triggers"
equal "what only jumps to others returns nothing" "write ENOENT" "$(set_to shape_int_tail:ret)"
check "the log says so" why 'it jumps to functions that do'
equal "nor does it fail" "write ENOENT" "$(set_to shape_int_tail:fail:count)"
equal "but it may be slow" ok "$(set_to "shape_int_tail:slow $slow:count")"
put "shape_end:mark" "$triggers"
equal "what never returns can't have one" "write ENOENT" "$(set_to shape_never:ret)"
check "the log says that" why 'it does not return'
equal "nor be slow" "write ENOENT" "$(set_to 'shape_never:slow 1s:mark')"
check "for the same reason" why 'it does not return'
equal "then the list is as it was" shape_end:mark "$(lines)"
put shape_either:ret "$triggers"
shape either
equal "of a function that does both, its own" "2 3" "$(values)"
equal "and others are counted" 1 \
	"$(grep -c '^shape_either:ret.*# 2 hits, 1 returned by others$' "$triggers")"
put shape_either:fail:count "$triggers"
shape either
equal "also where errors are counted" 1 \
	"$(grep -c '^shape_either:fail:count.*# 0 hits, 1 returned by others$' "$triggers")"

# --- fail
check "fail is set" put shape_int:fail:mark "$triggers"
equal "it is in the list, too" shape_int:fail:mark "$(lines)"
shape ints
equal "only errors are" "shape_int returns -1
shape_int returns -22
shape_int returns -4095" "$(marks mark)"
equal "each is a hit, then" 3 "$(hits shape_int:fail:mark)"
equal "in function mode returns are not recorded" "9 0" "$(number '<--') $(number returns)"
printf 'shape_%s:fail:count\n' int u64 pointer > "$triggers"
shape numbers
shape pointers
shape error
equal "of ints, long ones and pointers" "1 2 1" \
	"$(hits shape_int) $(hits shape_u64) $(hits shape_pointer)"
put shape_int:fail:ret "$triggers"
shape ints
equal "what is returned, of these alone" "-1 -22 -4095" "$(values)"
put graph "$mode"
put shape_int:fail:ret:1 "$triggers"
shape ints
equal "in graph mode and with a count" "- - - -1 - - - - -" "$(values)"
put function "$mode"
put 1 "$pid"
put shape_int:fail:count "$triggers"
shape ints
equal "of tasks that are not chosen none is counted" 0 "$(hits shape_int)"
put "" "$pid"
put 'shape_int:fail:stacktrace depth=2:2' "$triggers"
shape ints
equal "with the callers, at a return" "run_ints run
run_ints run" "$(chains)"
put 'shape_int:fail:stacktrace' "$triggers"
shape error
check "up to where the kernel was entered" sh -c \
	"echo '$(chains)' | grep -q '^run_error run .*do_syscall_64 entry_SYSCALL_64'"
put graph "$mode"
shape error
equal "also in graph mode, and recorded once" "1 1 1" \
	"$(number '<--') $(number returns) $(chains | wc -l)"
put shape_int:fail:traceoff "$triggers"
shape ints
equal "the first error stops recording" "0 4 4" "$(cat "$on") $(number '<--') $(number returns)"
equal "and is told" "shape_int" "$(marks traceoff)"
put 1 "$on"
put shape_int:fail:snapshot "$triggers"
trace_clear
trace_on
mod_set mct_shapes shape ints
check "or makes a snapshot" wait_until 30 snapshot_there
trace_off
equal "which ends there" "4 4" "$(grep -c '^CPU .* shape_int+.* <-- ' "$MCT_TMP/snapshot") $(
	grep -c '^CPU .* shape_int+.* returns ' "$MCT_TMP/snapshot")"
put 0 "$snapshot"
put shape_int:fail:traceon "$triggers"
trace_clear
trace_on
put 0 "$on"
mod_set mct_shapes shape ints
equal "or begins it" 1 "$(cat "$on")"
trace_off
put function "$mode"

# --- slow
check "slow is set" put "shape_sleep:slow $slow:mark" "$triggers"
equal "and in the list" "shape_sleep:slow $slow:mark" "$(lines)"
add "shape_sleep:slow 10000s:mark"
shape slow
shape quick
equal "the slow call is one, the quick one is not" 1 "$(hits "shape_sleep:slow $slow")"
equal "neither is that slow" 0 "$(hits "shape_sleep:slow 10000s")"
shape slow
equal "the line says what is returned" "shape_sleep returns 1 after" "$(marks mark)"
took=$(sed -n 's/^# mark .* after \([0-9]*\) ns$/\1/p' "$MCT_TRACE")
at_least "and the time" "${sleeps}000000" "$took"
put "shape_sleep_deep:slow $slow:count" "$triggers"
add "shape_sleep_late:slow $slow:stacktrace depth=3"
shape slow_deep
equal "of calls that wait for each other each is" 5 "$(hits shape_sleep_deep)"
shape slow_late
equal "if only the first one waits it alone is" 1 "$(hits shape_sleep_late)"
equal "its caller is right" "run_slow_late run" "$(chains | cut -d ' ' -f 1-2)"
put graph "$mode"
shape slow_late
equal "in graph mode, too" "run_slow_late run" "$(chains | cut -d ' ' -f 1-2)"
put function "$mode"
put shape_end "$filter"
put "shape_sleep:slow $slow:ret" "$triggers"
shape slow
shape quick
equal "also of what is not chosen, no others" 1 "$(hits shape_sleep)"
put 'mod:mct_shapes' "$filter"

# --- while calls are running
put "shape_sleep:slow $slow:mark" "$triggers"
trace_clear
trace_on
mod_set mct_shapes shape slow &
running=$!
sleep 0.5
put "" "$triggers"
put "shape_sleep:slow $slow:mark" "$triggers"
wait $running
running=
equal "a call that had begun before is not timed" 0 "$(hits shape_sleep)"
mod_set mct_shapes shape slow
equal "the next one is" 1 "$(hits shape_sleep)"
rounds=2000
put shape_u64:fail:count "$triggers"
mod_set mct_shapes rounds $rounds &
running=$!
changed=0
wrong=
while kill -0 $running 2>/dev/null || [ $changed -lt 2 ]; do
	for trigger in ret:10 fail:count "slow 1ms:count" fail:stacktrace:5; do
		add "shape_*:$trigger" && add "!shape_*:$trigger" || wrong="$wrong $trigger"
	done
	changed=$((changed + 1))
done
wait $running || wrong="$wrong rounds"
running=
trace_off
diag "$changed times"
equal "triggers come and go meanwhile" "" "$wrong"
equal "what stays misses nothing" "$((rounds * 3 * 2)) shape_u64:fail:count" \
	"$(hits shape_u64) $(lines)"
check "and the counts add up" counts_add_up
rounds=20
printf 'shape_int:%s\n' ret fail:count > "$triggers"
traced mod_set mct_shapes rounds $rounds
equal "all are counted" "$((rounds * 3 * 12)) $((rounds * 3 * 6))" \
	"$(hits shape_int:ret) $(hits shape_int:fail)"

# --- what can't be set
printf 'shape_int:%s\n' 'slow 10ms:mark' fail:count 'fail:stacktrace depth=3:7' ret:5 \
	'slow 60000ms:stacktrace' 'slow 1500us:traceoff after=5' mark > "$triggers"
lines > "$MCT_TMP/lines"
equal "several for one function" "shape_int:slow 10ms:mark
shape_int:fail:count
shape_int:fail:stacktrace depth=3:7
shape_int:ret:5
shape_int:slow 60s:stacktrace
shape_int:slow 1500us:traceoff after=5
shape_int:mark" "$(cat "$MCT_TMP/lines")"
cp "$triggers" "$MCT_TMP/list"
check "what is read can be written" cp "$MCT_TMP/list" "$triggers"
equal "and is the same then" "$(cat "$MCT_TMP/lines")" "$(lines)"
for bad in shape_int:slow 'shape_int:slow 10ms' shape_int:slow:mark 'shape_int:slow 10:mark' \
	'shape_int:slow 10m:mark' 'shape_int:slow ms:mark' 'shape_int:slow 10ms:dance' \
	'shape_int:slow -1ms:mark' 'shape_int:slow 86401s:mark' \
	'shape_int:slow 18446744073709551617ns:mark' 'shape_int:slow 10ms 10ms:mark' \
	shape_int:fail shape_int:fail: shape_int:fail:dance 'shape_int:fail 3:mark' \
	shape_int:failing:mark shape_int:fail:slow:mark 'shape_int:fail:slow 1s:mark' \
	shape_int:ret:x 'shape_int:ret depth=3' shape_int:ret:-1 '*:ret' shape_int:fail:count:5; do
	result=$(set_to "$bad")
	[ "$result" = "write EINVAL" ] || diag "$bad: $result"
	[ "$result" = "write EINVAL" ] || break
done
equal "what can't be read is refused" "write EINVAL" "$result"
equal "what is not set can't be removed" "write ENOENT" "$(set_to '!shape_int:fail:mark')"
equal "after that the list is as it was" "$(cat "$MCT_TMP/lines")" "$(lines)"
add '!shape_int:slow 10ms:mark'
add '!shape_int:slow 60s:stacktrace'
add '!shape_int:ret'
equal "each can be removed" 4 "$(lines | wc -l)"
check "all functions, with a count" put '*:ret:20' "$triggers"
put "" "$filter"
traced mod_set mct_shapes rounds 1
equal "that often" "20 0" "$(values | wc -w) $(sed -n 's/^\*:ret:\([0-9]*\).*/\1/p' "$triggers")"
check "all that fail, and all that are slow" \
	sh -c "printf '*:fail:count\n*:slow 10s:count\n' > '$triggers'"
traced mod_set mct_shapes rounds 1
at_least "errors are found" 18 "$(hits '\*:fail')"
put "" "$triggers"
equal "then there are none" "" "$(lines)"
finish
