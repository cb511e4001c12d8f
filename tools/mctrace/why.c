// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace why: print which function first returned the error of a failed system call, and which
 * errors ended elsewhere. Each function that returns an error leaves a mark; failures.c follows the
 * error through the calls that returned it to their callers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "errors.h"
#include "failures.h"
#include "json.h"
#include "mctrace.h"
#include "names.h"
#include "prototypes.h"
#include "select.h"
#include "selfrecord.h"
#include "traceable.h"
#include "tracer.h"
#include "util.h"
#include "view.h"
#include "walk.h"

static const char usage[] = "why [OPTION...] COMMAND [ARGUMENT...]";
static const char help[] =
"Runs COMMAND, and shows for each of its failed system calls which function returned the error\n"
"first, and which functions passed it on; then errors that netlink, io_uring, a socket or a\n"
"worker reported. Without COMMAND and --from, --pid, --tid, --task and --comm record running tasks\n"
"until Ctrl-C.\n";

static struct {
	const char *error, *seconds, *vmlinux;
	unsigned long lines;
	bool all;
} asked;

static const struct option options[] = {
	OPT_TEXT('e', "errno", &asked.error, "ERRNO", "only this error: EINVAL, or 22"),
	OPT_TEXT(0, "seconds", &asked.seconds, "N", "end after N seconds"),
	OPT_BOOLEAN(0, "all", &asked.all, "also errors that a caller handled"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "the first N failures"),
	OPT_TEXT(0, "vmlinux", &asked.vmlinux, "FILE",
		 "add source lines to places; FILE has debug information"),
	OPT_TEXT(0, "from", &view_asked.input, "FILE",
		 "as --input; the recording was made with -g -R '*:fail:mark'"),
	OPT_PARENT(select_where_options)
};

enum kind { SYSTEM_CALL, NETLINK, IO_URING, SOCKET, WORKER, HANDLED, UNKNOWN_RESULT, KINDS };

static const char * const kind_names[KINDS] = {
	[SYSTEM_CALL] = "system call",
	[NETLINK] = "netlink",
	[IO_URING] = "io_uring",
	[SOCKET] = "socket",
	[WORKER] = "worker",
	[HANDLED] = "handled",
	[UNKNOWN_RESULT] = "unknown",
};

/* A function that passed an error on. */
struct step {
	const struct symbol *at;
	const struct symbol *untraced;	/* its caller, or NULL */
	const struct symbol *last;	/* the latest function that it called, or NULL */
	bool jumped;			/* it jumped to a function that is not traced */
};

/* Errors that came through the same functions, the outermost first. */
struct chain {
	enum kind kind;
	int error;		/* 0: not known */
	struct step *steps;
	unsigned int nr;
	const struct symbol *also;	/* returned the same error later, or NULL */
	const struct symbol *ended;	/* the function that did not pass the error on, or NULL */
	const struct symbol *within;	/* the outermost function around @ended */
	int changed;		/* the other error that @ended returned */
	bool assumed;		/* the return of the outermost function was not recorded */
	unsigned int times;
	unsigned int interrupts;	/* how often it became EINTR */
	uint64_t ns;		/* when it came first */
	uint32_t pid;		/* by the task @comm */
	char comm[MCTRACER_COMM_LEN + 1];
};

/* How many interrupted system calls of a task are kept, the latest ones. */
#define MOST_INTERRUPTED	16

/* A system call that a signal interrupted. */
struct interrupted {
	uint32_t chain;		/* its index */
	bool again;		/* its function has been called again: maybe the kernel did so */
};

/*
 * A task's interrupted system calls, the earliest first, until the program gets their EINTR. There
 * are several if the handler of a signal makes system calls that other signals interrupt.
 */
struct interrupted_calls {
	struct interrupted calls[MOST_INTERRUPTED];
	unsigned int nr;
};

struct why {
	struct walker walker;
	struct view view;
	struct failures *failures;
	int error;		/* 0: any */
	struct names keys;	/* of the chains: see key_of() */
	struct chain *chains;	/* by number of the key */
	size_t nr_chains, room;
	struct interrupted_calls *interrupted;	/* by task_calls->track - 1 */
	uint32_t nr_interrupted;
	unsigned long shown;	/* chains that were printed */
};

