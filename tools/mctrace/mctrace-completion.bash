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
	local words

	case $1 in
	FUNC)	words=$(_mctrace_functions) ;;
	ERRNO)	words=$(_mctrace_errors) ;;
	FORM)	words=$(mctrace export --help | sed -n '/^Writes/,/--to/s/^  \([a-z.]*\) .*/\1/p') ;;
	PID)	words=$(cd /proc && echo [0-9]*) ;;
	TASK)	words=$(cat /proc/[0-9]*/comm 2>/dev/null; cd /proc && echo [0-9]*) ;;
	*\|*)	words=${1//|/ } ;;
	FILE | NAME)
		compgen -f -- "$2"
		return
		;;
	RULES)
		compgen -f -- "$2"
		words=$(_mctrace_rules)
		;;
	'')	return 1 ;;
	esac
	compgen -W "$words" -- "$2"
	return 0
}

_mctrace()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words argument=
	local command=${COMP_WORDS[1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ] || { [ "$COMP_CWORD" = 2 ] && [ "$command" = help ]; }; then
		words=$(mctrace --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$word")
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
		words=$(mctrace "$command" --help | sed -n 's/^  *\(-.*\)/\1/p' | sed 's/  .*//' |
			grep -o -e '--*[A-Za-z][a-z-]*')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	elif [ "$command" = record ] || [ "$command" = why ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	elif [ "$command" = object ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_rules)" -- "$word")
	elif [ "$command" = list ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_functions)" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _mctrace mctrace
