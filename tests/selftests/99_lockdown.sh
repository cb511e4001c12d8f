#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A locked down kernel shows and records nothing; lasts until reboot
# requires: root tracer lockdown helper:badwrite

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lockdown=/sys/kernel/security/lockdown

grep -q '\[confidentiality\]' "$lockdown" &&
	skip_all "the kernel is locked down already"

plan 16

# The last moment of freedom.
trace_on
check "records are written before" wait_until 10 records_flow
put 0 "$MCT_CTRL"
for file in "$MCT_CTRL" "$MCT_TRACE" "$MCT_STATS"; do
	equal "before, ${file##*/} can be opened" "ok 0" \
		"$("$MCT_BIN/badwrite" -r "$file")"
done

check "the kernel can be locked down" put confidentiality "$lockdown"

for file in "$MCT_CTRL" "$MCT_TRACE" "$MCT_STATS"; do
	equal "${file##*/} can not be read" "open EPERM" \
		"$("$MCT_BIN/badwrite" -r "$file")"
	equal "${file##*/} can not be written" "open EPERM" \
		"$("$MCT_BIN/badwrite" -w "$file")"
done
equal "trace can not be cleared" "open EPERM" \
	"$("$MCT_BIN/badwrite" -t "$MCT_TRACE")"

# The sysctl was on: it may go off, and stays so.
equal "the sysctl can be switched off" "ok 1" \
	"$(printf 0 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"
equal "and not on" "write EPERM" \
	"$(printf 1 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"
equal "it is off" 0 "$(cat "$MCT_SYSCTL")"
equal "bad input is still EINVAL" "write EINVAL" \
	"$(printf 2 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"
finish
