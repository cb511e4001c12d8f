// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace why: which function first returned the error that a system call got. All functions that
 * return an error leave a mark; a system call's error is followed down through the calls that
 * returned it to their callers, to the one that has it from nobody.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "selfrecord.h"
#include "util.h"
#include "view.h"
#include "walk.h"

static const char usage[] = "why [OPTION...] COMMAND [ARGUMENT...]";
static const char help[] =
"Runs COMMAND, and shows for each system call of it that failed which function returned the error\n"
"first, and through which ones it came.\n"
"\n"
"  -e, --errno ERRNO     only this error: EINVAL, or 22\n"
"  --from FILE           COMMAND was recorded, with -g -R '*:fail:mark'\n"
VIEW_HELP;

enum { FROM = VIEW_OPTIONS_END };

static const struct option options[] = {
	{ "errno", required_argument, NULL, 'e' },
	{ "from", required_argument, NULL, FROM },
	VIEW_OPTIONS,
	{ }
};

#define MAX_ERRNO	4095

/* A function that has returned an error, in a system call that has not ended. */
struct failure {
	uint32_t pid;
	const struct symbol *symbol;
	int error;
	unsigned int depth;
	uint64_t parent_ns;	/* when its caller was called: that tells one call from another */
	uint64_t call_ns, ns;	/* when it was called, and returned */
	unsigned int cpu;
};

/* A system call that has failed: the functions that returned its error, outermost first. */
struct chain {
	char *text;		/* of their names, to know it again */
	const struct symbol **symbols;
	unsigned int nr;
	int error;
	unsigned int times;
	uint64_t ns;		/* when first, */
	uint32_t pid;		/* and by whom */
	char comm[MCTRACER_COMM_LEN + 1];
};

struct why {
	struct walker walker;
	struct view view;
	int error;		/* 0: any */
	struct failure *failures;	/* of all tasks, in the order of time */
	size_t nr, room;
	struct chain *chains;
	size_t nr_chains;
};

static int error_of(uint64_t result)
{
	int64_t n = result >> 32 ? (int64_t)result : (int32_t)result;

	return n < 0 && n >= -MAX_ERRNO ? -n : 0;
}

/* Forget those of a task: its system call is over. */
static void drop(struct why *why, uint32_t pid)
{
	size_t i, kept = 0;

	for (i = 0; i < why->nr; i++)
		if (why->failures[i].pid != pid)
			why->failures[kept++] = why->failures[i];
	why->nr = kept;
}

/* Of the calls that the one at @i has made the last one that gave it this error; nr if none. */
static size_t given_by(const struct why *why, size_t i)
{
	const struct failure *of = &why->failures[i], *one;

	while (i--) {
		one = &why->failures[i];
		if (one->pid != of->pid || one->depth != of->depth + 1)
			continue;
		if (one->parent_ns == of->call_ns && one->error == of->error)
			return i;
	}
	return why->nr;
}

static void add_chain(struct why *why, const struct task_calls *task, size_t last)
{
	struct buffer text = { };
	struct chain chain = {
		.error = why->failures[last].error,
		.ns = why->failures[last].ns,
		.pid = task->pid,
		.times = 1,
	};
	size_t i;

	for (i = last; i < why->nr; i = given_by(why, i)) {
		chain.symbols = xrealloc(chain.symbols, chain.nr + 1, sizeof(*chain.symbols));
		chain.symbols[chain.nr++] = why->failures[i].symbol;
		buffer_puts(&text, why->failures[i].symbol->name);
		buffer_char(&text, ';');
	}
	buffer_char(&text, '\0');
	memcpy(chain.comm, task->comm, sizeof(chain.comm));
	for (i = 0; i < why->nr_chains; i++) {
		if (why->chains[i].error != chain.error || strcmp(why->chains[i].text, text.data))
			continue;
		why->chains[i].times++;
		free(chain.symbols);
		buffer_free(&text);
		return;
	}
	chain.text = text.data;
	why->chains = xrealloc(why->chains, why->nr_chains + 1, sizeof(*why->chains));
	why->chains[why->nr_chains++] = chain;
}

static bool begins_with_any(const char *name, const char * const *beginnings, size_t nr)
{
	while (nr--)
		if (!strncmp(name, beginnings[nr], strlen(beginnings[nr])))
			return true;
	return false;
}

/*
 * What a system call's entry has called: or what that has gone on in, which returns to there.
 * Between them there may be the function that knows them all.
 */
static bool is_system_call(const struct walker *walker, const struct call *call)
{
	static const char * const calls[] = {
		"__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__x64_compat_sys_",
	};
	static const char * const entries[] = {
		"do_syscall_64", "__do_fast_syscall_32", "do_int80_", "do_SYSENTER_32",
		"x64_sys_call", "x32_sys_call", "ia32_sys_call",
	};
	const char *name = call->symbol->name;

	if (begins_with_any(name, calls, ARRAY_SIZE(calls)))
		return true;
	return !begins_with_any(name, entries, ARRAY_SIZE(entries)) &&
	       begins_with_any(symbol_of(walker->symbols, call->parent_ip)->name, entries,
			       ARRAY_SIZE(entries));
}

