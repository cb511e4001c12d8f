#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A list takes effect as a whole, in whatever pieces it is written
# requires: root tracer helper:pieces

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

# The rule for the files filter, notrace, triggers and pid: a write of less than 4096 bytes that
# ends with a newline completes the text of the earlier writes through the same open file. The
# kernel then applies the whole text or none of it, and the write returns the error. The kernel
# keeps any other write until then, or until close(), which returns the error.
#
# So a piece of less than 4096 bytes that ends with a newline completes a text. Each text here has
# one such piece, its last. A line that would end with an earlier piece gets an additional space. A
# text for pieces of one byte is a single line.

plan 54

filter=$MCT_DIR/filter
never=$MCT_DIR/notrace
triggers=$MCT_DIR/triggers
pid=$MCT_DIR/pid
cuts="1 7 4095 4096 4097 8192 0"
names=$MCT_TMP/names
text=$MCT_TMP/text
calls=200

at_end()
{
	exec 3>&-
	put "" "$filter"
	put "" "$never"
	put "" "$triggers"
	put "" "$pid"
	rings_restore
}

# shown FILE: print the list without comments
shown()
{
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$1"
}

# brief FILE: print the beginning of the list on one line
brief()
{
	shown "$1" | xargs | cut -c 1-60
}

# pad SIZE: copy standard input so that no line but the last ends with a piece of SIZE bytes
pad()
{
	awk -v size="$1" '
		NR > 1 {
			at += length(line) + 1
			if (size && size < 4096 && at % size == 0) {
				line = line " "
				at++
			}
			print line
		}
		{ line = $0 }
		END { if (NR) print line }'
}

# lines_for FILE: print the names as lines of that file
lines_for()
{
	case $1 in
	"$triggers")	sed 's/$/:count/' "$names" ;;
	*)		cat "$names" ;;
	esac
}

# make_text FILE CUT [WHERE]: write a text for pieces of CUT bytes to $text, with a wrong name at
# that place
make_text()
{
	lines_for "$1" | if [ "$2" = 1 ] && [ "$1" = "$triggers" ]; then
		# One line is one trigger.
		head -n 1
	else
		cat
	fi > "$MCT_TMP/lines"
	wrong=no_such_function
	[ "$1" != "$triggers" ] || wrong=$wrong:count
	nr=$(wc -l < "$MCT_TMP/lines")
	case ${3-} in
	begin)	sed "1s/.*/$wrong/" "$MCT_TMP/lines" ;;
	middle)	sed "$(((nr + 1) / 2))s/.*/$wrong/" "$MCT_TMP/lines" ;;
	end)	sed "\$s/.*/$wrong/" "$MCT_TMP/lines" ;;
	*)	cat "$MCT_TMP/lines" ;;
	esac | if [ "$2" = 1 ]; then
		xargs | sed 's/$/      /'
	else
		pad "$2"
	fi > "$text"
}

# write_text HOW FILE [OPTION...] -- SIZE...: write $text by pieces, and print its results on one
# line
write_text()
{
	how=$1 file=$2
	shift 2
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # options
	"$MCT_BIN/pieces" $options "$how" "$file" "$text" "$@" | sed '/^short /d' | xargs
}

# is_refused RESULT ERROR...: succeed if the result is exactly one of these errors, of one call
is_refused()
{
	got=$1
	shift
	for error; do
		case $got in
		*' '*' '*' '*)		;;
		write\ *\ "$error" | close\ "$error")	return 0 ;;
		esac
	done
	return 1
}

# all_refused HOW FILE WHERE: succeed if a wrong name there is refused with pieces of each size,
# and the list stays unchanged
all_refused()
{
	bad=
	shown "$2" > "$MCT_TMP/before"
	for cut in $cuts; do
		make_text "$2" "$cut" "$3"
		result=$(write_text "$1" "$2" -- "$cut")
		is_refused "$result" ENOENT || {
			echo "pieces of $cut: $result"
			bad=1
		}
		shown "$2" > "$MCT_TMP/after"
		cmp -s "$MCT_TMP/before" "$MCT_TMP/after" || {
			echo "pieces of $cut: $(wc -l < "$MCT_TMP/after") lines afterwards"
			bad=1
			write_before "$2"
		}
	done
	[ -z "$bad" ]
}

