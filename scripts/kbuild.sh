# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced, after lib.sh, by what builds kernels: how kbuild is called, and configured.
#
#	$tree	the kernel's source		$out	where it is built

export CCACHE_DIR="$CACHE/ccache" CCACHE_BASEDIR="$CACHE" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=4G
# Believe the dependency files that kbuild makes anyway: without that, what ccache does not have yet
# takes it half as long again.
export CCACHE_DEPEND=1
export KBUILD_BUILD_USER=mctracer KBUILD_BUILD_HOST=guest KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_TIMESTAMP='Tue Jan 1 00:00:00 UTC 2008'

# kcc by name: with its path kbuild would build everything again for each clone of this repository. It has
# a folder of its own, since scripts/ has a "test" and others that hide a system's command.
export PATH="$REPO/scripts/bin:$PATH"

# $tree and $out are of who sources this, and so is $flavour, if there is one.
# shellcheck disable=SC2154
#
# signing.o: Debian's has a %ld for a size_t, on 32 bits a warning.
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

# own_fragment FLAVOUR: the file that says what it is. One for 32 bit is as for 64, unless it has its own.
own_fragment()
{
	_own=$REPO/configs/$1.config
	[ -e "$_own" ] || _own=$REPO/configs/$(echo "$1" | sed 's/-32//').config
	echo "$_own"
}

# said FLAVOUR WORD: what its file says in a line "# WORD: ..."
#	Base: what its configuration starts from, a target of kbuild's or "debian"; else tinyconfig, and then
#	      base.config and base-64.config
#	Over: flavours whose files come before its own
#	Compiler: clang, if it is to be
#	Within: the script here that runs kbuild in another system
#	Only: the directories that are compiled, nothing is linked
said()
{
	sed -n "s/^# $2: //p" "$(own_fragment "$1")"
}

# fragments FLAVOUR: the files, none with white space in its path, that are merged over what it starts from. A kernel
# whose options have other names has a base file of its own, in ports/.
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

# debian_config: that of Debian's own kernel of this version, without the modules: hardware and file systems
# that a guest does not have. All that is built in stays.
debian_config()
{
	_kernel=$("$REPO/scripts/module-kernel" 6.12) || return
	sed 's/^\(CONFIG_[A-Za-z0-9_]*\)=m$/# \1 is not set/' "$_kernel"/boot/config-* >"$out/.config"
}

# configure FLAVOUR: as its fragments say; a select without its dependencies is an error.
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
