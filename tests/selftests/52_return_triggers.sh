#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Triggers at returns record returned values and durations
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
# The sleep of a slow call, and the limit for slow: far longer than other delays.
sleeps=2000
slow=1500ms

needs_returns

plan 83

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

# values: print the returned values in the trace's order, and - for returns without a value
values()
{
	sed -n -e 's/^CPU .* returns$/-/p' -e t -e 's/^CPU .* returns after .*/-/p' -e t \
		-e 's/^CPU .* returns, called before/-/p' -e t \
		-e 's/^CPU .* returns \([^ ]*\).*/\1/p' "$MCT_TRACE" | xargs
}

# marks ACTION: print the lines of this action without addresses and times
marks()
{
	sed -n -e "s/^# $1 \\[[0-9.]*\\] CPU [0-9]*: [^ ]* //p" "$MCT_TRACE" |
		sed -e 's/+0x[0-9a-f]*\/0x[0-9a-f]*//' -e 's/ \[mct_shapes\]//' \
			-e 's/ after [0-9]* ns/ after/'
}

# chains: print the functions of each chain
chains()
{
	awk '/^    -- / { sub(/[+].*/, "", $2); chain = chain " " $2; next }
		{ if (chain != "") print substr(chain, 2); chain = "" }
		END { if (chain != "") print substr(chain, 2) }' "$MCT_TRACE"
}

# changed: print the functions whose call sites have become calls since the text "before", at their
# heads ("site") or before a return ("return"), and the number of other differences
changed()
{
	text_save now
	"$MCT_BIN/kerneltext" diff -l "$MCT_TMP/text.before" "$MCT_TMP/text.now" |
		grep -E '^(site|return|other) ' | sort -u | xargs
}

# number WHAT: count the lines of shape_int that contain WHAT
number()
{
	grep -c "^CPU .* shape_int+.* $1 " "$MCT_TRACE"
}

mod_load mct_shapes ms="$sleeps"
put 1024 "$MCT_SIZE"
put 'mod:mct_shapes' "$filter"

# --- ret
check "a ret trigger can be set" put shape_int:ret "$triggers"
equal "the ret trigger is in the list" shape_int:ret "$(lines)"
shape ints
ints="0 1 4711 -1 -22 -4095 -4096 2147483647 -2147483648"
equal "in function mode each return has its value" "$ints" "$(values)"
equal "each return has its duration and its caller" 9 \
	"$(grep -c ' returns [-0-9]* after ~*[0-9]* ns --> run_ints+' "$MCT_TRACE")"
equal "each return is a hit" 9 "$(hits shape_int:ret)"
shape either
equal "returns of other functions have no value" -22 "$(values)"
put graph "$mode"
shape ints
equal "in graph mode each return has its value" "$ints" "$(values)"
equal "in graph mode each call and return is recorded once" \
	"9 9" "$(number '<--') $(number returns)"
put shape_int:ret:3 "$triggers"
shape ints
equal "with a count of 3 three returns have a value" "0 1 4711 - - - - - -" "$(values)"
equal "the remaining count is 0" shape_int:ret:0 "$(lines)"
put shape_u64:ret "$triggers"
shape numbers
equal "values of 64 bits are complete" "5 -2 0x123456789abcdef0 -12" "$(values)"
put function "$mode"
put shape_end "$filter"
put shape_int:ret "$triggers"
shape ints
equal "returns of a function that is not selected are recorded" "$ints" "$(values)"
equal "these returns are recorded without their calls" \
	"0 9" "$(number '<--') $(grep -c 'shape_int+.* returns [-0-9]*$' \
	"$MCT_TRACE")"

# --- changes of call sites. A return is a NOP only after it was a call once.
put "" "$triggers"
put graph "$mode"
trace_on
trace_off
put function "$mode"
text_save before
put shape_int:ret "$triggers"
equal "the trigger changes no call site while tracing is off" "other 0" "$(changed)"
trace_on
# Where returns are caught, the head of the function calls instead.
equal "only the trigger's returns and the selected functions call" \
	"other 0$(returns_are_caught || echo ' return shape_int') site shape_end$(
	! returns_are_caught || echo ' site shape_int')" "$(changed)"
