// SPDX-License-Identifier: GPL-2.0
/*
 * Print a recording as a tree of nested calls, in the format of ftrace's function_graph:
 *
 *	CPU 0: cat:65
 *	              |  alloc_fd() {
 *	    0.691 us  |    _raw_spin_lock();
 *	 + 22.664 us  |  } alloc_fd
 *
 * What a task does on a CPU until another task runs there is one block. A block is printed when it
 * ends or is long, so memory is needed only for a few lines of each CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "text.h"
#include "tree.h"
#include "util.h"
#include "walk.h"

#define ENOUGH	65536		/* of a block, in bytes */

struct tree {
	struct walker walker;
	const struct view *view;
	struct {
		struct buffer text;
		struct task_calls *task;	/* the block's task */
		unsigned int earlier;		/* its number of earlier tasks */
	} *cpus;
	unsigned int nr_cpus;
	struct buffer *to;	/* of the current CPU */
	struct buffer took;	/* a duration, to be right-aligned */
	FILE *out;
	uint64_t calls, most;	/* calls printed, and their limit */
	bool times;		/* lines of calls begin with a time */
};

/* Return function_graph's mark for a long duration. */
static char mark_of(uint64_t ns)
{
	static const struct {
		uint64_t more_than;
		char mark;
	} marks[] = {
		{ 1000000000, '$' }, { 100000000, '@' }, { 10000000, '*' },
		{ 1000000, '#' }, { 100000, '!' }, { 10000, '+' },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].more_than)
			return marks[i].mark;
	return ' ';
}

/* Return the escape sequence for long durations, if colours are on. */
static const char *color_of(const struct tree *tree, char mark)
{
	if (!tree->view->color || mark == ' ')
		return "";
	return mark == '+' ? "\033[33m" : "\033[31m";
}

/* Append the line's time in seconds, with "~" if it is estimated. */
static void put_time(struct tree *tree, uint64_t ns, bool exact)
{
	if (!tree->times)
		return;
	buffer_puts(tree->to, exact ? "[ " : "[~");
	text_seconds(tree->to, ns);
	buffer_puts(tree->to, "] ");
}

/* Append the column before "|", and the indentation of a call at @depth. */
static void put_column(struct tree *tree, const struct ending *ending, unsigned int depth)
{
	bool took = ending && ending->returned;
	char mark = took ? mark_of(ending->took) : ' ';
	const char *color = color_of(tree, mark);
	struct buffer *to = tree->to;

	tree->took.length = 0;
	if (took) {
		buffer_puts(&tree->took, ending->exact ? "" : "~");
		buffer_thousandths(&tree->took, ending->took);
		buffer_puts(&tree->took, " us");
	}
	buffer_puts(to, color);
	buffer_char(to, mark);
	if (tree->took.length < 14)
		buffer_spaces(to, 14 - tree->took.length);
	buffer_put(to, tree->took.data, tree->took.length);
	buffer_puts(to, *color ? "\033[m" : "");
	buffer_puts(to, "  |  ");
	buffer_spaces(to, 2 * depth);
}

static void put_name(struct tree *tree, const char *name, const char *behind)
{
	buffer_puts(tree->to, name);
	buffer_puts(tree->to, behind);
}

static void flush(struct tree *tree, unsigned int cpu)
{
	if (tree->cpus[cpu].text.length)
		buffer_write(&tree->cpus[cpu].text, tree->out);
	tree->walker.enough = ferror(tree->out);
}

/*
 * Print the latest call, which was held back until it is known whether it has nested calls: @open.
 */
static void put_waiting(struct tree *tree, struct task_calls *task, bool open)
{
	struct call *call;

	if (!task->waits)
		return;
	task->waits = false;
	call = &task->calls[task->nr - 1];
	call->open = open;
	put_time(tree, call->ns, call->exact);
	put_column(tree, NULL, task->nr - 1);
	put_name(tree, call->symbol->title, open ? "() {\n" : "();\n");
}

/*
 * End the block of @cpu: its task doesn't run there any more. The latest call is printed as open,
 * because its nested calls are not known yet.
 */
static void end_stint(struct tree *tree, unsigned int cpu)
{
	struct task_calls *task = tree->cpus[cpu].task;

	if (!task)
		return;
	tree->to = &tree->cpus[cpu].text;
	put_waiting(tree, task, true);
	flush(tree, cpu);
	task->shown = 0;
	tree->cpus[cpu].task = NULL;
}

static void end_all(struct tree *tree)
{
	unsigned int cpu;

	for (cpu = 0; cpu < tree->nr_cpus; cpu++)
		end_stint(tree, cpu);
}

/*
 * Continue the block of @task on the current CPU. Begin a new block if another task ran there, or
 * if the task was on another CPU.
 */
