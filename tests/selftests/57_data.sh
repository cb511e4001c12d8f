#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The trigger data records memory that arguments point to; followed: asks for objects
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
	check "where call sites are static the log says what is missing" why CONFIG_MCOUNT_DYNAMIC
	equal "and nothing is set" "" "$(lines)"
	finish
fi
put "" "$triggers"

plan 24

# data FUNCTION: what its calls in the trace come with, - for those without
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

check "data is set" put 'shape_char:data 1' "$triggers"
equal "and is in the list" 'shape_char:data 1' "$(lines)"
traced mod_set mct_shapes shape narrow
equal "a string is one" '"abc"' "$(data shape_char)"
equal "others come without" "- -" "$(data shape_bool)"
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "each line is well-formed" examine "$MCT_TMP/trace"
check "the counts add up" counts_add_up
put 'shape_char:data 1,2' "$triggers"
equal "how long it may be is in the list" 'shape_char:data 1,2' "$(lines)"
traced mod_set mct_shapes shape narrow
equal "it is as long as it may be" '"ab"' "$(data shape_char)"
put "shape_use:data 2.$((2 * size)),5" "$triggers"
traced mod_set mct_shapes shape objects
equal "what is so many bytes behind" '<0000000000> <0000000000> "copy" <0000000000>' \
	"$(data shape_use)"
put "shape_use:data 2->$size.$((2 * size)),1" "$triggers"
traced mod_set mct_shapes shape objects
equal "where another pointer points to" "- - <00> -" "$(data shape_use)"
put "shape_use:data 2->$size->$size,1" "$triggers"
traced mod_set mct_shapes shape objects
equal "what can't be read is left out" "- - - -" "$(data shape_use)"
put "shape_use:data 2+0,1" "$triggers"
traced mod_set mct_shapes shape objects
equal "a number that lies there is added" "<00> <00> <00> <00>" "$(data shape_use)"
put 'shape_six:data 2' "$triggers"
traced mod_set mct_shapes shape pointer
equal "what points nowhere has none" - "$(data shape_six)"
printf 'shape_char:data 1\nshape_char:args\nshape_char:stacktrace\n' > "$triggers"
traced mod_set mct_shapes shape narrow
equal "with arguments and callers" 1 \
	"$(grep -c ' shape_char+.* (0x.*, 0x1, .*) "abc" <-- ' "$MCT_TRACE")"
trace_clear
trace_on
mod_set mct_shapes shape narrow
trace_off
put 2 $restrict
equal "who may not see addresses does not see it" "<hidden>" "$(data shape_char)"
put 0 $restrict
"$MCT_BIN/pipecheck" drain "$MCT_PIPE" > "$MCT_TMP/pipe"
equal "trace_pipe has it, too" 1 "$(grep -c ' shape_char+.* "abc" <-- ' "$MCT_TMP/pipe")"

# --- only of objects
if [ "$(set_to 'shape_use:followed:args')" = "write EOPNOTSUPP" ]; then
	for name in "an action for what is followed" "that is in the list" \
		"and is not done for others" "where all else is recorded" \
		"nor when nothing is followed"; do
		skip "$name" "nothing can be followed"
	done
else
	printf '%s\n' 'shape_copy:follow 1' 'shape_use:followed:data 2.0,1' \
		'shape_drop:unfollow 1' > "$triggers"
	traced mod_set mct_shapes shape objects
	equal "an action for what is followed" "<00>" "$(data shape_use)"
	equal "that is in the list" 'shape_use:followed:data 2.0,1' "$(lines | grep followed)"
	equal "and is not done for others" 1 "$(hits 'shape_use:followed:data 2.0,1')"
	put 'shape_use:followed:args' "$triggers"
	traced mod_set mct_shapes shape objects
	equal "where all else is recorded" 4 "$(grep -c ' shape_use+.* <-- ' "$MCT_TRACE")"
	equal "nor when nothing is followed" 0 "$(grep -c ' shape_use+.* (.*) <-- ' "$MCT_TRACE")"
fi

# --- what can't be set
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
equal "what makes no sense is refused" refused "$result"
equal "and the list is as it was" 'shape_char:data 1' "$(lines)"
check "it can be removed" add '!shape_char:data 1'
finish
