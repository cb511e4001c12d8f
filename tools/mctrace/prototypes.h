/* SPDX-License-Identifier: GPL-2.0 */
/* What functions take and return, by libbpf's reader of BTF, if that was there at the build. */
#ifndef _MCTRACE_PROTOTYPES_H
#define _MCTRACE_PROTOTYPES_H

/* "libbpf 1.1", or that it is not there. */
const char *prototypes_library(void);

struct prototypes;

/* Of a file with BTF, as ELF or by itself; NULL is the running kernel's. Ends if there is none. */
struct prototypes *prototypes_open(const char *file);
/* The same, but NULL and errno; ENOTSUP: there is no libbpf. */
struct prototypes *prototypes_try(const char *file);
/*
 * At which byte of its structure a member is: "sk_buff.network_header". -1: it is not known,
 * or it is some bits.
 */
long prototypes_offset(struct prototypes *prototypes, const char *path);
/* How many arguments a function of the kernel itself takes; -1: it is not known. */
int prototypes_arguments(struct prototypes *prototypes, const char *name);
/* Which constant of "enum @name" has this value; NULL. */
const char *prototypes_constant(struct prototypes *prototypes, const char *name, int value);
/*
 * "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)", until the next
 * call; NULL if it is not known. @module: whose function it is; NULL is the kernel's.
 */
const char *prototype_of(struct prototypes *prototypes, const char *name, const char *module);
/*
 * Where a string is that is passed to it, in the words of the trigger "data", until the next call;
 * NULL if there is none, or it is not known. Of several it is the first one that is const.
 */
const char *prototypes_string(struct prototypes *prototypes, const char *name, const char *module);
/*
 * "file=0xffff888003c8a000, count=131072": what was passed to it in these @nr registers, until the
 * next call; NULL if its arguments are not known. What is passed otherwise is left out. @string,
 * if there is one: how that one is shown which prototypes_string() is about.
 */
const char *arguments_of(struct prototypes *prototypes, const char *name, const char *module,
			 const unsigned long long *values, unsigned int nr, const char *string);
void prototypes_close(struct prototypes *prototypes);

#endif /* _MCTRACE_PROTOTYPES_H */