put "shape_sleep:slow $slow:count" "$triggers"
before_return=$(returns_are_caught || echo ' return shape_sleep')
equal "with slow the head of the function calls, too" \
	"other 0$before_return site shape_end site shape_sleep" "$(changed)"
put "" "$triggers"
equal "without triggers only the selected functions call" "other 0 site shape_end" "$(changed)"
trace_off
text_save after
check "the text is the same as before when tracing is off" text_same before after
put 'mod:mct_shapes' "$filter"

# --- pointers, for a reader that may not see addresses
restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)
put 0 $restrict
address=$(sed -n 's/^\([0-9a-f]*\) t shape_six\t\[mct_shapes\]$/\1/p' /proc/kallsyms)
put 2 $restrict
put shape_pointer:ret "$triggers"
shape pointers
check "a pointer that is NULL or an error is shown" \
	test "$(values | xargs -n 1 | tail -n 2 | xargs)" = "0 -12"
hashed='0x[0-9a-f(_][0-9a-z_)]*'
values | xargs -n 1 | sed '3,$d' > "$MCT_TMP/pointers"
diag "$(xargs < "$MCT_TMP/pointers")"
check "a pointer to memory is hashed" sh -c "sed 1d '$MCT_TMP/pointers' | grep -qx '$hashed'"
check "the address in a module is known" test -n "$address"
check "a pointer to a module is hashed" sh -c "head -n 1 '$MCT_TMP/pointers' | grep -qx '$hashed'"
wrong=
for raw in "$address" $((0x${address:-0})); do
	! grep -qiF -e "$raw" "$MCT_TMP/pointers" || wrong="$wrong $raw"
done
equal "the address itself is not shown" "" "$wrong"
put 0 $restrict
equal "a reader that may see addresses sees it" "0x$address" "$(values | xargs -n 1 | head -n 1)"
put "$restricted" $restrict

# --- values that other functions return
jumps()
{
	put "shape_end:mark" "$triggers"
	equal "ret at a function that only jumps to others is ENOENT" \
		"write ENOENT" "$(set_to shape_int_tail:ret)"
	check "the log reports that the function jumps to others" \
		why 'it jumps to functions that do'
	equal "fail at such a function is ENOENT" \
		"write ENOENT" "$(set_to shape_int_tail:fail:count)"
	equal "slow at such a function can be set" ok "$(set_to "shape_int_tail:slow $slow:count")"
	put "shape_end:mark" "$triggers"
	equal "ret at a function that never returns is ENOENT" \
		"write ENOENT" "$(set_to shape_never:ret)"
	check "the log reports that the function never returns" why 'it does not return'
	equal "slow at a function that never returns is ENOENT" \
		"write ENOENT" "$(set_to 'shape_never:slow 1s:mark')"
	check "the log reports that reason for slow, too" why 'it does not return'
	equal "these errors change nothing" shape_end:mark "$(lines)"
	put shape_either:ret "$triggers"
	shape either
	equal "a function that returns and jumps shows its own returns" "2 3" "$(values)"
	equal "the returns of other functions are counted" 1 \
		"$(grep -c '^shape_either:ret.*# 2 hits, 1 returned by others$' "$triggers")"
	put shape_either:fail:count "$triggers"
	shape either
	equal "fail counts the returns of other functions, too" 1 \
		"$(grep -c '^shape_either:fail:count.*# 0 hits, 1 returned by others$' "$triggers")"
}

# Where returns are caught, a function that jumps returns what the other one returned.
caught_jumps()
{
	for name in "ret at a function that only jumps to others is ENOENT" \
		"the log reports that the function jumps to others" \
		"fail at such a function is ENOENT" "slow at such a function can be set" \
		"ret at a function that never returns is ENOENT" \
		"the log reports that the function never returns" \
		"slow at a function that never returns is ENOENT" \
		"the log reports that reason for slow, too" "these errors change nothing"; do
		skip "$name" "returns are caught: all functions return"
	done
	put shape_either:ret "$triggers"
	shape either
	equal "a function that returns and jumps shows all returns" "-22 2 3" "$(values)"
	equal "no return is counted as another function's" 1 \
		"$(grep -c '^shape_either:ret.*# 3 hits$' "$triggers")"
	put shape_either:fail:count "$triggers"
	shape either
	equal "fail counts an error that the other function returned" 1 \
		"$(grep -c '^shape_either:fail:count.*# 1 hits$' "$triggers")"
}