static void begin(struct tree *tree, struct task_calls *task)
{
	unsigned int cpu = tree->walker.event->cpu;

	/* Other CPUs' blocks may be printed in between; or the pid has another task. */
	if (task->shown == (int)cpu + 1 && (tree->cpus[cpu].text.length > ENOUGH ||
					    tree->cpus[cpu].earlier != task->earlier))
		end_stint(tree, cpu);
	if (task->shown != (int)cpu + 1) {
		if (task->shown)
			end_stint(tree, task->shown - 1);
		end_stint(tree, cpu);
		tree->cpus[cpu].task = task;
		tree->cpus[cpu].earlier = task->earlier;
		task->shown = cpu + 1;
		tree->to = &tree->cpus[cpu].text;
		buffer_printf(tree->to, "CPU %u: %s:%u\n", cpu, *task->comm ? task->comm : "<...>",
			      task->pid);
	}
	tree->to = &tree->cpus[cpu].text;
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct tree *tree = (struct tree *)walker;

	if (tree->most && tree->calls++ == tree->most) {
		task->nr--;		/* this call is not printed */
		end_all(tree);
		task->nr++;
		walker->enough = true;
		return;
	}
	task->nr--;			/* the call above waits, and is no leaf */
	begin(tree, task);
	put_waiting(tree, task, true);
	task->nr++;
	if (call->implied) {
		call->open = true;
		put_time(tree, call->ns, call->exact);
		put_column(tree, NULL, task->nr - 1);
		put_name(tree, call->symbol->title, "() { /* not traced */\n");
		return;
	}
	if (walker->returns && task->nr == 1) {
		put_time(tree, call->ns, call->exact);
		put_column(tree, NULL, 0);
		buffer_puts(tree->to, "/* by ");
		put_name(tree, symbol_of(walker->symbols, call->parent_ip)->text, " */\n");
	}
	task->waits = true;
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct tree *tree = (struct tree *)walker;
	bool leaf;

	if (ending->cut) {		/* the end is not known */
		if (task->waits) {
			tree->to = &tree->cpus[task->shown - 1].text;
			put_waiting(tree, task, walker->returns);
		}
		return;
	}
	begin(tree, task);
	leaf = task->waits;
	if (!ending->returned) {
		put_waiting(tree, task, false);
		if (!call->open)
			return;
	}
	task->waits = false;
	if (leaf)
		put_time(tree, call->ns, call->exact);
	else
		put_time(tree, ending->ns, ending->returned && walker->event->exact);
	put_column(tree, ending, task->nr - 1);
	if (!leaf)
		buffer_puts(tree->to, "} ");
	put_name(tree, call->symbol->title, leaf ? "();" : "");
	if (ending->tail)
		buffer_puts(tree->to, leaf ? " /* goes on */" : " goes on");
	buffer_char(tree->to, '\n');
}

static void leave_earlier(struct walker *walker, struct task_calls *task,
			  const struct symbol *symbol, const struct event *event)
{
	struct tree *tree = (struct tree *)walker;

	begin(tree, task);
	put_waiting(tree, task, true);
	put_time(tree, event->ns, event->exact);
	put_column(tree, NULL, 0);
	buffer_puts(tree->to, "} ");
	put_name(tree, symbol->title, event->state->value & MCTRACER_RETURN_TAIL ? " goes on" : "");
	buffer_puts(tree->to, ", called before\n");
}

static void note(struct walker *walker, struct task_calls *task, const struct event *event)
{
	struct tree *tree = (struct tree *)walker;

	if (event->found == FOUND_FRAME)
		return;			/* the tree shows frames already */
	begin(tree, task);
	put_waiting(tree, task, true);
	put_time(tree, event->ns, event->exact);
	put_column(tree, NULL, task->nr);
	buffer_puts(tree->to, "/* ");
	buffer_puts(tree->to, event_mark(event));
	buffer_puts(tree->to, " at ");
	put_name(tree, symbol_of(walker->symbols, event->state->ip)->text, " */\n");
}

/* Print a call as a JSON line when it has ended. */
static void leave_json(struct walker *walker, struct task_calls *task, struct call *call,
		       const struct ending *ending)
{
	struct tree *tree = (struct tree *)walker;
	struct buffer *line = &tree->took;

	if (call->implied)
		return;
	buffer_char(line, '{');
	json_task(line, task->comm, task->pid);
	json_number(line, "depth", task->nr - 1);
	json_number(line, "ns", call->ns);
	json_function(line, "function", call->symbol->text);
	json_function(line, "caller", symbol_of(walker->symbols, call->parent_ip)->text);
	if (ending->returned) {
		json_number(line, "took_ns", ending->took);
		json_number(line, "self_ns", ending->self);
		json_bool(line, "estimated", !ending->exact);
		json_bool(line, "tail", ending->tail);
	}
	buffer_puts(line, "}\n");
	buffer_write(line, tree->out);
	walker->enough = ferror(tree->out) || ++tree->calls == tree->most;
}

static void begin_anew(struct walker *walker, const struct event *event)
{
	struct tree *tree = (struct tree *)walker;

	end_all(tree);
	if (event->found == FOUND_GAP && event->missing)
		fprintf(tree->out, "# lost %llu\n", (unsigned long long)event->missing);
}

static void end(struct walker *walker)
{
	end_all((struct tree *)walker);
}

void tree_print(const struct view *view, uint64_t most, bool times, FILE *to)
{
	struct tree tree = {
		.walker = {
			.enter = enter,
			.leave = leave,
			.before = leave_earlier,
			.note = note,
			.lost = begin_anew,
			.end = end,
		},
		.view = view,
		.nr_cpus = view->from->nr_cpus,
		.out = to,
		.most = most,
		.times = times,
	};
	unsigned int cpu;

	if (view->json)
		tree.walker = (struct walker) { .leave = leave_json };
	tree.cpus = xcalloc(tree.nr_cpus, sizeof(*tree.cpus));
	walk(view, &tree.walker);
	for (cpu = 0; cpu < tree.nr_cpus; cpu++)
		buffer_free(&tree.cpus[cpu].text);
	free(tree.cpus);
	buffer_free(&tree.took);
}
