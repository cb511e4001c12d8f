// SPDX-License-Identifier: GPL-2.0
/* Sort the events of followed objects into objects and trees of objects. */
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "prototypes.h"
#include "util.h"

/* CPU clocks differ by less: an object gets no event so long after its end. */
#define LATE_NS		10000000

#define IN_INTERRUPT	(MCTRACER_SOFTIRQ | MCTRACER_HARDIRQ | MCTRACER_NMI)

/* A pending return: a call whose result a rule needs. */
struct awaited {
	struct hash_entry entry;	/* by awaited_hash() */
	struct awaited *next, **at;	/* of the same object */
	struct object *object;
	unsigned int role;
	uint32_t function;		/* the symbol's id */
	uint64_t holes;			/* before the call */
	unsigned int cpu;
	struct mctracer_state state;	/* as it was at the call */
};

/* A label for all objects that begin in a task until the function returns. */
struct begun_label {
	struct hash_entry entry;	/* by pid */
	uint64_t holes;			/* before the call */
	uint32_t pid;
	uint32_t function;		/* the symbol's id */
	const char *key;
	char *value;
};

/* --- objects by number --- */

static struct object *find(const struct objects *objects, uint32_t number)
{
	return (struct object *)hash_first(&objects->by_number, hash_number(number));
}

static void drop_awaited(struct objects *objects, struct awaited *one)
{
	hash_remove(&objects->awaited, &one->entry);
	*one->at = one->next;
	if (one->next)
		one->next->at = one->at;
}

static void free_object(struct objects *objects, struct object *object)
{
	struct object_label *label;
	struct awaited *one;

	hash_remove(&objects->by_number, &object->entry);
	while ((one = object->awaited)) {
		drop_awaited(objects, one);
		free(one);
	}
	while ((label = object->labels)) {
		object->labels = label->next ?: label->next_key;
		if (label->next)
			label->next->next_key = label->next_key;
		hash_remove(&objects->labels, &label->entry);
		free(label->value);
		free(label);
	}
	free(object->events);
	free(object->headers);
	free(object->verdict);
	free(object->state);
	free(object->otherwise);
	free(object);
}

/* Free the tree @root: each object after its children. */
static void forget(struct objects *objects, struct object *root)
{
	struct object *object = root, *child, *parent;

	while (object) {
		child = object->child;
		if (child) {
			object->child = child->next;
			object = child;
			continue;
		}
		parent = object->parent;
		free_object(objects, object);
		object = parent;
	}
}

/* --- trees --- */

struct object *objects_after(const struct object *object, const struct object *top)
{
	if (object->child)
		return object->child;
	while (object != top && !object->next)
		object = object->parent;
	return object == top ? NULL : object->next;
}

/*
 * Return the root of @object's tree. Shorten the way for the next time: let each second object on
 * the way point two steps up. In a tree of n objects a call takes O(log n) steps on average.
 */
static struct object *root_of(struct object *object)
{
	while (object->above) {
		if (object->above->above)
			object->above = object->above->above;
		object = object->above;
	}
	return object;
}

static bool has_ended(const struct object *root)
{
	return root->ended_members == root->members;
}

/* Append @root to a list. */
static void add_root(struct objects *objects, enum object_list_kind kind, struct object *root)
{
	struct object_list *list = &objects->lists[kind];

	root->links[kind] = (struct object_link) { .before = list->last };
	if (list->last)
		list->last->links[kind].next = root;
	else
		list->first = root;
	list->last = root;
}

static void remove_root(struct objects *objects, enum object_list_kind kind, struct object *root)
{
	struct object_list *list = &objects->lists[kind];
	const struct object_link *link = &root->links[kind];

	if (link->before)
		link->before->links[kind].next = link->next;
	else
		list->first = link->next;
	if (link->next)
		link->next->links[kind].before = link->before;
	else
		list->last = link->before;
}

static struct object *add(struct objects *objects, uint32_t number)
{
	struct object *object = xcalloc(1, sizeof(*object));

	hash_add(&objects->by_number, &object->entry, hash_number(number));
	object->number = number;
	object->holes = objects->holes;
	object->worth = ~0U;
	object->members = 1;
	object->matched = !objects->wants_headers;
	object->touched = !objects->wants_event;
	add_root(objects, ALL_ROOTS, object);
	return object;
}

