#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Test mctrace on recordings whose truth is known, and other programs on its exports. Of the damaged recordings, one in
# SPARSE is tried (10; scripts/test-long tries all).
. "${0%/*}/../scripts/test-lib.sh"

sparse=${SPARSE:-10}
tree=$("$REPO/scripts/kernel-tree") || exit 1
mkdir "$T/good" "$T/checking" "$T/bare" "$T/growing" "$T/kept" "$T/installed" "$T/failing"

# made FOLDER FLAGS...: build mctrace; fail if the compiler prints anything
made()
{
	folder=$1
	shift
	make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/$folder/" "$@" >"$T/made" 2>&1 || {
		cat "$T/made"
		return 1
	}
	! grep -v '^make' "$T/made"
}

# grown: build mctrace with a recorder that copies a file
grown()
{
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -iquote "$tree/tools/tracing/mctrace" -c \
		-o "$T/growing.o" "$REPO/tests/mctrace/growing.c" &&
		made growing links=n LDFLAGS="$T/growing.o \
			-Wl,--wrap=recorder_begin,--wrap=recorder_has_ended"
}

truth()
{
	"$REPO/tests/mctrace/answers.py" --header "$tree/include/uapi/linux/mctracer.h" \
		--errors "$tree/include/linux/errno.h" --sanitized "$T/checking/mctrace" \
		--growing "$T/growing/mctrace" --seeds 2 --sparse "$sparse" --keep "$T/kept" \
		"$T/good/mctrace" >"$T/truth" 2>&1
	sed 's/^/    /' "$T/truth"
	grep -q '^1\.\.[1-9]' "$T/truth" && ! grep '^not ok' "$T/truth" | grep -v '# TODO'
}

# faults: let a call fail, or a signal come, at each step of setting the tracer up; at some steps, unless SPARSE is 1
faults()
{
	wrapped=
	for function in open access stat fstat fstatvfs read write close fork pipe pipe2 mmap flock linkat renameat2 pthread_create \
		calloc waitpid sigtimedwait kill; do
		wrapped="$wrapped -Wl,--wrap=$function"
	done
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -c -o "$T/failing.o" "$REPO/tests/mctrace/faults.c" &&
		made failing links=n LDFLAGS="$T/failing.o $wrapped" || return
	has_promtool || return
	PROMTOOL=$promtool "$REPO/tests/mctrace/faults.py" --header "$tree/include/uapi/linux/mctracer.h" \
		--rules "$tree/tools/tracing/mctrace/rules" \
		--sparse $((sparse * 3 - 2)) "$T/failing/mctrace" >"$T/faults" 2>&1
	sed 's/^/    /' "$T/faults"
	grep -q '^1\.\.[1-9]' "$T/faults" && ! grep '^not ok' "$T/faults"
}

# has_promtool: get Prometheus' checker of metrics, without its server
has_promtool()
{
	promtool=${XDG_CACHE_HOME:-$HOME/.cache}/mctracer/promtool
	[ -x "$promtool" ] || {
		mkdir "$T/prometheus" && (cd "$T/prometheus" && apt-get -q download prometheus && dpkg -x ./*.deb .) &&
			cp "$T/prometheus/usr/bin/promtool" "$promtool.new" && mv "$promtool.new" "$promtool"
	}
}

# seen PROGRAM: succeed if PROGRAM has read the export for it
seen()
{
	grep "^ok .*$1" "$T/truth" | grep -qv '# SKIP'
}

quick()
{
	"$REPO/tests/mctrace/recordings.py" -o "$T/large" --events 4000000 &&
		"$REPO/tests/mctrace/quick.py" "$T/good/mctrace" "$T/large"
}

installed()
{
	PATH=/usr/bin:$PATH make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/good/" \
		DESTDIR="$T/installed" install || return
	for command in $("$T/good/mctrace" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		case $command in
		stat | list | stream | start | stop | show | reset | snapshot)
			page=control ;;
		*)	page=$command ;;
		esac
		[ -s "$T/installed/usr/share/man/man1/mctrace-$page.1" ] || {
			echo "no man page of $command"
			return 1
		}
	done
	for rules in "$tree/tools/tracing/mctrace/rules/"*.rules; do
		[ -s "$T/installed/usr/share/mctrace/rules/${rules##*/}" ] || {
			echo "${rules##*/} is not installed"
			return 1
		}
	done
	make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/good/" DESTDIR="$T/installed" UNITDIR=/usr/lib/systemd/system \
		install-service || return
	for file in share/man/man5/mctrace-json.5 share/man/man5/mctrace.dat.5 share/man/man5/mctrace-triggers.5 \
		share/man/man5/mctracer.conf.5 share/man/man8/mctracer.service.8 share/mctrace/mctrace.schema.json \
		lib/systemd/system/mctracer.service lib/mctracer/save ../etc/mctracer.conf; do
		[ -s "$T/installed/usr/$file" ] || {
			echo "$file is not installed"
			return 1
		}
	done
	"$T/installed/usr/bin/mctrace" --version
}

