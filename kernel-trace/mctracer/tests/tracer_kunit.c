// SPDX-License-Identifier: GPL-2.0
/* KUnit test of stopping the tracer. */
#include <kunit/test.h>
#include <linux/mutex.h>

#include "../mctracer.h"

/* A reader may hold mctracer_mutex for long: stopping must not wait for it. */
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

MODULE_DESCRIPTION("KUnit test of stopping mctracer");
MODULE_LICENSE("GPL");
