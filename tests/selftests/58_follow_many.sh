#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Many objects at once, reused addresses, and more objects than the limit
# requires: root tracer helper:badwrite helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	rings_restore
}

if [ "$(set_to 'alloc_empty_file:follow ret')" = "write EOPNOTSUPP" ]; then
	skip_all "what is returned can't be followed"
fi
put "" "$triggers"

plan 12

# Follow each open file from its allocation to its release.
rules()
{
	printf '%s\n' 'alloc_empty_file:follow ret' '__fput:unfollow 1' > "$triggers"
}

# begun, ended: print the numbers of objects, in the order of the trace
begun()
{
	sed -n 's/^CPU.* +#\([0-9]*\):ret.*/\1/p' "$MCT_TRACE"
}

ended()
{
	sed -n 's/^CPU.* __fput+[^ ]* -#\([0-9]*\):1 .*/\1/p' "$MCT_TRACE"
}

put 4096 "$MCT_SIZE"
check "the triggers can be set" rules
traced sh -c 'for i in 1 2 3 4 5 6 7 8; do cat /dev/null; done'
equal "each object has its own number" "$(begun | sort -un | wc -l)" "$(begun | wc -l)"
check "at least eight objects are followed" [ "$(begun | wc -l)" -ge 8 ]
# Addresses are reused: an open gets the address of the file that was closed last.
put 'alloc_empty_file:followed:args' "$triggers"
rules
add '__fput:followed:args'
traced sh -c 'i=0; while [ $i -lt 50 ]; do : < /dev/null; i=$((i + 1)); done'
addresses=$(sed -n 's/^CPU.* __fput+[^(]*(\([^,]*\),.* -#.*/\1/p' "$MCT_TRACE" | sort | uniq -c |
	sort -rn | awk 'NR == 1 { print $1 }')
diag "one address was used $addresses times"
if grep -q ' __asan_load8$' /proc/kallsyms; then
	skip "an address is used at least 20 times" "KASAN keeps what was freed"
elif grep -q ' file_free_rcu$' /proc/kallsyms; then
	skip "an address is used at least 20 times" "a file is freed after a grace period"
else
	check "an address is used at least 20 times" [ "$addresses" -ge 20 ]
fi
equal "each use of an address is a new object" "" "$(ended | sort -n | uniq -d)"
check "each line is well-formed" examine "$MCT_TRACE"

# There are more dentries than the limit of objects, and no trigger unfollows them.
put 16384 "$MCT_SIZE"
put '__d_alloc:follow ret' "$triggers"
traced find /proc /sys > /dev/null
full=$(grep -c '^# follow: too many objects .* __d_alloc+' "$MCT_TRACE")
begun=$(sed -n 's/^CPU.* __d_alloc+.* +#\([0-9]*\):ret.*/\1/p' "$MCT_TRACE" | wc -l)
diag "$begun followed, $full refused"
check "the trace has a line for each object beyond the limit" [ "$full" -ge 100 ]
check "as many objects are followed as the limit allows" [ "$begun" -ge 1024 ]
put "" "$triggers"
rules
traced cat /dev/null
equal "new triggers release all objects" 0 "$(grep -c '^# follow: too many' "$MCT_TRACE")"
check "new objects are followed after that" [ "$(begun | wc -l)" -ge 1 ]

# Objects end while others find no free place.
files()
{
	local i=0
	while [ $i -lt 100 ]; do
		: < /dev/null
		i=$((i + 1))
	done
}

open_while_full()
{
	find /proc /sys > /dev/null &
	files &
	files &
	files
	wait
	sleep 1		# some kernels free a file after a grace period
}

put 32768 "$MCT_SIZE"
put 2 /proc/sys/vm/drop_caches
put '__d_alloc:follow ret' "$triggers"
# A file that could not be opened is freed without __fput().
for rule in 'alloc_empty_file:follow ret' '__fput:unfollow 1' 'kmem_cache_free:unfollow 2'; do
	add "$rule"
done
traced open_while_full
# Without those of this shell, which opens files to switch tracing off
sed -n -e "/:$$ /d" -e 's/^CPU.* alloc_empty_file+.* +#\([0-9]*\):ret.*/\1/p' "$MCT_TRACE" |
	sort > "$MCT_TMP/files"
sed -n 's/^CPU.* -#\([0-9]*\):[0-9].*/\1/p' "$MCT_TRACE" | sort > "$MCT_TMP/ended"
at_least "files are followed while the limit is reached" 10 "$(wc -l < "$MCT_TMP/files")"
equal "no file stays followed after its release" "" \
	"$(grep -vxFf "$MCT_TMP/ended" "$MCT_TMP/files" | xargs)"
finish
