# SPDX-License-Identifier: GPL-2.0
# Completion for bash. Commands, options and the names of their arguments come from --help; functions
# are those that can be traced, or else those in /proc/kallsyms.

_mctrace_functions()
{
	local file=/sys/kernel/debug/mctracer/functions

	if [ -r $file ]; then
		cut -d ' ' -f 1 $file
	else
		awk '$2 ~ /[tT]/ { print $3 }' /proc/kallsyms
	fi 2>/dev/null
}

# _mctrace_begin WORD: print the lines of the input that begin with WORD. compgen -W would expand the
# lines, such as the name of a task that is called "$(...)".
_mctrace_begin()
{
	WORD=$1 awk 'index($0, ENVIRON["WORD"]) == 1'
}

# Print the names of errors, from the C library's headers.
_mctrace_errors()
{
	sed -n 's/^#define[[:space:]]*\(E[A-Z0-9]*\)[[:space:]].*/\1/p' \
		/usr/include/asm-generic/errno-base.h /usr/include/asm-generic/errno.h 2>/dev/null
}

# Print the names of rule sets.
_mctrace_rules()
{
	local file

	for file in ${MCTRACE_RULES:+"$MCTRACE_RULES"/*.rules} /usr/share/mctrace/rules/*.rules; do
		[ -f "$file" ] && basename "$file" .rules
	done
}

# _mctrace_argument COMMAND OPTION: print the name of the option's argument in --help, or nothing if
# it has none.
_mctrace_argument()
{
	mctrace "$1" --help 2>/dev/null | sed -n 's/^  *\(-.*\)/\1/p' | sed 's/  .*//' |
		awk -v option="$2" '$NF !~ /^-/ {
			for (i = 1; i < NF; i++) {
				sub(/,$/, "", $i)
				if ($i == option)
					print $NF
			}
		}'
}

# _mctrace_values ARGUMENT WORD: print the values of ARGUMENT that begin with WORD. Fail if ARGUMENT
# is empty.
_mctrace_values()
{
	case $1 in
	FUNC)	_mctrace_functions ;;
	ERRNO)	_mctrace_errors ;;
	FORM)	mctrace export --help | sed -n '/^Writes/,/--to/s/^  \([a-z.]*\) .*/\1/p' ;;
	PID)	(cd /proc && printf '%s\n' [0-9]*) ;;
	TASK)	(cat /proc/[0-9]*/comm 2>/dev/null; cd /proc && printf '%s\n' [0-9]*) ;;
	*\|*)	echo "$1" | tr '|' '\n' ;;
	RULES)	compgen -f -- "$2"; _mctrace_rules ;;
	FILE | NAME) compgen -f -- "$2" ;;
	'')	return 1 ;;
	esac | _mctrace_begin "$2"
	return 0
}

_mctrace()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} argument=
	local command=${COMP_WORDS[1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ] || { [ "$COMP_CWORD" = 2 ] && [ "$command" = help ]; }; then
		mapfile -t COMPREPLY < <({
			mctrace --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
			printf '%s\n' --help --version
		} | _mctrace_begin "$word")
		return
	fi
	case $before in
	graph | latency | slow)
		argument=FUNC ;;
	-?*)
		argument=$(_mctrace_argument "$command" "$before") ;;
	esac
	if [ -n "$argument" ] && [ "${word#-}" = "$word" ]; then
		mapfile -t COMPREPLY < <(_mctrace_values "$argument" "$word")
		return
	fi
	# A command follows "--".
	if [ "$before" = -- ] && [ "$COMP_CWORD" -gt 2 ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
		return
	fi
	if [ "${word#-}" != "$word" ]; then
		mapfile -t COMPREPLY < <(mctrace "$command" --help | sed -n 's/^  *\(-.*\)/\1/p' |
			sed 's/  .*//' | grep -o -e '--*[A-Za-z][a-z-]*' | _mctrace_begin "$word")
	elif [ "$command" = record ] || [ "$command" = why ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	elif [ "$command" = object ]; then
		mapfile -t COMPREPLY < <(_mctrace_rules | _mctrace_begin "$word")
	elif [ "$command" = list ]; then
		mapfile -t COMPREPLY < <(_mctrace_functions | _mctrace_begin "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _mctrace mctrace
