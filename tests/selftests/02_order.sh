#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Tracing needs both switches, in any order, and stops with either
# requires: root tracer hackbench

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 22

twice()
{
	put "$1" "$2" && put "$1" "$2"
}

# Both are off now.
equal "ctrl reads 0 when off" 0 "$(cat "$MCT_CTRL")"
equal "the sysctl reads 0 when off" 0 "$(cat "$MCT_SYSCTL")"

load_start
check "nothing is written when both are off" records_stand

put 1 "$MCT_SYSCTL"
equal "the sysctl reads 1" 1 "$(cat "$MCT_SYSCTL")"
equal "the sysctl does not change ctrl" 0 "$(cat "$MCT_CTRL")"
check "nothing is written with the sysctl alone" records_stand
put 1 "$MCT_CTRL"
equal "ctrl reads 1" 1 "$(cat "$MCT_CTRL")"
check "records are written if the sysctl is switched on first" wait_until 10 records_flow

put 0 "$MCT_SYSCTL"
check "the sysctl alone stops recording" records_stand
equal "the hook stays registered" 1 "$(cat "$MCT_CTRL")"
put 0 "$MCT_CTRL"
equal "ctrl reads 0 again" 0 "$(cat "$MCT_CTRL")"

put 1 "$MCT_CTRL"
check "nothing is written with ctrl alone" records_stand
equal "ctrl does not change the sysctl" 0 "$(cat "$MCT_SYSCTL")"
put 1 "$MCT_SYSCTL"
check "records are written if ctrl is switched on first" wait_until 10 records_flow

put 0 "$MCT_CTRL"
check "ctrl alone stops recording" records_stand
equal "the sysctl stays on" 1 "$(cat "$MCT_SYSCTL")"

# Writing a value twice changes nothing.
check "0 in ctrl twice is no error" twice 0 "$MCT_CTRL"
check "nothing is written after 0 in ctrl twice" records_stand
check "1 in ctrl twice is no error" twice 1 "$MCT_CTRL"
check "1 in the sysctl twice is no error" twice 1 "$MCT_SYSCTL"
check "records are written after 1 in both twice" wait_until 10 records_flow
twice 0 "$MCT_SYSCTL"
check "0 in the sysctl twice stops recording" records_stand
finish
