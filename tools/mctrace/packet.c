// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace packet and mctrace object: print what happened to each followed object, from its
 * beginning to its end.
 */
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "calls.h"
#include "json.h"
#include "mctrace.h"
#include "objects.h"
#include "packet.h"
#include "prototypes.h"
#include "select.h"
#include "selfrecord.h"
#include "text.h"
#include "tracer.h"
#include "util.h"
#include "view.h"

static const char packet_usage[] = "packet [OPTION...] [EXPRESSION...] [-- COMMAND [ARGUMENT...]]";
static const char object_usage[] = "object [OPTION...] TYPE [-- COMMAND [ARGUMENT...]]";

static const char packet_help[] =
"Follows packets through the kernel while COMMAND runs, or until Ctrl-C. For each packet that\n"
"matches EXPRESSION, as tcpdump takes it, shows which functions it went through and what became\n"
"of it.\n"
"--input shows the packets of a recording made by 'mctrace record --rules'.\n";

static const char object_help[] =
"Follows objects of TYPE through the kernel while COMMAND runs, or until Ctrl-C, and shows which\n"
"functions each went through. TYPE is bio, request, task_struct, inode, file, folio or skb.\n"
"--input shows the objects of a recording made by 'mctrace record --rules'.\n";

static struct {
	const char *rules, *btf, *functions;
	unsigned long seconds, lines;
	bool triggers;
} asked;

#define LABELS_MOST	16

/* The labels that the options ask for. */
static struct {
	char *key;
	const char *glob;
} asked_labels[LABELS_MOST];

static unsigned int nr_asked_labels;

/* Parse "GLOB" for the option's key, or "KEY=GLOB". */
static int take_label(const struct option *option, const char *text, int unset)
{
	const char *key = option->value, *equals = key ? text : strchr(text, '=');

	(void)unset;
	if (!equals || (!key && equals == text))
		die_usage(option_command(), "--label wants KEY=GLOB, not '%s'", text);
	if (nr_asked_labels == LABELS_MOST)
		die_usage(option_command(), "more than %d labels", LABELS_MOST);
	asked_labels[nr_asked_labels].key = key ? xstrdup(key) :
					    xasprintf("%.*s", (int)(equals - text), text);
	asked_labels[nr_asked_labels++].glob = key ? text : equals + 1;
	return 0;
}

#define OPT_LABEL(l, key, a, h)	OPT_CALL(0, l, (void *)(key), a, h, take_label)

static const struct option options[] = {
	OPT_LABEL("dev", "dev", "GLOB", "only objects of this device"),
	OPT_LABEL("netns", "netns", "N", "only objects of this network namespace, by its inode"),
	OPT_LABEL("path", "path", "GLOB", "only files of this path"),
	OPT_LABEL("label", NULL, "KEY=GLOB",
		  "only objects with this label, as in a block's first line"),
	OPT_TEXT(0, "rules", &asked.rules, "RULES",
		 "the rules to follow objects by: a FILE, or the name of a set"),
	OPT_TEXT(0, "btf", &asked.btf, "FILE",
		 "the kernel's types, if the kernel has no BTF"),
	OPT_COUNT(0, "seconds", &asked.seconds, "N", "end after N seconds"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "print the first N blocks; recording continues"),
	OPT_BOOLEAN(0, "triggers", &asked.triggers, "only show which triggers would be set"),
	OPT_TEXT(0, "functions", &asked.functions, "FILE",
		 "... for these functions, in the format of the tracer's file"),
	OPT_PARENT(select_where_options)
};

/* The temporary recording takes at most this much of the disk: what was read is freed. */
#define MOST_KIB	"1048576"

/*
 * A growing recording is read every NAP_MS milliseconds. An event is held back for up to NAPS naps,
 * because earlier events of other CPUs may follow.
 */
#define NAP_MS	100
#define NAPS	4

struct packets {
	struct objects objects;
	struct view view;
	struct packet_filter *filter;	/* NULL: all packets match */
	const char *rules, *btf, *seconds, *input, *functions;
	bool triggers;			/* only print the triggers */
	char *expression;
	char **command;			/* NULL: no command */
	int status;			/* exit status of COMMAND */
	struct buffer text;
};

/* --- which objects are shown --- */

static bool wants_headers(struct objects *objects, const struct headers *headers)
{
	struct packets *packets = (struct packets *)objects;

	return packet_matches(packets->filter, headers->frame, headers->captured, headers->length);
}

static bool wants_event(struct objects *objects, const struct event *event)
{
	struct packets *packets = (struct packets *)objects;

	return select_where(packets->view.select, event);
}

