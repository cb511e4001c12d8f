# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the other scripts: paths, messages, errors, the lock of the cache, and functions about kernels and git.
#
#	REPO	this repository		CACHE	everything unpacked or built
#
# Messages go to stderr, because a script's stdout is its result.

set -eu
umask 022
export LC_ALL=C

REPO=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/mctracer
LOGS=$CACHE/logs
# shellcheck disable=SC2034	# for the scripts that source this
BASE_TAG=mctracer-base
# The readable folders: scripts/export writes them, scripts/check-tree compares them.
# shellcheck disable=SC2034
FOLDERS='arch-x86 kernel-trace include Documentation samples tools tests/selftests'
# patches/ is for this kernel. For another kernel the series is the new files, as they are in the folders, and
# ports/VERSION/port.patch.
MAIN_KERNEL=6.12
KERNEL=${KERNEL:-$MAIN_KERNEL}

case ${POSTINGS-} in
*[!0-9]* | 0*)
	echo "error: POSTINGS is a number of postings, from 1 on: $POSTINGS" >&2
	exit 1 ;;
esac

case $CACHE in
*[[:space:]:]*)
	echo "error: kbuild accepts no white space or colon in the cache's path: $CACHE" >&2
	exit 1 ;;
esac
mkdir -p "$LOGS"

# Use Debian's python3, which has the modules that the scripts need. If another python3 comes first in $PATH, prepend a
# directory that contains only a link to Debian's.
case $(command -v python3) in
/usr/bin/python3 | "$CACHE/bin/python3" | '') ;;
*)
	mkdir -p "$CACHE/bin"
	ln -s /usr/bin/python3 "$CACHE/bin/python3" 2>/dev/null || :
	export PATH="$CACHE/bin:$PATH" ;;
esac

# usage: print the header comment of the running script, which begins below its licence, and fail.
usage()
{
	sed -n '3,/^[^#]/{s/^# \{0,1\}//p;}' "$0" >&2
	exit 2
}

step()
{
	echo "==> $*" >&2
}

note()
{
	echo "    $*" >&2
}

die()
{
	echo "error: $*" >&2
	exit 1
}

# shown PATH: print the path in short, relative to the repository or to ~.
shown()
{
	case $1 in
	"$REPO"/*)	echo "${1#"$REPO"/}" ;;
	"$HOME"/*)	echo "~${1#"$HOME"}" ;;
	*)		echo "$1" ;;
	esac
}

# die_log STEP LOG: print which step failed, the end of its log, and the path of the log; fail.
die_log()
{
	{
		echo
		echo "error: $1: failed; the last lines of its log:"
		tail -n 25 "$2" | sed 's/^/    | /'
		echo "the whole log: $(shown "$2")"
	} >&2
	exit 1
}

# run_logged STEP LOG COMMAND...: announce STEP, run COMMAND with all output in LOG; if it fails, die_log.
run_logged()
{
	_step=$1 _log=$2
	shift 2
	step "$_step"
	mkdir -p "$(dirname -- "$_log")"
	"$@" >"$_log" 2>&1 </dev/null || die_log "$_step" "$_log"
}

# meter LOG REGEX START TOTAL WORD: until killed, show START plus the number of matching lines of LOG, of about TOTAL
# (0: unknown). A terminal shows it in one place, other output gets a line every 10 seconds.
meter()
{
	_parent=$$ _last='' _i=0
	if [ -t 2 ]; then _every=1 _cr='\r' _nl=''; else _every=10 _cr='' _nl='\n'; fi
	while kill -0 "$_parent" 2>/dev/null; do
		sleep 1
		_i=$((_i + 1))
		[ $((_i % _every)) = 0 ] || continue
		_n=$(($3 + $(grep -cE "$2" "$1" 2>/dev/null || :)))
		[ "$_n" != "$_last" ] || continue
		_last=$_n
		if [ "$4" -gt "$_n" ]; then
			printf "$_cr    $5 %d of ~%d files (%d %%)$_nl" "$_n" "$4" $((_n * 100 / $4)) >&2
		else
			printf "$_cr    $5 %d files$_nl" "$_n" >&2
		fi
	done
}

# run_metered STEP LOG REGEX START TOTAL WORD COMMAND...: do the same as run_logged, with a meter.
run_metered()
{
	_step=$1 _log=$2 _re=$3 _start=$4 _total=$5 _word=$6
	shift 6
	step "$_step"
	mkdir -p "$(dirname -- "$_log")"
	: >"$_log"
	meter "$_log" "$_re" "$_start" "$_total" "$_word" 9>&- &	# 9: the lock
	_meter=$!
	trap 'kill $_meter 2>/dev/null || :' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	_rc=0
	"$@" >"$_log" 2>&1 </dev/null || _rc=$?
	kill "$_meter" 2>/dev/null || :
	wait "$_meter" 2>/dev/null || :
	trap - EXIT INT TERM
	[ ! -t 2 ] || printf '\r\033[K' >&2
	[ "$_rc" = 0 ] || die_log "$_step" "$_log"
}

# as_root COMMAND...: run COMMAND as root, by sudo if the user is not root.
as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "this needs root: run it as root, or install sudo ($*)"
	fi
}

# flame_graph TAR: unpack the flame graph that the guest's job "demo" wrote to TAR, and show its path.
flame_graph()
{
	mkdir -p "${1%.tar}"
	tar -xf "$1" -C "${1%.tar}" 2>/dev/null || die "the flame graph did not come out of the guest; see $(shown "$1")"
	note "a flame graph of that, for any browser: ${1%.tar}/mctrace.svg"
}

# take_lock FILE: take a lock. This process and its children hold it until they end.
take_lock()
{
	[ "${MCT_LOCKED-}" != "$1" ] || return 0
	exec 9>"$1"
	if ! flock -n 9; then
		step "waiting for another run that uses the same cache"
		flock 9
	fi
	export MCT_LOCKED="$1"
}

# lock: take the lock of the cache, which one run at a time may change
lock()
{
	take_lock "$CACHE/lock"
}

# series: print the file names of the patches for $KERNEL, in order; with POSTINGS=N, only of the first N postings.
series()
{
	if [ "$KERNEL" != "$MAIN_KERNEL" ]; then
		printf '%s\n' 0001-new-files.patch 0002-port.patch
	elif [ -f "$REPO/series" ]; then
		sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$REPO/series" |
			awk -F/ -v most="${POSTINGS-}" '$1 != last { n++; last = $1 } most == "" || n <= most + 0'
	fi
}

# postings: print the names of the postings, in order. Each is a folder of patches/.
postings()
{
	series | sed -n 's,/.*,,p' | uniq
}

# kernels: print the versions of the supported kernels. A port without a file "source" is unfinished and left out.
kernels()
{
	echo "$MAIN_KERNEL"
	for _port in "$REPO/ports"/*/source; do
		[ ! -f "$_port" ] || basename -- "$(dirname -- "$_port")"
	done
}

