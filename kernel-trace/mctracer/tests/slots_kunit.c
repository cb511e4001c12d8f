// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the slots of mctracer's lockless tables. The tests do between the steps of one
 * context what interrupts or other CPUs would do.
 */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "../record/slots.h"

#define KEY	0x1000UL
#define OTHER	0x2000UL

struct entry {
	struct mctracer_slot slot;
	unsigned long value, copy;
};

static int slots_init(struct kunit *test)
{
	test->priv = kunit_kcalloc(test, SLOTS_WAYS, sizeof(struct entry), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct entry *claim_free(struct entry *bucket)
{
	int i;

	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_claim_free(&bucket[i].slot))
			return &bucket[i];
	return NULL;
}

static struct entry *find(struct entry *bucket, unsigned long key)
{
	int i;

	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_has(&bucket[i].slot, key))
			return &bucket[i];
	return NULL;
}

static void publish(struct entry *entry, unsigned long key, unsigned long value)
{
	WRITE_ONCE(entry->value, value);
	WRITE_ONCE(entry->copy, value);
	slot_release(&entry->slot, key);
}

static void slots_states(struct kunit *test)
{
	struct entry *bucket = test->priv;
	struct mctracer_slot *slot = &bucket->slot;

	KUNIT_EXPECT_EQ(test, slot_key(slot), 0);
	KUNIT_EXPECT_FALSE(test, slot_has(slot, KEY));
	KUNIT_EXPECT_FALSE(test, slot_claim(slot, KEY));

	KUNIT_EXPECT_TRUE(test, slot_claim_free(slot));
	KUNIT_EXPECT_EQ(test, slot_key(slot), 0);
	KUNIT_EXPECT_FALSE(test, slot_has(slot, KEY));
	KUNIT_EXPECT_FALSE(test, slot_claim_free(slot));
	KUNIT_EXPECT_FALSE(test, slot_claim(slot, KEY));

	slot_release(slot, KEY);
	KUNIT_EXPECT_EQ(test, slot_key(slot), KEY);
	KUNIT_EXPECT_TRUE(test, slot_has(slot, KEY));
	KUNIT_EXPECT_FALSE(test, slot_has(slot, OTHER));
	KUNIT_EXPECT_FALSE(test, slot_claim_free(slot));
	KUNIT_EXPECT_FALSE(test, slot_claim(slot, OTHER));
	KUNIT_EXPECT_TRUE(test, slot_claim(slot, KEY));
	KUNIT_EXPECT_FALSE(test, slot_claim(slot, KEY));

	slot_release(slot, SLOT_FREE);
	KUNIT_EXPECT_EQ(test, slot_key(slot), 0);
	KUNIT_EXPECT_TRUE(test, slot_claim_free(slot));
}

/* A full bucket has no slot for more, until an entry is removed. */
static void slots_full(struct kunit *test)
{
	struct entry *bucket = test->priv, *entry;
	unsigned long i;

	for (i = 0; i < SLOTS_WAYS; i++) {
		entry = claim_free(bucket);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		publish(entry, KEY + i, i);
	}
	for (i = 0; i < SLOTS_WAYS; i++) {
		entry = find(bucket, KEY + i);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, entry->value, i);
	}
	KUNIT_EXPECT_NULL(test, claim_free(bucket));

	entry = find(bucket, KEY + 3);
	KUNIT_ASSERT_TRUE(test, slot_claim(&entry->slot, KEY + 3));
	KUNIT_EXPECT_NULL(test, find(bucket, KEY + 3));
	KUNIT_EXPECT_NULL(test, claim_free(bucket));
	slot_release(&entry->slot, SLOT_FREE);
	KUNIT_EXPECT_PTR_EQ(test, claim_free(bucket), entry);
}

