// SPDX-License-Identifier: GPL-2.0
/* Stubs for a build without libdw. */
#include "lines.h"
#include "util.h"

const char *lines_library(void)
{
	return "without libdw";
}

struct lines *lines_open(const char *vmlinux, uint64_t stext, const char *build_id)
{
	(void)stext;
	(void)build_id;
	die("this mctrace was built without libdw, so it does not know the lines of %s", vmlinux);
}

char *lines_functions(const char *vmlinux)
{
	die("this mctrace was built without libdw and can't read %s: take what 'nm' prints of it",
	    vmlinux);
}

const char *line_of(struct lines *lines, uint64_t address)
{
	(void)lines;
	(void)address;
	return NULL;
}

void lines_close(struct lines *lines)
{
	(void)lines;
}
