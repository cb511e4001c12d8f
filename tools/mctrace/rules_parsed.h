/* SPDX-License-Identifier: GPL-2.0 */
/* The parsed rules of a set, which rules.c reads and rules_events.c applies. */
#ifndef _MCTRACE_RULES_PARSED_H
#define _MCTRACE_RULES_PARSED_H

#include <stdbool.h>

#include "rules.h"

enum rule_kind {
	RULE_TRIGGER,
	RULE_VERDICT,	/* what became of the object; a later verdict replaces it */
	RULE_STATE,	/* where the object is until it ends or gets a verdict */
	RULE_OTHERWISE,	/* what became of an object that ends without a verdict */
	RULE_HEADER,
	RULE_LABEL,	/* a label of the object */
	RULE_BEGINS,	/* a label of objects that begin in the task until the function returns */
};

struct rule {
	enum rule_kind kind;
	char *function;
	char *key;		/* of a label */
	char *text;		/* after the function: an action, or a text with fields */
	unsigned int line;
	bool optional;
	bool at_return;		/* a field needs the result of the call */
	unsigned int role;	/* which argument is the object; 0: any */
	unsigned int from, to;	/* of "follow FROM -> TO" */
	enum rules_header header;
};

/*
 * What rules a function has: any rules, rules that need its result, labels for objects that begin
 * in it.
 */
struct rules_known {
	bool looked;
	bool any;
	bool at_return;
	bool begins;
};

/* Whether the kernel has a function: the answer to "{has FUNCTION}". */
struct rules_has {
	char *function;
	bool has;
};

struct rules {
	char *path;
	struct rule *all;
	unsigned int nr;
	struct rules_known *known;	/* by the symbol's id */
	unsigned int nr_known;
	struct rules_has *has;
	unsigned int nr_has;
};

/* Return true if @name is the function @asked, or what gcc makes of it: "asked.constprop.0". */
bool rules_is_function(const char *name, const char *asked);

#endif /* _MCTRACE_RULES_PARSED_H */
