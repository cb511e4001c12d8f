// SPDX-License-Identifier: GPL-2.0
/*
 * Follow objects, for the pre-handlers: the actions follow and unfollow. See pre_handler.c for
 * rules.
 */
#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>

#include "follow.h"
#include "pending.h"
#include "record.h"
#include "selected.h"
#include "triggers.h"

/* Return the value of argument number @argument, or the returned value. */
static unsigned long pre_follow_operand(u8 argument, struct mctracer_trigger_context *at)
{
	if (argument == MCTRACER_OPERAND_RET)
		return at->outcome.result;
	mctracer_take_args(at);
	return at->args.values[argument - 1];
}

/*
 * Begin to follow @address, the value of @argument, unless it is followed already. With @calls, its
 * nested calls are recorded, too.
 */
static void pre_follow_begin(struct mctracer_trigger_context *at, unsigned long address,
			     u8 argument,
			     bool calls)
{
	struct mctracer_object object;

	if (!mctracer_may_follow(address) || mctracer_object_at(address).number)
		return;
	object = mctracer_follow(address, calls);
	if (!object.number) {
		mctracer_emit_mark(at->ip, MCTRACER_MARK_FOLLOW_FULL, false);
		return;
	}
	mctracer_args_add_object(&at->args, object.number, argument, MCTRACER_OBJECT_BEGINS);
	if (calls)
		at->args.calls_of = object.number;
}

void mctracer_pre_handler_await(const struct mctracer_trigger *trigger,
				struct mctracer_trigger_context *at)
{
	if (!mctracer_pending_add(at, trigger->from,
				  mctracer_object_at(pre_follow_operand(trigger->from, at))))
		mctracer_emit_mark(at->ip, MCTRACER_MARK_FOLLOW_FULL, false);
}

/*
 * Run "follow FROM -> TO": if the object FROM is followed, follow the object TO, too. Record both
 * with the event.
 */
static void pre_follow_derived(struct mctracer_trigger *trigger,
			       struct mctracer_trigger_context *at)
{
	struct mctracer_object object;

	object = at->returns ? mctracer_pending_take(at, trigger->from) :
			       mctracer_object_at(pre_follow_operand(trigger->from, at));
	if (!object.number || !mctracer_trigger_take(trigger))
		return;
	pre_follow_begin(at, pre_follow_operand(trigger->to, at), trigger->to, object.calls);
	if (at->args.nr_objects)
		mctracer_args_add_object(&at->args, object.number, trigger->from, 0);
}

/* Run follow. A returned object is new: end an older one at its address, whose end was missed. */
void mctracer_pre_handler_follow(struct mctracer_trigger *trigger,
				 struct mctracer_trigger_context *at)
{
	unsigned long address;

	if (trigger->to) {
		pre_follow_derived(trigger, at);
		return;
	}
	/* The call that ends the object might be missed. */
	if (at->returns && READ_ONCE(mcount_sees_only_returns))
		return;
	if (!mctracer_trigger_take(trigger))
		return;
	address = pre_follow_operand(trigger->from, at);
	if (at->returns)
		mctracer_end_unseen(address);
	pre_follow_begin(at, address, trigger->from, trigger->calls);
}

/*
 * End the object at @address, if it is followed. The words of one call have room for
 * MCTRACER_OBJECTS: with @record, write the call before another object is added.
 */
static void pre_follow_end(struct mctracer_trigger *trigger, struct mctracer_trigger_context *at,
			   unsigned long address, bool record)
{
	const u32 number = mctracer_object_at(address).number;

	if (!number || !mctracer_trigger_take(trigger) || !mctracer_unfollow(address))
		return;
	if (at->args.nr_objects == MCTRACER_OBJECTS) {
		if (record)
			mctracer_trigger_record(at, NULL, 0);
		at->args.nr_objects = 0;
	}
	mctracer_args_add_object(&at->args, number, trigger->from, MCTRACER_OBJECT_ENDS);
}

#define ARRAY_MAX	1024UL	/* a wrong trigger may use any number as the length */

/* End each object whose address is in the array that an argument points to. */
static void pre_follow_end_array(struct mctracer_trigger *trigger,
				 struct mctracer_trigger_context *at,
				 bool record)
{
	const unsigned long array = pre_follow_operand(trigger->from, at);
	const unsigned long length = min(pre_follow_operand(trigger->length, at), ARRAY_MAX);
	unsigned long address, i;

	for (i = 0; i < length; i++) {
		if (copy_from_kernel_nofault(&address, (unsigned long *)array + i, sizeof(address)))
			break;
		pre_follow_end(trigger, at, address, record);
	}
}

void mctracer_pre_handler_unfollow(struct mctracer_trigger *trigger,
				   struct mctracer_trigger_context *at,
				   bool record)
{
	if (trigger->length)
		pre_follow_end_array(trigger, at, record);
	else
		pre_follow_end(trigger, at, pre_follow_operand(trigger->from, at), record);
}

void mctracer_pre_handler_objects(struct mctracer_trigger_context *at)
{
	u32 number;

	mctracer_take_args(at);
	mctracer_followed(&at->args);
	if (READ_ONCE(mctracer_following) != MCTRACER_FOLLOW_CALLS || at->args.nr_objects)
		return;
	number = mctracer_nested(at->regs->ips + 1);
	if (number)
		mctracer_args_add_object(&at->args, number, MCTRACER_OBJECT_NESTED, 0);
}
