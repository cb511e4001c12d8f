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

/* What the memory is that is recorded at a function. */
enum rules_header { HEADER_NONE, HEADER_ETH, HEADER_IP };

#define RULES_NOT	(~0U)

/* A file, or the set of this name; ends if there is none, or if it can't be understood. */
struct rules *rules_open(const char *name);
void rules_free(struct rules *rules);

/*
 * The lines for the file "triggers", in memory of its own. @functions: those that there are, a
 * line each. The kernel's types are needed if offsets of members are asked for: those in @btf, or
 * of the running kernel if that is NULL. Where these are not known what is optional is left out,
 * and so are functions that are not there; else it says so and ends.
 */
char *rules_triggers(const struct rules *rules, const char *functions, const char *btf);

/*
 * The verdict on an object that is argument @role of this call: its text is added to @text. How
 * much it is worth: the less, the more; RULES_NOT: there is none.
 */
unsigned int rules_verdict(struct rules *rules, struct prototypes *types,
			   const struct symbol *symbol, const struct event *event,
			   unsigned int role, struct buffer *text);
enum rules_header rules_header(struct rules *rules, const struct symbol *symbol);
/* Whether what is argument @to there comes of what is argument @from. */
bool rules_derives(struct rules *rules, const struct symbol *symbol, unsigned int from,
		   unsigned int to);

#endif /* _MCTRACE_RULES_H */
