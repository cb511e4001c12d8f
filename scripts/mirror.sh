# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced, after lib.sh, by scripts that download packages of newer suites: they are on the mirror that apt uses.

# mirror_fetch PATH SUM: download the package at PATH, below the pool of the kernel's packages, into the current
# directory; fail if its SHA-256 is not SUM
mirror_fetch()
{
	# shellcheck disable=SC2016	# apt's
	_mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 !~ /-/ { print $1; exit }')
	[ -n "$_mirror" ] || die "apt has no mirror of Debian's packages"
	/usr/lib/apt/apt-helper download-file "${_mirror}pool/main/l/$1" "${1##*/}" "SHA256:$2" &&
		echo "$2  ${1##*/}" | sha256sum -c -
}