/* Return the first label of @object that has the key @key; NULL if there is none. */
static const struct object_label *labels_of_key(const struct object *object, const char *key)
{
	const struct object_label *label = object->labels;

	while (label && strcmp(label->key, key))
		label = label->next_key;
	return label;
}

/* Return true if @root or a descendant has a label @key that matches @glob. */
static bool has_label(const struct object *root, const char *key, const char *glob)
{
	const struct object_label *label;
	const struct object *object;

	for (object = root; object; object = objects_after(object, root))
		for (label = labels_of_key(object, key); label; label = label->next)
			if (!fnmatch(glob, label->value, 0))
				return true;
	return false;
}

static bool wants_labels(struct objects *objects, const struct object *root)
{
	unsigned int i;

	(void)objects;
	for (i = 0; i < nr_asked_labels; i++)
		if (!has_label(root, asked_labels[i].key, asked_labels[i].glob))
			return false;
	return true;
}

/* --- output --- */

static void put_delta(struct buffer *to, const struct object_event *event, uint64_t begin)
{
	buffer_char(to, '+');
	if (!event->exact)
		buffer_char(to, '~');
	buffer_thousandths(to, event->ns > begin ? event->ns - begin : 0);
	buffer_puts(to, " us CPU ");
	buffer_number(to, event->cpu, 1);
	buffer_char(to, ' ');
}

/* Append a line: calls before the next event, or before the end of the recording, are missing. */
static void put_hole(struct buffer *to, unsigned int depth)
{
	buffer_spaces(to, 2 * depth);
	buffer_puts(to, "# calls are missing here\n");
}

static void put_event(struct buffer *to, const struct object_event *event, uint64_t begin,
		      unsigned int depth)
{
	if (event->lost)
		put_hole(to, depth);
	buffer_spaces(to, 2 * depth);
	put_delta(to, event, begin);
	text_context(to, event->context);
	buffer_printf(to, "%s:%u ", event->comm, event->pid);
	buffer_puts(to, event->symbol->title);
	if (event->caller) {
		buffer_puts(to, " <-- ");
		buffer_puts(to, event->caller->title);
	} else {
		buffer_puts(to, " returns");
	}
	buffer_char(to, '\n');
}

/*
 * Return what became of an object that has ended, or where an object is that has not. NULL: no rule
 * matched.
 */
static const char *verdict_of(const struct object *object)
{
	if (!object->ended)
		return object->state ?: object->verdict;
	return object->verdict ?: object->otherwise;
}

static void put_verdict(struct buffer *to, const struct object *object)
{
	const char *verdict = verdict_of(object);

	if (verdict)
		buffer_puts(to, verdict);
	else
		buffer_puts(to, object->ended ? "ended" : "still under way when recording ended");
	if (verdict && !object->ended)
		buffer_puts(to, ", not freed when recording ended");
}

/* Return true if the headers equal the parent's, so that printing them again adds nothing. */
static bool same_headers(const struct object *object, const struct object *parent)
{
	return parent && parent->headers &&
	       parent->headers->captured == object->headers->captured &&
	       !memcmp(parent->headers->frame, object->headers->frame, object->headers->captured);
}

/* " dev=here0,there0 netns=4026531840" */
static void put_labels(struct buffer *to, const struct object *object)
{
	const struct object_label *first, *label;

	for (first = object->labels; first; first = first->next_key) {
		buffer_printf(to, " %s=%s", first->key, first->value);
		for (label = first->next; label; label = label->next)
			buffer_printf(to, ",%s", label->value);
	}
}

/* Append " HEADERS", or " (#13: HEADERS)" if only a descendant has headers. */
static void put_headers(struct buffer *to, const struct object *object)
{
	const struct object *other = object->with_headers;

	if (object->headers) {
		if (same_headers(object, object->parent))
			return;
		buffer_char(to, ' ');
		headers_print(to, object->headers);
		return;
	}
	if (!other)
		return;
	buffer_printf(to, " (#%u: ", other->number);
	headers_print(to, other->headers);
	buffer_char(to, ')');
}

static void put_name(struct buffer *to, const struct object *object)
{
	buffer_printf(to, "#%u", object->number);
	if (object->parent)
		buffer_printf(to, " of #%u", object->parent->number);
	put_headers(to, object);
	put_labels(to, object);
}

/* Return the indentation at a level of the tree. An object's name contains its parent's. */
static unsigned int indentation(unsigned int level)
{
	return level < MOST_INDENTED ? level : MOST_INDENTED;
}

