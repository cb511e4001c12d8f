// SPDX-License-Identifier: GPL-2.0
/* From events to objects, and trees of them. */
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "prototypes.h"
#include "util.h"

/* Times of CPUs differ by less: so long after its end nothing comes that belongs to an object. */
#define LATE_NS		10000000

#define SLOTS		1024

/* --- all of them, by number --- */

static struct object **slot_of(const struct objects *objects, uint32_t number)
{
	return &objects->slots[number & (objects->nr_slots - 1)];
}

static struct object *find(const struct objects *objects, uint32_t number)
{
	struct object *object = *slot_of(objects, number);

	while (object && object->number != number)
		object = object->same;
	return object;
}

static void grow(struct objects *objects)
{
	struct object **old = objects->slots, *object, *same, **slot;
	unsigned int nr = objects->nr_slots, i;

	objects->nr_slots = nr ? 2 * nr : SLOTS;
	objects->slots = xcalloc(objects->nr_slots, sizeof(*objects->slots));
	for (i = 0; i < nr; i++) {
		for (object = old[i]; object; object = same) {
			same = object->same;
			slot = slot_of(objects, object->number);
			object->same = *slot;
			*slot = object;
		}
	}
	free(old);
}

static void forget(struct objects *objects, struct object *object)
{
	struct object **at = slot_of(objects, object->number), *child, *next;

	for (child = object->child; child; child = next) {
		next = child->next;
		forget(objects, child);
	}
	while (*at != object)
		at = &(*at)->same;
	*at = object->same;
	objects->nr--;
	free(object->events);
	free(object->verdict);
	free(object);
}

/* --- trees --- */

static struct object *root_of(struct object *object)
{
	while (object->parent)
		object = object->parent;
	return object;
}

static void add_root(struct objects *objects, struct object *root)
{
	root->before = objects->last;
	if (objects->last)
		objects->last->next = root;
	else
		objects->first = root;
	objects->last = root;
}

static void remove_root(struct objects *objects, struct object *root)
{
	if (root->before)
		root->before->next = root->next;
	else
		objects->first = root->next;
	if (root->next)
		root->next->before = root->before;
	else
		objects->last = root->before;
	root->before = NULL;
	root->next = NULL;
}

static struct object *add(struct objects *objects, uint32_t number)
{
	struct object *object = xcalloc(1, sizeof(*object)), **slot;

	if (objects->nr >= objects->nr_slots)
		grow(objects);
	objects->nr++;
	slot = slot_of(objects, number);
	object->number = number;
	object->same = *slot;
	*slot = object;
	object->worth = RULES_NOT;
	object->members = 1;
	object->matched = !objects->wants_headers;
	object->touched = !objects->wants_event;
	add_root(objects, object);
	return object;
}

/* A root, with its tree, becomes part of another tree: unless that is its own. */
static void join(struct objects *objects, struct object *child, struct object *parent)
{
	struct object *root = root_of(parent);

	if (child->parent || root == child)
		return;
	remove_root(objects, child);
	child->parent = parent;
	if (parent->last_child)
		parent->last_child->next = child;
	else
		parent->child = child;
	parent->last_child = child;
	root->members += child->members;
	root->ended_members += child->ended_members;
	root->matched |= child->matched;
	root->touched |= child->touched;
}

static void hand_over(struct objects *objects, struct object *root)
{
	objects->trees++;
	if (root->matched && root->touched) {
		objects->shown++;
		objects->show(objects, root);
	}
	remove_root(objects, root);
	forget(objects, root);
}

/* Those that have ended some time ago. */
static void hand_over_ended(struct objects *objects, uint64_t ns)
{
	struct object *root, *next;

	for (root = objects->first; root; root = next) {
		next = root->next;
		if (root->ended_members == root->members && root->ended_ns + LATE_NS < ns)
			hand_over(objects, root);
	}
}

/* --- events --- */

static unsigned int role_of(uint64_t said)
{
	return said >> MCTRACER_OBJECT_ROLE_SHIFT & MCTRACER_OBJECT_ROLE;
}

