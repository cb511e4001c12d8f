# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced, after lib.sh, by scripts that need a whole Debian: for a guest, to install a package in, or to build in.

# bootstrap SUITE TARGET OPTION...: make TARGET by mmdebstrap, from the mirrors of this machine's apt
bootstrap()
{
	_suite=$1 _target=$2 _lists=$CACHE/apt-$1
	shift 2
	rm -rf "$_lists"
	mkdir -p "$_lists"
	for _list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		! grep -qw bookworm "$_list" 2>/dev/null ||
			sed "s/bookworm/$_suite/g" "$_list" >"$_lists/${_list##*/}"
	done
	mmdebstrap --variant=apt --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' "$@" "$_suite" "$_target" "$_lists"/*
}
