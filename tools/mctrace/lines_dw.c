// SPDX-License-Identifier: GPL-2.0
/* Source lines of addresses, by libdw. */
#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "lines.h"
#include "util.h"

struct lines {
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t moved;		/* load address minus link address */
	char *text;
};

const char *lines_library(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "libdw 0.%d", _ELFUTILS_VERSION);
	return name;
}

static uint64_t linked_stext(Dwfl_Module *module)
{
	int nr = dwfl_module_getsymtab(module), i;
	const char *name;
	GElf_Sym sym;

	for (i = 0; i < nr; i++) {
		name = dwfl_module_getsym(module, i, &sym, NULL);
		if (name && !strcmp(name, "_stext"))
			return sym.st_value;
	}
	return 0;
}

/* End mctrace if the build ids differ: another kernel's vmlinux would give wrong lines. */
static void check_build_id(Dwfl_Module *module, const char *vmlinux, const char *build_id)
{
	const unsigned char *bits;
	GElf_Addr address;
	int nr = dwfl_module_build_id(module, &bits, &address), i;
	char hex[129];

	if (nr <= 0 || nr > 64 || !build_id || !*build_id)
		return;
	for (i = 0; i < nr; i++)
		sprintf(hex + 2 * i, "%02x", bits[i]);
	if (strcmp(hex, build_id))
		die("%s is of another kernel: its build id is %s, the recording's %s", vmlinux, hex,
		    build_id);
}

static struct lines *open_vmlinux(const char *vmlinux)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct lines *lines = xcalloc(1, sizeof(*lines));

	lines->dwfl = dwfl_begin(&callbacks);
	if (lines->dwfl)
		lines->module = dwfl_report_offline(lines->dwfl, "", vmlinux, -1);
	if (!lines->module || dwfl_report_end(lines->dwfl, NULL, NULL))
		die("%s: %s", vmlinux, dwfl_errmsg(-1));
	return lines;
}

char *lines_functions(const char *vmlinux)
{
	struct lines *lines = open_vmlinux(vmlinux);
	int nr = dwfl_module_getsymtab(lines->module), i;
	struct buffer to = { };
	const char *name;
	GElf_Sym sym;

	for (i = 0; i < nr; i++) {
		name = dwfl_module_getsym(lines->module, i, &sym, NULL);
		if (name && *name && sym.st_value && (GELF_ST_TYPE(sym.st_info) == STT_FUNC ||
						      !strcmp(name, "_stext")))
			buffer_printf(&to, "%016llx T %s\n", (unsigned long long)sym.st_value,
				      name);
	}
	buffer_char(&to, '\0');
	lines_close(lines);
	return to.data;
}

struct lines *lines_open(const char *vmlinux, uint64_t stext, const char *build_id)
{
	struct lines *lines = open_vmlinux(vmlinux);
	Dwarf_Addr bias;
	uint64_t linked;

	check_build_id(lines->module, vmlinux, build_id);
	linked = linked_stext(lines->module);
	if (!linked)
		die("%s has no symbol _stext: it is no vmlinux, or was stripped", vmlinux);
	if (!dwfl_module_getdwarf(lines->module, &bias))
		die("%s: %s", vmlinux, dwfl_errmsg(-1));
	lines->moved = stext - linked;
	return lines;
}

/* Return @file relative to the kernel's source tree: without @folder, in which it was built. */
static const char *within(const char *file, const char *folder)
{
	size_t length = folder ? strlen(folder) : 0;

	if (length && !strncmp(file, folder, length) && file[length] == '/')
		file += length + 1;
	return !strncmp(file, "./", 2) ? file + 2 : file;
}

const char *line_of(struct lines *lines, uint64_t address)
{
	Dwfl_Line *line = dwfl_module_getsrc(lines->module, address - lines->moved);
	const char *file;
	int number;

	file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!file)
		return NULL;
	free(lines->text);
	lines->text = xasprintf("%s:%d", within(file, dwfl_line_comp_dir(line)), number);
	return lines->text;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	dwfl_end(lines->dwfl);
	free(lines->text);
	free(lines);
}
