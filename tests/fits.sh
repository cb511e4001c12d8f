#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that the series applies to the source of each port's kernel without fuzz, and that the kernel's checkpatch finds
# nothing in the port's patch. Unpacks only the files that the patches change.
# scripts/test-kernels builds and boots these kernels.
. "${0%/*}/../scripts/test-lib.sh"

others=$(kernels | sed 1d)

# unpack TARBALL DIR: make a git tree of the files that the patches change, and checkpatch
unpack()
{
	git_plain init -q "$2" || return
	{
		find "$patches" -name '*.patch' -exec sed -n 's|^--- a/\([^[:space:]]*\).*|\1|p' {} +
		printf 'scripts/%s\n' checkpatch.pl spelling.txt const_structs.checkpatch
	} | sort -u >"$T/wanted"
	# tar reports files that the first patch adds as missing.
	tar -xJf "$1" -C "$2" --strip-components=1 --files-from=- 2>"$T/missing" <<-END || :
		$(sed "s|^|linux-source-$KERNEL/|" "$T/wanted")
	END
	[ -f "$2/scripts/checkpatch.pl" ] || {
		cat "$T/missing"
		return 1
	}
	git_plain -C "$2" add -A -f && git_plain -C "$2" commit -q -m base
}

fits()
{
	unpack "$source" "$T/$KERNEL" &&
		(cd "$patches" && series | xargs -d '\n' cat --) | git_plain -C "$T/$KERNEL" am -q --keep-cr
}

checked()
{
	"$REPO/scripts/checkpatch" "$T/$KERNEL" "$patches/0002-port.patch"
}

plan $((2 * $(echo "$others" | wc -w)))
for KERNEL in $others; do
	export KERNEL
	if source=$("$REPO/scripts/kernel-source" "$KERNEL" 2>"$T/why"); then
		patches=$(patches) || exit 1
		check "the series applies to $KERNEL" fits
		check "checkpatch of $KERNEL finds nothing in the port" checked
	else
		sed 's/^/# /' "$T/why"
		skip "the series applies to $KERNEL" "its source can't be had"
		skip "checkpatch of $KERNEL finds nothing in the port" "its source can't be had"
	fi
done
finish