/* Print an object without what became of it. @depth: the indentation of its events. */
static void put_object(struct packets *packets, const struct object *object, uint64_t begin,
		       unsigned int depth)
{
	struct buffer *to = &packets->text;
	unsigned int i;

	buffer_spaces(to, 2 * (depth - 1));
	buffer_puts(to, packets->view.color ? "\033[1m" : "");
	put_name(to, object);
	buffer_puts(to, packets->view.color ? "\033[m\n" : "\n");
	for (i = 0; i < object->nr; i++) {
		put_event(to, &object->events[i], begin, depth);
		buffer_write(to, stdout);
	}
	if (objects_lost_end(&packets->objects, object))
		put_hole(to, depth);
}

/* Print what became of @object, and of its ancestors up to @root if it is their last descendant. */
static const struct object *put_ends(struct packets *packets, const struct object *object,
				     const struct object *root, unsigned int *level)
{
	struct buffer *to = &packets->text;

	for (;; object = object->parent, --*level) {
		buffer_spaces(to, 2 * indentation(*level));
		put_verdict(to, object);
		buffer_char(to, '\n');
		if (object == root)
			return NULL;
		if (object->next)
			return object->next;
	}
}

/* Print a tree: an object's events, its children's, and then what became of the object. */
static void put_tree(struct packets *packets, const struct object *root)
{
	const uint64_t begin = root->nr ? root->events[0].ns : 0;
	const struct object *object = root;
	unsigned int level = 1;

	while (object) {
		put_object(packets, object, begin, indentation(level));
		if (object->child) {
			object = object->child;
			level++;
		} else {
			object = put_ends(packets, object, root, &level);
		}
	}
	buffer_write(&packets->text, stdout);
}

static void json_events(struct buffer *to, const struct object *object)
{
	const struct object_event *event;
	unsigned int i;

	buffer_puts(to, ",\"events\":[");
	for (i = 0; i < object->nr; i++) {
		buffer_write(to, stdout);
		event = &object->events[i];
		buffer_puts(to, i ? ",{" : "{");
		json_number(to, "ns", event->ns);
		json_bool(to, "exact", event->exact);
		json_number(to, "cpu", event->cpu);
		json_function(to, "function", event->symbol->text);
		json_task(to, event->comm, event->pid);
		if (event->caller)
			json_function(to, "caller", event->caller->text);
		if (event->below)
			json_bool(to, "below", true);
		if (event->lost)
			json_bool(to, "lost", true);
		buffer_char(to, '}');
	}
	buffer_char(to, ']');
}

static void json_labels(struct buffer *to, const struct object *object)
{
	const struct object_label *first, *label;

	if (!object->labels)
		return;
	buffer_puts(to, ",\"labels\":{");
	for (first = object->labels; first; first = first->next_key) {
		buffer_printf(to, "%s\"%s\":[", first == object->labels ? "" : ",", first->key);
		json_string(to, first->value);
		for (label = first->next; label; label = label->next) {
			buffer_char(to, ',');
			json_string(to, label->value);
		}
		buffer_char(to, ']');
	}
	buffer_char(to, '}');
}

static void put_json(struct packets *packets, const struct object *object)
{
	struct buffer *to = &packets->text, name = { };

	buffer_char(to, '{');
	json_number(to, "object", object->number);
	if (object->parent)
		json_number(to, "parent", object->parent->number);
	if (object->headers) {
		headers_print(&name, object->headers);
		buffer_char(&name, '\0');
		json_text(to, "headers", name.data);
	}
	if (verdict_of(object))
		json_text(to, "verdict", verdict_of(object));
	json_bool(to, "ended", object->ended);
	if (objects_lost_end(&packets->objects, object))
		json_bool(to, "lost", true);
	json_labels(to, object);
	json_events(to, object);
	buffer_puts(to, "}\n");
	buffer_write(to, stdout);
	buffer_free(&name);
}

static void show(struct objects *objects, const struct object *root)
{
	struct packets *packets = (struct packets *)objects;
	const struct object *object;

	if (asked.lines && objects->shown > asked.lines)
		return;
	if (!packets->view.json) {
		if (objects->shown > 1)
			buffer_char(&packets->text, '\n');
		put_tree(packets, root);
		return;
	}
	for (object = root; object; object = objects_after(object, root))
		put_json(packets, object);
}

/* --- arguments --- */

/*
 * Split the command behind "--" off: end @argv there, and return the command; NULL if there is
 * none.
 */
static char **split_command(int *argc, char **argv)
{
	int i;

	for (i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		*argc = i;
		return argv + i + 1;
	}
	return NULL;
}

/*
 * Explain --input to users of tcpdump, whose -i is a device: end mctrace if --input is no file, but
 * a device.
 */
