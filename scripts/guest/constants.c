// SPDX-License-Identifier: GPL-2.0
/*
 * usage: constants ENUM [FILE]
 *
 * Print the constants of an enum by the running kernel's types, one a line: NAME VALUE. FILE is
 * /sys/kernel/btf/vmlinux. Uses no library, so that a test compares mctrace with another reader.
 */
#include <err.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t room = 64 << 20, nr;
	char *all = malloc(room);

	if (!file || !all)
		err(1, "%s", path);
	nr = fread(all, 1, room, file);
	if (ferror(file) || nr == room || nr < sizeof(struct btf_header))
		errx(1, "%s can't be read", path);
	fclose(file);
	return all;
}

/* Return the size of what follows a type. */
static size_t size_behind(const struct btf_type *type)
{
	unsigned int nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:		return sizeof(__u32);
	case BTF_KIND_ARRAY:		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:		return nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:		return nr * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:		return nr * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:	return nr * sizeof(struct btf_param);
	case BTF_KIND_VAR:		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:		return nr * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:		return sizeof(struct btf_decl_tag);
	default:			return 0;
	}
}

int main(int argc, char **argv)
{
	const char *path = argc > 2 ? argv[2] : "/sys/kernel/btf/vmlinux", *strings, *at, *end;
	const struct btf_header *header;
	const struct btf_type *type;
	const struct btf_enum *constant;
	unsigned int i;

	if (argc < 2)
		errx(2, "usage: constants ENUM [FILE]");
	header = (const struct btf_header *)read_all(path);
	if (header->magic != BTF_MAGIC)
		errx(1, "%s has no types", path);
	at = (const char *)header + header->hdr_len + header->type_off;
	strings = (const char *)header + header->hdr_len + header->str_off;
	for (end = at + header->type_len; at < end; at += sizeof(*type) + size_behind(type)) {
		type = (const struct btf_type *)at;
		if (BTF_INFO_KIND(type->info) != BTF_KIND_ENUM ||
		    strcmp(strings + type->name_off, argv[1]) || !BTF_INFO_VLEN(type->info))
			continue;
		constant = (const struct btf_enum *)(type + 1);
		for (i = 0; i < BTF_INFO_VLEN(type->info); i++)
			printf("%s %u\n", strings + constant[i].name_off, constant[i].val);
		return 0;
	}
	errx(1, "%s has no enum %s", path, argv[1]);
}
