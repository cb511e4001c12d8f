#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The trigger args records calls with their arguments' registers
# requires: root tracer testmod:mct_shapes helper:badwrite helper:pipecheck helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter
mode=$MCT_DIR/mode
on=$MCT_DIR/tracing_on
pid=$MCT_DIR/pid
restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)

if [ "$(uname -m)" = x86_64 ]; then
	six="0x1, 0x2, 0x3, 0x4, 0x5, 0x6"
	swapped="0x2, 0x1, 0x4, 0x3, 0x6, 0x5"
	address='0xffffffff[0-9a-f]\{8\}'
else
	six="0x1, 0x2, 0x3"
	swapped="0x2, 0x1, 0x4"
	address='0x[c-f][0-9a-f]\{7\}'
fi

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put "" "$pid"
	put 1 "$on"
	put "$restricted" $restrict
	[ ! -e "$mode" ] || put function "$mode"
	! mod_loaded mct_shapes || mod_unload mct_shapes
	rings_restore
}

if [ "$(set_to vfs_read:args)" = "write EOPNOTSUPP" ]; then
	plan 2
	check "with static call sites the log names the missing option" why CONFIG_MCOUNT_DYNAMIC
	equal "the refused trigger is not in the list" "" "$(lines)"
	finish
fi
put "" "$triggers"

plan 31

# args FUNCTION: print the arguments of its calls in the trace, and - for calls without
args()
{
	sed -n -e "s/^.*CPU [0-9]*: .* $1+[^ ]* [^(]*(\\([^)]*\\)) <-- .*/\\1/p" -e t \
		-e "s/^.*CPU [0-9]*: .* $1+.* <-- .*/-/p" "$MCT_TRACE"
}

# callers N: print the first N functions of the chains
callers()
{
	sed -n 's/^    -- \([^+]*\)+.*/\1/p' "$MCT_TRACE" | head -n "$1" | xargs
}

mod_load mct_shapes
put 'mod:mct_shapes' "$filter"

check "an args trigger can be set" put shape_six:args "$triggers"
equal "the args trigger is in the list" shape_six:args "$(lines)"
traced mod_set mct_shapes shape pointer
equal "the call is recorded with its arguments" "$six" "$(args shape_six)"
equal "other calls are recorded without arguments" - "$(args shape_pointer_tail)"
equal "each call is a hit" 1 "$(hits shape_six:args)"
check "the counts add up" counts_add_up
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "each line is well-formed" examine "$MCT_TMP/trace"
printf 'shape_six:args\nshape_pointer_tail:args\n' > "$triggers"
traced mod_set mct_shapes shape pointer
equal "two functions can have args triggers" \
	"$swapped; $six" "$(args shape_pointer_tail); $(args shape_six)"
put shape_bool:args:2 "$triggers"
traced mod_set mct_shapes rounds 2
equal "with a count of 2 two calls have arguments" \
	"2 -" "$(args shape_bool | grep -c '^0x[12], 0x[12]') $(
	args shape_bool | sed '1,2d' | sort -u)"
equal "the remaining count is 0" shape_bool:args:0 "$(lines)"
put shape_end "$filter"
put shape_six:args "$triggers"
traced mod_set mct_shapes shape pointer
equal "a function that is not selected is recorded with its arguments" "$six" "$(args shape_six)"
put 1 "$pid"
traced mod_set mct_shapes shape pointer
equal "tasks that are not traced are not recorded" "" "$(args shape_six)"
put "" "$pid"
put 'mod:mct_shapes' "$filter"

# --- together with other triggers
printf 'shape_six:%s\n' args 'stacktrace depth=2' mark count > "$triggers"
traced mod_set mct_shapes shape pointer
equal "with a stacktrace trigger the call is recorded once" "$six" "$(args shape_six)"
equal "with a stacktrace trigger the chain is recorded" \
	run_pointer "$(callers 2 | xargs -n 1 | grep -x run_pointer)"
equal "with a mark trigger the mark is recorded" 1 "$(grep -c '^# mark .* shape_six+' "$MCT_TRACE")"
printf 'shape_six:args\nshape_six:traceoff\n' > "$triggers"
traced mod_set mct_shapes shape pointer
equal "the call that stops recording has its arguments" "$six" "$(args shape_six)"
equal "the traceoff trigger stops recording" 0 "$(cat "$on")"
put 1 "$on"
put shape_end "$filter"
traced mod_set mct_shapes shape pointer
equal "the call that stops recording has its arguments if it is not selected" \
	"$six" "$(args shape_six)"
put 1 "$on"
put 'mod:mct_shapes' "$filter"
put shape_six:args "$triggers"
if put graph "$mode" 2> /dev/null; then
	traced mod_set mct_shapes shape pointer
	equal "in graph mode the return belongs to the call" "$six 1" "$(args shape_six) $(
		grep -c ' shape_six+[^ ]* .*returns after ~*[0-9]* ns -->' "$MCT_TRACE")"
	put function "$mode"
else
	skip "in graph mode the return belongs to the call" "returns are not seen"
fi
put time "$MCT_OPTIONS"
traced mod_set mct_shapes shape pointer
equal "with times the call has its arguments" "$six" "$(args shape_six)"
put notime "$MCT_OPTIONS"
trace_clear
trace_on
mod_set mct_shapes shape pointer
trace_off
"$MCT_BIN/pipecheck" drain "$MCT_PIPE" > "$MCT_TMP/pipe"
equal "trace_pipe prints the arguments" 1 "$(grep -c " shape_six+.* ($six) <-- " "$MCT_TMP/pipe")"

# --- addresses
put shape_char:args "$triggers"
put 0 $restrict
traced mod_set mct_shapes rounds 1
check "a reader that may see addresses sees them" sh -c \
	"echo '$(args shape_char | head -n 1)' | grep -q '^$address, 0x1'"
raw=$(args shape_char | head -n 1)
raw=${raw%%,*}
put 2 $restrict
hashed=$(args shape_char | head -n 1)
hashed=${hashed%%,*}
diag "hashed: $hashed"
check "a reader that may not see addresses sees a hash" \
	sh -c "[ -n '$hashed' ] && [ '$hashed' != '$raw' ]"
equal "the address is not in the trace" 0 "$(grep -c "${raw#0x}" "$MCT_TRACE")"
equal "numbers are shown unchanged" 0x1 "$(args shape_char | head -n 1 | cut -d ' ' -f 2 | tr -d ,)"
put "$restricted" $restrict

# --- invalid triggers
for bad in 'shape_six:args 3' shape_six:args:x 'shape_six:fail:args' 'shape_six:slow 1ms:args' \
	'*:args' 'shape_six:args depth=3'; do
	result=$(set_to "$bad")
	case $result in
	"write EINVAL" | "write EOPNOTSUPP")	result=refused ;;
	*)	diag "$bad: $result"; break ;;
	esac
done
equal "an invalid trigger is refused" refused "$result"
equal "the list is as before after these errors" shape_char:args "$(lines)"
check "the trigger can be removed" add '!shape_char:args'
equal "the list is empty after the removal" "" "$(lines)"
check "args with a count can be set at all functions" put '*:args:50' "$triggers"
put "" "$filter"
traced mod_set mct_shapes rounds 1
equal "args at all functions runs as often as its count" \
	50 "$(grep -c '+0x[^ ]* \(\[[^]]*\] \)*(0x' "$MCT_TRACE")"
finish