static void check_input(const struct packets *packets)
{
	char *device;

	if (!packets->input || strchr(packets->input, '/') || !access(packets->input, F_OK))
		return;
	device = xasprintf("/sys/class/net/%s", packets->input);
	if (!access(device, F_OK))
		die_usage(option_command(), "no file '%s': --dev %s selects a device's packets",
			  packets->input, packets->input);
	free(device);
}

static void check_labels(const struct packets *packets)
{
	unsigned int i;

	for (i = 0; i < nr_asked_labels; i++)
		if (!rules_have_label(packets->objects.rules, asked_labels[i].key))
			die_usage(option_command(), "the rules '%s' have no label '%s'",
				  packets->rules, asked_labels[i].key);
}

/* Parse the options into @packets. Return the new argc. */
static int parse(struct packets *packets, int argc, char **argv, const char *usage,
		 const char *help)
{
	argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (asked.rules)
		packets->rules = asked.rules;
	packets->btf = asked.btf;
	packets->functions = asked.functions;
	packets->triggers = asked.triggers;
	packets->input = view_asked.input;
	check_input(packets);
	if (asked.seconds)
		packets->seconds = xasprintf("%lu", asked.seconds);
	if (packets->input && (packets->command || packets->seconds))
		die_usage(argv[0], "either --input, or a COMMAND or --seconds to record now");
	if (packets->command && !*packets->command)
		die_usage(argv[0], "a COMMAND must follow --");
	return argc;
}

/*
 * Join the words of an expression, which may be one argument or several, as with tcpdump. Return
 * NULL if there are none.
 */
static char *all_words(char **words)
{
	char *all = NULL, *more;

	for (; *words; words++) {
		more = xasprintf("%s%s%s", all ?: "", all ? " " : "", *words);
		free(all);
		all = more;
	}
	return all;
}

static void record(const struct packets *packets, struct recorder *recorder)
{
	const char *how[16] = { "-c", "-t", "--most", MOST_KIB, "--rules", packets->rules };
	int n = 6;

	if (packets->btf) {
		how[n++] = "--btf";
		how[n++] = packets->btf;
	}
	if (packets->seconds) {
		how[n++] = "--seconds";
		how[n++] = packets->seconds;
	}
	if (packets->command)
		how[n++] = "--all";	/* the receiver may be another task */
	recorder_begin(recorder, how, packets->command);
}

static int show_triggers(const struct packets *packets)
{
	struct rules *rules = rules_open(packets->rules);
	char *functions, *lines;

	if (!packets->functions)
		tracer_find();
	functions = packets->functions ? read_file(packets->functions) : tracer_read("functions");
	if (!functions)
		die_errno("%s", packets->functions);
	lines = rules_triggers(rules, functions, packets->btf, !packets->functions);
	fputs(lines, stdout);
	free(lines);
	free(functions);
	rules_free(rules);
	return EXIT_SUCCESS;
}

static void say_left_out(const struct packets *packets)
{
	const struct objects *objects = &packets->objects;
	uint64_t reused = recording_number(packets->view.from, "reused");

	if (packets->filter && !objects->headers_seen && objects->trees)
		warning("no headers were recorded: check the 'header' rules and --btf");
	else if (!objects->shown)
		warning("%s", objects->trees ? "none matches" : "there was none");
	if (objects->unasked && packets->filter)
		warning("%llu of %llu packets ended before they could be matched: without headers",
			(unsigned long long)objects->unasked,
			(unsigned long long)objects->trees);
	if (objects->full)
		warning("%llu objects were not followed: too many were followed at once",
			(unsigned long long)objects->full);
	if (reused)
		warning("%llu objects were allocated again: the rules lack an end",
			(unsigned long long)reused);
}

static void begin(struct packets *packets)
{
	struct objects *objects = &packets->objects;

	objects->symbols = packets->view.symbols;
	objects->show = show;
	objects->wants_headers = packets->filter ? wants_headers : NULL;
	objects->wants_event = packets->view.select ? wants_event : NULL;
	objects->wants_tree = nr_asked_labels ? wants_labels : NULL;
}

static void go_through(struct packets *packets)
{
	struct events events;
	struct event event;
	uint64_t nr = 0;

	begin(packets);
	events_begin(&events, packets->view.from);
	while (events_next(&events, &event) && !ferror(stdout)) {
		objects_take(&packets->objects, &event);
		if (!(++nr % EVENTS_PROGRESS))
			view_progress(&packets->view, events_done(&events));
	}
	events_end(&events);
	objects_end(&packets->objects);
}

