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
#include "hash_table.h"
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
	bool lost;		/* calls since the object's previous event are missing */
	uint32_t pid;
	char comm[MCTRACER_COMM_LEN + 1];
};

struct object;

/* The lists of roots: all; and those whose trees have ended, the earliest first. */
enum object_list_kind { ALL_ROOTS, ENDED_ROOTS, OBJECT_LISTS };

struct object_list {
	struct object *first, *last;
};

struct object_link {
	struct object *before, *next;
};

/*
 * A label, such as "dev" and "lo". An object may have several values of a key, in time order. A set
 * of rules has few keys.
 */
struct object_label {
	struct hash_entry entry;	/* by object, key and value */
	const struct object *object;
	struct object_label *next;	/* of the same object and key */
	/* Only in the first label of a key: */
	struct object_label *last;
	struct object_label *next_key;	/* the first label of the object's next key */
	const char *key;
	char *value;
};

struct object {
	struct hash_entry entry;	/* by number */
	uint32_t number;
	struct object *parent;		/* NULL: this is a root */
	struct object *above;		/* the parent or another ancestor: see root_of() */
	struct object *child, *last_child;	/* in the order of their beginnings */
	struct object *next;		/* the parent's next child */
	struct object_event *events;
	unsigned int nr, room;
	uint64_t holes;			/* in the recording before the latest event */
	bool ended;
	struct headers *headers;	/* the first that contain the length; else the first */
	struct object *with_headers;	/* the first descendant with headers, set for show() */
	/* Texts of the rules that matched; NULL: none. */
	char *verdict;			/* of the latest "verdict" rule */
	char *state;			/* of the latest "state" rule after the verdict */
	char *otherwise;		/* of the first "otherwise" rule in the set */
	unsigned int worth;		/* index of that rule in the set */
	struct object_label *labels;	/* the first label of the first key */
	struct awaited *awaited;	/* objects.c: the pending returns */
	/* Only in a root, of the whole tree: */
	struct object_link links[OBJECT_LISTS];
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
	uint64_t holes;			/* in the recording so far: see is_hole() */
	/* Private to objects.c: */
	struct hash_table by_number;	/* the objects */
	struct object_list lists[OBJECT_LISTS];
	struct hash_table labels;	/* of all objects */
	struct hash_table begun;	/* labels for objects that begin, by task */
	struct hash_table awaited;	/* pending returns, by task and function */
};

void objects_take(struct objects *objects, const struct event *event);
/* Pass on the trees that ended some time before @ns, though no later event has come. */
void objects_wait(struct objects *objects, uint64_t ns);
/* Pass on all remaining trees, and free everything. */
void objects_end(struct objects *objects);
/* Return true if the end of @object may be among missing calls. */
bool objects_lost_end(const struct objects *objects, const struct object *object);
/*
 * Return the object after @object in the tree below @top: an object precedes its children. NULL at
 * the end. Trees may be as deep as they have objects, so do not recurse.
 */
struct object *objects_after(const struct object *object, const struct object *top);

#endif /* _MCTRACE_OBJECTS_H */
