/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of rules tells how to follow objects of a type from beginning to end, and how to describe
 * what became of them. Each set is a file, such as "skb.rules", so that users can write their own:
 * see Documentation/tools/mctrace/mctrace-object.rst.
 */
#ifndef _MCTRACE_RULES_H
#define _MCTRACE_RULES_H

#include <stdbool.h>

#include "buffer.h"
#include "events.h"
#include "symbols.h"

struct prototypes;
struct rules;

/*
 * What kind of headers a function's recorded memory begins with; HEADER_NEVER: such objects have
 * none.
 */
enum rules_header { HEADER_NONE, HEADER_ETH, HEADER_IP, HEADER_NEVER };

/* Read a file, or the set of this name. End mctrace if there is none, or if it has errors. */
struct rules *rules_open(const char *name);
void rules_free(struct rules *rules);

/*
 * rules_triggers() - Return the set's lines for the file "triggers"
 * @functions: the functions that can be traced, one a line
 * @btf: a file with the types for member offsets; NULL: the running kernel's
 * @running: @functions are those of the running kernel
 *
 * Omit optional lines whose function, types or member are missing. If another line lacks one of
 * these, end mctrace. The caller frees the text.
 */
char *rules_triggers(const struct rules *rules, const char *functions, const char *btf,
		     bool running);

/* A call or return that has an object as an argument or result. */
struct rules_at {
	struct prototypes *types;	/* NULL: not known */
	struct symbols *symbols;
	const struct event *event;
	unsigned int role;		/* which argument the object is */
	bool returned;			/* only rules that need the result apply */
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
 * Return the key of the next label at @at, and append its value to @text; NULL: there is no other
 * label. Set @next to 0 before the first call.
 */
const char *rules_label(struct rules *rules, const struct symbol *symbol,
			const struct rules_at *at, unsigned int *next, struct buffer *text);
/* As rules_label(), for objects that begin in the call's task until the function returns. */
const char *rules_begun_label(struct rules *rules, const struct symbol *symbol,
			      const struct rules_at *at, unsigned int *next,
			      struct buffer *text);
/* Return true if @symbol's function has labels for rules_begun_label(). */
bool rules_name_begun(struct rules *rules, const struct symbol *symbol);
/* Return true if rules for @symbol's function need the result of the call. */
bool rules_need_return(struct rules *rules, const struct symbol *symbol);
bool rules_have_label(const struct rules *rules, const char *key);
bool rules_have_header(const struct rules *rules, enum rules_header header);
enum rules_header rules_header(struct rules *rules, const struct symbol *symbol);
/* Return true if argument @to of the function is derived from argument @from. */
bool rules_derives(struct rules *rules, const struct symbol *symbol, unsigned int from,
		   unsigned int to);

#endif /* _MCTRACE_RULES_H */