/*
 * Read a recording while it grows. The CPUs' words reach the file soon, but not at once. An event
 * that was the latest one NAPS naps ago has no earlier event that is still missing.
 */
static void go_along(struct packets *packets, struct recorder *recorder)
{
	uint64_t latest[NAPS] = { }, now, before;
	unsigned int nap = 0;
	struct events events;
	struct event event;
	bool ended = false;

	begin(packets);
	events_begin(&events, packets->view.from);
	while (!ended && !ferror(stdout)) {
		ended = recorder_has_ended(recorder, NAP_MS);
		recording_more(packets->view.from);
		now = events_more(&events);
		latest[nap++ % NAPS] = now;
		before = ended ? ~0ULL : latest[nap % NAPS] + 1;
		while (events_next_before(&events, &event, before))
			objects_take(&packets->objects, &event);
		if (now < before)			/* no new event in NAPS naps */
			objects_wait(&packets->objects, ~0ULL);
		recording_drop(packets->view.from, events_forget(&events));
		fflush(stdout);
	}
	if (!ended)
		kill(recorder->pid, SIGTERM);	/* standard output is closed */
	events_end(&events);
	objects_end(&packets->objects);
}

/*
 * Wait until the recording can be opened. Return NULL if the recorder ends first; then it has
 * printed the reason.
 */
static struct recording *wait_for_recording(struct recorder *recorder)
{
	struct recording *from;
	bool ended = false;

	for (;;) {
		from = recording_open_growing(recorder->path);
		if (from || ended)
			return from;
		ended = recorder_has_ended(recorder, NAP_MS);
	}
}

static void run_now(struct packets *packets)
{
	struct recorder recorder = { };
	struct recording *from;

	record(packets, &recorder);
	from = wait_for_recording(&recorder);
	unlink_recorded(recorder.path);
	if (!from)
		recorder_failed(&recorder);
	packets->view.no_pager = true;		/* a pager would hide what ends this */
	view_begin(&packets->view, from);
	packets->objects.types = packets->btf ? prototypes_open(packets->btf) :
				 prototypes_try(NULL);
	go_along(packets, &recorder);
	if (!from->ended)
		warning("the recording is not complete");
	packets->status = recorder_status(&recorder);
	free(recorder.path);
}

/* End mctrace if the recording was made without rules, and no trigger of it followed objects. */
static void check_followed(const struct packets *packets)
{
	const struct recording *from = packets->view.from;

	if (packets->objects.events || packets->objects.full || recording_info(from, "rules"))
		return;
	die("%s has no followed objects: record it with --rules %s", from->path, packets->rules);
}

static void run_on(struct packets *packets)
{
	view_open(&packets->view, packets->input);
	if (packets->btf)
		packets->objects.types = prototypes_open(packets->btf);
	go_through(packets);
	check_followed(packets);
}

/*
 * Return true if COMMAND was not found or could not be executed, which "mctrace record" has
 * printed.
 */
static bool never_ran(const struct packets *packets)
{
	return packets->status == 126 || packets->status == 127;
}

static int run(struct packets *packets)
{
	int status;

	if (packets->triggers)
		return show_triggers(packets);
	packets->objects.rules = rules_open(packets->rules);
	check_labels(packets);
	if (packets->expression)
		packets->filter = packet_filter_new(packets->expression,
						    rules_have_header(packets->objects.rules,
								      HEADER_ETH));
	if (packets->input)
		run_on(packets);
	else
		run_now(packets);
	if (!never_ran(packets)) {
		select_check(packets->view.select);
		say_left_out(packets);
	}
	while (nr_asked_labels)
		free(asked_labels[--nr_asked_labels].key);
	if (packets->objects.types)
		prototypes_close(packets->objects.types);
	rules_free(packets->objects.rules);
	packet_filter_free(packets->filter);
	buffer_free(&packets->text);
	free(packets->expression);
	status = view_close(&packets->view);
	return status ?: packets->status ?: !packets->objects.shown;
}

int cmd_packet(int argc, char **argv)
{
	struct packets packets = { .rules = "skb" };

	packets.command = split_command(&argc, argv);
	argv[argc] = NULL;
	parse(&packets, argc, argv, packet_usage, packet_help);
	packets.expression = all_words(argv + 1);
	return run(&packets);
}

int cmd_object(int argc, char **argv)
{
	struct packets packets = { };

	packets.command = split_command(&argc, argv);
	argv[argc] = NULL;
	argc = parse(&packets, argc, argv, object_usage, object_help);
	if (argc - 1 != !packets.rules)
		die_usage("object", "objects of which TYPE? or of which --rules?");
	if (!packets.rules)
		packets.rules = argv[1];
	return run(&packets);
}
