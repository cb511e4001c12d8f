/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened to the objects that were followed: the events of each, which came of which, and
 * what became of them. An object and all that comes of it is a tree; when all of it has ended, or
 * the recording, it is handed over and forgotten.
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
	const struct symbol *caller;	/* NULL: it is a return */
	unsigned int cpu;
	uint32_t context;
	bool exact;
	bool below;		/* the object is none of its arguments */
	uint32_t pid;
	char comm[MCTRACER_COMM_LEN + 1];
};

/* Which one it is: "dev", "lo". An object may have several of one key, in the order of time. */
struct object_label {
	const char *key;
	char *value;
};

struct object {
	uint32_t number;
	struct object *same;		/* by hash of the number */
	struct object *parent;		/* NULL: it is a root */
	struct object *child, *last_child;	/* in the order in which they begin */
	struct object *next;		/* its parent's next one; of a root: the next root, ... */
	struct object *before;		/* ... and the one before */
	struct object_event *events;
	unsigned int nr, room;
	bool ended;
	bool has_headers;
	struct headers headers;		/* the first ones that say how long it is */
	/* What the rules make of it; NULL: nothing. */
	char *verdict;			/* of the last such rule */
	char *state;			/* of the last such rule after the verdict */
	char *otherwise;		/* of the first such rule in the set */
	unsigned int worth;		/* where in the set that is */
	struct object_label *labels;
	unsigned int nr_labels;
	/* Of a root, for its tree: */
	unsigned int members, ended_members;
	uint64_t ended_ns;		/* the last one has, then */
	bool matched, touched;		/* what is asked for of headers, and of events */
	bool asked;			/* there were headers to ask, or there never are any */
};

struct objects {
	struct symbols *symbols;
	struct rules *rules;
	struct prototypes *types;	/* NULL: they are not known */
	/* Is one of its headers, or one of its events, what is asked for? NULL: each is. */
	bool (*wants_headers)(struct objects *objects, const struct headers *headers);
	bool (*wants_event)(struct objects *objects, const struct event *event);
	/* Is it a tree that is asked for, now that all of it is known? NULL: each is. */
	bool (*wants_tree)(struct objects *objects, const struct object *root);
	/* A tree is whole: one that was wanted. */
	void (*show)(struct objects *objects, const struct object *root);
	uint64_t full;			/* so often an object was not followed */
	uint64_t headers_seen;
	uint64_t unasked;		/* trees that ended without headers, and did not match */
	uint64_t trees, shown;
	/* Its own. */
	struct object **slots;
	unsigned int nr_slots, nr;
	struct object *first, *last;	/* roots */
	uint64_t look_ns;		/* then it is looked which have ended */
	struct begun_label *begun;	/* for what begins in tasks, the latest first */
	struct awaited *awaited;	/* calls whose results are needed, the latest first */
};

void objects_begin(struct objects *objects);
void objects_take(struct objects *objects, const struct event *event);
/* It is so late, and nothing has come: what has ended some time ago is handed over. */
void objects_wait(struct objects *objects, uint64_t ns);
/* The others are handed over, too. */
void objects_end(struct objects *objects);

#endif /* _MCTRACE_OBJECTS_H */
