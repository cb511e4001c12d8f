// SPDX-License-Identifier: GPL-2.0
/* Prototypes of functions and layouts of types, from BTF, by libbpf. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "mctracer_decode.h"
#include "prototypes.h"
#include "util.h"

#define RUNNING	"/sys/kernel/btf/"

/* The BTF of one file. A module's BTF contains its own types, and refers to the kernel's. */
struct part {
	struct part *next;
	char *module;		/* NULL: the kernel */
	struct btf *btf;	/* NULL: no BTF */
	struct btf_dump *dump;
};

#define BUCKETS		1024

/* A cached search for a name: libbpf compares a name with those of all types. */
struct looked_up {
	struct looked_up *next;
	unsigned int kind;
	int id;			/* negative: not found */
	char name[];
};

struct prototypes {
	struct part *parts;
	struct part *kernel;
	struct looked_up *looked_up[BUCKETS];
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

struct prototypes *prototypes_try(const char *file)
{
	struct prototypes *prototypes;
	struct btf *btf;

	libbpf_set_print(quiet);
	btf = btf__parse(file ?: RUNNING "vmlinux", NULL);
	if (!btf)
		return NULL;
	prototypes = xcalloc(1, sizeof(*prototypes));
	prototypes->kernel = add_part(prototypes, NULL, btf);
	return prototypes;
}

struct prototypes *prototypes_open(const char *file)
{
	struct prototypes *prototypes = prototypes_try(file);

	if (!prototypes && !file && errno == ENOENT)
		die("this kernel has no BTF: it was built without CONFIG_DEBUG_INFO_BTF");
	if (!prototypes)
		die_errno("the types in %s", file ?: RUNNING "vmlinux");
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

/* Return a type without qualifiers and typedefs. */
static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static int64_t sign_extend(uint64_t value, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return (int64_t)(value << shift) >> shift;
}

static const char *enumerator(const struct btf *btf, const struct btf_type *type, int32_t value)
{
	const struct btf_enum *e = btf_enum(type);
	int i;

	for (i = 0; i < btf_vlen(type); i++)
		if (e[i].val == value)
			return btf__name_by_offset(btf, e[i].name_off);
	return NULL;
}

/* Return the id of the kernel's type @name, or a negative errno. Search only once for each name. */
static int find_type(struct prototypes *prototypes, const char *name, unsigned int kind)
{
	struct looked_up *one, **bucket;
	unsigned int hash = kind;
	const char *at;

	for (at = name; *at; at++)
		hash = 31 * hash + (unsigned char)*at;
	bucket = &prototypes->looked_up[hash % BUCKETS];
	for (one = *bucket; one; one = one->next)
		if (one->kind == kind && !strcmp(one->name, name))
			return one->id;
	one = xcalloc(1, sizeof(*one) + strlen(name) + 1);
	memcpy(one->name, name, strlen(name) + 1);
	one->kind = kind;
	one->id = btf__find_by_name_kind(prototypes->kernel->btf, name, kind);
	one->next = *bucket;
	*bucket = one;
	return one->id;
}

static void forget_types(struct prototypes *prototypes)
{
	struct looked_up *one, *next;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		for (one = prototypes->looked_up[i]; one; one = next) {
			next = one->next;
			free(one);
		}
	}
}

int prototypes_arguments(struct prototypes *prototypes, const char *name)
{
	const struct btf *btf = prototypes->kernel->btf;
	int id = find_type(prototypes, name, BTF_KIND_FUNC);

	return id < 0 ? -1 :
	       (int)btf_vlen(btf__type_by_id(btf, btf__type_by_id(btf, id)->type));
}

const char *prototypes_constant(struct prototypes *prototypes, const char *name, int value)
{
	const struct btf *btf = prototypes->kernel->btf;
	int id = find_type(prototypes, name, BTF_KIND_ENUM);

	return id < 0 ? NULL : enumerator(btf, btf__type_by_id(btf, id), value);
}

/*
 * Return the bit offset of the member @name; -1 if there is none, or if it is a bit field. Set
 * *@found to its type. Search unnamed structs and unions, too, because their members count as
 * @type's.
 */
static long member_offset(const struct btf *btf, const struct btf_type *type, const char *name,
			  size_t length, const struct btf_type **found)
{
	const struct btf_member *member = btf_members(type);
	const char *its;
	long offset;
	int i;

	for (i = 0; i < btf_vlen(type); i++) {
		its = btf__name_by_offset(btf, member[i].name_off);
		*found = plain_type(btf, member[i].type);
		if (its && strlen(its) == length && !strncmp(its, name, length))
			return btf_member_bitfield_size(type, i) ? -1 :
			       (long)btf_member_bit_offset(type, i);
		if ((its && *its) || !*found || !btf_is_composite(*found))
			continue;
		offset = member_offset(btf, *found, name, length, found);
		if (offset >= 0)
			return btf_member_bit_offset(type, i) + offset;
	}
	return -1;
}

long prototypes_offset(struct prototypes *prototypes, const char *path)
{
	const struct btf *btf = prototypes->kernel->btf;
	size_t length = strcspn(path, ".");
	char *name = xasprintf("%.*s", (int)length, path);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, id);
	long bits = 0, more;

	free(name);
	for (path += length; *path == '.'; path += length) {
		length = strcspn(++path, ".");
		if (!type || !btf_is_composite(type))
			return -1;
		more = member_offset(btf, type, path, length, &type);
		if (more < 0)
			return -1;
		bits += more;
	}
	return type && !(bits % 8) ? bits / 8 : -1;
}

