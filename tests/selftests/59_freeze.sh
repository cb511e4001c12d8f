#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: What is recorded before something goes wrong stays until somebody goes on
# requires: root tracer

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

sysrq=/proc/sysrq-trigger
on=$MCT_DIR/tracing_on
triggers=$MCT_DIR/triggers
kinds="warning hung_task soft_lockup hard_lockup"

[ -w $sysrq ] || skip_all "this kernel has no SysRq"

plan 28

at_end()
{
	put "" "$triggers"
	for kind in $kinds; do
		put "nofreeze_on_$kind" "$MCT_OPTIONS"
	done
	put 1 "$on"
	rings_restore
}

freeze()
{
	echo T >$sysrq
}

is_frozen()
{
	grep -qx "# frozen: sysrq" "$MCT_STATS" && [ "$(cat "$on")" = 0 ]
}

is_not_frozen()
{
	! grep -q frozen "$MCT_STATS" && [ "$(cat "$on")" = 1 ]
}

head_says_so()
{
	sed '/^[^#]/q' "$MCT_TRACE" | grep -qx "# frozen: sysrq"
}

written()
{
	stat_sum 3
}

# Whether calls are counted or recorded, of something that makes many.
comes()
{
	before=$(written)
	ls / >/dev/null
	[ "$(written)" -gt "$before" ]
}

rings_small
check "it is not frozen" is_not_frozen
trace_on
check "calls are recorded" comes

freeze
check "SysRq-T freezes it" is_frozen
check "trace says so at its head" head_says_so
check "no call comes" not comes
cp "$MCT_TRACE" "$MCT_TMP/frozen"
check "there are some from before" grep -q "^CPU .* <-- " "$MCT_TMP/frozen"
ls -R /proc/self/ >/dev/null 2>&1
freeze
check "once more changes nothing" is_frozen
cp "$MCT_TRACE" "$MCT_TMP/later"
check "and what was recorded stays" cmp "$MCT_TMP/frozen" "$MCT_TMP/later"
check "the counts add up" counts_add_up

put "do_sys_openat2:traceon" "$triggers"
ls / >/dev/null
check "a trigger is met" grep -q "^do_sys_openat2:traceon.*# [1-9]" "$triggers"
check "and does not thaw it" is_frozen
put "" "$triggers"
put 0 "$on"
check "tracing_on 0 leaves it frozen" is_frozen
put 1 "$on"
check "tracing_on 1 thaws it" is_not_frozen
check "then calls are recorded" comes

freeze
check "it can be frozen again" is_frozen
put 1 "$MCT_CTRL"
check "1 in ctrl thaws it" is_not_frozen
check "and calls are recorded" comes
trace_off
freeze
trace_on
check "nor does it stay where nobody traced" is_not_frozen
check "and calls come then" comes
trace_off

for kind in $kinds; do
	check "$kind is an option, and off" grep -qx "nofreeze_on_$kind" "$MCT_OPTIONS"
done
for kind in $kinds; do
	put "freeze_on_$kind" "$MCT_OPTIONS"
	check "$kind can be set" grep -qx "freeze_on_$kind" "$MCT_OPTIONS"
done
check "a word that is none is refused" not put freeze_on_sunday "$MCT_OPTIONS"

finish
