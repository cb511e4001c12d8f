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

# $tree and $out are of who sources this.
# shellcheck disable=SC2154
#
# signing.o: Debian's has a %ld for a size_t, on 32 bits a warning.
kmake()
{
	make -C "$tree" O="$out" ARCH=x86 CC=kcc HOSTCC='ccache gcc' \
		LOCALVERSION= CFLAGS_signing.o=-Wno-format -j"$(nproc)" "$@"
}

# fragments FLAVOUR: the files, none with white space in its path, that say what it is. One for 32 bit is
# as for 64, unless it has a file of its own.
fragments()
{
	if is_32 "$1"; then _width=32; else _width=64; fi
	_own=$REPO/configs/$1.config
	[ -e "$_own" ] || _own=$REPO/configs/$(echo "$1" | sed 's/-32//').config
	echo "$REPO/configs/base.config $REPO/configs/base-$_width.config $_own"
}

# configure FLAVOUR: as its fragments say; a select without its dependencies is an error.
configure()
{
	kmake tinyconfig || return
	# shellcheck disable=SC2046	# a list of files
	"$tree/scripts/kconfig/merge_config.sh" -m -O "$out" "$out/.config" $(fragments "$1") || return
	kmake olddefconfig >"$out/olddefconfig" 2>&1
	_status=$?
	cat "$out/olddefconfig"
	[ $_status = 0 ] && ! grep -q 'unmet direct dependencies' "$out/olddefconfig"
}