/* An interrupt takes the slot that the interrupted context has found free, or with a key. */
static void slots_interrupted_before_claim(struct kunit *test)
{
	struct entry *bucket = test->priv;

	KUNIT_ASSERT_PTR_EQ(test, claim_free(bucket), bucket);
	publish(bucket, KEY, 1);
	KUNIT_EXPECT_FALSE(test, slot_claim(&bucket->slot, SLOT_FREE));

	KUNIT_ASSERT_PTR_EQ(test, find(bucket, KEY), bucket);
	KUNIT_ASSERT_TRUE(test, slot_claim(&bucket->slot, KEY));
	KUNIT_EXPECT_FALSE(test, slot_claim(&bucket->slot, KEY));
	publish(bucket, OTHER, 2);
	KUNIT_EXPECT_FALSE(test, slot_claim(&bucket->slot, KEY));
	KUNIT_EXPECT_PTR_EQ(test, find(bucket, OTHER), bucket);
}

/* An interrupt does not find the entry of the interrupted owner, and gets another slot. */
static void slots_interrupted_owner(struct kunit *test)
{
	struct entry *bucket = test->priv, *nested;

	KUNIT_ASSERT_PTR_EQ(test, claim_free(bucket), bucket);
	WRITE_ONCE(bucket->value, 1);
	KUNIT_EXPECT_NULL(test, find(bucket, KEY));
	nested = claim_free(bucket);
	KUNIT_ASSERT_NOT_NULL(test, nested);
	KUNIT_EXPECT_PTR_NE(test, nested, bucket);
	publish(nested, OTHER, 2);
	publish(bucket, KEY, 1);
	KUNIT_EXPECT_PTR_EQ(test, find(bucket, KEY), bucket);
	KUNIT_EXPECT_PTR_EQ(test, find(bucket, OTHER), nested);
}

/* A search notices that an interrupt has changed the entry, except for one with the same key. */
static void slots_interrupted_search(struct kunit *test)
{
	static const unsigned long states[] = { OTHER, SLOT_FREE, SLOT_CLAIMED, KEY };
	struct entry *bucket = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		bucket->slot.state = KEY;
		KUNIT_EXPECT_TRUE(test, slot_has(&bucket->slot, KEY));
		KUNIT_EXPECT_TRUE(test, slot_still_has(&bucket->slot, KEY));
		KUNIT_ASSERT_TRUE(test, slot_claim(&bucket->slot, KEY));
		if (states[i] != SLOT_CLAIMED)
			publish(bucket, states[i], 2);
		KUNIT_EXPECT_EQ(test, slot_still_has(&bucket->slot, KEY), states[i] == KEY);
	}
}

static struct {
	int calls;		/* of is_over() */
	int over;		/* is_over() returns true for so many calls, */
	unsigned long replace;	/* and in the first one, an interrupt publishes this key */
} judge;

static bool is_over(const struct mctracer_slot *slot, unsigned long key)
{
	struct entry *entry = (struct entry *)container_of(slot, struct entry, slot);

	if (!judge.calls++ && judge.replace && slot_claim(&entry->slot, key))
		publish(entry, judge.replace, 2);
	return judge.calls <= judge.over;
}

/* Expect slot_claim_if() to return @key after @calls, and the slot to be in @state then. */
static void expect_claim_if(struct kunit *test, unsigned long key, int calls, unsigned long state)
{
	struct entry *bucket = test->priv;

	judge.calls = 0;
	KUNIT_EXPECT_EQ(test, slot_claim_if(&bucket->slot, is_over), key);
	KUNIT_EXPECT_EQ(test, judge.calls, calls);
	KUNIT_EXPECT_EQ(test, bucket->slot.state, state);
}

static void slots_claim_if(struct kunit *test)
{
	struct entry *bucket = test->priv;

	judge.over = 2;
	judge.replace = 0;
	expect_claim_if(test, 0, 0, SLOT_FREE);
	bucket->slot.state = SLOT_CLAIMED;
	expect_claim_if(test, 0, 0, SLOT_CLAIMED);
	bucket->slot.state = KEY;
	expect_claim_if(test, KEY, 2, SLOT_CLAIMED);
	bucket->slot.state = KEY;
	judge.over = 0;
	expect_claim_if(test, 0, 1, KEY);
}

