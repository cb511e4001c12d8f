#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: After random changes of the selected functions each call site is as expected
# requires: root tracer hackbench kcore helper:choices helper:kerneltext
# requires: testmod:mct_target testmod:mct_twin testmod:mct_initfail

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 18

# The same MCT_SEED repeats the same steps.
seed=${MCT_SEED:-$(($(date +%s) % 1000000 + 1))}
steps=${MCT_CHOICE_STEPS:-40}
model=$MCT_TMP/model
text=$MCT_TMP/text
said=$MCT_TMP/said
lists="filter notrace triggers"
loading=

modules_gone()
{
	local name

	for name in mct_target mct_twin; do
		mod_loaded $name || continue
		mod_set $name hold 0
		wait_until 10 mod_unload $name
	done
	[ -z "$loading" ] || wait "$loading"
	loading=
} 2>/dev/null

at_end()
{
	local name

	for name in $lists; do
		put "" "$MCT_DIR/$name"
	done
	modules_gone
	rings_restore
}

choices()
{
	"$MCT_BIN/choices" "$@" "$model"
}

look()
{
	"$MCT_BIN/kerneltext" sites > "$model/now"
}

# random N: $r is one of 0 to N - 1
random()
{
	state=$(((state * 1103515245 + 12345) % 2147483648))
	r=$((state / 65536 % $1))
}

# --- the steps; each describes itself in $did

# as_wanted: succeed if each call site is what the model expects now
as_wanted()
{
	local mode=off

	[ "$(cat "$MCT_CTRL") $(cat "$MCT_SYSCTL")" != "1 1" ] || mode=on
	[ "$kind" = dynamic ] || mode=static
	look && choices check $mode
}

# write LIST replace|append: write $text to the list
write()
{
	did="$2 $1: $(tr '\n' ';' < "$text")"
	writes=$((writes + 1))
	choices write "$MCT_DIR/$1" "$2" "$1" < "$text" > "$said" || return 1
	did="$did $(cat "$said")"
	[ "$(cat "$said")" = ok ] || refused=$((refused + 1))
	written_back "$1" > "$said"
}

# written_back LIST: write what LIST contains back, and succeed if it is the same after that. If a
# module is not loaded, the text selects the same functions, but by other expressions.
written_back()
{
	cat "$MCT_DIR/$1" > "$MCT_TMP/read"
	[ "$1" != triggers ] && ! grep -q '# not loaded' "$MCT_TMP/read" || return 0
	backs=$((backs + 1))
	cat "$MCT_TMP/read" > "$MCT_DIR/$1" && diff "$MCT_TMP/read" "$MCT_DIR/$1"
}

# A long list is replaced.
random_write()
{
	local how=append

	[ "$(wc -l < "$model/$1")" -lt 8 ] || how=replace
	random 10
	case $r in
	0)	: > "$text"
		write "$1" replace
		return ;;
	1)	how=replace ;;
	esac
	random 32768
	choices random $((seed * 1000 + step + r)) "$1" > "$text"
	write "$1" $how
}

# held NAME: load the module, and wait until its init runs and stops
held()
{
	mod_load "$1" hold=1 &
	loading=$!
	wait_until "$MCT_PATIENCE" grep -qsx 2 "/sys/module/$1/parameters/hold"
}

released()
{
	mod_set "$1" hold 0
	wait "$loading"
	loading=
}

random_module()
{
	local name=mct_target

	random 2
	[ "$r" = 0 ] || name=mct_twin
	random 5
	moves=$((moves + 1))
	if [ "$r" = 0 ]; then
		did="load mct_initfail, which fails"
		! mod_load mct_initfail 2>/dev/null
	elif mod_loaded $name; then
		did="unload $name"
		mod_unload $name
	elif [ "$r" -le 2 ]; then
		did="load $name, and look while its init runs"
		held $name && as_wanted > "$said" && released $name
	else
		did="load $name"
		mod_load $name
	fi
}

# Switch both on, or one off.
switch()
{
	random 6
	case $r in
	0)	did="put 0 > ctrl"; put 0 "$MCT_CTRL" ;;
	1)	did="put 0 > mcount_enabled"; put 0 "$MCT_SYSCTL" ;;
	*)	did="both on"; trace_on ;;
	esac
}

random_step()
{
	random 100
	case $((r / 2)) in
	? | 1[0-2])	random_write filter ;;
	1[3-9])		random_write notrace ;;
	2? | 3[01])	random_write triggers ;;
	3[2-7])		switch ;;
	*)		random_module ;;
	esac
}

# Functions that window calls for sure: they must be in its trace if they are selected.
sure="ksys_read ksys_write vfs_read vfs_write read_zero write_null
	mct_target_leaf mct_target_branch mct_twin_leaf mct_twin_branch"

window()
{
	local ctrl sysctl name

	ctrl=$(cat "$MCT_CTRL")
	sysctl=$(cat "$MCT_SYSCTL")
	trace_off
	trace_clear
	trace_on
	work
	dd if=/dev/zero of=/dev/null bs=1 count=10 2>/dev/null
	for name in mct_target mct_twin; do
		! mod_loaded $name || mod_set $name calls 3
	done
	trace_off
	cat "$MCT_TRACE" > "$MCT_TMP/trace"
	put "$ctrl" "$MCT_CTRL"
	put "$sysctl" "$MCT_SYSCTL"
	windows=$((windows + 1))
	# shellcheck disable=SC2086 # a list
	"$MCT_BIN/choices" trace "$MCT_TMP/trace" "$model" $sure
}

