#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks the requirements of a posted series that a script can check: the cover letters, the size of patches, checkpatch
# --strict, spelling, kernel-doc, the ABI files, MAINTAINERS. Uses the kernel's own tools from the patched tree.
. "${0%/*}/../scripts/test-lib.sh"

# The kernel's python scripts need Debian's modules.
PATH=/usr/bin:$PATH
[ -z "${LINUX-}" ] || need_kernel "$LINUX"
tree=$("$REPO/scripts/kernel-tree") || exit 1
cd "$tree" || exit 1
base=$(git rev-parse "$BASE_TAG") || exit 1
patches=$(patches) || exit 1

checkpatch()
{
	find "$patches" -name '*.patch' | sort | xargs -d '\n' "$REPO/scripts/checkpatch" "$tree"
}

# spelling: check messages and added lines, like checkpatch --codespell, but in seconds.
spelling()
{
	find "$patches" -name '*.patch' -exec sed -sn '/^diff --git/,$!p; /^+/p' {} + | sort -u |
		codespell --ignore-words-list whats - >"$T/spelled"
	cat "$T/spelled"
	[ ! -s "$T/spelled" ]
}

added_files()
{
	git diff --name-only --diff-filter=A "$base" HEAD -- "$@"
}

# kernel_doc: check new files. Older versions of kernel-doc have no -Wall.
kernel_doc()
{
	all=-Wall
	scripts/kernel-doc -h 2>&1 | grep -qw Wall || all=
	# shellcheck disable=SC2086	# an option, or none
	added_files include kernel arch samples | grep '\.[ch]$' | while read -r f; do
		scripts/kernel-doc -none $all -Werror "$f" || echo "FAILED: $f"
	done >"$T/doc" 2>&1
	cat "$T/doc"
	! grep -qE 'FAILED|warning|error' "$T/doc"
}

abi()
{
	if [ -e tools/docs/get_abi.py ]; then
		tools/docs/get_abi.py --dir Documentation/ABI validate >"$T/said" 2>&1
	else
		scripts/get_abi.pl validate --dir Documentation/ABI >"$T/said" 2>&1
	fi || {
		tail -n 5 "$T/said"
		return 1
	}
	! grep -E 'mctracer|mcount' "$T/said"
}

# maintained: git takes the F: lines of the entry as pathspecs. One run of git is faster than get_maintainer.pl for each
# file.
maintained()
{
	sed -n '/^MCOUNT AND MCTRACER/,/^$/s/^F:[[:space:]]*//p' MAINTAINERS >"$T/patterns"
	[ -s "$T/patterns" ] || return
	xargs -d '\n' -a "$T/patterns" git ls-files -- | sort >"$T/covered"
	added_files | sort | comm -23 - "$T/covered" | sed 's/^/not in MAINTAINERS: /' >"$T/who"
	cat "$T/who"
	[ ! -s "$T/who" ]
}