/* An interrupt replaces the entry before the claim: with another key, and with the same key. */
static void slots_claim_if_interrupted(struct kunit *test)
{
	struct entry *bucket = test->priv;

	bucket->slot.state = KEY;
	judge.over = 2;
	judge.replace = OTHER;
	expect_claim_if(test, 0, 1, OTHER);

	bucket->slot.state = KEY;
	judge.over = 1;
	judge.replace = KEY;
	expect_claim_if(test, 0, 2, KEY);
	KUNIT_EXPECT_EQ(test, bucket->value, 2);
}

static void slots_since_changes(struct kunit *test)
{
	atomic_t forgotten = ATOMIC_INIT(0);
	unsigned int since = slots_since(&forgotten);

	atomic_inc(&forgotten);
	KUNIT_EXPECT_NE(test, slots_since(&forgotten), since);
}

/* Publish entries whose fields are equal to the key. Return how often another owner interfered. */
static int publish_and_remove(void *data)
{
	struct entry *bucket = data, *entry;
	unsigned long key, seen;
	int bad = 0;

	for (key = KEY; !kthread_should_stop(); key++) {
		entry = claim_free(bucket);
		if (entry) {
			WRITE_ONCE(entry->value, (unsigned long)current);
			WRITE_ONCE(entry->copy, (unsigned long)current);
			bad += READ_ONCE(entry->value) != (unsigned long)current;
			publish(entry, key, key);
		}
		entry = &bucket[key % SLOTS_WAYS];
		seen = slot_key(&entry->slot);
		if (seen && slot_claim(&entry->slot, seen)) {
			bad += READ_ONCE(entry->value) != seen;
			slot_release(&entry->slot, SLOT_FREE);
		}
		cond_resched();
	}
	return bad;
}

static void slots_concurrent(struct kunit *test)
{
	unsigned long end, key, value, copy, bad = 0, good = 0;
	struct entry *bucket = test->priv;
	struct task_struct *tasks[3];
	int i, nr;

	for (nr = 0; nr < ARRAY_SIZE(tasks); nr++) {
		tasks[nr] = kthread_run(publish_and_remove, bucket, "mctracer_slots/%d", nr);
		if (IS_ERR(tasks[nr]))
			break;
	}
	for (end = jiffies + HZ / 5; time_before(jiffies, end); cond_resched()) {
		for (i = 0; i < SLOTS_WAYS; i++) {
			key = slot_key(&bucket[i].slot);
			value = READ_ONCE(bucket[i].value);
			copy = READ_ONCE(bucket[i].copy);
			if (!key || !slot_still_has(&bucket[i].slot, key))
				continue;
			if (value == key && copy == key)
				good++;
			else
				bad++;
		}
	}
	while (nr--)
		bad += max(kthread_stop(tasks[nr]), 0);	/* -EINTR: the thread never ran */
	KUNIT_EXPECT_EQ(test, bad, 0);
	if (!good)
		kunit_skip(test, "no thread has published an entry");
}

static struct kunit_case slots_cases[] = {
	KUNIT_CASE(slots_states),
	KUNIT_CASE(slots_full),
	KUNIT_CASE(slots_interrupted_before_claim),
	KUNIT_CASE(slots_interrupted_owner),
	KUNIT_CASE(slots_interrupted_search),
	KUNIT_CASE(slots_claim_if),
	KUNIT_CASE(slots_claim_if_interrupted),
	KUNIT_CASE(slots_since_changes),
	KUNIT_CASE(slots_concurrent),
	{}
};

static struct kunit_suite slots_suite = {
	.name		= "mctracer_slots",
	.init		= slots_init,
	.test_cases	= slots_cases,
};

kunit_test_suite(slots_suite);

MODULE_DESCRIPTION("KUnit tests of the slots of mctracer's lockless tables");
MODULE_LICENSE("GPL");