/* Elsewhere there is nobody who would ask why. */
static bool is_in_system_call(const struct walker *walker, const struct task_calls *task)
{
	unsigned int i;

	for (i = 0; i < task->nr; i++)
		if (is_system_call(walker, &task->calls[i]))
			return true;
	return false;
}

static void note(struct walker *walker, struct task_calls *task, const struct event *event)
{
	struct why *why = (struct why *)walker;
	const struct mctracer_state *state = event->state;
	const struct call *call;
	struct failure *failure;
	int error;

	if (event->found != FOUND_MARK || state->value != MCTRACER_MARK_MARK || !task->nr ||
	    !(state->has & MCTRACER_HAS_RESULT))
		return;
	error = error_of(state->result);
	call = calls_which(task, symbol_of(walker->symbols, state->ip));
	if (!error || !call || !is_in_system_call(walker, task))
		return;
	if (why->nr == why->room) {
		why->room = why->room ? 2 * why->room : 256;
		why->failures = xrealloc(why->failures, why->room, sizeof(*why->failures));
	}
	failure = &why->failures[why->nr++];
	*failure = (struct failure) {
		.pid = task->pid,
		.symbol = call->symbol,
		.error = error,
		.depth = call - task->calls,
		.parent_ns = call > task->calls ? call[-1].ns : 0,
		.call_ns = call->ns,
		.ns = event->ns,
		.cpu = event->cpu,
	};
	if (is_system_call(walker, call) && (!why->error || why->error == error))
		add_chain(why, task, why->nr - 1);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	if (!ending->tail && is_system_call(walker, call))
		drop((struct why *)walker, task->pid);
}

static void put_json(const struct chain *chain)
{
	struct buffer line = { };
	unsigned int i;

	buffer_char(&line, '{');
	json_text(&line, "system_call", chain->symbols[0]->name);
	json_number(&line, "errno", chain->error);
	json_text(&line, "name", strerrorname_np(chain->error) ?: "?");
	json_text(&line, "first", chain->symbols[chain->nr - 1]->name);
	json_number(&line, "times", chain->times);
	json_number(&line, "ns", chain->ns);
	json_text(&line, "comm", chain->comm);
	json_number(&line, "pid", chain->pid);
	buffer_puts(&line, ",\"path\":[");
	for (i = 0; i < chain->nr; i++) {
		if (i)
			buffer_char(&line, ',');
		json_string(&line, chain->symbols[i]->text);
	}
	buffer_puts(&line, "]}\n");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_text(const struct why *why, const struct chain *chain)
{
	unsigned int i;

	printf("%s%s:%u %s returned -%s: %s%s", why->view.color ? "\033[1m" : "", chain->comm,
	       chain->pid, chain->symbols[0]->name, strerrorname_np(chain->error) ?: "?",
	       strerror(chain->error), why->view.color ? "\033[m" : "");
	if (chain->times > 1)
		printf(" (%u times)", chain->times);
	putchar('\n');
	for (i = 1; i < chain->nr; i++)
		printf("  %*s%s%s\n", 2 * (int)i, "", chain->symbols[i]->text,
		       i + 1 == chain->nr ? "   <- first" : "");
	if (chain->nr == 1)
		puts("    it has that from nobody: by itself, or from what can't be traced");
}

static int parse_errno(const char *text)
{
	int error;

	for (error = 1; error <= MAX_ERRNO; error++)
		if (strerrorname_np(error) && !strcmp(strerrorname_np(error), text))
			return error;
	error = atoi(*text == '-' ? text + 1 : text);
	if (error < 1 || error > MAX_ERRNO)
		die_usage("why", "'%s' is no error: EINVAL, or 22", text);
	return error;
}

int cmd_why(int argc, char **argv)
{
	struct why why = { .walker = { .note = note, .leave = leave } };
	static const char * const how[] = { "-g", "-t", "-R", "*:fail:mark", NULL };
	const char *from = NULL, *recorded = NULL;
	size_t i;
	int c;

	while ((c = next_option(argc, argv, "+e:i:h", options)) != -1) {
		if (c == 'e')
			why.error = parse_errno(optarg);
		else if (c == FROM)
			from = optarg;
		else
			view_option(&why.view, c, optarg, "why", usage, help);
	}
	if (!from && optind == argc)
		die_usage("why", "why did which COMMAND fail?");
	if (from && optind < argc)
		die_usage("why", "either --from a recording, or a COMMAND");
	if (!from) {
		recorded = record_now(how, argv + optind);
		from = recorded;
	}
	view_open(&why.view, from);
	if (recorded)
		unlink_recorded(recorded);
	walk(&why.view, &why.walker);
	for (i = 0; i < why.nr_chains; i++) {
		if (why.view.json)
			put_json(&why.chains[i]);
		else
			put_text(&why, &why.chains[i]);
		free(why.chains[i].symbols);
		free(why.chains[i].text);
	}
	if (!why.nr_chains && !why.view.json)
		puts(why.error ? "no system call failed so" : "no system call failed");
	free(why.chains);
	free(why.failures);
	return view_close(&why.view);
}
