#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Bad input is refused and changes nothing; only root can open the files
# requires: root tracer helper:badwrite

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

badwrite=$MCT_BIN/badwrite

# write_as FORMAT ARGS...: write printf's output by badwrite and print its result
write_as()
{
	local format=$1
	shift
	# shellcheck disable=SC2059 # the format is the input
	printf "$format" | "$badwrite" "$@"
}

ones()
{
	head -c 65536 /dev/zero | tr '\0' 1 | "$badwrite" "$1"
}

# refused FILE: succeed if the file refuses all bad input and keeps its value, in both states
refused()
{
	local file=$1 state input got bad=

	for state in 0 1; do
		put "$state" "$file"
		for input in '' ' ' '\n' ' \t\n' 2 -1 -0 10 11 00 01 +1 0x1 \
			'1 1' '0 1' '1\n0' 1x x1 yes on y true 1.0 '1,' \
			'1\0' '0\0' '1\0\n' '\0001' 4294967296 4294967297 \
			18446744073709551617 '\377'; do
			got=$(write_as "$input" "$file")
			if [ "$got" != "write EINVAL" ]; then
				echo "'$input' with $state: $got"
				bad=1
			fi
			if [ "$(cat "$file")" != "$state" ]; then
				echo "'$input' changed $state"
				put "$state" "$file"
				bad=1
			fi
		done
		got=$(ones "$file")
		if [ "$got" != "write EINVAL" ]; then
			echo "64 KiB of 1 with $state: $got"
			bad=1
		fi
		for input in 0 1; do
			got=$(write_as "$input" -o 1 "$file")
			if [ "$got" != "write EINVAL" ]; then
				echo "$input at offset 1 with $state: $got"
				bad=1
			fi
		done
		if [ "$(cat "$file")" != "$state" ]; then
			echo "a long or displaced write changed $state"
			bad=1
		fi
	done
	put 0 "$file"
	[ -z "$bad" ]
}

# taken FILE: succeed if the file accepts white space around the digit
taken()
{
	local file=$1 input want got bad=

	for input in '1' '0\n' ' 1\n' '\t0 ' '\n1' '0 \n\n' '\v1\f' ' 0\r\n'; do
		want=$(printf '%b' "$input" | wc -c)
		got=$(write_as "$input" "$file")
		if [ "$got" != "ok $want" ]; then
			echo "'$input': $got"
			bad=1
		fi
		want=$(printf '%b' "$input" | tr -dc 01)
		got=$(cat "$file")
		if [ "$got" != "$want" ]; then
			echo "'$input' gives $got"
			bad=1
		fi
	done
	put 0 "$file"
	[ -z "$bad" ]
}

modes()
{
	stat -c '%a %u %g' "$@" | sort -u
}

plan 28

for file in "$MCT_CTRL" "$MCT_SYSCTL"; do
	check "${file##*/}: bad input is EINVAL and changes nothing" \
		refused "$file"
	check "${file##*/}: white space around the digit is accepted" \
		taken "$file"
	equal "${file##*/}: reads as the digit and a newline" "0
." "$(cat "$file"; echo .)"
done

# trace accepts any text: a write only clears the rings.
equal "trace: accepts a long write completely" "ok 65536" "$(ones "$MCT_TRACE")"
equal "trace: is empty after the long write" 0 "$(stat_sum "$ENTRIES")"
equal "trace: accepts binary data" "ok 3" "$(write_as '\0\1\377' "$MCT_TRACE")"

equal "only root can enter the directory" "open EACCES" \
	"$("$badwrite" -U 1000 -r "$MCT_DIR")"
equal "only root can read and write ctrl and trace" "600 0 0" \
	"$(modes "$MCT_CTRL" "$MCT_TRACE")"
equal "only root can read stats" "400 0 0" "$(modes "$MCT_STATS")"
equal "only root can write the sysctl" "644 0 0" "$(modes "$MCT_SYSCTL")"
equal "the directory has the documented files and no others" \
	"buffer_size_kb ctrl filter functions max_stack mode notrace options per_cpu pid snapshot \
stats trace trace_pipe tracing_on triggers" \
	"$(cd "$MCT_DIR" && echo *)"

# Try as another user, past the modes of the directories.
for how in -r -w -t; do
	for file in "$MCT_CTRL" "$MCT_TRACE" "$MCT_STATS"; do
		equal "uid 1000 can not open ${file##*/} with $how" \
			"open EACCES" "$("$badwrite" -u 1000 $how "$file")"
	done
done
equal "uid 1000 can read the sysctl" "ok 0" \
	"$("$badwrite" -U 1000 -r "$MCT_SYSCTL")"
for user in "-u 1000" "-c"; do
	# shellcheck disable=SC2086 # an option and its argument
	got=$(write_as 1 $user "$MCT_SYSCTL")
	case $got in
	*EPERM|*EACCES)
		ok "badwrite $user can not write the sysctl" ;;
	*)
		not_ok "badwrite $user can not write the sysctl" "$got" ;;
	esac
done
equal "the sysctl is off at the end" 0 "$(cat "$MCT_SYSCTL")"
equal "root with CAP_SYS_ADMIN can write the sysctl" "ok 1" \
	"$(write_as 1 "$MCT_SYSCTL")"
finish