static const char *system_call_of(const struct chain *chain)
{
	return chain->steps[0].at->name;
}

/*
 * Return the index of the first function that is printed with the place of its return. The title
 * names the system call, unless that is the only function.
 */
static unsigned int first_place(const struct chain *chain)
{
	if (chain->kind == UNKNOWN_RESULT)
		return chain->nr;
	return chain->kind == SYSTEM_CALL && chain->nr > 1;
}

/*
 * Return a text that is equal for chains that are printed equally. It has a place's address, not
 * the place's text, because that may have a source line, which several places share. A call that a
 * signal interrupts is restarted for one task, and EINTR for another: there it has the task, too.
 */
static char *key_of(const struct chain *chain, const struct task_calls *task)
{
	struct buffer key = { };
	unsigned int i;

	if (error_is_restart(chain->error))
		buffer_printf(&key, "%u;", task->track);
	buffer_printf(&key, "%d;%d;%s;", chain->kind, chain->error,
		      chain->ended ? chain->ended->title : "");
	for (i = 0; i < chain->nr; i++) {
		buffer_printf(&key, "%s;", chain->steps[i].at->title);
		if (i >= first_place(chain))
			buffer_printf(&key, "%x;", chain->steps[i].at->address);
	}
	buffer_char(&key, '\0');
	return key.data;
}

/* Add a chain, or count it if there is an equal one. Return its index. */
static uint32_t add_chain(struct why *why, struct chain *chain, const struct task_calls *task)
{
	char *key = key_of(chain, task);
	uint32_t nr = names_number(&why->keys, key);

	free(key);
	if (nr < why->nr_chains) {
		why->chains[nr].times++;
		free(chain->steps);
		return nr;
	}
	if (why->nr_chains == why->room) {
		why->room = why->room ? 2 * why->room : 64;
		why->chains = xrealloc(why->chains, why->room, sizeof(*why->chains));
	}
	chain->times = 1;
	why->chains[why->nr_chains++] = *chain;
	return nr;
}

static struct interrupted_calls *interrupted_of(struct why *why, const struct task_calls *task)
{
	uint32_t nr = why->nr_interrupted;

	if (task->track > nr) {
		why->nr_interrupted = 2 * task->track;
		why->interrupted = xrealloc(why->interrupted, why->nr_interrupted,
					    sizeof(*why->interrupted));
		memset(why->interrupted + nr, 0,
		       (why->nr_interrupted - nr) * sizeof(*why->interrupted));
	}
	return &why->interrupted[task->track - 1];
}

static void add_interrupted(struct why *why, const struct task_calls *task, uint32_t chain)
{
	struct interrupted_calls *of = interrupted_of(why, task);

	if (of->nr == MOST_INTERRUPTED)
		memmove(of->calls, of->calls + 1, --of->nr * sizeof(*of->calls));
	of->calls[of->nr++] = (struct interrupted) { .chain = chain };
}

/* Return the latest interrupted call that was not begun again; NULL: there is none. */
static struct interrupted *latest_interrupted(struct interrupted_calls *of)
{
	unsigned int i = of->nr;

	while (i--)
		if (!of->calls[i].again)
			return &of->calls[i];
	return NULL;
}

static void begin_chain(struct chain *chain, const struct task_calls *task, unsigned int nr)
{
	chain->pid = task->pid;
	memcpy(chain->comm, task->comm, sizeof(chain->comm));
	chain->steps = xcalloc(nr, sizeof(*chain->steps));
	chain->nr = nr;
}

static bool name_is_one(const char *name, const char * const *beginnings, size_t nr)
{
	while (nr--)
		if (!strncmp(name, beginnings[nr], strlen(beginnings[nr])))
			return true;
	return false;
}

/*
 * Return who reports an error that ended in a function that @carrier called. For netlink, EINTR is
 * no error: the answer is under way. For io_uring, EAGAIN of the first attempt is none: a worker
 * makes the second attempt.
 */