/* Make the root @child, with its tree, a child of @parent, unless @parent is in that tree. */
static void join(struct objects *objects, struct object *child, struct object *parent)
{
	struct object *root = root_of(parent);

	if (child->parent || root == child)
		return;
	remove_root(objects, ALL_ROOTS, child);
	if (has_ended(child))
		remove_root(objects, ENDED_ROOTS, child);
	else if (has_ended(root))
		remove_root(objects, ENDED_ROOTS, root);
	child->parent = parent;
	child->above = root;
	if (parent->last_child)
		parent->last_child->next = child;
	else
		parent->child = child;
	parent->last_child = child;
	root->members += child->members;
	root->ended_members += child->ended_members;
	root->matched |= child->matched;
	root->touched |= child->touched;
	root->asked |= child->asked;
}

/* Return true if only mctrace itself made calls with the objects of the tree @root. */
static bool is_own(const struct object *root)
{
	const struct object *object;
	unsigned int i;

	for (object = root; object; object = objects_after(object, root))
		for (i = 0; i < object->nr; i++)
			if (strcmp(object->events[i].comm, "mctrace") ||
			    object->events[i].context & IN_INTERRUPT)
				return false;
	return true;
}

/*
 * Set with_headers in the tree @root. If an object has it, all of its ancestors do, so each object
 * is visited at most twice.
 */
static void find_headers(struct object *root)
{
	struct object *object, *above;

	for (object = root; object; object = objects_after(object, root))
		for (above = object->headers ? object->parent : NULL;
		     above && !above->with_headers; above = above->parent)
			above->with_headers = object;
}

static void show_if_wanted(struct objects *objects, struct object *root)
{
	objects->trees++;
	if (root->touched && !root->matched && !root->asked && has_ended(root))
		objects->unasked++;
	if (root->matched && root->touched &&
	    (!objects->wants_tree || objects->wants_tree(objects, root))) {
		objects->shown++;
		find_headers(root);
		objects->show(objects, root);
	}
}

static void hand_over(struct objects *objects, struct object *root)
{
	if (!is_own(root))
		show_if_wanted(objects, root);
	if (has_ended(root))
		remove_root(objects, ENDED_ROOTS, root);
	remove_root(objects, ALL_ROOTS, root);
	forget(objects, root);
}

/* Pass on the trees that ended more than LATE_NS before @ns. */
static void hand_over_ended(struct objects *objects, uint64_t ns)
{
	const struct object_list *ended = &objects->lists[ENDED_ROOTS];

	while (ended->first && ended->first->ended_ns + LATE_NS < ns)
		hand_over(objects, ended->first);
}

/* --- events --- */

static unsigned int role_of(uint64_t said)
{
	return said >> MCTRACER_OBJECT_ROLE_SHIFT & MCTRACER_OBJECT_ROLE;
}

/*
 * Return true if the object is only a leftover in the register of an argument that the function
 * doesn't have, put there by a caller. Such a call does not concern the object.
 */
static bool is_left_over(const struct objects *objects, const struct event *event, uint64_t said)
{
	const unsigned int role = role_of(said);
	int nr;

	if (!objects->types || event->found != FOUND_CALL || role == MCTRACER_OBJECT_NESTED ||
	    role > MCTRACER_ARGS || said & (MCTRACER_OBJECT_BEGINS | MCTRACER_OBJECT_ENDS))
		return false;
	nr = prototypes_arguments(objects->types,
				  symbol_of(objects->symbols, event->state->ip)->name);
	return nr >= 0 && (int)role > nr;
}

static void add_event(struct objects *objects, struct object *object, const struct event *event,
		      uint64_t said)
{
	const struct mctracer_state *state = event->state;
	struct object_event *last = object->nr ? &object->events[object->nr - 1] : NULL;
	struct object_event *to;

	/* Add a call once, also if the object is several of its arguments. */
	if (last && last->ns == event->ns && last->cpu == event->cpu && !role_of(said) &&
	    last->symbol == symbol_of(objects->symbols, state->ip))
		return;
	if (object->nr == object->room) {
		object->room = object->room ? 2 * object->room : 2;
		object->events = xrealloc(object->events, object->room, sizeof(*object->events));
	}
	to = &object->events[object->nr++];
	*to = (struct object_event) {
		.ns = event->ns,
		.symbol = symbol_of(objects->symbols, state->ip),
		.caller = event->found == FOUND_CALL ?
			  symbol_of(objects->symbols, state->parent_ip) : NULL,
		.cpu = event->cpu,
		.context = state->context,
		.exact = event->exact,
		.below = role_of(said) == MCTRACER_OBJECT_NESTED,
		.lost = last && object->holes != objects->holes,
		.pid = state->pid,
	};
	event_comm(event, to->comm);
	object->holes = objects->holes;
}

