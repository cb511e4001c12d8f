// SPDX-License-Identifier: GPL-2.0
/* Tests of mctracer's switch. */
#include <kunit/test.h>
#include <linux/mutex.h>

#include "../mctracer.h"

/* Who reads holds the mutex, perhaps for long. */
static void tracer_stops_while_others_read(struct kunit *test)
{
	if (mctracer_started())
		kunit_skip(test, "the tracer is in use");

	mutex_lock(&mctracer_mutex);
	mctracer_stop();
	KUNIT_EXPECT_FALSE(test, mctracer_started());
	mutex_unlock(&mctracer_mutex);
}

static struct kunit_case tracer_cases[] = {
	KUNIT_CASE(tracer_stops_while_others_read),
	{}
};

static struct kunit_suite tracer_suite = {
	.name		= "mctracer_tracer",
	.test_cases	= tracer_cases,
};

kunit_test_suite(tracer_suite);

MODULE_DESCRIPTION("KUnit tests of mctracer's switch");
MODULE_LICENSE("GPL");