static enum kind kind_of(const char *ended, const char *carrier, int error)
{
	static const char * const netlink[] = {
		"netlink_rcv_skb", "rtnetlink_rcv", "nfnetlink_rcv", "genl_rcv", "netlink_unicast",
	};
	static const char * const ring[] = { "io_submit_sqe", "io_issue_sqe", "io_wq_submit_work" };
	static const char * const worker[] = { "process_one_work" };

	if (name_is_one(ended, netlink, ARRAY_SIZE(netlink)) && error != EINTR)
		return NETLINK;
	if (!strncmp(ended, "io_submit_sqe", strlen("io_submit_sqe")) && error == EAGAIN)
		return HANDLED;
	if (name_is_one(ended, ring, ARRAY_SIZE(ring)) ||
	    name_is_one(carrier, ring, ARRAY_SIZE(ring)))
		return IO_URING;
	if (name_is_one(ended, worker, ARRAY_SIZE(worker)) ||
	    name_is_one(carrier, worker, ARRAY_SIZE(worker)))
		return WORKER;
	return HANDLED;
}

static void found_way(void *arg, const struct way *way)
{
	struct why *why = arg;
	struct chain chain = {
		.error = way->calls[0]->error,
		.ns = way->calls[0]->ns,
		.assumed = !way->calls[0]->known,
		.also = way->also ? way->also->at : NULL,
	};
	unsigned int i;
	uint32_t nr;

	if (way->ended) {
		chain.kind = kind_of(way->ended->at->name,
				     way->carrier ? way->carrier->at->name : "", chain.error);
		chain.ended = way->ended->at;
		chain.changed = way->ended->error;
		chain.within = way->root->at;
	}
	begin_chain(&chain, way->task, way->nr);
	for (i = 0; i < way->nr; i++)
		chain.steps[i] = (struct step) {
			.at = way->calls[i]->at,
			.untraced = way->calls[i]->untraced,
			.last = way->calls[i]->last,
			.jumped = way->calls[i]->jumped,
		};
	nr = add_chain(why, &chain, way->task);
	if (chain.kind == SYSTEM_CALL && error_is_restart(chain.error))
		add_interrupted(why, way->task, nr);
}

/*
 * Add a system call whose result is not known: its function ended by a jump to one that is not
 * traced, and no function that it called failed.
 */
static void found_unknown(void *arg, const struct task_calls *task, const struct failure *call)
{
	struct chain chain = { .kind = UNKNOWN_RESULT, .ns = call->ns };

	begin_chain(&chain, task, 1);
	chain.steps[0] = (struct step) {
		.at = call->at,
		.untraced = call->into,
		.last = call->last,
	};
	add_chain(arg, &chain, task);
}

/*
 * Note that a function was called again which a signal has interrupted: the kernel does so, or a
 * handler calls the same function. restart_syscall() continues a call of any function.
 */
static void ended_call(void *arg, const struct task_calls *task, const struct symbol *symbol)
{
	struct interrupted *latest = latest_interrupted(interrupted_of(arg, task));
	const struct why *why = arg;
	const struct chain *chain;

	if (!latest)
		return;
	chain = &why->chains[latest->chain];
	latest->again = chain->steps[0].at->id == symbol->id ||
			strstr(symbol->name, "sys_restart_syscall");
}

/*
 * Count the EINTR of the latest interrupted call, which its handler's return brings. Prefer a call
 * that was not begun again. Handlers nest, so calls after that one have ended.
 */
static void resumed(void *arg, const struct task_calls *task, int error)
{
	struct interrupted_calls *of = interrupted_of(arg, task);
	struct interrupted *latest = latest_interrupted(of);
	struct why *why = arg;

	if (!of->nr || error != EINTR)
		return;
	if (!latest)
		latest = &of->calls[of->nr - 1];
	why->chains[latest->chain].interrupts++;
	of->nr = latest - of->calls;
}

/*
 * Add an error that a socket stores, until a later system call or SO_ERROR returns it. A recorded
 * number of 0 is no error: the socket got a message in its error queue, such as a time stamp.
 */
