#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The trigger data records memory behind arguments; "followed" needs a followed object
# requires: root tracer testmod:mct_shapes helper:badwrite helper:pipecheck helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter
restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put "$restricted" $restrict
	! mod_loaded mct_shapes || mod_unload mct_shapes
	rings_restore
}

if [ "$(set_to 'vfs_read:data 2')" = "write EOPNOTSUPP" ]; then
	plan 2
	check "with static call sites the log names the missing option" why CONFIG_MCOUNT_DYNAMIC
	equal "the refused trigger is not in the list" "" "$(lines)"
	finish
fi
put "" "$triggers"

plan 24

# data FUNCTION: print the data of its calls in the trace, and - for calls without
data()
{
	sed -n -e "s/^.*CPU [0-9]*: .* $1+[^ ]* [^<\"]* \([<\"][0-9a-zA-Z]*[>\"]\).* <-- .*/\1/p" \
		-e t \
		-e "s/^.*CPU [0-9]*: .* $1+.* <-- .*/-/p" "$MCT_TRACE" | tr '\n' ' ' | sed 's/ $//'
}

mod_load mct_shapes
put 'mod:mct_shapes' "$filter"
put 0 $restrict
size=$(($(getconf LONG_BIT 2> /dev/null || uname -m | sed 's/.*64/64/; t; s/.*/32/') / 8))

check "a data trigger can be set" put 'shape_char:data 1' "$triggers"
equal "the data trigger is in the list" 'shape_char:data 1' "$(lines)"
traced mod_set mct_shapes shape narrow
equal "a string is shown as a string" '"abc"' "$(data shape_char)"
equal "other calls are recorded without data" "- -" "$(data shape_bool)"
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "each line is well-formed" examine "$MCT_TMP/trace"
check "the counts add up" counts_add_up
put 'shape_char:data 1,2' "$triggers"
equal "the length is in the list" 'shape_char:data 1,2' "$(lines)"
traced mod_set mct_shapes shape narrow
equal "the data has at most that length" '"ab"' "$(data shape_char)"
put "shape_use:data 2.$((2 * size)),5" "$triggers"
traced mod_set mct_shapes shape objects
equal "memory at an offset is recorded" '<0000000000> <0000000000> "copy" <0000000000>' \
	"$(data shape_use)"
put "shape_use:data 2->$size.$((2 * size)),1" "$triggers"
traced mod_set mct_shapes shape objects
equal "memory behind another pointer is recorded" "- - <00> -" "$(data shape_use)"
put "shape_use:data 2->$size->$size,1" "$triggers"
traced mod_set mct_shapes shape objects
equal "memory that can't be read is omitted" "- - - -" "$(data shape_use)"
put "shape_use:data 2+0,1" "$triggers"
traced mod_set mct_shapes shape objects
equal "an offset that memory contains is added" "<00> <00> <00> <00>" "$(data shape_use)"
put 'shape_six:data 2' "$triggers"
traced mod_set mct_shapes shape pointer
equal "a call with an invalid pointer has no data" - "$(data shape_six)"
printf 'shape_char:data 1\nshape_char:args\nshape_char:stacktrace\n' > "$triggers"
traced mod_set mct_shapes shape narrow
equal "data is recorded with arguments and callers" 1 \
	"$(grep -c ' shape_char+.* (0x.*, 0x1, .*) "abc" <-- ' "$MCT_TRACE")"
trace_clear
trace_on
mod_set mct_shapes shape narrow
trace_off
put 2 $restrict
equal "a reader that may not see addresses does not see the data" "<hidden>" "$(data shape_char)"
put 0 $restrict
"$MCT_BIN/pipecheck" drain "$MCT_PIPE" > "$MCT_TMP/pipe"
equal "trace_pipe prints the data" 1 "$(grep -c ' shape_char+.* "abc" <-- ' "$MCT_TMP/pipe")"

# --- actions for followed objects only
if [ "$(set_to 'shape_use:followed:args')" = "write EOPNOTSUPP" ]; then
	for name in "a call with a followed object runs the action" \
		"the action for followed objects is in the list" \
		"a call with another object does not run the action" \
		"without follow triggers all calls are recorded" \
		"without follow triggers no call runs the action"; do
		skip "$name" "nothing can be followed"
	done
else
	printf '%s\n' 'shape_copy:follow 1' 'shape_use:followed:data 2.0,1' \
		'shape_drop:unfollow 1' > "$triggers"
	traced mod_set mct_shapes shape objects
	equal "a call with a followed object runs the action" "<00>" "$(data shape_use)"
	equal "the action for followed objects is in the list" \
		'shape_use:followed:data 2.0,1' "$(lines | grep followed)"
	equal "a call with another object does not run the action" \
		1 "$(hits 'shape_use:followed:data 2.0,1')"
	put 'shape_use:followed:args' "$triggers"
	traced mod_set mct_shapes shape objects
	equal "without follow triggers all calls are recorded" \
		4 "$(grep -c ' shape_use+.* <-- ' "$MCT_TRACE")"
	equal "without follow triggers no call runs the action" \
		0 "$(grep -c ' shape_use+.* (.*) <-- ' "$MCT_TRACE")"
fi

# --- invalid triggers
put 'shape_char:data 1' "$triggers"
for bad in shape_six:data 'shape_six:data 0' 'shape_six:data 7' 'shape_six:data 1,0' \
	'shape_six:data 1,99' 'shape_six:data 1->' 'shape_six:data 1->1->2->3->4' \
	'shape_six:data 1.70000' 'shape_six:data ret' 'shape_six:fail:data 1' '*:data 1' \
	'shape_six:followed:ret' 'shape_six:followed:follow 1' 'shape_six:followed' \
	'shape_six:data 1,2,3' 'shape_six:data 1+' 'shape_six:data len=3'; do
	result=$(set_to "$bad")
	case $result in
	"write EINVAL" | "write EOPNOTSUPP")	result=refused ;;
	*)	diag "$bad: $result"; break ;;
	esac
done
equal "an invalid trigger is refused" refused "$result"
equal "the list is as before after these errors" 'shape_char:data 1' "$(lines)"
check "the data trigger can be removed" add '!shape_char:data 1'
finish
