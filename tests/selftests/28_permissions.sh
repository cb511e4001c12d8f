#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Permissions of each file for root, without CAP_SYS_ADMIN, another user, kptr_restrict
# requires: root tracer helper:badwrite

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)

at_end()
{
	put "$restricted" $restrict
	rings_restore
}

# One line for each file and way to open it, one column for each caller.
# Documentation/trace/mctracer.rst has the same table in words.
table()
{
	cat <<-END
	file		how	root	no_admin	user	kptr_2
	ctrl		-r	ok	ok		EACCES	ok
	ctrl		-w	ok	ok		EACCES	ok
	options		-r	ok	ok		EACCES	ok
	options		-w	ok	ok		EACCES	ok
	buffer_size_kb	-r	ok	ok		EACCES	ok
	buffer_size_kb	-w	ok	ok		EACCES	ok
	stats		-r	ok	ok		EACCES	ok
	trace		-r	ok	ok		EACCES	ok
	trace		-w	ok	ok		EACCES	ok
	trace		-t	ok	ok		EACCES	ok
	trace_pipe	-r	ok	ok		EACCES	ok
	per_cpu/cpu0/trace	-r	ok	ok	EACCES	ok
	per_cpu/cpu0/trace	-t	ok	ok	EACCES	ok
	per_cpu/cpu0/raw	-r	ok	ok	EACCES	EPERM
	pid		-r	ok	ok		EACCES	ok
	pid		-w	ok	ok		EACCES	ok
	filter		-r	ok	ok		EACCES	ok
	filter		-w	ok	ok		EACCES	ok
	functions	-r	ok	ok		EACCES	ok
	triggers	-r	ok	ok		EACCES	ok
	triggers	-w	ok	ok		EACCES	ok
	tracing_on	-r	ok	ok		EACCES	ok
	max_stack	-r	ok	ok		EACCES	ok
	max_stack	-w	ok	ok		EACCES	ok
	mode		-r	ok	ok		EACCES	ok
	mode		-w	ok	ok		EACCES	ok
	END
}

# For the sysctl the permission depends on the written value.
sysctl_table()
{
	cat <<-END
	value	root	no_admin	user	kptr_2
	0	ok	EPERM		EACCES	ok
	1	ok	EPERM		EACCES	ok
	2	EINVAL	EPERM		EACCES	EINVAL
	END
}

# as CALLER OPTIONS...: run badwrite as this caller; print the name of the error, or "ok"
as()
{
	local who=$1 got
	shift
	case $who in
	no_admin)	set -- -c "$@" ;;
	user)		set -- -u 1000 "$@" ;;
	kptr_2)		put 2 $restrict ;;
	esac
	got=$("$MCT_BIN/badwrite" "$@")
	put "$restricted" $restrict
	case $got in
	ok*)	echo ok ;;
	*)	echo "${got#* }" ;;
	esac
}

plan $((($(table | wc -l) - 1 + $(sysctl_table | wc -l) - 1) * 4 + 4))

put 0 $restrict
restricted=0
table | sed 1d > "$MCT_TMP/table"
while read -r file how root no_admin user kptr_2; do
	equal "$file $how by root is $root" "$root" "$(as root "$how" "$MCT_DIR/$file")"
	equal "$file $how without CAP_SYS_ADMIN is $no_admin" "$no_admin" \
		"$(as no_admin "$how" "$MCT_DIR/$file")"
	equal "$file $how by another user is $user" "$user" \
		"$(as user "$how" "$MCT_DIR/$file")"
	equal "$file $how with kptr_restrict=2 is $kptr_2" "$kptr_2" \
		"$(as kptr_2 "$how" "$MCT_DIR/$file")"
done < "$MCT_TMP/table"

sysctl_table | sed 1d > "$MCT_TMP/table"
while read -r value root no_admin user kptr_2; do
	for who in root no_admin user kptr_2; do
		eval "want=\$$who"
		put 0 "$MCT_SYSCTL"
		# shellcheck disable=SC2154 # set by eval
		equal "$value to the sysctl by $who is $want" "$want" \
			"$(echo "$value" | as $who "$MCT_SYSCTL")"
	done
done < "$MCT_TMP/table"
put 0 "$MCT_SYSCTL"

equal "another user can not enter the directory" "open EACCES" \
	"$("$MCT_BIN/badwrite" -U 1000 -r "$MCT_CTRL")"
equal "another user can read the sysctl" "ok 0" \
	"$("$MCT_BIN/badwrite" -U 1000 -r "$MCT_SYSCTL")"

# A trace shows no address, with any kptr_restrict.
moment
put 2 $restrict
equal "with kptr_restrict=2 a trace shows no address" 0 \
	"$(grep -v '^#' "$MCT_TRACE" | grep -c '0x[0-9a-f]\{12\}')"
at_least "with kptr_restrict=2 a trace shows names" 100 "$(grep -c ' <-- [a-z_]' "$MCT_TRACE")"
put 0 $restrict
finish