static void add_socket(struct why *why, const struct task_calls *task)
{
	const struct event *event = why->walker.event;
	struct chain chain = {
		.kind = SOCKET,
		.ns = event->ns,
		.within = task->calls[0].symbol,
	};
	unsigned int i;
	int error;

	if (event->state->nr_data == sizeof(error)) {
		memcpy(&error, event->state->data, sizeof(error));
		if (!error)
			return;
		chain.error = error > 0 && error <= MAX_ERRNO ? error : 0;
	}
	begin_chain(&chain, task, task->nr);
	for (i = 0; i < task->nr; i++)
		chain.steps[i].at = task->calls[i].symbol;
	add_chain(why, &chain, task);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct why *why = (struct why *)walker;

	failures_enter(why->failures, walker, task, call);
	if (call->shown && !strcmp(call->symbol->name, "sk_error_report"))
		add_socket(why, task);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	failures_leave(((struct why *)walker)->failures, walker, task, call, ending);
}

static void note(struct walker *walker, struct task_calls *task, const struct event *event)
{
	failures_mark(((struct why *)walker)->failures, walker, task, event);
}

static void end(struct walker *walker)
{
	failures_end(((struct why *)walker)->failures, walker);
}

static void put_json(const struct chain *chain)
{
	const struct step *first = &chain->steps[chain->nr - 1];
	struct buffer line = { };
	unsigned int i;

	buffer_char(&line, '{');
	if (chain->kind == SYSTEM_CALL || chain->kind == UNKNOWN_RESULT)
		json_text(&line, "system_call", system_call_of(chain));
	json_text(&line, "kind", kind_names[chain->kind]);
	json_number(&line, "errno", chain->error);
	json_text(&line, "name", chain->error ? error_name(chain->error) : "?");
	json_function(&line, "first", first->at->title);
	json_number(&line, "times", chain->times);
	json_number(&line, "ns", chain->ns);
	json_task(&line, chain->comm, chain->pid);
	json_bool(&line, "assumed", chain->assumed);
	if (chain->interrupts)
		json_number(&line, "eintr", chain->interrupts);
	if (chain->within)
		json_function(&line, "within", chain->within->title);
	if (chain->ended) {
		json_function(&line, "ended_in", chain->ended->title);
		json_number(&line, "ended_errno", chain->changed);
	}
	if (chain->also)
		json_function(&line, "also", chain->also->title);
	if (chain->kind == UNKNOWN_RESULT && first->untraced)
		json_function(&line, "untraced", first->untraced->title);
	if (first->last)
		json_function(&line, "last_call", first->last->title);
	buffer_puts(&line, ",\"path\":[");
	for (i = 0; i < chain->nr; i++)
		json_step(&line, chain->steps[i].at->text);
	buffer_puts(&line, "]}\n");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_title(const struct why *why, const struct chain *chain)
{
	printf("%s%s:%u ", why->view.color ? "\033[1m" : "", chain->comm, chain->pid);
	if (chain->kind == SYSTEM_CALL)
		printf("%s returned", system_call_of(chain));
	else
		printf("%s:", kind_names[chain->kind]);
	if (chain->error)
		printf(" -%s: %s", error_name(chain->error), error_text(chain->error));
	else
		printf(" an error (number not known)");
	printf("%s", why->view.color ? "\033[m" : "");
	if (chain->times > 1)
		printf(" (%u times)", chain->times);
	putchar('\n');
}

/* Print where the error ended, and what else a reader of the title must know. */
static void put_notes(const struct chain *chain)
{
	if (chain->ended && chain->changed)
		printf("    ended in %s, which returned -%s", chain->ended->title,
		       error_name(chain->changed));
	else if (chain->ended)
		printf("    ended in %s, which returned no error", chain->ended->title);
	if (chain->ended && chain->within != chain->ended)
		printf(", in %s", chain->within->title);
	if (chain->ended)
		putchar('\n');
	if (chain->assumed)
		printf("    assumed: %s ends by a jump to a function that is not traced\n",
		       chain->steps[0].at->name);
	if (chain->interrupts)
		puts("    the program got EINTR");
	else if (chain->kind == SYSTEM_CALL && error_is_restart(chain->error))
		puts("    the kernel begins the call again, unless a signal's handler prevents it");
}

static void put_step(const struct step *step, unsigned int depth, bool first)
{
	const int levels = depth < MOST_INDENTED ? depth : MOST_INDENTED;

	printf("  %*s%s", 2 * levels, "", step->at->text);
	if (step->untraced)
		printf("   (called by %s, which is not traced)", step->untraced->title);
	if (first) {
		printf("   <- first%s", step->jumped ? ", or what it jumped to" : "");
		if (step->last)
			printf(", after a call of %s", step->last->title);
	}
	putchar('\n');
}

/* Print what is known of a system call without a recorded result. */
static void put_unknown(const struct chain *chain)
{
	const struct step *step = &chain->steps[0];

	printf("  %s:%u %s", chain->comm, chain->pid, step->at->name);
	if (chain->times > 1)
		printf(" (%u times)", chain->times);
	printf(": decided in %s, or in ", step->at->name);
	if (step->untraced)
		printf("%s, which is not traced", step->untraced->title);
	else
		printf("what it jumped to");
	if (step->last)
		printf(", after a call of %s", step->last->title);
	putchar('\n');
}

static void put_text(const struct why *why, const struct chain *chain)
{
	unsigned int i = first_place(chain), depth = 1;

	put_title(why, chain);
	put_notes(chain);
	for (; i < chain->nr; i++, depth++)
		put_step(&chain->steps[i], depth, i + 1 == chain->nr && chain->kind != SOCKET);
	if (chain->also)
		printf("    unless %s decided: it returned the same later\n", chain->also->title);
}

/* Return true if the chain must be printed. A chain without a number may have the error of -e. */
static bool is_wanted(const struct why *why, const struct chain *chain)
{
	if (chain->kind == HANDLED && !asked.all)
		return false;
	if (!chain->error)
		return true;
	return !why->error || why->error == chain->error ||
	       (why->error == EINTR && chain->interrupts);
}

static void put_chain(const struct why *why, const struct chain *chain)
{
	if (why->view.json)
		put_json(chain);
	else if (chain->kind == UNKNOWN_RESULT)
		put_unknown(chain);
	else
		put_text(why, chain);
}

/* Print a title above the system calls without a recorded result. */
static void put_unknown_title(const struct why *why)
{
	if (!why->view.json)
		puts("These may have failed, too: no return shows their results.");
}

static bool put_kind(struct why *why, enum kind kind)
{
	bool any = false;
	size_t i;

	for (i = 0; i < why->nr_chains && (!asked.lines || why->shown < asked.lines); i++) {
		if (why->chains[i].kind != kind || !is_wanted(why, &why->chains[i]))
			continue;
		if (!any && kind == UNKNOWN_RESULT)
			put_unknown_title(why);
		put_chain(why, &why->chains[i]);
		why->shown++;
		any = true;
	}
	return any;
}

/* Print the wanted chains: system calls first. */
static void put_chains(struct why *why)
{
	unsigned long handled = 0;
	bool any = false;
	enum kind kind;
	size_t i;

	for (kind = SYSTEM_CALL; kind < UNKNOWN_RESULT; kind++)
		any |= put_kind(why, kind);
	for (i = 0; i < why->nr_chains; i++)
		handled += why->chains[i].kind == HANDLED;
	if (!any && !why->view.json) {
		puts(why->error ? "no system call failed so" : "no system call failed");
		if (handled)
			printf("errors that the kernel handled itself: %lu; --all shows them\n",
			       handled);
	}
	put_kind(why, UNKNOWN_RESULT);
}

/* Print a warning if failures were shown, and if rethook saw their returns: it hides the places. */
static void warn_of_places(const struct why *why)
{
	const char *returns = recording_info(why->view.from, "returns");

	if (why->shown && returns && !strcmp(returns, "rethook"))
		warning("returns by rethook: a place is its function's head, not the return");
}

/* End mctrace if the recording lacks what the answer needs. */
static void check_recording(const struct why *why)
{
	const char *path = why->view.from->path;

	if (!has_returns(why->view.from))
		die("%s has no returns: record it with -g -R '*:fail:mark'", path);
	if (!failures_marks(why->failures))
		die("%s has no marks of errors: record it with -g -R '*:fail:mark'", path);
}

static int parse_errno(const char *text)
{
	int error = error_number(text);

	if (!error)
		die_usage("why", "'%s' is no error: EINVAL, or 22", text);
	return error;
}

/* Append @option and @value to the @n words of @how. Return the new number of words. */
static size_t add_option(const char ***how, size_t n, const char *option, const char *value)
{
	*how = xrealloc(*how, n + 3, sizeof(**how));
	(*how)[n] = option;
	(*how)[n + 1] = value;
	(*how)[n + 2] = NULL;
	return n + 2;
}

/* Return true if the running kernel's function @name can be traced. */
static bool is_traceable(const char *name)
{
	char *functions = tracer_read("functions");
	struct traceable one = { .rest = functions };
	bool found = false;

	while (!found && traceable_next(&one))
		found = !strcmp(one.name, name);
	free(functions);
	return found;
}

/*
 * Return a trigger that records the error of a socket; NULL if sk_error_report() can't be traced,
 * or if the kernel's types are not known. The caller frees the text.
 */
static char *socket_trigger(void)
{
	struct prototypes *types = NULL;
	char *trigger = NULL;
	long offset;

	tracer_find();
	if (is_traceable("sk_error_report"))
		types = prototypes_try(NULL);
	if (!types)
		return NULL;
	offset = prototypes_offset(types, "sock.sk_err");
	if (offset >= 0)
		trigger = xasprintf("sk_error_report:data 1.%ld,4", offset);
	prototypes_close(types);
	return trigger;
}

/*
 * Record the errors of @command, or of the running tasks @tasks, expressions of the tracer, one a
 * line. Return the file's name.
 */
static char *record_errors(char **command, char *tasks)
{
	const char **how = NULL;
	size_t n = add_option(&how, 0, "-g", "-t");
	char *path, *trigger, *rest = tasks, *task;

	recorder_expect_signals();
	trigger = socket_trigger();
	n = add_option(&how, n, "-R", "*:fail:mark");
	if (trigger)
		n = add_option(&how, n, "-R", trigger);
	while ((task = strsep(&rest, "\n")))
		if (*task)
			n = add_option(&how, n, "-P", task);
	if (asked.seconds)
		add_option(&how, n, "--seconds", asked.seconds);
	path = record_now(how, tasks ? NULL : command);
	free(trigger);
	free(how);
	return path;
}

static void free_chains(struct why *why)
{
	size_t i;

	for (i = 0; i < why->nr_chains; i++)
		free(why->chains[i].steps);
	free(why->chains);
	free(why->interrupted);
	names_free(&why->keys);
	failures_free(why->failures);
}

int cmd_why(int argc, char **argv)
{
	struct why why = {
		.walker = { .enter = enter, .leave = leave, .note = note, .end = end },
	};
	struct failures_client client = {
		.found = found_way, .ended = ended_call, .resumed = resumed,
		.unknown = found_unknown, .arg = &why,
	};
	char *recorded = NULL, *tasks = NULL;

	argc = options_parse(argc, argv, options, usage, help, OPTIONS_FIRST);
	if (asked.error)
		why.error = parse_errno(asked.error);
	if (argc > 1 && (view_asked.input || select_has_process()))
		die_usage("why", "either a COMMAND, or --pid, or a recording (--from)");
	if (!view_asked.input && argc < 2) {
		tasks = select_take_tasks();
		if (!tasks)
			die_usage("why", "why did which COMMAND fail?");
	}
	if (!view_asked.input)
		recorded = record_errors(argv + 1, tasks);
	view_open(&why.view, recorded);
	if (asked.vmlinux)
		symbols_show_lines(why.view.symbols, asked.vmlinux,
				   recording_info(why.view.from, "build_id"));
	client.running = tasks;
	why.failures = failures_new(&client);
	walk(&why.view, &why.walker);
	if (!recorded)
		check_recording(&why);
	put_chains(&why);
	warn_of_places(&why);
	free_chains(&why);
	free(recorded);
	free(tasks);
	return view_close(&why.view);
}