/* Replace *@text, which may be NULL, by the content of @from. */
static void replace_text(char **text, struct buffer *from)
{
	buffer_char(from, '\0');
	free(*text);
	*text = from->data;
	*from = (struct buffer) { };
}

static void take_verdict(struct objects *objects, struct object *object,
			 const struct symbol *symbol, const struct rules_at *at)
{
	struct buffer text = { };
	unsigned int worth;

	switch (rules_verdict(objects->rules, symbol, at, &worth, &text)) {
	case RULES_VERDICT:
		replace_text(&object->verdict, &text);
		free(object->state);
		object->state = NULL;
		break;
	case RULES_STATE:
		replace_text(&object->state, &text);
		break;
	case RULES_OTHERWISE:
		if (worth > object->worth)
			break;
		replace_text(&object->otherwise, &text);
		object->worth = worth;
		break;
	case RULES_NOTHING:
		break;
	}
	buffer_free(&text);
}

static bool knows_label(const struct objects *objects, const struct object *object,
			const char *key, const char *value, uint64_t hash)
{
	const struct hash_entry *entry;
	const struct object_label *label;

	for (entry = hash_first(&objects->labels, hash); entry; entry = hash_next(entry)) {
		label = (const struct object_label *)entry;
		if (label->object == object && !strcmp(label->key, key) &&
		    !strcmp(label->value, value))
			return true;
	}
	return false;
}

/* Add a label, unless the object has it. @key stays owned by the rules. */
static void add_label(struct objects *objects, struct object *object, const char *key,
		      const char *value)
{
	uint64_t hash = hash_text(value, hash_text(key, object->number));
	struct object_label *label, **first = &object->labels;

	if (knows_label(objects, object, key, value, hash))
		return;
	label = xcalloc(1, sizeof(*label));
	label->object = object;
	label->key = key;
	label->value = xstrdup(value);
	hash_add(&objects->labels, &label->entry, hash);
	while (*first && strcmp((*first)->key, key))
		first = &(*first)->next_key;
	if (*first)
		(*first)->last->next = label;
	else
		*first = label;
	(*first)->last = label;
}

/* Return @value as a string; NULL if it is empty, or "?": not recorded. */
static const char *label_value(struct buffer *value)
{
	buffer_char(value, '\0');
	return *value->data && strcmp(value->data, "?") ? value->data : NULL;
}

static void take_labels(struct objects *objects, struct object *object,
			const struct symbol *symbol, const struct rules_at *at)
{
	struct buffer value = { };
	unsigned int next = 0;
	const char *key;

	while ((key = rules_label(objects->rules, symbol, at, &next, &value))) {
		if (label_value(&value))
			add_label(objects, object, key, value.data);
		value.length = 0;
	}
	buffer_free(&value);
}

static void free_begun(struct objects *objects, struct begun_label *one)
{
	hash_remove(&objects->begun, &one->entry);
	free(one->value);
	free(one);
}

/*
 * Drop the labels that @symbol's function gave to objects that begin in @event's task, because the
 * function returns or is called again. So a task has at most one label for each rule.
 */
static void forget_begun(struct objects *objects, const struct symbol *symbol,
			 const struct event *event)
{
	struct hash_entry *entry, *next;
	struct begun_label *one;

	entry = hash_first(&objects->begun, hash_number(event->state->pid));
	for (; entry; entry = next) {
		next = hash_next(entry);
		one = (struct begun_label *)entry;
		if (one->function == symbol->id)
			free_begun(objects, one);
	}
}

static void take_begun(struct objects *objects, const struct event *event)
{
	const struct symbol *symbol = symbol_of(objects->symbols, event->state->ip);
	struct rules_at at = {
		.types = objects->types, .symbols = objects->symbols, .event = event,
	};
	struct buffer value = { };
	struct begun_label *one;
	unsigned int next = 0;
	const char *key;

	if (!rules_name_begun(objects->rules, symbol))
		return;
	forget_begun(objects, symbol, event);
	while (event->found == FOUND_CALL &&
	       (key = rules_begun_label(objects->rules, symbol, &at, &next, &value))) {
		if (label_value(&value)) {
			one = xcalloc(1, sizeof(*one));
			*one = (struct begun_label) {
				.holes = objects->holes,
				.pid = event->state->pid,
				.function = symbol->id,
				.key = key,
				.value = xstrdup(value.data),
			};
			hash_add(&objects->begun, &one->entry, hash_number(one->pid));
		}
		value.length = 0;
	}
	buffer_free(&value);
}

