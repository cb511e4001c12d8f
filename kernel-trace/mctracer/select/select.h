/* SPDX-License-Identifier: GPL-2.0 */
/* What users select: tasks, functions, and functions with triggers. All functions may sleep. */
#ifndef _KERNEL_TRACE_MCTRACER_SELECT_H
#define _KERNEL_TRACE_MCTRACER_SELECT_H

#include <linux/mctracer.h>
#include <linux/types.h>

#include "../record/selected.h"

struct mctracer_expression;
struct mctracer_expressions;
struct module;
struct seq_file;

/*
 * Set the expressions of the file "pid" to @text, or @append them; modifies @text. May sleep.
 * Return 0; or -EINVAL, -ESRCH, -ENOENT, -ENOSPC or -ENOMEM, with the old expressions in force,
 * after logging why.
 */
int mctracer_set_pids(char *text, bool append);
void mctracer_show_pids(struct seq_file *m);

/* triggers.c: all functions may sleep. */

/* Set the triggers, as mctracer_functions_set() sets functions. */
int mctracer_triggers_set(char *text, bool append, int (*apply)(u8 *map));
void mctracer_triggers_show(struct seq_file *m);
/* Update the triggers after the selection of functions, or the option max_stack, has changed. */
void mctracer_triggers_update(void);
/* Add the functions of @mod. Return true if hooks must see a change. */
bool mctracer_triggers_module_coming(struct module *mod);

/* functions.c: all functions may sleep. */

/* Call sites, ascending; an entry for each pair of a site and an expression that matches it. */
struct mctracer_hits {
	struct mctracer_hit {
		unsigned long site;
		struct mctracer_expression *by;
		bool returns;	/* the site is before a return, */
		bool tail;	/* or before a jump to another function */
	} *hits;
	size_t nr, room;
};

/*
 * Find the functions that @expressions match, in the module @only, or everywhere if NULL; with
 * @returns, also sites before returns. Free @hits->hits with kvfree(), also on error. Return 0,
 * -ENOMEM or -EINTR.
 */
int mctracer_functions_find(struct mctracer_expressions *expressions, const char *only,
			    bool returns, struct mctracer_hits *hits);
/*
 * Check that each new one of @expressions, just written to @file, matches something. Return 0, or
 * -ENOENT after logging why.
 */
int mctracer_functions_check(const char *file, struct mctracer_expressions *expressions);

/*
 * Note that a module is being loaded: before lists and triggers get its functions (@begin), and
 * after that.
 */
void mctracer_modules_note(bool begin);
/* Return a number that changes with each note. */
unsigned int mctracer_modules_seen(void);
/*
 * Return true if lists and triggers may have got a module's functions since mctracer_modules_seen()
 * was @since. Under mctracer_sets_mutex.
 */
bool mctracer_module_came(unsigned int since);
/* Select functions of @mod, which is being loaded. Return true if the selection has changed. */
bool mctracer_functions_module_coming(struct module *mod);
/* Print the name of the function at @address. Return false if it has none: its module is gone. */
bool mctracer_function_show(unsigned long address, struct seq_file *m);
/* Return the call sites of all functions, or ERR_PTR(-ENOMEM). Free them with kvfree(). */
struct mctracer_sites *mctracer_functions_all(void);
/*
 * Set the list to the expressions in @text, or @append them; modifies @text. @apply must make hooks
 * use the new list and @map, from mctracer_map_make(), and free the old map. Return 0, -EINVAL,
 * -ENOENT, -ENOMEM, -EINTR or the error of @apply, with the list unchanged; the log has the word.
 */
int mctracer_functions_set(enum mctracer_function_list which, char *text, bool append,
			   int (*apply)(u8 *map));
void mctracer_functions_show(enum mctracer_function_list which, struct seq_file *m);

/*
 * Report that @what has failed in a notifier or a work, where no system call can return @error: in
 * the log, and in the file stats until the tracer is started again.
 */
void mctracer_report_failure(const char *what, int error);
/* Return the number of the latest failure, or 0 if there was none since the last was forgotten. */
unsigned int mctracer_failure(void);
/* Forget the failure with this number, unless another was reported meanwhile. */
void mctracer_forget_failure(unsigned int failure);
/* Print failures as comment lines. */
void mctracer_show_failure(struct seq_file *m);

#endif /* _KERNEL_TRACE_MCTRACER_SELECT_H */
