// SPDX-License-Identifier: GPL-2.0
/* Failures of notifiers and works, which no system call can return. */
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/mcount.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>

#include "select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* The latest failure that no system call could return; NULL: none. */
static const char *failed_what;
static int failed_why;
static unsigned int nr_failures;
static DEFINE_MUTEX(failed_mutex);	/* protects all */

void mctracer_report_failure(const char *what, int error)
{
	guard(mutex)(&failed_mutex);
	failed_what = what;
	failed_why = error;
	nr_failures++;
	pr_err("%s: %pe\n", what, ERR_PTR(error));
}

unsigned int mctracer_failure(void)
{
	guard(mutex)(&failed_mutex);
	return failed_what ? nr_failures : 0;
}

void mctracer_forget_failure(unsigned int failure)
{
	guard(mutex)(&failed_mutex);
	if (failure == nr_failures)
		failed_what = NULL;
}

void mctracer_show_failure(struct seq_file *m)
{
	const char *restriction = mcount_restriction();
	int error = mcount_error();

	if (error)
		seq_printf(m, "# failed: nobody is called: %pe\n", ERR_PTR(error));
	if (restriction)
		seq_printf(m, "# failed: %s\n", restriction);
	guard(mutex)(&failed_mutex);
	if (failed_what)
		seq_printf(m, "# failed: %s: %pe\n", failed_what, ERR_PTR(failed_why));
}
