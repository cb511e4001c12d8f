// SPDX-License-Identifier: GPL-2.0
/* Read functions from /proc/kallsyms and similar files. */
#include <ctype.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "capability.h"
#include "kallsyms.h"
#include "lines.h"
#include "tracer.h"
#include "util.h"

#define KALLSYMS	"/proc/kallsyms"

static bool is_function(char type)
{
	return type && strchr("tTwW", type);
}

/* Parse a hexadecimal number that ends before @end: strtoull() could continue on the next line. */
static const char *parse_address(const char *text, const char *end, uint64_t *address)
{
	const char *p;

	*address = 0;
	for (p = text; p < end && isxdigit((unsigned char)*p); p++)
		*address = *address << 4 | (*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
	return p;
}

/* The format is "ffffffff81000000 T name\t[module]". */
bool kallsyms_parse(const char *text, size_t length, struct kallsyms_line *line)
{
	const char *end = text + length, *name, *module, *p;

	p = parse_address(text, end, &line->address);
	if (p == text || end - p < 4 || p[0] != ' ' || p[2] != ' ' || !is_function(p[1]))
		return false;
	name = p + 3;
	for (p = name; p < end; p++)
		if ((*p < ' ' || *p > '~') && *p != '\t')
			return false;	/* no function's name: a terminal may obey it */
	module = memchr(name, '\t', end - name);
	line->name = name;
	line->name_length = (module ?: end) - name;
	line->module_length = 0;
	if (module && end - module > 3)
		line->module_length = end - module - 3;
	return line->name_length;
}

/* Remove all lines but those of functions. Return their addresses, or'ed: 0 if all are hidden. */
static uint64_t keep_functions(char *all)
{
	char *to = all, *line, *next;
	uint64_t addresses = 0;
	struct kallsyms_line parsed;
	size_t length;

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
	return addresses;
}

static void die_hidden(void)
{
	char *restricted = read_file("/proc/sys/kernel/kptr_restrict");

	if (restricted && atoi(restricted) < 2 && !has_capability(CAP_SYSLOG))
		die(KALLSYMS " hides addresses: root lacks CAP_SYSLOG here, as in a container");
	die(KALLSYMS " hides addresses: as root, echo 1 > /proc/sys/kernel/kptr_restrict");
}

char *kallsyms_read(void)
{
	char *all = read_file(KALLSYMS);

	if (!all)
		die_errno(KALLSYMS);
	if (!keep_functions(all))
		die_hidden();
	return all;
}

char *kallsyms_read_at(int64_t *modules)
{
	char *all = NULL;
	int tries;

	for (tries = 0; tries < 3; tries++) {
		free(all);
		*modules = tracer_modules();
		all = kallsyms_read();
		if (tracer_modules() == *modules)
			return all;
	}
	*modules = -1;
	return all;
}

char *kallsyms_of_modules(const char *all)
{
	char *modules = xcalloc(strlen(all) + 1, 1), *to = modules;
	size_t length;

	for (; *all; all += length) {
		length = strcspn(all, "\n");
		length += all[length] == '\n';
		if (memchr(all, '\t', length))
			to = mempcpy(to, all, length);
	}
	return modules;
}

char *kallsyms_read_file(const char *path)
{
	char *all = read_file(path);

	if (!all)
		die_errno("%s", path);
	if (!strncmp(all, "\177ELF", 4)) {
		free(all);
		all = lines_functions(path);
	}
	if (!keep_functions(all))
		die("%s has no functions with addresses: it is no kallsyms, System.map or vmlinux",
		    path);
	return all;
}