if returns_are_caught; then caught_jumps; else jumps; fi
for name in shape_tails shape_tail shape_end; do
	echo "$name:slow 1ns:count"
done > "$triggers"
shape tails
equal "each of three functions that jump to the next is timed" "1 1 1" \
	"$(sed -n 's/^shape_.*:slow 1ns:count.*# \([0-9]*\) hits*$/\1/p' "$triggers" | xargs)"

# --- fail
check "a fail trigger can be set" put shape_int:fail:mark "$triggers"
equal "the fail trigger is in the list" shape_int:fail:mark "$(lines)"
shape ints
equal "fail acts only on errors" "shape_int returns -1
shape_int returns -22
shape_int returns -4095" "$(marks mark)"
equal "each error is a hit" 3 "$(hits shape_int:fail:mark)"
equal "in function mode fail records no return" "9 0" "$(number '<--') $(number returns)"
printf 'shape_%s:fail:count\n' int u64 pointer > "$triggers"
shape numbers
shape pointers
shape error
equal "fail finds errors of ints, 64-bit values and pointers" "1 2 1" \
	"$(hits shape_int) $(hits shape_u64) $(hits shape_pointer)"
put shape_int:fail:ret "$triggers"
shape ints
equal "fail:ret records the values of errors only" "-1 -22 -4095" "$(values)"
put graph "$mode"
put shape_int:fail:ret:1 "$triggers"
shape ints
equal "fail:ret works in graph mode and with a count" "- - - -1 - - - - -" "$(values)"
put function "$mode"
put 1 "$pid"
put shape_int:fail:count "$triggers"
shape ints
equal "fail does not count tasks that are not traced" 0 "$(hits shape_int)"
put "" "$pid"
put 'shape_int:fail:stacktrace depth=2:2' "$triggers"
shape ints
equal "fail:stacktrace records the callers at a return" "run_ints run
run_ints run" "$(chains)"
put 'shape_int:fail:stacktrace' "$triggers"
shape error
check "the chain at a return ends where the kernel was entered" sh -c \
	"echo '$(chains)' | grep -q '^run_error run .*do_syscall_64 entry_SYSCALL_64'"
put graph "$mode"
shape error
equal "in graph mode the return with a chain is recorded once" "1 1 1" \
	"$(number '<--') $(number returns) $(chains | wc -l)"
put shape_int:fail:traceoff "$triggers"
shape ints
equal "fail:traceoff stops recording at the first error" \
	"0 4 4" "$(cat "$on") $(number '<--') $(number returns)"
equal "fail:traceoff writes a line" "shape_int" "$(marks traceoff)"
put 1 "$on"
put shape_int:fail:snapshot "$triggers"
trace_clear
trace_on
mod_set mct_shapes shape ints
check "fail:snapshot takes a snapshot" wait_until 30 snapshot_there
trace_off
equal "the snapshot ends with the first error" \
	"4 4" "$(grep -c '^CPU .* shape_int+.* <-- ' "$MCT_TMP/snapshot") $(
	grep -c '^CPU .* shape_int+.* returns ' "$MCT_TMP/snapshot")"
put 0 "$snapshot"
put shape_int:fail:traceon "$triggers"
trace_clear
trace_on
put 0 "$on"
mod_set mct_shapes shape ints
equal "fail:traceon resumes recording" 1 "$(cat "$on")"
trace_off
put function "$mode"