/*
 * Registers of arguments that a function does not have may still hold what its caller's did: that
 * is no call that concerns the object.
 */
static bool is_left_over(const struct objects *objects, const struct event *event, uint64_t said)
{
	const unsigned int role = role_of(said);
	int nr;

	if (!objects->types || event->found != FOUND_CALL || role == MCTRACER_OBJECT_BELOW ||
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

	/* Two of a call's arguments may be the same. */
	if (last && last->ns == event->ns && last->cpu == event->cpu && !role_of(said) &&
	    last->symbol == symbol_of(objects->symbols, state->ip))
		return;
	if (object->nr == object->room) {
		object->room = object->room ? 2 * object->room : 16;
		object->events = xrealloc(object->events, object->room, sizeof(*object->events));
	}
	object->events[object->nr++] = (struct object_event) {
		.ns = event->ns,
		.symbol = symbol_of(objects->symbols, state->ip),
		.caller = event->found == FOUND_CALL ?
			  symbol_of(objects->symbols, state->parent_ip) : NULL,
		.cpu = event->cpu,
		.context = state->context,
		.exact = event->exact,
		.below = role_of(said) == MCTRACER_OBJECT_BELOW,
	};
}

static void take_verdict(struct objects *objects, struct object *object,
			 const struct event *event, unsigned int role)
{
	struct buffer text = { };
	unsigned int worth;

	worth = rules_verdict(objects->rules, objects->types,
			      symbol_of(objects->symbols, event->state->ip), event, role, &text);
	if (worth == RULES_NOT || worth > object->worth) {
		buffer_free(&text);
		return;
	}
	buffer_char(&text, '\0');
	free(object->verdict);
	object->verdict = text.data;
	object->worth = worth;
}

static void take_headers(struct objects *objects, struct object *object,
			 const struct event *event)
{
	const struct mctracer_state *state = event->state;
	enum rules_header kind;
	struct headers headers;

	kind = rules_header(objects->rules, symbol_of(objects->symbols, state->ip));
	if (kind == HEADER_NONE ||
	    !headers_take(&headers, state->data, state->nr_data, kind == HEADER_ETH))
		return;
	objects->headers_seen++;
	if (!object->has_headers || (headers.sized && !object->headers.sized))
		object->headers = headers;
	object->has_headers = true;
	if (objects->wants_headers && objects->wants_headers(objects, &headers))
		root_of(object)->matched = true;
}

static void take_end(struct object *object, uint64_t ns)
{
	struct object *root = root_of(object);

	if (object->ended)
		return;
	object->ended = true;
	root->ended_members++;
	root->ended_ns = ns;
}

/* What begins comes of what is followed already; or a rule says so of these two arguments. */
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
		if (is_left_over(objects, event, said))
			continue;
		add_event(objects, object, event, said);
		if (event->found == FOUND_CALL && role_of(said) != MCTRACER_OBJECT_BELOW)
			take_verdict(objects, object, event, role_of(said));
		if (event->found == FOUND_CALL && state->nr_data)
			take_headers(objects, object, event);
		if (said & MCTRACER_OBJECT_ENDS)
			take_end(object, event->ns);
		if (objects->wants_event && objects->wants_event(objects, event))
			root_of(object)->touched = true;
	}
}

void objects_begin(struct objects *objects)
{
	grow(objects);
}

void objects_take(struct objects *objects, const struct event *event)
{
	symbols_at(objects->symbols, event->nr_symbols);
	if (event->found == FOUND_MARK && event->state->value == MCTRACER_MARK_FOLLOW_FULL)
		objects->full++;
	if (event->found != FOUND_CALL && event->found != FOUND_RETURN)
		return;
	if (!event->state->nr_objects)
		return;
	take_call(objects, event);
	if (event->ns < objects->look_ns)
		return;
	hand_over_ended(objects, event->ns);
	objects->look_ns = event->ns + LATE_NS;
}

void objects_wait(struct objects *objects, uint64_t ns)
{
	hand_over_ended(objects, ns);
}

void objects_end(struct objects *objects)
{
	while (objects->first)
		hand_over(objects, objects->first);
	free(objects->slots);
}
