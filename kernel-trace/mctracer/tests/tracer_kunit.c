// SPDX-License-Identifier: GPL-2.0
/* KUnit test of stopping the tracer. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mutex.h>

#include "../control/control.h"

static DECLARE_COMPLETION(stopped);

static int stop(void *unused)
{
	mctracer_stop();
	complete(&stopped);
	return 0;
}

/* Readers hold mctracer_mutex, possibly for long. */
static void tracer_stops_while_others_read(struct kunit *test)
{
	unsigned long left;

	if (mctracer_started())
		kunit_skip(test, "the tracer is in use");

	mutex_lock(&mctracer_mutex);
	/* In another task: mctracer_stop() takes hook_mutex, which comes before mctracer_mutex. */
	if (IS_ERR(kthread_run(stop, NULL, "mctracer_stop"))) {
		mutex_unlock(&mctracer_mutex);
		kunit_skip(test, "no thread can be started");
	}
	left = wait_for_completion_timeout(&stopped, 60 * HZ);
	mutex_unlock(&mctracer_mutex);
	KUNIT_EXPECT_NE(test, left, 0UL);
	if (!left)
		wait_for_completion(&stopped);
	KUNIT_EXPECT_FALSE(test, mctracer_started());
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
