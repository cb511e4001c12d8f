# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced, after lib.sh, by scripts that build kernels: calls kbuild and configures kernels.
#
#	$tree	the kernel's source		$out	where it is built

export CCACHE_DIR="$CACHE/ccache" CCACHE_BASEDIR="$CACHE" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=4G
# Let ccache use the dependency files that kbuild makes anyway: otherwise a file that ccache does not have yet takes
# half as long again.
export CCACHE_DEPEND=1
export KBUILD_BUILD_USER=mctracer KBUILD_BUILD_HOST=guest KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_TIMESTAMP='Tue Jan 1 00:00:00 UTC 2008'

# kbuild gets kcc by name: with its path, kbuild would build everything again for each clone of this repository. kcc
# has a folder of its own, because scripts/ has a "test" and others that would hide commands of the system.
export PATH="$REPO/scripts/bin:$PATH"

# kmake ARGUMENT...: run kbuild. The caller sets $tree, $out and, if there is one, $flavour.
# shellcheck disable=SC2154
#
# CFLAGS_signing.o: Debian's signing.c has a %ld for a size_t, which warns on 32 bits.
kmake()
{
	if [ "$(said "${flavour:-none}" Compiler)" = clang ]; then
		set -- LLVM=1 "$@"
		export KCC=clang
	fi
	set -- make -C "$tree" O="$out" ARCH=x86 CC=kcc HOSTCC='ccache gcc' \
		LOCALVERSION= CFLAGS_signing.o=-Wno-format -j"$(nproc)" "$@"
	within=$(said "${flavour:-none}" Within)
	if [ -n "$within" ]; then
		"$REPO/scripts/$within" "$@" HOSTCC=kcc		# rustc links by it, and takes but one word
	else
		"$@"
	fi
}

# own_fragment FLAVOUR: print the path of the flavour's file. A 32-bit flavour without a file uses the 64-bit one's.
own_fragment()
{
	_own=$REPO/configs/$1.config
	[ -e "$_own" ] || _own=$REPO/configs/$(echo "$1" | sed 's/-32//').config
	echo "$_own"
}

# said FLAVOUR WORD: print the value of the line "# WORD: ..." in the flavour's file
#	Base: the start of its configuration, a target of kbuild or "debian"; the default is tinyconfig with
#	      base.config and base-64.config
#	Over: flavours whose files are merged before its own
#	Compiler: clang; the default is gcc
#	Within: the script here that runs kbuild in another system
#	Only: compile these directories, and link nothing
said()
{
	sed -n "s/^# $2: //p" "$(own_fragment "$1")"
}

# fragments FLAVOUR: print the files that are merged over the start of its configuration; no path has white space. A
# kernel whose options have other names has a base file of its own, in ports/.
fragments()
{
	if is_32 "$1"; then _width=32; else _width=64; fi
	_base=$REPO/ports/$KERNEL/base-$_width.config
	[ -e "$_base" ] || _base=$REPO/configs/base-$_width.config
	_own=$(own_fragment "$1") _base="$REPO/configs/base.config $_base" _over=
	if [ -e "$_own" ]; then
		[ -z "$(said "$1" Base)" ] || _base=
		for _name in $(said "$1" Over); do
			_over="$_over $REPO/configs/$_name.config"
		done
	fi
	echo "$_base$_over $_own"
}

# debian_config: use the configuration of Debian's own kernel of this version, but without its modules: most are for
# hardware and file systems that a guest does not have.
debian_config()
{
	_kernel=$("$REPO/scripts/module-kernel" 6.12) || return
	sed 's/^\(CONFIG_[A-Za-z0-9_]*\)=m$/# \1 is not set/' "$_kernel"/boot/config-* >"$out/.config"
}

# configure FLAVOUR: configure the kernel by the flavour's fragments. A select without its dependencies is an error.
configure()
{
	_base=$(said "$1" Base)
	if [ "$_base" = debian ]; then
		debian_config || return
	else
		kmake "${_base:-tinyconfig}" || return
	fi
	# shellcheck disable=SC2046	# a list of files
	"$tree/scripts/kconfig/merge_config.sh" -m -O "$out" "$out/.config" $(fragments "$1") || return
	kmake olddefconfig >"$out/olddefconfig" 2>&1
	_status=$?
	cat "$out/olddefconfig"
	[ $_status = 0 ] && ! grep -q 'unmet direct dependencies' "$out/olddefconfig"
}
