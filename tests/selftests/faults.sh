# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Let allocations fail by fault injection (Documentation/fault-injection/). Sourced after lib.sh.

FAULTS=/sys/kernel/debug

# Settings that faults_begin saves. It sets the first four and verbose to 0: then small
# allocations, allocations that may sleep and allocations from high memory fail, too, and nothing
# is logged.
faults_settings="failslab/ignore-gfp-wait fail_page_alloc/ignore-gfp-wait
	fail_page_alloc/ignore-gfp-highmem fail_page_alloc/min-order
	failslab/probability fail_page_alloc/probability
	failslab/times fail_page_alloc/times
	failslab/task-filter fail_page_alloc/task-filter
	failslab/verbose fail_page_alloc/verbose"

faults_saved()
{
	echo "$MCT_TMP/faults.${1%/*}.${1#*/}"
}

# Succeed if this kernel can inject allocation failures.
faults_there()
{
	[ -d $FAULTS/failslab ] && [ -d $FAULTS/fail_page_alloc ] &&
		[ -e /proc/self/fail-nth ]
}

faults_begin()
{
	local setting
	for setting in $faults_settings; do
		cat "$FAULTS/$setting" > "$(faults_saved "$setting")"
		case $setting in
		*/task-filter | */probability | */times) ;;
		*)	put 0 "$FAULTS/$setting" ;;
		esac
	done
}

# faults_random PERCENT: let this share of allocations fail in each task with a 1 in
# /proc/self/make-it-fail, and in no other task
faults_random()
{
	local kind
	for kind in failslab fail_page_alloc; do
		put Y $FAULTS/$kind/task-filter
		put -1 $FAULTS/$kind/times
		put "$1" $FAULTS/$kind/probability
	done
}

# Probability is restored before task-filter: without the filter, allocations of all tasks would
# fail.
faults_end()
{
	local setting
	for setting in $faults_settings; do
		[ ! -e "$(faults_saved "$setting")" ] ||
			cat "$(faults_saved "$setting")" > "$FAULTS/$setting"
	done
}
