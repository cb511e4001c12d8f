#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that kprobes refuse all code that hooks run: each function of the hot objects (Makefile.hot), of the filter and
# of the stubs lies in a section where kprobes can't be set, or in the kernel's list of such functions; and the build
# refuses a hot object that has code in another section.
. "${0%/*}/../scripts/test-lib.sh"
# shellcheck source=scripts/kbuild.sh
. "$REPO/scripts/kbuild.sh"

folders='kernel/trace/mcount kernel/trace/mctracer arch/x86/kernel'
safe='[.](kprobes|noinstr|init|exit)[.]text'	# .init.text: gone before a user can set a kprobe

tree=$("$REPO/scripts/kernel-tree") || exit 1

# functions OBJECT: print "OBJECT NAME yes" for each function where kprobes can't be set, and "no" for each other one
functions()
{
	objdump -tr "$1" | awk -v object="$1" -v safe="^$safe\$" '
		/^RELOCATION RECORDS FOR / { listed = $4 == "[_kprobe_blacklist]:" }
		NF == 3 && listed { list[$3] = 1 }
		/ F / && $NF !~ /^__(pfx|cfi)_/ { section[$NF] = $(NF - 2); place[$NF] = $1 }
		END {
			for (name in section) {
				at = place[name]
				sub(/^0*/, "", at)
				by = section[name] (at == "" ? "" : "+0x" place[name])
				ok = section[name] ~ safe || name in list || by in list
				# Another name of the same code may be in the list.
				for (other in section)
					if (other in list && section[other] == section[name] &&
					    place[other] == place[name])
						ok = 1
				print object, name, ok ? "yes" : "no"
			}
		}'
}

build()	# FLAVOUR: build the flavour, and list the functions of its objects in $T/hot and $T/others
{
	image=$("$REPO/scripts/build" "$1") || return 1
	out=${image%/arch/x86/*}
	: >"$T/hot"
	: >"$T/others"
	# shellcheck disable=SC2086	# a list of folders
	for object in $(cd "$out" && find $folders -name '*.o' | grep -E -e '/mcount/|/mctracer/' -e '/mcount[^/]*$' |
		grep -vE '/tests/|/built-in|[.]mod[.]o$'); do
		case $object in
		*.hot.o | */filter.o | */mcount_32.o | */mcount_64.o | */mcount_ftrace.o)
			functions "$out/$object" >>"$T/hot" ;;
		*)	# not a hot object before its sections are renamed
			[ -e "$out/${object%.o}.hot.o" ] || functions "$out/$object" >>"$T/others" ;;
		esac
	done
}

# many: there are functions of all kinds of objects
many()
{
	wc -l "$T/hot" "$T/others"
	for object in record/emit.hot.o record/follow.hot.o mcount_64.o mcount_callers.hot.o; do
		grep -q "$object " "$T/hot" || {
			echo "no function of $object"
			return 1
		}
	done
	grep -q ' mctracer_emit_task yes$' "$T/hot" && [ "$(wc -l <"$T/hot")" -ge 100 ]
}

protected()
{
	! grep ' no$' "$T/hot"
}

# called_protected: hot code calls no function of the other objects of mcount and mctracer where a kprobe can be set,
# and the functions that mcount calls instead of a hook are protected, too.
called_protected()
{
	# shellcheck disable=SC2086	# a list of folders
	(cd "$out" && find $folders -name '*.hot.o' -exec nm -u {} +) | awk 'NF == 2 { print $2 }' | sort -u >"$T/called"
	grep -qx mctracer_emit_task "$T/called" || return 1
	awk '$3 == "no" { print $2 }' "$T/others" | grep -xF -f "$T/called" >"$T/bad"
	grep -E ' mcount_no_(hook|pre_handler|return_pre_handler) ' "$T/others" >"$T/instead"
	cat "$T/bad" "$T/instead"
	[ "$(wc -l <"$T/instead")" = 3 ] && ! grep -q ' no$' "$T/instead" && [ ! -s "$T/bad" ]
}

# finds: the examination finds a function in .text that is not in the list
finds()
{
	printf '%s\n' '.text' '.type bad, @function' 'bad: ret' '.size bad, . - bad' '.type good, @function' 'good: ret' \
		'.size good, . - good' '.section _kprobe_blacklist, "aw"' '.quad good' >"$T/fake.s"
	as -o "$T/fake.o" "$T/fake.s" && functions "$T/fake.o" | tee "$T/found" &&
		grep -q ' bad no$' "$T/found" && grep -q ' good yes$' "$T/found"
}

# refused: an objcopy that adds a section with code to each object makes the build fail
refused()
{
	printf '\303' >"$T/code"
	cat >"$T/objcopy" <<END
#!/bin/sh
objcopy --add-section .text.elsewhere=$T/code --set-section-flags .text.elsewhere=code,alloc,readonly "\$@"
END
	chmod +x "$T/objcopy"
	if kmake OBJCOPY="$T/objcopy" kernel/trace/mctracer/record/ >"$T/make" 2>&1; then
		echo "the build succeeds"
		return 1
	fi
	cat "$T/make"
	grep -q 'hooks may not run code of this section: [.]text[.]elsewhere' "$T/make"
}

again() { kmake kernel/trace/mctracer/record/; }

# $KINDS names the flavours to test.
kinds=${KINDS:-mctracer}
plan $((5 * $(echo "$kinds" | wc -w) + 1))
for flavour in $kinds; do
	if [ -n "${QUICK-}" ] || ! build "$flavour"; then
		for what in 'there are functions of all hot objects' 'kprobes refuse each function of the hot objects' \
			'kprobes refuse what hot code calls' 'code in another section is refused' 'the build works again'; do
			skip "$flavour: $what" "quick: nothing is built"
		done
		continue
	fi
	check "$flavour: there are functions of all hot objects" many
	check "$flavour: kprobes refuse each function of the hot objects" protected
	check "$flavour: kprobes refuse what hot code calls of the others, and what mcount calls instead of a hook" \
		called_protected
	check "$flavour: the build refuses a hot object with code in another section" refused
	check "$flavour: without such code the build works again" again
done
check "a function outside of these sections and of the list is found" finds
finish
