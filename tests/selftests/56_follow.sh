#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The triggers follow and unfollow record the calls that have an object as argument
# requires: root tracer testmod:mct_shapes helper:badwrite

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	! mod_loaded mct_shapes || mod_unload mct_shapes
	rings_restore
}

if [ "$(set_to 'vfs_read:follow 1')" = "write EOPNOTSUPP" ]; then
	plan 1
	check "without arguments the log names the missing option" why CONFIG_MCOUNT_FILTER
	finish
fi
put "" "$triggers"

plan 21

# about: print each call and return with its objects, "FUNCTION #NUMBER:ROLE...". Numbers begin
# with 1.
about()
{
	awk -v first="$first" '
	/^#/ || !/ shape_/ { next }
	{
		line = ""
		for (i = 1; i <= NF && $i !~ /^(<--|-->)$/; i++) {
			if ($i ~ /^shape_/) {
				sub(/\+.*/, "", $i)
				line = $i
			} else if ($i == "returns") {
				line = line " " $i
			} else if (line && $i ~ /^[-+]*#/) {
				split($i, part, /[#:]/)
				role = part[3] ? ":" part[3] : ""
				line = line " " part[1] "#" part[2] - first role
			}
		}
		printf "%s%s", sep, line
		sep = "; "
	}' "$MCT_TRACE"
}

mod_load mct_shapes
put 'mod:mct_shapes' "$filter"
first=0
check "a follow trigger can be set" put 'shape_pointer_tail:follow 3' "$triggers"
equal "the follow trigger is in the list" 'shape_pointer_tail:follow 3' "$(lines)"
traced mod_set mct_shapes shape pointer
equal "an argument that is no pointer is not followed" "" "$(about)"
put 'shape_char:follow 1' "$triggers"
traced mod_set mct_shapes shape tail
equal "no call is recorded while no object is followed" "" "$(about)"
twice()
{
	mod_set mct_shapes shape narrow
	mod_set mct_shapes shape tail
	mod_set mct_shapes shape narrow
}
traced twice
first=$(about | sed 's/[^#]*#\([0-9]*\).*/\1/')
first=$((first - 1))
equal "exactly the calls with a followed object are recorded" \
	"shape_char +#1:1; shape_char #1:1" "$(about)"
traced mod_set mct_shapes shape narrow
equal "the same address is a new object after tracing was off" "shape_char +#2:1" "$(about)"
check "an unfollow trigger can be set" add 'shape_char:unfollow 1'
traced twice
equal "the same address is a new object after unfollow" \
	"shape_char +-#3:1; shape_char +-#4:1" "$(about)"

# --- the path of objects through functions
# expect CALL...: set the expected trace
expect()
{
	expected="$*"
}

# follows NAME LINE...: report whether $shape gives the expected trace with these triggers
shape=objects
follows()
{
	name=$1
	shift
	put "" "$triggers"
	printf '%s\n' "$@" > "$triggers"
	traced mod_set mct_shapes shape $shape
	first=0
	first=$(about | sed 's/^[^#]*#\([0-9]*\).*/\1/')
	first=$((first - 1))
	equal "$name" "$expected" "$(about)"
}

shape=places
expect "shape_use +#1:2;" "shape_places #1:1;" "shape_places #1:2;" "shape_places #1:3;" \
	"shape_places #1:4;" "shape_places #1:5;" "shape_places #1:6;" "shape_drop -#1:1"
follows "an object is found as any argument" 'shape_use:follow 2' 'shape_drop:unfollow 1'
shape=objects
expect "shape_copy +#1:1;" "shape_use #1:2;" "shape_drop -#1:1"
follows "an object that is an argument is followed" \
	'shape_copy:follow 1' 'shape_drop:unfollow 1'
expect "shape_use +#1:2;" "shape_clone #1:1;" "shape_copy #1:2 +#2:1;" "shape_use +#3:2;" \
	"shape_user #1:1;" "shape_drop -#3:1;" "shape_drop -#1:1;" "shape_use #2:2;" \
	"shape_drop -#2:1;" "shape_use +#4:2;" "shape_drop -#4:1"
follows "a copy of an object is a new object" \
	'shape_use:follow 2' 'shape_copy:follow 2 -> 1' 'shape_drop:unfollow 1'
if [ "$(set_to 'shape_make:follow ret')" = "write EOPNOTSUPP" ]; then
	skip "a returned object is followed" "returns are not seen"
	skip "a returned copy of an object is followed" "returns are not seen"
	skip "a returned object is new without unfollow" "returns are not seen"
else
	expect "shape_make returns +#1:ret;" "shape_use #1:2;" "shape_clone #1:1;" \
		"shape_copy #1:2;" "shape_user #1:1;" "shape_drop -#1:1;" \
		"shape_make returns +#2:ret;" "shape_use #2:2;" "shape_drop -#2:1"
	follows "a returned object is followed" 'shape_make:follow ret' 'shape_drop:unfollow 1'
	expect "shape_make returns +#1:ret;" "shape_use #1:2;" "shape_clone #1:1;" \
		"shape_clone returns +#2:ret #1:1;" "shape_copy #1:2;" "shape_use #2:2;" \
		"shape_user #1:1;" "shape_drop -#2:1;" "shape_drop -#1:1;" \
		"shape_make returns +#3:ret;" "shape_use #3:2;" "shape_drop -#3:1"
	follows "a returned copy of an object is followed" \
		'shape_make:follow ret' 'shape_clone:follow 1 -> ret' 'shape_drop:unfollow 1'
	expect "shape_make returns +#1:ret;" "shape_use #1:2;" "shape_clone #1:1;" \
		"shape_copy #1:2;" "shape_user #1:1;" "shape_drop #1:1;" \
		"shape_make returns +#2:ret;" "shape_use #2:2;" "shape_drop #2:1"
	follows "a returned object is new without unfollow" 'shape_make:follow ret'
fi
expect "shape_user +#1:1;" "shape_outer #1;" "shape_middle #1;" "shape_inner #1;" \
	"shape_inner #1;" "shape_drop -#1:1"
follows "nested calls of a followed call are recorded with +calls" \
	'shape_user:follow 1 +calls' 'shape_drop:unfollow 1'

shape=arrays
expect "shape_use +#1:2;" "shape_use +#2:2;" "shape_use +#3:2;" "shape_use +#4:2;" \
	"shape_use +#5:2;" "shape_use +#6:2;" "shape_drop_all -#1:2 -#2:2 -#3:2 -#4:2;" \
	"shape_drop_all -#5:2 -#6:2;" "shape_use +#7:2;" "shape_drop_all -#7:2"
follows "unfollow releases all objects of an array" \
	'shape_use:follow 2' 'shape_drop_all:unfollow 2[1]'

put "" "$triggers"
traced mod_set mct_shapes shape tail
equal "all calls are recorded without follow triggers" "shape_tail; shape_end" "$(about)"
for bad in shape_six:follow 'shape_six:follow 0' 'shape_six:follow 7' 'shape_six:follow x' \
	'shape_six:follow n=1' 'shape_six:fail:follow 1' shape_six:unfollow \
	'shape_six:follow 1 -> 1' 'shape_six:follow 1 ->' 'shape_six:follow ret -> 1' \
	'shape_six:unfollow 1 -> 2' 'shape_six:unfollow 1 +calls' 'shape_six:unfollow 1[1]' \
	'shape_six:unfollow 1[ret]' 'shape_six:unfollow 1[2' 'shape_six:unfollow 1[]' \
	'shape_six:unfollow ret[1]' 'shape_six:follow 1[2]' \
	'shape_six:follow 1 -> 2 +calls'; do
	result=$(set_to "$bad")
	case $result in
	"write EINVAL" | "write EOPNOTSUPP")	result=refused ;;
	*)	diag "$bad: $result"; break ;;
	esac
done
equal "an invalid trigger is refused" refused "$result"
equal "the list stays empty after these errors" "" "$(lines)"

# The module comes while the tracer is off.
trace_off
mod_unload mct_shapes
put 'shape_use:mod:mct_shapes:follow 2' "$triggers"
mod_load mct_shapes
traced mod_set mct_shapes shape objects
at_least "an object is followed by a module that came while the tracer was off" 1 \
	"$(grep -c ' shape_use+.* +#' "$MCT_TRACE")"
equal "calls of other objects are not recorded then" "" \
	"$(grep ' shape_' "$MCT_TRACE" | grep -v '#')"
finish