/*
 * Give @object, which begins in @event's task, the labels of the task. Omit labels from before a
 * hole, because the return that ends them may be missing.
 */
static void label_begun(struct objects *objects, struct object *object,
			const struct event *event)
{
	const struct hash_entry *entry;
	const struct begun_label *one;

	entry = hash_first(&objects->begun, hash_number(event->state->pid));
	for (; entry; entry = hash_next(entry)) {
		one = (const struct begun_label *)entry;
		if (one->holes == objects->holes)
			add_label(objects, object, one->key, one->value);
	}
}

/* Apply the rules for @symbol's function to the call or return @at. */
static void take_rules(struct objects *objects, struct object *object,
		       const struct symbol *symbol, const struct rules_at *at)
{
	take_verdict(objects, object, symbol, at);
	take_labels(objects, object, symbol, at);
}

/* Return the hash of a pending return. Each CPU has its own idle task, with the pid 0. */
static uint64_t awaited_hash(const struct symbol *symbol, const struct event *event)
{
	const uint32_t pid = event->state->pid;

	return hash_number((uint64_t)symbol->id << 32 | pid) + (pid ? 0 : event->cpu);
}

/* Add a pending return for a call. */
static void await_return(struct objects *objects, struct object *object,
			 const struct symbol *symbol, const struct rules_at *at)
{
	struct awaited *one = xcalloc(1, sizeof(*one));

	one->object = object;
	one->role = at->role;
	one->function = symbol->id;
	one->holes = objects->holes;
	one->cpu = at->event->cpu;
	one->state = *at->event->state;
	hash_add(&objects->awaited, &one->entry, awaited_hash(symbol, at->event));
	one->next = object->awaited;
	if (one->next)
		one->next->at = &one->next;
	one->at = &object->awaited;
	object->awaited = one;
}

/*
 * Find the latest pending return of @symbol's function in @event's task. A call has one for each of
 * its objects, one after the other: @last is the previous one, or NULL. After a hole the return may
 * be that of a missing call, so return NULL.
 */
static struct awaited *find_awaited(const struct objects *objects, const struct symbol *symbol,
				    const struct event *event, const struct awaited *last)
{
	struct hash_entry *entry = hash_first(&objects->awaited, awaited_hash(symbol, event));
	struct awaited *one;

	for (; entry; entry = hash_next(entry)) {
		one = (struct awaited *)entry;
		if (one->function != symbol->id || one->state.pid != event->state->pid)
			continue;
		if (!one->state.pid && one->cpu != event->cpu)
			continue;
		if (one->holes != objects->holes)
			return NULL;
		return !last || one->state.calls == last->state.calls ? one : NULL;
	}
	return NULL;
}

static void take_return(struct objects *objects, const struct event *event)
{
	const struct symbol *symbol = symbol_of(objects->symbols, event->state->ip);
	struct awaited *one, *last = NULL;
	struct event call;
	struct rules_at at = {
		.types = objects->types, .symbols = objects->symbols, .event = &call,
		.returned = true,
	};

	if (!objects->awaited.nr || !rules_need_return(objects->rules, symbol))
		return;
	while ((one = find_awaited(objects, symbol, event, last))) {
		drop_awaited(objects, one);
		one->state.has = event->state->has;
		one->state.result = event->state->result;
		call = *event;
		call.found = FOUND_CALL;
		call.state = &one->state;
		at.role = one->role;
		take_rules(objects, one->object, symbol, &at);
		free(last);
		last = one;
	}
	free(last);
}

static void take_headers(struct objects *objects, struct object *object,
			 const struct event *event)
{
	const struct mctracer_state *state = event->state;
	enum rules_header kind;
	struct headers headers;

	kind = rules_header(objects->rules, symbol_of(objects->symbols, state->ip));
	if (kind == HEADER_NEVER)
		root_of(object)->asked = true;
	if (kind == HEADER_NONE || kind == HEADER_NEVER ||
	    !headers_take(&headers, state->data, state->nr_data, kind == HEADER_ETH))
		return;
	objects->headers_seen++;
	root_of(object)->asked = true;
	if (!object->headers)
		object->headers = xcalloc(1, sizeof(headers));
	if (!object->headers->captured || (headers.sized && !object->headers->sized))
		*object->headers = headers;
	if (objects->wants_headers && objects->wants_headers(objects, &headers))
		root_of(object)->matched = true;
}

