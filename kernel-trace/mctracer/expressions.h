/* SPDX-License-Identifier: GPL-2.0 */
/* Expressions that choose functions: what is written to the files filter and notrace. */
#ifndef _KERNEL_TRACE_MCTRACER_EXPRESSIONS_H
#define _KERNEL_TRACE_MCTRACER_EXPRESSIONS_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/types.h>

struct seq_file;

struct mctracer_expression {
	struct list_head list;
	struct list_head globs;
	struct hlist_node node;	/* by name */
	bool remove;		/* "!" */
	bool may_wait;		/* "mod:": for its module */
	bool fresh;		/* being written; if it is to remove, an equal one ... */
	bool had_equal;		/* ... was taken out of the list for it */
	unsigned int order;	/* in the list */
	unsigned int symbols;	/* so many it matched, */
	unsigned int sites;	/* and so many of these are traceable, or were chosen before */
	const char *why;	/* it can't be used for what it is for, though it matches */
	const char *module;	/* NULL: whatever module, or none; then */
	const char *home;	/* the module in which functions were found last, or NULL, */
	bool in_kernel;		/* and whether any were found outside of modules */
	const char *purpose;	/* what the functions are for, where it isn't the list's */
	void *data;		/* of whoever has a list with purposes */
	char name[];
};

/* What is written to a file. */
struct mctracer_expressions {
	struct list_head list;
	struct list_head globs;	/* those to be compared with each symbol; of the others ... */
	DECLARE_HASHTABLE(by_name, 12);		/* ... only those of its name */
};

/* NULL if there is no memory. */
struct mctracer_expressions *mctracer_expressions_alloc(void);
void mctracer_expressions_free(struct mctracer_expressions *expressions);
int mctracer_expressions_copy(const struct mctracer_expressions *from,
			      struct mctracer_expressions *to);
/*
 * Add what @text says, which is taken apart. The log says of which @file it could not be
 * read. 0, -EINVAL, or -ENOMEM.
 */
int mctracer_expressions_parse(struct mctracer_expressions *to, char *text, const char *file);
/* The same, where @text is to be one expression, which has a @purpose. It is the last then. */
int mctracer_expression_parse(struct mctracer_expressions *to, char *text, const char *purpose,
			      const char *file);
/* Whether all that it is for was of a module that is not loaded. */
bool mctracer_expression_waits(const struct mctracer_expression *e);
/* So that what is printed can be parsed. */
void mctracer_expression_show(const struct mctracer_expression *e, struct seq_file *m);
void mctracer_expressions_show(const struct mctracer_expressions *expressions, struct seq_file *m);

/* The new last one; NULL if there is no memory. */
struct mctracer_expression *mctracer_expression_add(struct mctracer_expressions *to,
						    const char *name, const char *module,
						    const char *purpose);
void mctracer_expression_drop(struct mctracer_expression *e);
/* Log that a @word of @file is refused, and return the @error. */
int mctracer_expression_refuse(const char *file, int error, const char *word, const char *why);

/* Where to look for names in by_name. */
u32 mctracer_expression_key(const char *name);
bool mctracer_module_is_loaded(const char *name);

#endif /* _KERNEL_TRACE_MCTRACER_EXPRESSIONS_H */
