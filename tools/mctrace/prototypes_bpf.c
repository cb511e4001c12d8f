// SPDX-License-Identifier: GPL-2.0
/* What functions take and return, by libbpf. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "prototypes.h"
#include "util.h"

#define RUNNING	"/sys/kernel/btf/"

/* One file's. A module's knows its own types, and those of the kernel by that. */
struct part {
	struct part *next;
	char *module;		/* NULL: the kernel */
	struct btf *btf;	/* NULL: it has none */
	struct btf_dump *dump;
};

struct prototypes {
	struct part *parts;
	struct part *kernel;
	struct buffer text;
};

const char *prototypes_library(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "libbpf %u.%u", libbpf_major_version(),
		 libbpf_minor_version());
	return name;
}

static void put(void *arg, const char *format, va_list args)
{
	struct buffer *text = arg;
	char *more;

	if (vasprintf(&more, format, args) < 0)
		die_errno("a string");
	buffer_puts(text, more);
	free(more);
}

static struct part *add_part(struct prototypes *prototypes, const char *module, struct btf *btf)
{
	struct part *part = xcalloc(1, sizeof(*part));

	part->module = module ? xstrdup(module) : NULL;
	part->btf = btf;
	if (btf)
		part->dump = btf_dump__new(btf, put, &prototypes->text, NULL);
	part->next = prototypes->parts;
	prototypes->parts = part;
	return part;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

struct prototypes *prototypes_open(const char *file)
{
	struct prototypes *prototypes = xcalloc(1, sizeof(*prototypes));
	struct btf *btf;

	libbpf_set_print(quiet);
	btf = btf__parse(file ?: RUNNING "vmlinux", NULL);
	if (!btf && !file && errno == ENOENT)
		die("this kernel has no BTF: it was built without CONFIG_DEBUG_INFO_BTF");
	if (!btf)
		die_errno("the types in %s", file ?: RUNNING "vmlinux");
	prototypes->kernel = add_part(prototypes, NULL, btf);
	return prototypes;
}

static struct part *part_of(struct prototypes *prototypes, const char *module)
{
	struct part *part;
	char *file;

	for (part = prototypes->parts; part; part = part->next)
		if (module ? part->module && !strcmp(part->module, module) : !part->module)
			return part;
	file = xasprintf(RUNNING "%s", module);
	part = add_part(prototypes, module, btf__parse_split(file, prototypes->kernel->btf));
	free(file);
	return part;
}

const char *prototype_of(struct prototypes *prototypes, const char *name, const char *module)
{
	struct btf_dump_emit_type_decl_opts opts = { .sz = sizeof(opts), .field_name = name };
	struct part *part = part_of(prototypes, module);
	int id = part->dump ? btf__find_by_name_kind(part->btf, name, BTF_KIND_FUNC) : -1;

	if (id < 0)
		return NULL;
	prototypes->text.length = 0;
	if (btf_dump__emit_type_decl(part->dump, btf__type_by_id(part->btf, id)->type, &opts))
		return NULL;
	buffer_char(&prototypes->text, '\0');
	return prototypes->text.data;
}

void prototypes_close(struct prototypes *prototypes)
{
	struct part *part;

	while ((part = prototypes->parts)) {	/* the kernel's, which others need, is the last */
		prototypes->parts = part->next;
		btf_dump__free(part->dump);
		btf__free(part->btf);
		free(part->module);
		free(part);
	}
	buffer_free(&prototypes->text);
	free(prototypes);
}
