/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collect what happened to each followed object: its events, its labels, what became of it, and
 * which objects were derived from it. An object and all its descendants are a tree. A tree is
 * passed to the client and freed when all its objects have ended, or at the end of the recording.
 */
#ifndef _MCTRACE_OBJECTS_H
#define _MCTRACE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "headers.h"
#include "rules.h"
#include "symbols.h"

struct object_event {
	uint64_t ns;
	const struct symbol *symbol;
	const struct symbol *caller;	/* NULL: a return */
	unsigned int cpu;
	uint32_t context;
	bool exact;
	bool below;		/* a nested call, without the object as an argument */
	uint32_t pid;
	char comm[MCTRACER_COMM_LEN + 1];
};

/* A label, such as "dev" and "lo". An object may have several values of a key, in time order. */
struct object_label {
	const char *key;
	char *value;
};

struct object {
	uint32_t number;
	struct object *same;		/* next in the hash chain, by number */
	struct object *parent;		/* NULL: this is a root */
	struct object *child, *last_child;	/* in the order of their beginnings */
	struct object *next;		/* the parent's next child; of a root: the next root */
	struct object *before;		/* of a root: the previous root */
	struct object_event *events;
	unsigned int nr, room;
	bool ended;
	bool has_headers;
	struct headers headers;		/* the first that contain the length; else the first */
	/* Texts of the rules that matched; NULL: none. */
	char *verdict;			/* of the latest "verdict" rule */
	char *state;			/* of the latest "state" rule after the verdict */
	char *otherwise;		/* of the first "otherwise" rule in the set */
	unsigned int worth;		/* index of that rule in the set */
	struct object_label *labels;
	unsigned int nr_labels;
	/* Only in a root, of the whole tree: */
	unsigned int members, ended_members;
	uint64_t ended_ns;		/* when the last member ended */
	bool matched, touched;		/* some headers, and some event, are wanted */
	bool asked;			/* headers were seen, or never will be */
};

struct objects {
	struct symbols *symbols;
	struct rules *rules;
	struct prototypes *types;	/* NULL: not known */
	/* Return true if the headers, or the event, of an object are wanted. NULL: all are. */
	bool (*wants_headers)(struct objects *objects, const struct headers *headers);
	bool (*wants_event)(struct objects *objects, const struct event *event);
	/* Return true if a whole tree is wanted. NULL: each is. */
	bool (*wants_tree)(struct objects *objects, const struct object *root);
	/* Show a wanted tree that is whole. @root is freed afterwards. */
	void (*show)(struct objects *objects, const struct object *root);
	uint64_t events;		/* calls and returns that have objects */
	uint64_t full;			/* objects not followed, for lack of a slot */
	uint64_t headers_seen;
	uint64_t unasked;		/* trees that ended without headers or a match */
	uint64_t trees, shown;
	/* Private to objects.c: */
	struct object **slots;
	unsigned int nr_slots, nr;
	struct object *first, *last;	/* the list of roots */
	uint64_t look_ns;		/* when to look for ended trees next */
	struct begun_label *begun;	/* labels for objects that begin, the latest first */
	struct awaited *awaited;	/* pending returns, the latest first */
};

void objects_begin(struct objects *objects);
void objects_take(struct objects *objects, const struct event *event);
/* Pass on the trees that ended some time before @ns, though no later event has come. */
void objects_wait(struct objects *objects, uint64_t ns);
/* Pass on all remaining trees, and free everything. */
void objects_end(struct objects *objects);

#endif /* _MCTRACE_OBJECTS_H */