static void take_end(struct objects *objects, struct object *object, uint64_t ns)
{
	struct object *root = root_of(object);

	if (object->ended)
		return;
	object->ended = true;
	root->ended_members++;
	root->ended_ns = ns;
	if (has_ended(root))
		add_root(objects, ENDED_ROOTS, root);
}

/*
 * Find the parent of @object: an object that begins is derived from another argument that was
 * followed before; else a rule may derive one argument from the other.
 */
static void take_birth(struct objects *objects, const struct event *event, uint64_t said,
		       struct object *object)
{
	const struct symbol *symbol = symbol_of(objects->symbols, event->state->ip);
	struct object *other;
	uint64_t its;
	uint32_t i;

	for (i = 0; i < event->state->nr_objects && !object->parent; i++) {
		its = event->state->objects[i];
		other = find(objects, (uint32_t)its);
		if (!other || other == object || its & MCTRACER_OBJECT_BEGINS)
			continue;
		if (said & MCTRACER_OBJECT_BEGINS ||
		    rules_derives(objects->rules, symbol, role_of(its), role_of(said)))
			join(objects, object, other);
	}
}

static void take_call(struct objects *objects, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	const struct symbol *symbol = symbol_of(objects->symbols, state->ip);
	struct rules_at at = {
		.types = objects->types, .symbols = objects->symbols, .event = event,
	};
	struct object *object;
	uint64_t said;
	uint32_t i;

	for (i = 0; i < state->nr_objects; i++)
		if (!find(objects, (uint32_t)state->objects[i]))
			add(objects, (uint32_t)state->objects[i]);
	for (i = 0; i < state->nr_objects; i++) {
		said = state->objects[i];
		object = find(objects, (uint32_t)said);
		take_birth(objects, event, said, object);
		if (said & MCTRACER_OBJECT_BEGINS)
			label_begun(objects, object, event);
		if (is_left_over(objects, event, said))
			continue;
		add_event(objects, object, event, said);
		at.role = role_of(said);
		if (event->found == FOUND_CALL && at.role != MCTRACER_OBJECT_NESTED) {
			take_rules(objects, object, symbol, &at);
			take_headers(objects, object, event);
			if (rules_need_return(objects->rules, symbol))
				await_return(objects, object, symbol, &at);
		}
		if (said & MCTRACER_OBJECT_ENDS)
			take_end(objects, object, event->ns);
		if (objects->wants_event && objects->wants_event(objects, event))
			root_of(object)->touched = true;
	}
}

/* Return true if calls of any CPU may be missing before @event. */
static bool is_hole(const struct event *event)
{
	const uint64_t which = event->state->value;

	if (event->cut || event->found == FOUND_GAP)
		return true;
	return event->found == FOUND_MARK &&
	       (which == MCTRACER_MARK_ON || which == MCTRACER_MARK_OFF);
}

bool objects_lost_end(const struct objects *objects, const struct object *object)
{
	return !object->ended && object->holes != objects->holes;
}

void objects_take(struct objects *objects, const struct event *event)
{
	objects->holes += is_hole(event);
	symbols_at(objects->symbols, event->symbols_at);
	if (event->found == FOUND_MARK && event->state->value == MCTRACER_MARK_FOLLOW_FULL)
		objects->full++;
	if (event->found != FOUND_CALL && event->found != FOUND_RETURN)
		return;
	take_begun(objects, event);
	if (event->found == FOUND_RETURN)
		take_return(objects, event);
	if (!event->state->nr_objects)
		return;
	objects->events++;
	take_call(objects, event);
	hand_over_ended(objects, event->ns);
}

void objects_wait(struct objects *objects, uint64_t ns)
{
	hand_over_ended(objects, ns);
}

void objects_end(struct objects *objects)
{
	size_t i;

	for (i = 0; i < objects->begun.nr_slots; i++)
		while (objects->begun.slots[i])
			free_begun(objects, (struct begun_label *)objects->begun.slots[i]);
	while (objects->lists[ALL_ROOTS].first)
		hand_over(objects, objects->lists[ALL_ROOTS].first);
	hash_free(&objects->by_number);
	hash_free(&objects->labels);
	hash_free(&objects->begun);
	hash_free(&objects->awaited);
}
