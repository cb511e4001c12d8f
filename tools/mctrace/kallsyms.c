// SPDX-License-Identifier: GPL-2.0
/* What /proc/kallsyms says of functions. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "util.h"

#define KALLSYMS	"/proc/kallsyms"

static bool is_function(char type)
{
	return type && strchr("tTwW", type);
}

/* strtoull() would look for a number behind the line's end. */
static const char *parse_address(const char *text, const char *end, uint64_t *address)
{
	const char *p;

	*address = 0;
	for (p = text; p < end && isxdigit((unsigned char)*p); p++)
		*address = *address << 4 | (*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
	return p;
}

/* "ffffffff81000000 T name\t[module]\n"; false if it is none, or no function's. */
bool kallsyms_parse(const char *text, size_t length, struct kallsyms_line *line)
{
	const char *end = text + length, *name, *module, *p;

	p = parse_address(text, end, &line->address);
	if (p == text || end - p < 4 || p[0] != ' ' || p[2] != ' ' || !is_function(p[1]))
		return false;
	name = p + 3;
	module = memchr(name, '\t', end - name);
	line->name = name;
	line->name_length = (module ?: end) - name;
	line->module_length = 0;
	if (module && end - module > 3)
		line->module_length = end - module - 3;
	return line->name_length;
}

char *kallsyms_read(void)
{
	char *all = read_file(KALLSYMS), *to = all, *line, *next;
	uint64_t addresses = 0;
	struct kallsyms_line parsed;
	size_t length;

	if (!all)
		die_errno(KALLSYMS);
	for (line = all; *line; line = next) {
		length = strcspn(line, "\n");
		next = line + length + (line[length] == '\n');
		if (!kallsyms_parse(line, length, &parsed))
			continue;
		addresses |= parsed.address;
		memmove(to, line, next - line);
		to += next - line;
	}
	*to = '\0';
	if (!addresses)
		die(KALLSYMS " hides addresses: as root, echo 1 > /proc/sys/kernel/kptr_restrict");
	return all;
}
