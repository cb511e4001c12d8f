/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prototypes of functions and layouts of types, from BTF, by libbpf. prototypes_none.c replaces it
 * in a build without libbpf.
 */
#ifndef _MCTRACE_PROTOTYPES_H
#define _MCTRACE_PROTOTYPES_H

/* prototypes_library() - Return "libbpf 1.1", or "without libbpf" */
const char *prototypes_library(void);

struct prototypes;

/*
 * Open the BTF in @file, an ELF or a raw BTF file; NULL: of the running kernel. End mctrace if
 * there is none.
 */
struct prototypes *prototypes_open(const char *file);
/* As prototypes_open(), but return NULL and set errno on failure; ENOTSUP: built without libbpf. */
struct prototypes *prototypes_try(const char *file);
/*
 * Return the byte offset of a member, such as "sk_buff.network_header", in its structure; -1 if the
 * member is not known, or is a bit field.
 */
long prototypes_offset(struct prototypes *prototypes, const char *path);
/* Return how many arguments a function of vmlinux takes; -1 if not known. */
int prototypes_arguments(struct prototypes *prototypes, const char *name);
/* Return the constant of "enum @name" with this value; NULL if there is none. */
const char *prototypes_constant(struct prototypes *prototypes, const char *name, int value);
/*
 * prototype_of() - Return a function's prototype
 * @module: the function's module; NULL: vmlinux
 *
 * Return "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)", valid until
 * the next call; NULL if not known.
 */
const char *prototype_of(struct prototypes *prototypes, const char *name, const char *module);
/*
 * Return where the string is that the function gets as an argument, as the argument of the trigger
 * action "data"; valid until the next call. Of several strings, take the first const one. Return
 * NULL if there is none, or the function is not known.
 */
const char *prototypes_string(struct prototypes *prototypes, const char *name, const char *module);
/*
 * arguments_of() - Return the arguments of a call, by name and type
 * @values: the @nr argument registers
 * @string: the text for the argument that prototypes_string() selects; NULL: print its address
 *
 * Return "file=0xffff888003c8a000, count=131072", valid until the next call; NULL if the types are
 * not known. Stop at the first argument that is not in a register.
 */
const char *arguments_of(struct prototypes *prototypes, const char *name, const char *module,
			 const unsigned long long *values, unsigned int nr, const char *string);
void prototypes_close(struct prototypes *prototypes);

#endif /* _MCTRACE_PROTOTYPES_H */