# cover_letters: each posting must have a letter with the number of its patches, short lines, and only figures that the
# newest result has: all in the section "Measured", and before it those with a fraction. No posting has more than 20
# patches.
cover_letters()
{
	(KERNEL=$MAIN_KERNEL && postings) >"$T/postings"
	[ -s "$T/postings" ] || return
	result=$(find "$REPO/bench/results" -name "*-$MAIN_KERNEL.*[0-9].md" | sort | tail -n 1)
	grep -oE '[0-9][0-9,]*(\.[0-9]+)?' "$result" | sort -u >"$T/figures"
	while read -r posting; do
		letter=$REPO/patches/$posting/cover-letter
		count=$(find "$REPO/patches/$posting" -name '*.patch' | wc -l)
		[ "$count" -le 20 ] || echo "$posting has $count patches"
		grep -qE "^# $(sed -n '1s/^Subject: \[[^]]*\] //p' "$letter")\$" "$REPO/series" ||
			echo "series has no banner with the title of $posting"
		head -n 1 "$letter" | grep -qE "^Subject: \[PATCH $(printf "%0${#count}d" 0)/$count\] " ||
			echo "$posting: the subject does not count $count patches"
		awk -v posting="$posting" 'length > 80 { print posting ": line " FNR ": longer than 80 characters" }' "$letter"
		sed -e '/^How it is tested/,$d' -e 's/Linux [0-9.]*//' "$letter" >"$T/above"
		{
			sed '1,/^Measured/d' "$T/above" | grep -oE '[0-9][0-9,]*(\.[0-9]+)?'
			grep -oE '[0-9][0-9,]*\.[0-9]+' "$T/above"
		} | sort -u | grep -vxFf "$T/figures" | sed "s,^,$posting: not in ${result##*/}: ,"
	done <"$T/postings" >"$T/letters" 2>&1
	cat "$T/letters"
	[ ! -s "$T/letters" ]
}

# tested: each cover letter must name tests of its posting, and all that it names must exist: selftests such as 51_returns,
# and paths of this repository or of the kernel.
tested()
{
	for letter in "$REPO"/patches/*/cover-letter; do
		sed '1,/^How it is tested/d' "$letter" >"$T/tests"
		grep -oE '\<[0-9]{2}_[a-z_]+|\<[a-z_]+_kunit\.c|\<(tests|scripts|kernel)/[a-z_/.]+[a-z]' "$T/tests" |
			sort -u >"$T/named_tests"
		[ -s "$T/named_tests" ] || echo "$letter names no test"
		while read -r name; do
			case $name in
			[0-9]*)		[ -e "$REPO/tests/selftests/$name.sh" ] ;;
			*/*)		[ -e "$REPO/$name" ] || [ -e "$name" ] ;;
			*)		[ -n "$(git ls-files "*/$name")" ] ;;
			esac || echo "$letter names $name, which does not exist"
		done <"$T/named_tests"
	done >"$T/untested"
	cat "$T/untested"
	[ ! -s "$T/untested" ]
}

# small: no patch may add and remove more than 800 lines in all, by its diffstat.
small()
{
	# shellcheck disable=SC2016	# awk's variables
	find "$REPO/patches" -name '*.patch' | sort | xargs -d '\n' awk '
		function judge()
		{
			if (!stat)
				print name ": has no diffstat"
			else if (lines > 800)
				print name ": " lines " changed lines, of at most 800"
		}
		FNR == 1 {
			if (name)
				judge()
			name = FILENAME
			sub(/.*\/patches\//, "", name)
			stat = lines = 0
		}
		!stat && /^ [0-9]+ files? changed/ {
			stat = 1
			for (i = 2; i <= NF; i++)
				if ($i ~ /^(insertion|deletion)s?\(/)
					lines += $(i - 1)
		}
		END { judge() }' >"$T/large"
	cat "$T/large"
	[ ! -s "$T/large" ]
}

# bindgen: rust/Makefile must not pass the flags of call sites to bindgen, because its clang refuses flags that only gcc
# has. Of these flags clang has only -pg and -mfentry.
bindgen()
{
	sed -n '/^ifdef CONFIG_MCOUNT_SITES/,/^endif/s/^[[:space:]]*CC_FLAGS_FTRACE[[:space:]]*+=//p' Makefile |
		tr -s '[:space:]' '\n' | grep '^-' >"$T/flags"
	[ -s "$T/flags" ] || echo "no flags found in the Makefile" >>"$T/missing"
	while read -r flag; do
		sed -n '/^bindgen_skip_c_flags :=/,/[^\\]$/p' rust/Makefile | grep -qwe "$flag" ||
			echo "rust/Makefile does not keep $flag from bindgen" >>"$T/missing"
	done <"$T/flags"
	cat "$T/flags"
	[ ! -e "$T/missing" ] || ! cat "$T/missing"
}

plan 9
check "each posting has its cover letter" cover_letters
check "each cover letter names its tests" tested
check "no patch has more than 800 changed lines" small
check "checkpatch --strict finds nothing that the patches don't defend" checkpatch
check "codespell finds nothing" spelling
check "kernel-doc finds nothing" kernel_doc
check "the ABI files are valid" abi
check "MAINTAINERS has every new file" maintained
check "Rust's bindgen gets no flag that clang refuses" bindgen
finish
