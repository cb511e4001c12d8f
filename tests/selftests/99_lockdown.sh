#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A locked down kernel shows and records nothing, until reboot
# requires: root tracer lockdown helper:badwrite

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lockdown=/sys/kernel/security/lockdown

grep -q '\[confidentiality\]' "$lockdown" &&
	skip_all "the kernel is locked down already"

plan 37

# Try all existing files and ways to open them.
openings()
{
	local file how
	for file in ctrl:-r ctrl:-w options:-r options:-w buffer_size_kb:-r \
		buffer_size_kb:-w stats:-r trace:-r trace:-t trace_pipe:-r \
		per_cpu/cpu0/trace:-r per_cpu/cpu0/trace:-t per_cpu/cpu0/raw:-r; do
		how=${file#*:}
		file=${file%:*}
		equal "$1: $file can not be opened with $how" "open EPERM" \
			"$("$MCT_BIN/badwrite" "$how" "$MCT_DIR/$file")"
	done
}

# Before the lockdown.
trace_on
check "records are written before the lockdown" wait_until 10 records_flow
put 0 "$MCT_CTRL"
for file in "$MCT_CTRL" "$MCT_TRACE" "$MCT_STATS"; do
	equal "before the lockdown ${file##*/} can be opened" "ok 0" \
		"$("$MCT_BIN/badwrite" -r "$file")"
done

# Lockdown for integrity protects memory from changes; a trace changes nothing.
if grep -q '\[integrity\]' "$lockdown"; then
	skip "the kernel can be locked down for integrity" "it is already"
else
	check "the kernel can be locked down for integrity" put integrity "$lockdown"
fi
openings integrity
equal "integrity: the sysctl can be switched on" "ok 1" \
	"$(printf 1 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"

check "the kernel can be locked down for confidentiality" \
	put confidentiality "$lockdown"
openings confidentiality

# The sysctl was on. It can be switched off, but not on again.
equal "the sysctl can be switched off" "ok 1" \
	"$(printf 0 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"
equal "the sysctl can not be switched on" "write EPERM" \
	"$(printf 1 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"
equal "the sysctl is off" 0 "$(cat "$MCT_SYSCTL")"
equal "bad input is still EINVAL" "write EINVAL" \
	"$(printf 2 | "$MCT_BIN/badwrite" "$MCT_SYSCTL")"
finish