# write_before FILE: restore the old list
write_before()
{
	cat "$MCT_TMP/before" > "$1"
}

# all_taken HOW FILE: succeed if a right text replaces the list, or is added, with pieces of each
# size
all_taken()
{
	bad=
	shown "$2" > "$MCT_TMP/before"
	for cut in $cuts; do
		make_text "$2" "$cut"
		result=$(write_text "$1" "$2" -- "$cut")
		shown "$2" > "$MCT_TMP/after"
		{
			[ "$1" = ">" ] || cat "$MCT_TMP/before"
			cat "$MCT_TMP/lines"
		} > "$MCT_TMP/wanted"
		[ "$result" = ok ] || {
			echo "pieces of $cut: $result"
			bad=1
		}
		cmp -s "$MCT_TMP/wanted" "$MCT_TMP/after" || {
			echo "pieces of $cut: $(wc -l < "$MCT_TMP/after") lines afterwards," \
				"not $(wc -l < "$MCT_TMP/wanted")"
			bad=1
		}
		write_before "$2"
	done
	[ -z "$bad" ]
}

# with_comments BYTES: write the names to $text, each with a comment, at least BYTES in all
with_comments()
{
	awk -v bytes="$1" '
		BEGIN { dots = "..............................................." }
		{ name[NR] = $0 }
		END {
			while (length(dots) < bytes / NR)
				dots = sprintf("%s%s", dots, dots)
			dots = substr(dots, 1, int(bytes / NR))
			for (i = 1; i <= NR; i++)
				print name[i] "\n# " dots
		}' > "$text"
}

# can_copy FILE: succeed if the list can be written back and is the same then
can_copy()
{
	cat "$1" > "$MCT_TMP/read"
	cat "$MCT_TMP/read" > "$1" || return 1
	shown "$1" > "$MCT_TMP/after"
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$MCT_TMP/read" | cmp - "$MCT_TMP/after"
}

# recorded: print the functions in the trace
recorded()
{
	sed -n 's/^CPU [0-9]*: .*:[0-9]* \([^+ ]*\)+.* <-- .*/\1/p' "$MCT_TRACE" | sort -u | xargs
}

# Select names that belong to exactly one function.
sed -n 's/^\([a-z0-9_]*\)$/\1/p' "$MCT_DIR/functions" | sort | uniq -u |
	grep -vxE 'vfs_(read|write|open)' | awk 'NR % 7 == 0' | head -n 460 > "$names"
equal "enough names are found" 460 "$(wc -l < "$names")"

# --- one wrong name
printf '%s\n' vfs_read vfs_write > "$filter"
printf '%s\n' vfs_read > "$never"
printf '%s\n' vfs_read:count vfs_write:count > "$triggers"
begun=$(now)
for file in "$filter" "$triggers"; do
	for where in begin middle end; do
		check "${file##*/}: a wrong name at the $where changes nothing" \
			all_refused ">" "$file" "$where"
	done
	check "${file##*/}: a wrong name at the end of an added text changes nothing" \
		all_refused ">>" "$file" end
	check "${file##*/}: a right text replaces the list" all_taken ">" "$file"
	check "${file##*/}: a right text is added to the list" all_taken ">>" "$file"
done
cuts="7 4096 0"
check "notrace: a wrong name at the end changes nothing" all_refused ">" "$never" end
check "notrace: a right text replaces the list" all_taken ">" "$never"
diag "$(($(now) - begun)) seconds"

# --- pid
put $$ "$pid"
for cut in 1 7 4096 8192 0; do
	if [ "$cut" = 1 ]; then
		printf '%9000s\n' x
	else
		printf '%s\n' "$$ children" "$(printf '%9000s' '')" "4194304  " | pad "$cut"
	fi > "$text"
	result=$(write_text ">" "$pid" -- "$cut")
	is_refused "$result" ESRCH EINVAL || break
	[ "$(shown "$pid")" = $$ ] || break
done
equal "pid: an unknown process at the end changes nothing" "0 yes $$" \
	"$cut $(is_refused "$result" ESRCH EINVAL && echo yes) $(brief "$pid")"