# completes ANSWERS WORD...: compare bash's completions of the last WORD with ANSWERS, separated by spaces
completes()
{
	wanted=$1
	shift
	# shellcheck disable=SC2016 # bash is to expand it
	got=$(cd "$T/completing" && PATH="$T/good:$PATH" bash -c '
		. "$0"
		_mctrace_functions() { printf "%s\n" vfs_open vfs_read vfs_readv; }
		MCTRACE_RULES=${0%/*}/rules
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_mctrace
		printf "%s\n" "${COMPREPLY[@]}"' "$tree/tools/tracing/mctrace/mctrace-completion.bash" "$@" |
		sort -u | xargs)
	[ "$got" = "$wanted" ] || {
		echo "$*: '$got', not '$wanted'"
		return 1
	}
}

# named: the name of another user's task is no shell code
named()
{
	# shellcheck disable=SC2016
	sh -c 'printf "%s" "\$(>p)" >/proc/$$/comm; sleep 3; :' &
	while ! grep -qsF '(>p)' "/proc/$!/comm"; do sleep 0.1; done
	completes mctrac mctrace report --task mctrac 2>/dev/null
	completes "" mctrace report --task nosuch && [ ! -e "$T/completing/p" ]
}

completed()
{
	shellcheck -s bash "$tree/tools/tracing/mctrace/mctrace-completion.bash" || return
	mkdir -p "$T/completing/lsdir" && touch "$T/completing/lsfile" "$T/completing/vfs_recording" \
		"$T/completing/mctrace.dat"
	completes profile mctrace pro &&
		completes folded mctrace export --to fol &&
		completes "--called-by --callers" mctrace profile --cal &&
		completes "vfs_read vfs_readv" mctrace record -l vfs_rea &&
		completes "vfs_read vfs_readv" mctrace record --func vfs_rea &&
		completes "vfs_read vfs_readv" mctrace graph vfs_rea &&
		completes "vfs_read vfs_readv" mctrace latency vfs_rea &&
		completes "vfs_read vfs_readv" mctrace list vfs_rea &&
		completes "calls time" mctrace flame --by "" &&
		completes EINVAL mctrace why -e EINV &&
		completes "task_struct" mctrace object ta &&
		completes "bio" mctrace record --rules bi &&
		completes --triggers mctrace packet --tr &&
		completes mctrace mctrace packet udp -- mctrac &&
		completes yes mctrace report --color y &&
		completes "lsdir lsfile" mctrace record -o ls &&
		completes "lsdir lsfile" mctrace export --output ls &&
		completes vfs_recording mctrace latency vfs_read vfs_re &&
		completes "" mctrace latency f --live vfs_o &&
		completes report mctrace help rep &&
		completes "--help --hide-empty" mctrace latency f --h &&
		completes total mctrace profile --sort t &&
		completes "" mctrace profile vfs_o &&
		completes "--no-pager --notrace" mctrace report --no &&
		completes mctrace mctrace record mctrac &&
		completes mctrace mctrace why mctrac && named
}

# whereis NAME [LESS]: print the address of a function of $recording, minus LESS
recording=$T/whole
whereis()
{
	python3 -c 'import sys; print(hex(int(sys.argv[1], 16) - int(sys.argv[2], 0)), end="")' \
		"$(grep -a -o "^[0-9a-f]* [tT] $1\$" "$recording" | head -n 1 | cut -c 1-16)" "${2:-0}"
}

# lines: source lines of two functions in a kernel that did not run at its link address
lines()
{
	moved=0x200000
	cat >"$T/fs.c" <<'END'
typedef long ssize_t;
struct file;
ssize_t vfs_read(struct file *file, char *buf) { __asm__ volatile(".skip 64, 0x90"); return file && buf; }

void kfree(const void *object) { __asm__ volatile(".skip 64, 0x90" :: "r" (object)); }
ssize_t vfs_read(struct file *file, char *buf);
END
	cat >"$T/vmlinux.lds" <<END
SECTIONS {
	_stext = $(whereis _stext "$moved");
	.text.vfs_read $(whereis vfs_read "$moved") : { *(.text.vfs_read) }
	.text.kfree $(whereis kfree "$moved") : { *(.text.kfree) }
}
END
	(cd "$T" && gcc -g -ffunction-sections -fno-pie -mcmodel=kernel -nostdlib -static -no-pie fs.c \
		-o vmlinux -Wl,-T,vmlinux.lds -Wl,-e,0) &&
		"$T/good/mctrace" report --vmlinux "$T/vmlinux" "$T/whole" >"$T/lines" || return
	sed -n 's/^.* \([a-z_]*+[^ ]* ([^)]*)\) <-- .*/\1/p' "$T/lines" | sort -u | sed 's/^/    /'
	grep -q ' vfs_read+0x[59]/[0-9a-fx]* (fs.c:3) <-- ' "$T/lines" &&
		grep -q ' kfree+0x[59]/[0-9a-fx]* (fs.c:5) <-- ' "$T/lines" &&
		! grep -v -e vfs_read -e kfree "$T/lines" | grep '\.c:'
}

# lines_of_returns: source lines of failed returns
lines_of_returns()
{
	recording=$T/kept/places.dat
	echo 'long vfs_read(void) { __asm__ volatile(".skip 1024, 0x90"); return 0; }' >"$T/returns.c"
	cat >"$T/returns.lds" <<END
SECTIONS {
	_stext = $(whereis _stext);
	.text.vfs_read $(whereis vfs_read) : { *(.text.vfs_read) }
}
END
	(cd "$T" && gcc -g -ffunction-sections -fno-pie -mcmodel=kernel -nostdlib -static -no-pie returns.c \
		-o returns -Wl,-T,returns.lds -Wl,-e,0) &&
		"$T/good/mctrace" why --vmlinux "$T/returns" --from "$recording" >"$T/lines" || return
	sed 's/^/    /' "$T/lines"
	grep -q '^    vfs_read+0x[0-9a-f/x]* (returns.c:1)   <- first$' "$T/lines"
}

types()
{
	(cd "$T" && gcc -gbtf -c fs.c -o fs.o) || return
	"$T/good/mctrace" graph vfs_read --btf "$T/fs.o" "$T/whole" | head -n 1 >"$T/types"
	sed 's/^/    /' "$T/types"
	grep -qxF '# ssize_t vfs_read(struct file *file, char *buf)' "$T/types"
}

libraries()
{
	"$T/good/mctrace" --version >"$T/version"
	sed 's/^/    /' "$T/version"
	grep -q '^zstd [0-9]' "$T/version" && grep -q '^libdw [0-9]' "$T/version" &&
		grep -q '^libbpf [0-9]' "$T/version" && grep -q '^libpcap [0-9]' "$T/version"
}

# bare: build mctrace without the libraries
bare()
{
	made bare links=n && "$T/bare/mctrace" --version >"$T/version" &&
		grep -q '^without zstd' "$T/version" &&
		! "$T/bare/mctrace" report --vmlinux "$T/vmlinux" "$T/whole" >"$T/lines" 2>&1 &&
		grep 'built without libdw' "$T/lines"
}

plan 18
check "it builds without a warning" made good
check "it builds with sanitizers" made checking CFLAGS='-O1 -g -fsanitize=address,undefined'
check "it builds with a recorder that copies a file" grown
check "its answers match the truth" truth
check "whatever fails or ends it, all settings are restored" faults
check "trace-cmd reads its export" seen trace.dat
check "libkshark, KernelShark's library, reads its export" seen libkshark
check "uftrace reads its export" seen "export --to uftrace"
check "babeltrace2 reads its export" seen "export --to ctf"
check "its export to Perfetto has only known fields" seen "export --to perfetto"
check "it reads four million events quickly, in little memory" quick
"$REPO/tests/mctrace/recordings.py" -o "$T/whole" --events 3000
check "it names its libraries with --version" libraries
check "addresses have source lines, wherever the kernel ran" lines
check "returns in why have source lines" lines_of_returns
check "functions have types" types
check "it builds without the libraries, and reports that" bare
check "it installs with its man pages" installed
check "bash completes commands and options" completed
finish
