/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of rules: how objects of a type are followed from where they begin to where they end, and
 * what may be said of them then. They are files, "skb.rules" and so on, so that who needs others
 * can write them: see Documentation/tools/mctrace/mctrace-object.rst.
 */
#ifndef _MCTRACE_RULES_H
#define _MCTRACE_RULES_H

#include <stdbool.h>

#include "buffer.h"
#include "events.h"
#include "symbols.h"

struct prototypes;
struct rules;

/* What the memory is that is recorded at a function; HEADER_NEVER: such objects have no headers. */
enum rules_header { HEADER_NONE, HEADER_ETH, HEADER_IP, HEADER_NEVER };

/* A file, or the set of this name; ends if there is none, or if it can't be understood. */
struct rules *rules_open(const char *name);
void rules_free(struct rules *rules);

/*
 * The lines for the file "triggers", in memory of its own. @functions: those that there are, a
 * line each, of the @running kernel or another. The kernel's types are needed if offsets of members
 * are asked for: those in @btf, or of the running kernel if that is NULL. What is optional is left
 * out where the types are not known, or lack the member, and so are functions that are not there.
 * For other rules that is an error, which ends mctrace.
 */
char *rules_triggers(const struct rules *rules, const char *functions, const char *btf,
		     bool running);

/* A call or return that an object is an argument of. */
struct rules_at {
	struct prototypes *types;	/* NULL: they are not known */
	struct symbols *symbols;
	const struct event *event;
	unsigned int role;		/* which argument */
	bool returned;			/* the result is known: only rules that need it apply */
};

enum rules_said { RULES_NOTHING, RULES_VERDICT, RULES_STATE, RULES_OTHERWISE };

/*
 * Add the text of the first rule for @symbol's function that holds at @at to @text, and return
 * which kind of rule it is. Set @worth to the rule's place in the set.
 */
enum rules_said rules_verdict(struct rules *rules, const struct symbol *symbol,
			      const struct rules_at *at, unsigned int *worth,
			      struct buffer *text);
/*
 * Return the key of the next label at @at, and add its value to @text; NULL: there is no other.
 * @next is 0 at first.
 */
const char *rules_label(struct rules *rules, const struct symbol *symbol,
			const struct rules_at *at, unsigned int *next, struct buffer *text);
/* The same of labels for objects that begin in the call's task until the function returns. */
const char *rules_begun_label(struct rules *rules, const struct symbol *symbol,
			      const struct rules_at *at, unsigned int *next,
			      struct buffer *text);
/* Return true if @symbol's function has such labels. */
bool rules_name_begun(struct rules *rules, const struct symbol *symbol);
/* Return true if rules for @symbol's function need the result of the call. */
bool rules_need_return(struct rules *rules, const struct symbol *symbol);
bool rules_have_label(const struct rules *rules, const char *key);
bool rules_have_header(const struct rules *rules, enum rules_header header);
enum rules_header rules_header(struct rules *rules, const struct symbol *symbol);
/* Whether what is argument @to there comes of what is argument @from. */
bool rules_derives(struct rules *rules, const struct symbol *symbol, unsigned int from,
		   unsigned int to);

#endif /* _MCTRACE_RULES_H */