for cut in 1 7 4096 8192 0; do
	if [ "$cut" = 1 ]; then
		printf '%9000s\n' "tid $$"
	else
		printf '%s\n' "$(printf '%9000s' '')" "tid $$  " | pad "$cut"
	fi > "$text"
	result=$(write_text ">" "$pid" -- "$cut")
	[ "$result $(brief "$pid")" = "ok tid $$" ] || break
	put $$ "$pid"
done
equal "pid: a right text replaces the list" "0 ok" "$cut $result"
put "" "$pid"

# --- while tracing
put vfs_write "$filter"
put "" "$never"
put "" "$triggers"
make_text "$filter" 4096 end
trace_on
write_text ">" "$filter" -- 4096 > "$MCT_TMP/result"
trace_clear
copy
trace_off
equal "after an error nothing else is recorded" vfs_write "$(recorded | cut -c 1-60)"

# --- one open file
put vfs_write "$filter"
exec 3> "$filter"
printf vfs_op >&3
equal "a piece without a newline waits" vfs_write "$(brief "$filter")"
echo en > "$MCT_TMP/piece"
cat "$MCT_TMP/piece" >&3 2> /dev/null
equal "a write of another process completes that piece" vfs_open "$(brief "$filter")"
echo vfs_read >&3
equal "another text through that file adds to the list" "vfs_open vfs_read" \
	"$(brief "$filter")"
printf vfs_ > "$MCT_TMP/piece"
cat "$MCT_TMP/piece" >&3 2> /dev/null
printf write >&3
equal "the exit of one writer completes nothing" "vfs_open vfs_read" \
	"$(brief "$filter")"
exec 3>&-
equal "the last close() completes the text" "vfs_open vfs_read vfs_write" "$(brief "$filter")"
{ printf vfs_; printf 'read\n'; } > "$filter"
equal "two writes are one name" vfs_read "$(brief "$filter")"
{ printf 'vfs_open\nvfs_wr'; printf 'ite\n'; } > "$filter"
equal "two writes are one name after a complete line" "vfs_open vfs_write" "$(brief "$filter")"
put "vfs_open vfs_write" "$filter"
put "$(xargs < "$names") no_such_function" "$filter"
equal "a shell's long line with a wrong name changes nothing" "vfs_open vfs_write" \
	"$(brief "$filter")"
put "vfs_open vfs_write" "$filter"
printf 'vfs_read\nno_such_function' > "$text"
equal "close() returns the error of a text without a final newline" "close ENOENT" \
	"$(write_text ">" "$filter" -- 0)"
equal "a text with an error on close() changes nothing" "vfs_open vfs_write" "$(brief "$filter")"
printf 'no_such_function\nvfs_read\n' > "$text"
equal "after an error the same open file takes a right text" "write 1 ENOENT" \
	"$(write_text ">" "$filter" -k -- 17 0)"
equal "the right text after an error replaces the list" vfs_read "$(brief "$filter")"
printf 'no_such_func%9sion\nvfs_write\n' '' > "$text"
equal "an error drops the kept pieces" "write 2 ENOENT write 3 ENOENT" \
	"$(write_text ">" "$filter" -k -- 12 13 0)"
equal "no text after an error of a text in pieces takes effect" vfs_read "$(brief "$filter")"
# As a program does that writes in blocks of 8 KiB, and at its end again what was not written.
{ cat "$names"; echo no_such_function; tail -n 9 "$names"; tail -n 9 "$names"; } > "$text"
size=$(tail -n 9 "$names" | wc -c)
begin=$(($(wc -c < "$text") - 2 * size))
equal "an error of the last piece is returned again" "write 2 ENOENT write 3 ENOENT" \
	"$(write_text ">" "$filter" -k -- "$begin" "$size" 0)"
equal "the last piece, written again, is not the text" vfs_read "$(brief "$filter")"

# --- a fault in the middle of a write
printf '%4096s%s\n' no_such_function vfs_open > "$text"
equal "a fault drops the kept pieces" "fault EFAULT write 2 EFAULT" \
	"$(write_text ">" "$filter" -f 2 -- 4096)"