# --- slow
check "a slow trigger can be set" put "shape_sleep:slow $slow:mark" "$triggers"
equal "the slow trigger is in the list" "shape_sleep:slow $slow:mark" "$(lines)"
add "shape_sleep:slow 10000s:mark"
shape slow
shape quick
equal "slow acts on the slow call and not on the quick one" 1 "$(hits "shape_sleep:slow $slow")"
equal "slow 10000s acts on no call" 0 "$(hits "shape_sleep:slow 10000s")"
shape slow
equal "the line of slow shows the returned value" "shape_sleep returns 1 after" "$(marks mark)"
took=$(sed -n 's/^# mark .* after \([0-9]*\) ns$/\1/p' "$MCT_TRACE")
at_least "the line of slow shows the duration" "${sleeps}000000" "$took"
put "shape_sleep_deep:slow $slow:count" "$triggers"
add "shape_sleep_late:slow $slow:stacktrace depth=3"
shape slow_deep
equal "each of five nested calls is slow" 5 "$(hits shape_sleep_deep)"
shape slow_late
equal "only the call that sleeps is slow" 1 "$(hits shape_sleep_late)"
equal "the slow call has the right callers" "run_slow_late run" "$(chains | cut -d ' ' -f 1-2)"
put graph "$mode"
shape slow_late
equal "in graph mode the slow call has the right callers" \
	"run_slow_late run" "$(chains | cut -d ' ' -f 1-2)"
put function "$mode"
put shape_end "$filter"
put "shape_sleep:slow $slow:ret" "$triggers"
shape slow
shape quick
equal "slow records the slow call of a function that is not selected" 1 "$(hits shape_sleep)"
put 'mod:mct_shapes' "$filter"

# --- change triggers while calls run
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
equal "a call that began before the trigger is not timed" 0 "$(hits shape_sleep)"
mod_set mct_shapes shape slow
equal "the next call is timed" 1 "$(hits shape_sleep)"
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
equal "triggers can be set and removed meanwhile" "" "$wrong"
equal "a trigger that stays misses no return" "$((rounds * 3 * 2)) shape_u64:fail:count" \
	"$(hits shape_u64) $(lines)"
check "the counts add up" counts_add_up
rounds=20
printf 'shape_int:%s\n' ret fail:count > "$triggers"
traced mod_set mct_shapes rounds $rounds
equal "ret and fail count all returns" "$((rounds * 3 * 12)) $((rounds * 3 * 6))" \
	"$(hits shape_int:ret) $(hits shape_int:fail)"

# --- lists and invalid triggers
printf 'shape_int:%s\n' 'slow 10ms:mark' fail:count 'fail:stacktrace depth=3:7' ret:5 \
	'slow 60000ms:stacktrace' 'slow 1500us:traceoff after=5' mark > "$triggers"
lines > "$MCT_TMP/lines"
equal "one function can have several triggers" "shape_int:slow 10ms:mark
shape_int:fail:count
shape_int:fail:stacktrace depth=3:7
shape_int:ret:5
shape_int:slow 60s:stacktrace
shape_int:slow 1500us:traceoff after=5
shape_int:mark" "$(cat "$MCT_TMP/lines")"
cp "$triggers" "$MCT_TMP/list"
check "the list can be written back" cp "$MCT_TMP/list" "$triggers"
equal "the list is the same after that" "$(cat "$MCT_TMP/lines")" "$(lines)"
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
equal "an invalid line is EINVAL" "write EINVAL" "$result"
equal "removing a trigger that is not set is ENOENT" \
	"write ENOENT" "$(set_to '!shape_int:fail:mark')"
equal "after these errors the list is as before" "$(cat "$MCT_TMP/lines")" "$(lines)"
add '!shape_int:slow 10ms:mark'
add '!shape_int:slow 60s:stacktrace'
add '!shape_int:ret'
equal "triggers can be removed" 4 "$(lines | wc -l)"
check "ret with a count can be set at all functions" put '*:ret:20' "$triggers"
put "" "$filter"
traced mod_set mct_shapes rounds 1
equal "ret at all functions runs as often as its count" \
	"20 0" "$(values | wc -w) $(sed -n 's/^\*:ret:\([0-9]*\).*/\1/p' "$triggers")"
check "fail and slow can be set at all functions" \
	sh -c "printf '*:fail:count\n*:slow 10s:count\n' > '$triggers'"
traced mod_set mct_shapes rounds 1
at_least "fail at all functions finds errors" 18 "$(hits '\*:fail')"
put "" "$triggers"
equal "the list can be emptied" "" "$(lines)"
finish
