// SPDX-License-Identifier: GPL-2.0
/* Sort the events of followed objects into objects and trees of objects. */
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "prototypes.h"
#include "util.h"

/* CPU clocks differ by less: an object gets no event so long after its end. */
#define LATE_NS		10000000

#define SLOTS		1024

#define IN_INTERRUPT	(MCTRACER_SOFTIRQ | MCTRACER_HARDIRQ | MCTRACER_NMI)

/* A pending return: a call whose result a rule needs. */
struct awaited {
	struct awaited *next;
	struct object *object;
	unsigned int role;
	uint32_t function;		/* the symbol's id */
	unsigned int cpu;
	struct mctracer_state state;	/* as it was at the call */
};

/* A label for all objects that begin in a task until the function returns. */
struct begun_label {
	struct begun_label *next;
	uint32_t pid;
	uint32_t function;		/* the symbol's id */
	const char *key;
	char *value;
};

/* --- objects by number --- */

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

static void objects_forget_returns(struct objects *objects, const struct object *object)
{
	struct awaited **at = &objects->awaited, *one;

	while ((one = *at)) {
		if (one->object != object) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		free(one);
	}
}

static void forget(struct objects *objects, struct object *object)
{
	struct object **at = slot_of(objects, object->number), *child, *next;
	unsigned int i;

	for (child = object->child; child; child = next) {
		next = child->next;
		forget(objects, child);
	}
	while (*at != object)
		at = &(*at)->same;
	*at = object->same;
	objects->nr--;
	objects_forget_returns(objects, object);
	for (i = 0; i < object->nr_labels; i++)
		free(object->labels[i].value);
	free(object->labels);
	free(object->events);
	free(object->verdict);
	free(object->state);
	free(object->otherwise);
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
	object->worth = ~0U;
	object->members = 1;
	object->matched = !objects->wants_headers;
	object->touched = !objects->wants_event;
	add_root(objects, object);
	return object;
}

/* Make the root @child, with its tree, a child of @parent, unless @parent is in that tree. */
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
	root->asked |= child->asked;
}

/* Return true if only mctrace itself made calls with the objects of the tree @object. */
static bool is_own(const struct object *object)
{
	const struct object *child;
	unsigned int i;

	for (i = 0; i < object->nr; i++)
		if (strcmp(object->events[i].comm, "mctrace") ||
		    object->events[i].context & IN_INTERRUPT)
			return false;
	for (child = object->child; child; child = child->next)
		if (!is_own(child))
			return false;
	return true;
}

static void show_if_wanted(struct objects *objects, struct object *root)
{
	objects->trees++;
	if (root->touched && !root->matched && !root->asked &&
	    root->ended_members == root->members)
		objects->unasked++;
	if (root->matched && root->touched &&
	    (!objects->wants_tree || objects->wants_tree(objects, root))) {
		objects->shown++;
		objects->show(objects, root);
	}
}

static void hand_over(struct objects *objects, struct object *root)
{
	if (!is_own(root))
		show_if_wanted(objects, root);
	remove_root(objects, root);
	forget(objects, root);
}

/* Pass on the trees that ended more than LATE_NS before @ns. */
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
		object->room = object->room ? 2 * object->room : 16;
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
		.pid = state->pid,
	};
	event_comm(event, to->comm);
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

/* Add a label, unless the object has it. @key stays owned by the rules. */
static void add_label(struct object *object, const char *key, const char *value)
{
	unsigned int i;

	for (i = 0; i < object->nr_labels; i++)
		if (!strcmp(object->labels[i].key, key) &&
		    !strcmp(object->labels[i].value, value))
			return;
	object->labels = xrealloc(object->labels, object->nr_labels + 1,
				  sizeof(*object->labels));
	object->labels[object->nr_labels++] = (struct object_label) { key, xstrdup(value) };
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
			add_label(object, key, value.data);
		value.length = 0;
	}
	buffer_free(&value);
}

/*
 * Drop the labels that @symbol's function gave to objects that begin in @event's task, because the
 * function returns or is called again.
 */
static void forget_begun(struct objects *objects, const struct symbol *symbol,
			 const struct event *event)
{
	struct begun_label **at = &objects->begun, *one;

	while ((one = *at)) {
		if (one->function != symbol->id || one->pid != event->state->pid) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		free(one->value);
		free(one);
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
				objects->begun, event->state->pid, symbol->id, key,
				xstrdup(value.data),
			};
			objects->begun = one;
		}
		value.length = 0;
	}
	buffer_free(&value);
}

/* Give @object, which begins in @event's task, the labels of the task. */
static void label_begun(struct objects *objects, struct object *object,
			const struct event *event)
{
	const struct begun_label *one;

	for (one = objects->begun; one; one = one->next)
		if (one->pid == event->state->pid)
			add_label(object, one->key, one->value);
}

/* Apply the rules for @symbol's function to the call or return @at. */
static void take_rules(struct objects *objects, struct object *object,
		       const struct symbol *symbol, const struct rules_at *at)
{
	take_verdict(objects, object, symbol, at);
	take_labels(objects, object, symbol, at);
}

/* Add a pending return for a call. */
static void await_return(struct objects *objects, struct object *object,
			 const struct symbol *symbol, const struct rules_at *at)
{
	struct awaited *one = xcalloc(1, sizeof(*one));

	one->object = object;
	one->role = at->role;
	one->function = symbol->id;
	one->cpu = at->event->cpu;
	one->state = *at->event->state;
	one->next = objects->awaited;
	objects->awaited = one;
}

/*
 * Find the latest pending return of @symbol's function in @event's task. A call has one for each of
 * its objects: @last is the previous one, or NULL.
 */
static struct awaited **find_awaited(struct objects *objects, const struct symbol *symbol,
				     const struct event *event, const struct awaited *last)
{
	struct awaited **at = &objects->awaited, *one;

	for (; (one = *at); at = &one->next) {
		if (one->function != symbol->id || one->state.pid != event->state->pid)
			continue;
		if (!one->state.pid && one->cpu != event->cpu)
			continue;	/* each CPU has its own idle task */
		if (last && one->state.calls != last->state.calls)
			continue;
		return at;
	}
	return NULL;
}

static void take_return(struct objects *objects, const struct event *event)
{
	const struct symbol *symbol = symbol_of(objects->symbols, event->state->ip);
	struct awaited **place, *one, *last = NULL;
	struct event call;
	struct rules_at at = {
		.types = objects->types, .symbols = objects->symbols, .event = &call,
		.returned = true,
	};

	if (!objects->awaited || !rules_need_return(objects->rules, symbol))
		return;
	while ((place = find_awaited(objects, symbol, event, last))) {
		one = *place;
		*place = one->next;
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
	struct begun_label *one;

	while ((one = objects->begun)) {
		objects->begun = one->next;
		free(one->value);
		free(one);
	}
	while (objects->first)
		hand_over(objects, objects->first);
	free(objects->slots);
}
