// SPDX-License-Identifier: GPL-2.0
/* Set the tracer up as the command line asks. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expressions.h"
#include "mctrace.h"
#include "prototypes.h"
#include "rules.h"
#include "session.h"
#include "setup.h"
#include "strings.h"
#include "tracer.h"
#include "util.h"

/*
 * Default ring size: enough for 10 ms of a busy CPU, during which the follower may sleep. Rings
 * must be smaller on 32 bits, or with too little memory.
 */
#define RING_KB		8192
#define SMALLEST_KB	64

static void add_line(char **list, const char *more)
{
	char *both = xasprintf("%s%s\n", *list ?: "", more);

	free(*list);
	*list = both;
}

/* Add @more to *@list, one expression a line; commas separate expressions, too. */
static void add(char **list, const char *more)
{
	char *c;

	if (!*more)
		die_usage(NULL, "a name is empty; '*' is for all");
	add_line(list, more);
	for (c = *list; *c; c++)
		if (*c == ',')
			*c = '\n';
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int take_functions(const struct option *option, const char *names, int unset)
{
	(void)unset;
	add(option->value, names);
	return 0;
}

static int take_trigger(const struct option *option, const char *line, int unset)
{
	(void)unset;
	add_line(option->value, line);
	return 0;
}

/* Parse -t, --times; and -T, --no-times. */
static int take_times(const struct option *option, const char *argument, int unset)
{
	struct setup *setup = option->value;

	(void)argument;
	setup->no_times = unset || option->short_name == 'T';
	setup->times = !setup->no_times;
	return 0;
}

static int take_pid(const struct option *option, const char *pid, int unset)
{
	const char *number = strncmp(pid, "tid ", 4) ? pid : pid + 4;

	(void)unset;
	if (!isdigit((unsigned char)*number))
		die_usage(option_command(), "'%s' is no process", pid);
	add(option->value, pid);
	return 0;
}

/* Parse -p: a process as in perf, or a tracer as in trace-cmd. */
static int take_pid_or_mode(const struct option *option, const char *text, int unset)
{
	struct setup *setup = option->value;

	(void)unset;
	if (!strcmp(text, "function_graph"))
		setup->graph = true;
	else if (!strcmp(text, "function"))
		setup->graph = false;
	else if (isdigit((unsigned char)*text))
		add(&setup->pids, text);
	else
		die_usage(option_command(), "'%s' is no process, nor function or function_graph",
			  text);
	return 0;
}

static int take_kb(const struct option *option, const char *kb, int unset)
{
	(void)unset;
	if (!is_number(kb))
		die_usage(option_command(), "'%s' is no number of kilobytes", kb);
	*(const char **)option->value = kb;
	setup_asked.chosen_kb = true;
	return 0;
}

struct setup setup_asked;

const struct option setup_options[] = {
	OPT_GROUP("What is recorded:"),
	OPT_CALL('l', "func", &setup_asked.filter, "FUNC",
		 "only functions of this name; may contain * and be repeated", take_functions),
	OPT_CALL('n', "notrace", &setup_asked.notrace, "FUNC", "omit functions of this name",
		 take_functions),
	OPT_BOOLEAN('g', "graph", &setup_asked.graph,
		    "also returns, with the duration of each call"),
	OPT_CALLBACK_NOOPT('t', "times", &setup_asked, NULL,
			   "the exact time of each call; implied by --graph unless ...",
			   take_times),
	OPT_CALLBACK_NOOPT('T', NULL, &setup_asked, NULL,
			   "... -T or --no-times: estimate times, which is cheaper",
			   take_times),
	OPT_CALL('R', "trigger", &setup_asked.triggers, "LINE",
		 "FUNCTION:ACTION, as in the tracer's file triggers", take_trigger),
	OPT_TEXT(0, "rules", &setup_asked.rules, "RULES",
		 "follow objects by a set of rules: skb, bio, or a FILE"),
	OPT_TEXT(0, "btf", &setup_asked.btf, "FILE",
		 "the kernel's types, if the kernel has no BTF"),
	OPT_BOOLEAN('c', "context", &setup_asked.context,
		    "the context of each call: irqs off, preemption"),
	OPT_CALL('P', "pid", &setup_asked.pids, "PID", "only this process", take_pid),
	OPT_CALL_HIDDEN('p', NULL, &setup_asked, take_pid_or_mode),
	OPT_BOOLEAN(0, "self", &setup_asked.self,
		    "also mctrace itself, if all processes are recorded"),
	OPT_BOOLEAN(0, "force", &setup_asked.force,
		    "even if this loses the last calls before a crash"),
	OPT_CALL('b', "buffer-size", &setup_asked.kb, "KB", "size of each CPU's ring", take_kb),
	OPT_INSTEAD('F', "filter",
		    "-F has several meanings: --func FUNC here; others run only with --all"),
	OPT_INSTEAD('G', "graph-funcs",
		    "-G has several meanings: here 'mctrace report --within FUNC'"),
	OPT_INSTEAD('D', "depth",
		    "all depths are recorded: 'mctrace report --depth N' shows N levels"),
	OPT_INSTEAD(0, "max-graph-depth",
		    "all depths are recorded: 'mctrace report --depth N' shows N levels"),
	OPT_INSTEAD('e', "event", "mctrace records calls, no events of other tracers: --func FUNC"),
	OPT_PARENT(common_options)
};

static bool is_on(const char *file)
{
	char *text = tracer_read(file);
	bool on = atoi(text);

	free(text);
	return on;
}

/* Lines "CPU ENTRIES ..." of stats have what the rings hold. */
void setup_check_frozen(bool force)
{
	char *stats = tracer_read("stats"), *line, *saved, reason[TRACER_REASON];
	unsigned long long entries, all = 0;

	for (line = strtok_r(stats, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		if (sscanf(line, "%*u %llu", &entries) == 1)
			all += entries;
	free(stats);
	if (all && !force && tracer_frozen(reason))
		die("frozen (%s): 'mctrace show' prints the last calls before, --force clears them",
		    reason);
}

void setup_check_free(void)
{
	char *hook = tracer_others_hook();

	setup_check_frozen(setup_asked.force);
	if (is_on("ctrl"))
		die("the tracer is on already: see 'mctrace stat', or 'mctrace stop' it");
	if (hook)
		die("all functions call %s, which mctrace would replace: stop its user first",
		    hook);
}

/* Replace *@list, which may be NULL, by the kernel's form of it. */
static void to_kernel_form(char **list, bool triggers)
{
	char *before = *list;

	if (!before)
		return;
	*list = expressions_for_kernel(before, triggers);
	free(before);
}

static void set_size(const struct setup *setup)
{
	char *now = tracer_read("buffer_size_kb"), kb[16];
	int size;

	if (setup->kb)
		session_set("buffer_size_kb", setup->kb);
	for (size = RING_KB; !setup->kb && size > atol(now); size /= 2) {
		snprintf(kb, sizeof(kb), "%d", size);
		if (session_try("buffer_size_kb", kb))
			break;
	}
	free(now);
}

/*
 * End mctrace if there are other triggers: objects that they follow can't be distinguished from the
 * rules'.
 */
static void check_no_triggers(void)
{
	char *now = tracer_read("triggers"), *line, *saved;

	for (line = strtok_r(now, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		if (*line != '#')
			die("there are other triggers ('%s'): 'mctrace reset' removes them", line);
	free(now);
}

/*
 * Return the triggers; if they record arguments and types are known, with triggers for the strings
 * that the arguments point to. The caller frees the text.
 */
static char *with_strings(struct setup *setup)
{
	const char *triggers = setup->triggers ?: "";
	struct prototypes *types = NULL;
	char *functions, *lines, *all;

	if (strstr(triggers, ":args"))
		types = setup->btf ? prototypes_open(setup->btf) : prototypes_try(NULL);
	if (!types)
		return xstrdup(triggers);
	functions = tracer_read("functions");
	lines = strings_triggers(triggers, functions, types);
	setup->strings = *lines;
	all = xasprintf("%s%s", triggers, lines);
	free(lines);
	free(functions);
	prototypes_close(types);
	return all;
}

/* Return the triggers of the rules and of -R; the caller frees the text. */
static char *all_triggers(struct setup *setup)
{
	char *functions, *lines, *all;
	struct rules *rules;

	if (!setup->rules)
		return with_strings(setup);
	check_no_triggers();
	rules = rules_open(setup->rules);
	functions = tracer_read("functions");
	lines = rules_triggers(rules, functions, setup->btf, true);
	all = xasprintf("%s%s", lines, setup->triggers ?: "");
	free(lines);
	free(functions);
	rules_free(rules);
	return all;
}

void setup_apply(struct setup *setup)
{
	char *triggers;
	bool times;

	to_kernel_form(&setup->filter, false);
	to_kernel_form(&setup->notrace, false);
	to_kernel_form(&setup->triggers, true);
	triggers = all_triggers(setup);
	set_size(setup);
	session_set(TRACER_SYSCTL, "1");
	session_set("filter", setup->filter ?: "");
	session_set("notrace", setup->notrace ?: "");
	session_set("pid", setup->pids ?: "");
	if (tracer_has("mode"))
		session_set("mode", setup->graph ? "graph" : "function");
	else if (setup->graph)
		die("this kernel records no returns: it needs %s or %s",
		    "CONFIG_MCOUNT_RETURNS", "CONFIG_MCOUNT_RETHOOK");
	session_set("triggers", triggers);
	free(triggers);
	times = setup->times || (setup->graph && !setup->no_times);
	session_set("options", times ? "time" : "notime");
	session_set("options", setup->context ? "context" : "nocontext");
	session_set("options", "overwrite");
}

bool setup_leave_out(const pid_t *own, size_t nr)
{
	char lines[256] = "";
	size_t i, length = 0;

	if (setup_asked.self || setup_asked.pids)
		return true;
	for (i = 0; i < nr; i++)
		if (own[i])
			length += snprintf(lines + length, sizeof(lines) - length, "not %d\n",
					   own[i]);
	return session_try("pid", lines);
}

void setup_from(int argc, char **argv, const struct option *options, const char *help)
{
	argc = options_parse(argc, argv, options, xasprintf("%s [OPTION...]", argv[0]), help,
			     OPTIONS_ANYWHERE);
	if (argc > 1)
		die_usage(argv[0], "%s takes no argument: 'mctrace record' runs a command",
			  argv[0]);
	tracer_find();
	session_lock();
	setup_check_free();
	setup_apply(&setup_asked);
}

static bool is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

static const int ending_signals[] = { SIGINT, SIGTERM, SIGQUIT };

void setup_block_ignored(sigset_t *before)
{
	sigset_t signals;
	size_t i;

	sigemptyset(&signals);
	for (i = 0; i < ARRAY_SIZE(ending_signals); i++)
		if (is_ignored(ending_signals[i]))
			sigaddset(&signals, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &signals, before);
	for (i = 0; i < ARRAY_SIZE(ending_signals); i++)
		if (sigismember(&signals, ending_signals[i]))
			sigdelset(before, ending_signals[i]);
}

void setup_block_signals(sigset_t *before)
{
	sigset_t signals;
	size_t i;

	sigemptyset(&signals);
	for (i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaddset(&signals, ending_signals[i]);
	if (!is_ignored(SIGHUP))
		sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, before);
}

void setup_switch_on(void)
{
	char kb[16], *now;
	int size;

	while (!session_try("ctrl", "1")) {
		now = tracer_read("buffer_size_kb");
		size = atoi(now) / 2;
		free(now);
		snprintf(kb, sizeof(kb), "%d", size);
		if (errno != ENOMEM || size < SMALLEST_KB || setup_asked.chosen_kb ||
		    !session_try("buffer_size_kb", kb))
			tracer_write("ctrl", "1");	/* prints the reason */
	}
}

void setup_pause(void)
{
	setup_switch_on();
	tracer_write("tracing_on", "0");
	tracer_write("trace", "");
}
