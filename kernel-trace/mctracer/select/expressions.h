/* SPDX-License-Identifier: GPL-2.0 */
/* Expressions that select functions, as written to the files filter, notrace and triggers. */
#ifndef _KERNEL_TRACE_MCTRACER_EXPRESSIONS_H
#define _KERNEL_TRACE_MCTRACER_EXPRESSIONS_H

#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/types.h>

struct seq_file;

/* A module in which an expression without a module has matched. */
struct mctracer_home {
	struct mctracer_home *next;
	char module[];
};

struct mctracer_expression {
	struct list_head list;
	struct list_head globs;
	struct hlist_node node;	/* by name */
	struct hlist_node whole;	/* by name, module and purpose */
	bool remove;		/* "!": it deselects functions */
	bool may_wait;		/* "mod:": its module need not be loaded */
	bool fresh;		/* of the text being written; if remove is set, an equal one ... */
	bool had_equal;		/* ... was dropped from the list for it */
	unsigned int order;	/* its number in the list */
	unsigned int symbols;	/* symbols that it matched */
	bool traceable;		/* one of these is traceable */
	unsigned int sites;	/* the traceable ones; with remove, selected ones */
	const char *why;	/* the reason if a trigger can't use what it matches */
	const char *module;	/* NULL: any module, or none; then: */
	struct mctracer_home *homes;	/* the modules in which it matched, the latest first, */
	bool in_kernel;		/* or whether it matched outside of modules */
	const char *purpose;	/* tells triggers of one function apart; else NULL */
	void *data;		/* for the owner of a list with purposes */
	char name[];
};

/* The list of a file. */
struct mctracer_expressions {
	struct list_head list;
	struct list_head globs;	/* patterns, compared with each symbol; the others ... */
	DECLARE_HASHTABLE(by_name, 12);		/* ... only with symbols of their name, */
	bool has_names;				/* if there are others */
	DECLARE_HASHTABLE(by_whole, 12);	/* all of them */
	DECLARE_BITMAP(first, U8_MAX + 1);	/* set: a symbol that begins with it may match */
};

/* Return an empty list, or NULL if there is no memory. May sleep. */
struct mctracer_expressions *mctracer_expressions_alloc(void);
/* Free a list; NULL is allowed. The owner frees data. */
void mctracer_expressions_free(struct mctracer_expressions *expressions);
/* Append copies of all expressions of @from, which may be NULL, to @to. Return 0 or -ENOMEM. */
int mctracer_expressions_copy(const struct mctracer_expressions *from,
			      struct mctracer_expressions *to);
/*
 * Parse @text, which is modified, and append its expressions to @to. Errors are logged with the
 * name of @file. Return 0, -EINVAL, -ENOMEM, or -EINTR if the task is killed. O(expressions).
 */
int mctracer_expressions_parse(struct mctracer_expressions *to, char *text, const char *file);
/* Parse @text likewise, as exactly one expression, with a @purpose. It becomes the last of @to. */
int mctracer_expression_parse(struct mctracer_expressions *to, char *text, const char *purpose,
			      const char *file);
/* Add @module to the homes of @e. O(homes). Return 0 or -ENOMEM. */
int mctracer_expression_add_home(struct mctracer_expression *e, const char *module);
/* Return true if all that @e can match is in modules that are not loaded. */
bool mctracer_expression_waits(const struct mctracer_expression *e);
/*
 * Return true if an expression before @e with the same purpose may select functions, now or when a
 * module comes, that @e deselects; of two globs that is not known. O(globs), or O(list) if @e is a
 * glob. The order of all expressions must be set.
 */
bool mctracer_expression_may_deselect(const struct mctracer_expressions *in,
				      const struct mctracer_expression *e);
/* Print expressions in the form that can be parsed. */
void mctracer_expression_show(const struct mctracer_expression *e, struct seq_file *m);
void mctracer_expressions_show(const struct mctracer_expressions *expressions, struct seq_file *m);

/* Append an expression and return it; NULL if there is no memory. May sleep. */
struct mctracer_expression *mctracer_expression_add(struct mctracer_expressions *to,
						    const char *name, const char *module,
						    const char *purpose);
/* Take @e out of its list, and free it. */
void mctracer_expression_drop(struct mctracer_expression *e);
/* Log that a @word of @file is refused, and @why. Return @error. */
int mctracer_expression_refuse(const char *file, int error, const char *word, const char *why);

/* Return the key of @name in by_name. */
u32 mctracer_expression_key(const char *name);
bool mctracer_module_is_loaded(const char *name);

#endif /* _KERNEL_TRACE_MCTRACER_EXPRESSIONS_H */