equal "no text after that fault takes effect" vfs_read "$(brief "$filter")"
printf 'vfs_open\n' > "$text"
equal "a fault that drops nothing refuses nothing" "fault EFAULT" \
	"$(write_text ">" "$filter" -f 1 -- 0)"
equal "the text after it is complete by itself" vfs_open "$(brief "$filter")"
put vfs_open "$filter"
printf '%4096s' vfs_read > "$text"
equal "a fault in the second page is EFAULT" \
	"fault EFAULT" "$(write_text ">" "$filter" -f 2 -- 4096)"
equal "a fault in the second page leaves the list unchanged" vfs_open "$(brief "$filter")"
printf '%5000s' vfs_read:count > "$text"
put vfs_open:count "$triggers"
equal "a fault leaves the triggers unchanged" "fault EFAULT vfs_open:count" \
	"$(write_text ">" "$triggers" -k -f 2 -- 5000 | xargs) $(brief "$triggers")"

# --- long texts
begun=$(now)
for file in "$filter" "$triggers"; do
	lines_for "$file" | with_comments $((2 * 1024 * 1024))
	lines_for "$file" > "$MCT_TMP/wanted"
	for cut in 4096 65536 0; do
		put "" "$file"
		result=$(write_text ">" "$file" -- $cut)
		shown "$file" > "$MCT_TMP/after"
		[ "$result" = ok ] || break
		cmp -s "$MCT_TMP/wanted" "$MCT_TMP/after" || break
	done
	equal "${file##*/}: accepts 2 MiB, with comments" "0 ok 460" \
		"$cut $result $(wc -l < "$MCT_TMP/after")"
done
for file in "$filter" "$triggers"; do
	lines_for "$file" | with_comments $((17 * 1024 * 1024))
	for cut in 65536 0; do
		result=$(write_text ">" "$file" -- $cut)
		shown "$file" > "$MCT_TMP/after"
		is_refused "$result" EINVAL EFBIG || break
		lines_for "$file" | cmp -s - "$MCT_TMP/after" || break
	done
	equal "${file##*/}: refuses 17 MiB, and nothing changes" "0 refused 460" \
		"$cut $(is_refused "$result" EINVAL EFBIG && echo refused || echo "$result") $(
		wc -l < "$MCT_TMP/after")"
done
diag "$(($(now) - begun)) seconds"

# --- copies and empty texts
make_text "$never" 0
cat "$text" > "$never"
make_text "$triggers" 0
cat "$text" > "$triggers"
make_text "$filter" 0
cat "$text" > "$filter"
printf '%s\n' "$$ children" "tid $$" > "$pid"
for file in "$filter" "$never" "$triggers" "$pid"; do
	check "${file##*/}: the list can be written back" can_copy "$file"
done
left=
for file in "$filter" "$never" "$triggers" "$pid"; do
	: > "$file"
	left=$left$(shown "$file")
done
equal "opening with O_TRUNC and closing empties each list" "" "$left"
put vfs_read "$filter"
put vfs_read "$never"
put vfs_read:count "$triggers"
put $$ "$pid"
left=
for file in "$filter" "$never" "$triggers" "$pid"; do
	echo > "$file"
	left=$left$(shown "$file")
done
equal "an empty line empties each list" "" "$left"

# killed TEXT: let a process be killed after it has written TEXT into filter, before it closes it
killed()
{
	# shellcheck disable=SC2016
	sh -c 'exec 3> "$2"; printf %s "$1" >&3; kill -KILL $$' sh "$1" "$filter" 2> /dev/null
	echo "$? $(brief "$filter")"
}

put vfs_read "$filter"
equal "a writer that is killed before it writes leaves the list as it was" \
	"137 vfs_read" "$(killed "")"
equal "so does one that is killed before the end of its text" "137 vfs_read" "$(killed vfs_open)"
exec 3> "$filter"
# shellcheck disable=SC2016
sh -c 'printf vfs_open >&3; kill -KILL $$' 2> /dev/null
exec 3>&-
equal "so does one that is killed while another process has the file open" vfs_read \
	"$(brief "$filter")"
finish