# failed WHAT: report the failed step and how to repeat it.
failed()
{
	diag "$1: step $step, with mct.SEED=$seed: $did"
	diag_lines < "$said"
	for name in $lists; do
		diag "$name: $(xargs < "$model/$name")"
	done
}

# --- find the call sites
mkdir "$model"
for name in $lists; do
	: > "$model/$name"
done
kind=$(text_kind)
# With static call sites only the trace shows which functions are selected.
often=8
[ "$kind" = dynamic ] || often=3
put 1024 "$MCT_SIZE"
diag "seed $seed, $steps steps, call sites are $kind"

trace_on
for name in mct_target mct_twin; do
	held $name
	look
	awk -v name=$name '$1 == "hook" && $3 == name' "$model/now"
	released $name
done > "$MCT_TMP/held"
look
cat "$MCT_DIR/functions" > "$MCT_TMP/functions"
# The kernel's sites, then the modules' sites.
awk '$1 == "hook" && $3 == "-"' "$model/now" > "$model/sites"
awk '$1 == "hook" && $3 != "-"' "$model/now" > "$MCT_TMP/stay"
cat "$MCT_TMP/stay" >> "$model/sites"
at_least "thousands of call sites call the stub while all functions are traced" \
	10000 "$(wc -l < "$model/sites")"
equal "functions lists as many functions as call sites" \
	"$(wc -l < "$model/sites")" "$(wc -l < "$MCT_TMP/functions")"
equal "functions lists the functions of these call sites" "" "$(awk '
	FILENAME ~ /sites$/ {
		for (i = 4; i <= NF; i++)
			name[$i ($3 == "-" ? "" : " [" $3 "]")]
		next
	}
	!($0 in name)' "$model/sites" "$MCT_TMP/functions" | head -n 5)"
grep -Fvx -f "$MCT_TMP/stay" "$MCT_TMP/held" | sed 's/^hook/init/' >> "$model/sites"
equal "a module has more call sites while its init runs" 4 "$(grep -c '^init' "$model/sites")"
modules_gone
work
trace_off
text_save before
check "each call site is as expected while tracing is off" as_wanted

# --- each kind of change once, to show that the test sees it
step=0 writes=0 refused=0 backs=0 moves=0 windows=0 state=$seed
wrong=
trace_on
for change in 'filter:vfs_* ksys_*' 'notrace:vfs_read' 'triggers:read_zero:count' \
	'filter:mod:mct_twin !mct_twin_leaf:mod:mct_twin' 'notrace:no_such_function' \
	'notrace:mct_target_branch:mod:mct_target' 'triggers:mct_*:mod:mct_target:count'; do
	printf '%s\n' "${change#*:}" > "$text"
	write "${change%%:*}" append || wrong=1
done
[ -z "$wrong" ] || failed "a list"
equal "each write gives the expected result and list" "" "$wrong"
if ! as_wanted > "$said"; then
	wrong=1
	failed "call sites"
fi
equal "each call site is as expected after these writes" "" "$wrong"
if [ "$kind" = dynamic ]; then
	at_least "some call sites call the hook" \
		10 "$(sed -n 's/.*hooks \([0-9]*\).*/\1/p' "$said")"
	equal "one call site calls the pre-handler" \
		1 "$(sed -n 's/.*gates \([0-9]*\).*/\1/p' "$said")"
else
	skip "some call sites call the hook" "call sites are static"
	skip "one call site calls the pre-handler" "call sites are static"
fi
wrong=
for did in mct_target mct_twin; do
	held "$did"
	as_wanted > "$said" || wrong="$wrong $did in init"
	[ -z "$wrong" ] || break
	released "$did"
	as_wanted > "$said" || wrong="$wrong $did"
done
[ -z "$wrong" ] || failed "a module comes"
equal "each call site of loading modules is as expected" "" "$wrong"
[ -z "$loading" ] || released "$did"

# --- random steps
written='' placed='' recorded=''
while [ "$step" -lt "$steps" ]; do
	step=$((step + 1))
	did=
	if ! random_step; then
		failed "$did"
		written=$step
		break
	fi
	if ! as_wanted > "$said"; then
		placed=$step
		failed "call sites"
		break
	fi
	[ $((step % often)) = 0 ] || continue
	if ! window > "$said"; then
		recorded=$step
		failed "trace"
		break
	fi
done
equal "each random change gives the expected result and lists" "" "$written"
equal "each call site is as expected after each random step" "" "$placed"
equal "the selected functions are recorded, and no others" "" "$recorded"
equal "all steps were made" "$steps" "$step"
at_least "most lists were written back" $((writes / 4)) "$backs"
diag "$writes writes, $refused of them refused, $backs lists written back," \
	"modules came and went $moves times, $windows windows"

# --- empty lists restore the beginning
for name in $lists; do
	: > "$text"
	write "$name" replace > /dev/null || diag_lines < "$said"
done
# shellcheck disable=SC2086 # a list
equal "the lists can be emptied" "" "$(cd "$model" && cat $lists)$(cd "$MCT_DIR" && cat $lists)"
trace_off
modules_gone
check "all call sites are as before with empty lists" as_wanted
text_save after
check "all text is as before with empty lists" text_same before after
finish