# need_port VERSION: fail if ports/ does not have VERSION.
need_port()
{
	[ -f "$REPO/ports/$1/source" ] || die "no such kernel here: $1 (there are: $(kernels | xargs))"
}

# place FILE: print the path that FILE, a file in one of $FOLDERS, has in the kernel's tree
place()
{
	case $1 in
	arch-x86/*)		echo "arch/x86/${1#arch-x86/}" ;;
	kernel-trace/*)		echo "kernel/trace/${1#kernel-trace/}" ;;
	tests/selftests/*)	echo "tools/testing/selftests/mctracer/${1#tests/selftests/}" ;;
	tools/*)		echo "tools/tracing/${1#tools/}" ;;
	*)			echo "$1" ;;
	esac
}

# folder FILE: print the path that FILE, a file of the kernel's tree, has in this repository; nothing if it has none
folder()
{
	case $1 in
	arch/x86/*)	echo "arch-x86/${1#arch/x86/}" ;;
	kernel/trace/*)	echo "kernel-trace/${1#kernel/trace/}" ;;
	tools/testing/selftests/mctracer/*)
			echo "tests/selftests/${1#tools/testing/selftests/mctracer/}" ;;
	tools/tracing/*)
			echo "tools/${1#tools/tracing/}" ;;
	include/* | Documentation/* | samples/*)
			echo "$1" ;;
	esac
}

# new_files: print the names of all files in $FOLDERS, without those that git ignores
new_files()
(
	cd "$REPO" || exit
	set -f
	# shellcheck disable=SC2086	# a list of folders
	if is_git "$REPO"; then
		git ls-files --cached --others --exclude-standard -- $FOLDERS
	else
		find $FOLDERS -type f 2>/dev/null
	fi | sort -u | while read -r _file; do
		[ ! -f "$_file" ] || echo "$_file"
	done
)

# new_files_text: print the modes, names and contents of all files in $FOLDERS, for a hash
new_files_text()
{
	new_files | (cd "$REPO" && xargs -d '\n' sh -c 'stat -c "%A %n" -- "$@" && cat -- "$@"' sh)
}

# put_new_files DIR: copy the files of $FOLDERS to DIR, to their places in the kernel's tree
put_new_files()
{
	_files=$(new_files) || return
	echo "$_files" | while IFS= read -r _file; do
		_to=$1/$(place "$_file")
		mkdir -p "${_to%/*}" && cp -p -- "$REPO/$_file" "$_to" || exit
	done
}

# make_port DIR: make the two patches of the series for $KERNEL in DIR: the new files, and then the port
make_port()
(
	mkdir "$1/tree" && put_new_files "$1/tree" && cd "$1/tree" &&
		git_plain init -q && git_plain add -A -f . &&
		git_plain commit -q -m "mctracer: Add the files of the series" \
			-m "The next patch makes Linux $KERNEL build and call them." \
			-m "$(grep '^Signed-off-by:' "$REPO/ports/$KERNEL/port.patch")" &&
		git_plain format-patch -q --root --no-signature --zero-commit -N --no-renames --abbrev=12 -o .. HEAD &&
		cd .. && rm -rf tree && mv -- *.patch 0001-new-files.patch &&
		cp -- "$REPO/ports/$KERNEL/port.patch" 0002-port.patch &&
		printf '%s\n' 0001-new-files.patch 0002-port.patch >series
)

# patches: print the directory that has the patches for $KERNEL. For the main kernel it is patches/. For another one
# it is a folder in the cache, with one patch that adds the new files and one that is the port.
patches()
{
	[ "$KERNEL" != "$MAIN_KERNEL" ] || {
		echo "$REPO/patches"
		return
	}
	need_port "$KERNEL"
	_new=$(mktemp -d "$CACHE/patches.XXXXXX")
	make_port "$_new" >&2 || {
		rm -rf "$_new"
		die "making the patches for $KERNEL failed"
	}
	rsync -rc --delete -- "$_new/" "$CACHE/patches-$KERNEL/" || die "writing the patches for $KERNEL failed"
	rm -rf "$_new"
	echo "$CACHE/patches-$KERNEL"
}

# series_key: print a hash that changes whenever the patches for $KERNEL change.
series_key()
{
	if [ "$KERNEL" = "$MAIN_KERNEL" ]; then
		series
		(cd "$REPO/patches" && series | xargs -d '\n' cat --) || :
	else
		new_files_text
		cat "$REPO/ports/$KERNEL/port.patch"
	fi 2>/dev/null | sha256sum | cut -c1-16
}

# kernel_version TREE: print the version in TREE's Makefile, such as 6.12.117; nothing if TREE is no kernel.
kernel_version()
{
	[ -f "$1/Makefile" ] || return 0
	awk -F ' *= *' '
		$1 == "VERSION" { v = $2 }
		$1 == "PATCHLEVEL" { p = $2 }
		$1 == "SUBLEVEL" { s = $2; exit }
		END { if (v != "" && p != "") print v "." p "." (s == "" ? 0 : s) }' "$1/Makefile"
}

# need_kernel TREE: set $KERNEL to TREE's version; fail with a message if the series does not support it.
need_kernel()
{
	[ -d "$1" ] || die "$1 is not a directory."
	_version=$(kernel_version "$1")
	_needs="this series needs Linux $(kernels | paste -s -d , | sed 's/,/ or /g')."
	[ -n "$_version" ] || die "$1 is not a Linux kernel tree; $_needs"
	KERNEL=${_version%.*}
	[ "$KERNEL" = "$MAIN_KERNEL" ] || [ -f "$REPO/ports/$KERNEL/source" ] || die "$1 is Linux $_version; $_needs"
	export KERNEL
}

# selftests_of TREE: print the directory of TREE's selftests, which differ between kernels; if TREE has none, of those
# in this repository.
selftests_of()
{
	if [ -d "$1/tools/testing/selftests/mctracer" ]; then
		echo "$1/tools/testing/selftests/mctracer"
	else
		echo "$REPO/tests/selftests"
	fi
}

# is_32 FLAVOUR: succeed if the flavour is 32-bit x86, which its name shows: none-32, mctracer-32-static.
is_32()
{
	case $1 in
	*-32 | *-32-*)	return 0 ;;
	*)		return 1 ;;
	esac
}

# is_git TREE: succeed if TREE itself (not a directory above it) is a git work tree with a commit.
is_git()
{
	[ -e "$1/.git" ] && git -C "$1" rev-parse --verify -q HEAD >/dev/null 2>&1
}

# git_plain ARGUMENT...: run git with a fixed identity and without the user's configuration, which could change the
# output. Dates are fixed, so that the same series always gives the same commits.
git_plain()
{
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
	GIT_AUTHOR_NAME=mctracer GIT_AUTHOR_EMAIL=mctracer@localhost \
	GIT_COMMITTER_NAME=mctracer GIT_COMMITTER_EMAIL=mctracer@localhost \
	GIT_AUTHOR_DATE='2008-01-01T00:00:00Z' GIT_COMMITTER_DATE='2008-01-01T00:00:00Z' \
	git -c gc.auto=0 -c maintenance.auto=false -c advice.detachedHead=false \
		-c core.autocrlf=false -c core.fileMode=true "$@"
}
