# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Allocations that fail because they are told to: Documentation/fault-injection/.
# To be sourced after lib.sh.

FAULTS=/sys/kernel/debug

# What is set: that small allocations, those that may wait and those of high
# memory fail, too, and that nothing is said of it.
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

# Can this kernel let allocations fail?
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

# faults_random PERCENT: that many of the allocations fail of each task that has
# a 1 in /proc/self/make-it-fail, and of no other.
faults_random()
{
	local kind
	for kind in failslab fail_page_alloc; do
		put Y $FAULTS/$kind/task-filter
		put -1 $FAULTS/$kind/times
		put "$1" $FAULTS/$kind/probability
	done
}

# In this order: nobody's allocations fail any more before the filter goes.
faults_end()
{
	local setting
	for setting in $faults_settings; do
		[ ! -e "$(faults_saved "$setting")" ] ||
			cat "$(faults_saved "$setting")" > "$FAULTS/$setting"
	done
}