static void put_argument(struct buffer *to, const struct btf *btf, const struct btf_type *type,
			 uint64_t value)
{
	const char *name;

	if (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_BOOL) {
		buffer_puts(to, value & 0xff ? "true" : "false");
	} else if (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED) {
		buffer_printf(to, "%lld", (long long)sign_extend(value, type->size));
	} else if (btf_is_int(type)) {
		buffer_printf(to, "%llu", (unsigned long long)(value << (64 - 8 * type->size) >>
							       (64 - 8 * type->size)));
	} else if (btf_is_enum(type)) {
		name = enumerator(btf, type, (int32_t)value);
		if (name)
			buffer_puts(to, name);
		else
			buffer_printf(to, "%d", (int32_t)value);
	} else {
		buffer_printf(to, "0x%llx", (unsigned long long)value);
	}
}

/*
 * Return true if a value of @type is in one register. Structures may be in two registers or in
 * memory, and floats never are in one.
 */
static bool is_in_register(const struct btf *btf, const struct btf_type *type)
{
	size_t size = btf__pointer_size(btf) ?: sizeof(uint64_t);

	return type && (btf_is_ptr(type) || btf_is_enum(type) ||
			(btf_is_int(type) && type->size && type->size <= size));
}

static const struct btf_type *function_of(const struct part *part, const char *name)
{
	int id = part->btf ? btf__find_by_name_kind(part->btf, name, BTF_KIND_FUNC) : -1;

	return id < 0 ? NULL : btf__type_by_id(part->btf, btf__type_by_id(part->btf, id)->type);
}

/* Return what the pointer @id points to: char, const char, struct filename, or none of these. */
enum pointed { NO_STRING, STRING, CONST_STRING, FILENAME };

static enum pointed points_to(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = plain_type(btf, id);
	bool is_const = false;
	const char *name;

	if (!type || !btf_is_ptr(type))
		return NO_STRING;
	type = btf__type_by_id(btf, type->type);
	while (type && btf_is_mod(type)) {
		name = btf__name_by_offset(btf, type->name_off);
		if (btf_is_type_tag(type) && name && !strcmp(name, "user"))
			return NO_STRING;	/* user memory may not be mapped yet */
		is_const |= btf_is_const(type);
		type = btf__type_by_id(btf, type->type);
	}
	name = type ? btf__name_by_offset(btf, type->name_off) : NULL;
	if (!name)
		return NO_STRING;
	if (btf_is_int(type) && type->size == 1 && !strcmp(name, "char"))
		return is_const ? CONST_STRING : STRING;
	return btf_is_composite(type) && !strcmp(name, "filename") ? FILENAME : NO_STRING;
}

/* Return which argument is the string, counted from 0; -1: none. Set *@what to its kind. */
static int string_of(const struct btf *btf, const struct btf_type *function, enum pointed *what)
{
	const struct btf_param *param = btf_params(function);
	int found = -1, i;
	enum pointed is;

	for (i = 0; i < btf_vlen(function) && i < MCTRACER_ARGS; i++) {
		if (!is_in_register(btf, plain_type(btf, param[i].type)))
			break;
		is = points_to(btf, param[i].type);
		if (is == NO_STRING || (is == STRING && found >= 0))
			continue;
		*what = is;
		found = i;
		if (is != STRING)
			break;
	}
	return found;
}

const char *prototypes_string(struct prototypes *prototypes, const char *name, const char *module)
{
	struct part *part = part_of(prototypes, module);
	const struct btf_type *function = function_of(part, name);
	struct buffer *to = &prototypes->text;
	long offset = -1;
	enum pointed is;
	int argument;

	argument = function ? string_of(part->btf, function, &is) : -1;
	if (argument < 0)
		return NULL;
	if (is == FILENAME)
		offset = prototypes_offset(prototypes, "filename.name");
	if (is == FILENAME && offset < 0)
		return NULL;
	to->length = 0;
	buffer_printf(to, "%d", argument + 1);
	if (is == FILENAME)
		buffer_printf(to, "->%ld", offset);
	buffer_char(to, '\0');
	return to->data;
}

const char *arguments_of(struct prototypes *prototypes, const char *name, const char *module,
			 const unsigned long long *values, unsigned int nr, const char *string)
{
	struct part *part = part_of(prototypes, module);
	const struct btf_type *function = function_of(part, name), *type;
	const struct btf_param *param;
	struct buffer *to = &prototypes->text;
	const char *called;
	enum pointed is;
	int of, i;

	if (!function)
		return NULL;
	of = string ? string_of(part->btf, function, &is) : -1;
	param = btf_params(function);
	to->length = 0;
	for (i = 0; i < btf_vlen(function) && i < (int)nr; i++) {
		type = plain_type(part->btf, param[i].type);
		if (!is_in_register(part->btf, type))
			break;		/* the registers of the rest are not known */
		called = btf__name_by_offset(part->btf, param[i].name_off);
		buffer_printf(to, "%s%s=", i ? ", " : "", called && *called ? called : "?");
		if (i == of)
			buffer_puts(to, string);
		else
			put_argument(to, part->btf, type, values[i]);
	}
	buffer_char(to, '\0');
	return to->data;
}

void prototypes_close(struct prototypes *prototypes)
{
	struct part *part;

	while ((part = prototypes->parts)) {	/* the kernel's is last: others refer to it */
		prototypes->parts = part->next;
		btf_dump__free(part->dump);
		btf__free(part->btf);
		free(part->module);
		free(part);
	}
	forget_types(prototypes);
	buffer_free(&prototypes->text);
	free(prototypes);
}
