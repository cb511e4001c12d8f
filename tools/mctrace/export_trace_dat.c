// SPDX-License-Identifier: GPL-2.0
/*
 * Export to trace-cmd's trace.dat, version 6: see trace-cmd.dat.v6(5). The file begins with the
 * formats of events, as in the kernel's "format" files, the symbols, and the names of tasks. Pages
 * as in ftrace's rings follow for each CPU. Without returns the events are those of the function
 * tracer, with returns those of function_graph.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "export.h"
#include "output.h"
#include "util.h"
#include "walk.h"

#define PAGE		4096
#define PAGE_HEAD	16		/* time, and size of the events with flags */
#define MISSED		0x80000000ULL	/* flag of size: events before this page are missing */
#define MISSED_COUNTED	0x40000000ULL	/* flag of size: their number follows the last event */

/* An event's first word: 5 bits of length in words, 27 bits of time since the event before. */
#define DELTA_BITS	27
#define TIME_EXTEND	30		/* not a length: the next word has more bits of the time */

enum { FUNCTION = 1, GRAPH_EXIT = 10, GRAPH_ENTRY = 11 };

#define FIELD(type, name, offset, size, sign) \
	"\tfield:" type " " name ";\toffset:" offset ";\tsize:" size ";\tsigned:" sign ";\n"

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static const char header_event[] =
	"# compressed entry header\n"
	"\ttype_len    :    5 bits\n"
	"\ttime_delta  :   27 bits\n"
	"\tarray       :   32 bits\n"
	"\n"
	"\tpadding     : type == 29\n"
	"\ttime_extend : type == 30\n"
	"\ttime_stamp : type == 31\n"
	"\tdata max type_len  == 28\n";

#define COMMON \
	FIELD("unsigned short", "common_type", "0", "2", "0") \
	FIELD("unsigned char", "common_flags", "2", "1", "0") \
	FIELD("unsigned char", "common_preempt_count", "3", "1", "0") \
	FIELD("int", "common_pid", "4", "4", "1") \
	"\n"

static const char * const formats[] = {
	"name: function\nID: 1\nformat:\n" COMMON
	FIELD("unsigned long", "ip", "8", "8", "0")
	FIELD("unsigned long", "parent_ip", "16", "8", "0")
	"\nprint fmt: \" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip\n",

	"name: funcgraph_entry\nID: 11\nformat:\n" COMMON
	FIELD("unsigned long", "func", "8", "8", "0")
	FIELD("int", "depth", "16", "4", "1")
	"\nprint fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n",

	"name: funcgraph_exit\nID: 10\nformat:\n" COMMON
	FIELD("unsigned long", "func", "8", "8", "0")
	FIELD("int", "depth", "16", "4", "1")
	FIELD("unsigned int", "overrun", "20", "4", "0")
	FIELD("unsigned long long", "calltime", "24", "8", "0")
	FIELD("unsigned long long", "rettime", "32", "8", "0")
	"\nprint fmt: \"<-- %ps (%d)\", (void *)REC->func, REC->depth\n",
};

/* The first fields of all events. */
struct common {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid;
};

struct function {
	struct common common;
	uint64_t ip;
	uint64_t parent_ip;
};

struct graph_entry {
	struct common common;
	uint64_t func;
	int32_t depth;
	int32_t unused;		/* padding, not written */
};

struct graph_exit {
	struct common common;
	uint64_t func;
	int32_t depth;
	uint32_t overrun;
	uint64_t calltime;
	uint64_t rettime;
};

struct ring {
	struct buffer page;	/* events of the current page */
	uint64_t begin, last;	/* times of the page's first and last event, ns */
	uint64_t missed;	/* calls missing before the page */
	uint64_t size;		/* of all pages written, bytes */
	FILE *pages;
};

struct trace_dat {
	struct walker walker;
	struct view *view;
	struct ring *rings;
	struct buffer symbols;
	struct buffer tasks;
	FILE *to;
};

/* --- a CPU's pages --- */

static void put_page(struct ring *ring)
{
	uint64_t head[2] = { ring->begin, ring->page.length };
	static const char nothing[PAGE];
	size_t length = PAGE_HEAD + ring->page.length;
	bool counted = ring->missed && length + sizeof(ring->missed) <= PAGE;

	if (!ring->page.length)
		return;
	if (ring->missed)
		head[1] |= MISSED | (counted ? MISSED_COUNTED : 0);
	fwrite(head, sizeof(head), 1, ring->pages);
	buffer_write(&ring->page, ring->pages);
	if (counted) {
		fwrite(&ring->missed, sizeof(ring->missed), 1, ring->pages);
		length += sizeof(ring->missed);
	}
	fwrite(nothing, PAGE - length, 1, ring->pages);
	ring->missed = 0;
	ring->size += PAGE;
}

static void put_word(struct ring *ring, uint32_t word)
{
	buffer_put(&ring->page, &word, sizeof(word));
}

static void put_event(struct ring *ring, uint64_t ns, const void *data, uint32_t size)
{
	uint64_t delta;

	if (PAGE_HEAD + ring->page.length + 3 * sizeof(uint32_t) + size > PAGE)
		put_page(ring);
	if (!ring->page.length) {
		ring->begin = ns;
		ring->last = ns;
	}
	delta = ns > ring->last ? ns - ring->last : 0;
	ring->last += delta;
	if (delta >> DELTA_BITS) {
		put_word(ring, (uint32_t)(delta << 5) | TIME_EXTEND);
		put_word(ring, delta >> DELTA_BITS);
		delta = 0;
	}
	put_word(ring, (uint32_t)delta << 5 | size / sizeof(uint32_t));
	buffer_put(&ring->page, data, size);
}

/* --- events --- */

static struct ring *ring_of(struct trace_dat *trace)
{
	return &trace->rings[trace->walker.event->cpu];
}

static struct common common_of(uint16_t type, const struct task_calls *task)
{
	return (struct common) { .type = type, .pid = task->pid };
}

static void put_function(struct trace_dat *trace, struct task_calls *task,
			 const struct call *call)
{
	struct function function = {
		.common = common_of(FUNCTION, task),
		.ip = recording_address(trace->view->from, call->symbol->address),
		.parent_ip = recording_address(trace->view->from, call->parent_ip),
	};

	put_event(ring_of(trace), call->ns, &function, sizeof(function));
}

static void put_entry(struct trace_dat *trace, struct task_calls *task, const struct call *call)
{
	struct graph_entry entry = {
		.common = common_of(GRAPH_ENTRY, task),
		.func = symbols_address(trace->walker.symbols, call->symbol->id),
		.depth = task->nr - 1,
	};

	put_event(ring_of(trace), call->ns, &entry, offsetof(struct graph_entry, unused));
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct trace_dat *trace = (struct trace_dat *)walker;

	if (call->implied)
		return;
	task->track = 1;
	if (walker->returns)
		put_entry(trace, task, call);
	else
		put_function(trace, task, call);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct trace_dat *trace = (struct trace_dat *)walker;
	struct graph_exit exit = {
		.common = common_of(GRAPH_EXIT, task),
		.func = symbols_address(walker->symbols, call->symbol->id),
		.depth = task->nr - 1,
		.calltime = call->ns,
		.rettime = ending->ns,
	};

	if (ending->returned)
		put_event(ring_of(trace), ending->ns, &exit, sizeof(exit));
}

static void lost(struct walker *walker, const struct event *event)
{
	struct ring *ring = ring_of((struct trace_dat *)walker);

	put_page(ring);
	ring->missed += event->missing;
}

/* --- the file --- */

static void put_u16(FILE *to, uint16_t n)
{
	fwrite(&n, sizeof(n), 1, to);
}

static void put_u32(FILE *to, uint32_t n)
{
	fwrite(&n, sizeof(n), 1, to);
}

static void put_u64(FILE *to, uint64_t n)
{
	fwrite(&n, sizeof(n), 1, to);
}

static void put_named(FILE *to, const char *name, const char *text)
{
	fwrite(name, strlen(name) + 1, 1, to);
	put_u64(to, strlen(text));
	fputs(text, to);
}

static void put_symbol(void *arg, uint64_t address, const char *name, size_t length,
		       const char *module, size_t module_length)
{
	struct buffer *to = arg;

	buffer_printf(to, "%016llx T %.*s", (unsigned long long)address, (int)length, name);
	if (module_length)
		buffer_printf(to, "\t[%.*s]", (int)module_length, module);
	buffer_char(to, '\n');
}

/* Collect the names of the tasks that have events. */
static void note_tasks(struct walker *walker)
{
	struct trace_dat *trace = (struct trace_dat *)walker;
	const struct task_calls *task;

	for (task = calls_next_task(trace->walker.calls, NULL); task;
	     task = calls_next_task(trace->walker.calls, task))
		if (task->track && task->pid)
			buffer_printf(&trace->tasks, "%u %s\n", task->pid, task->comm);
}

static void put_head(struct trace_dat *trace, unsigned int nr_cpus)
{
	FILE *to = trace->to;
	size_t i;

	fwrite("\x17\x08\x44tracing6", 12, 1, to);	/* with the final 0 */
	fputc(0, to);					/* little endian */
	fputc(sizeof(uint64_t), to);
	put_u32(to, PAGE);
	put_named(to, "header_page", header_page);
	put_named(to, "header_event", header_event);
	put_u32(to, ARRAY_SIZE(formats));
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		put_u64(to, strlen(formats[i]));
		fputs(formats[i], to);
	}
	put_u32(to, 0);					/* no events of subsystems */
	put_u32(to, trace->symbols.length);
	buffer_write(&trace->symbols, to);
	put_u32(to, 0);					/* no formats of printk */
	put_u64(to, trace->tasks.length);
	buffer_write(&trace->tasks, to);
	put_u32(to, nr_cpus);
	fwrite("options  ", 10, 1, to);
	put_u16(to, 0);
	fwrite("flyrecord", 10, 1, to);
}

static void copy(FILE *from, FILE *to)
{
	char *page = xcalloc(1, PAGE);

	rewind(from);
	while (fread(page, PAGE, 1, from))
		fwrite(page, PAGE, 1, to);
	if (ferror(from))
		die_errno("a temporary file");
	free(page);
}

/* Build the part before the pages in memory: its size is needed, and a pipe has no position. */
static void put_all(struct trace_dat *trace, FILE *to)
{
	unsigned int cpu, nr = trace->view->from->nr_cpus;
	uint64_t at;
	char *head;
	size_t size;

	trace->to = open_memstream(&head, &size);
	if (!trace->to)
		die_errno("memory");
	put_head(trace, nr);
	fflush(trace->to);
	at = (size + nr * 2 * sizeof(uint64_t) + PAGE - 1) & -(uint64_t)PAGE;
	for (cpu = 0; cpu < nr; cpu++) {
		put_u64(trace->to, at);
		put_u64(trace->to, trace->rings[cpu].size);
		at += trace->rings[cpu].size;
	}
	fflush(trace->to);
	while (size % PAGE) {
		fputc(0, trace->to);
		fflush(trace->to);
	}
	fwrite(head, size, 1, to);
	fclose(trace->to);
	free(head);
	for (cpu = 0; cpu < nr; cpu++)
		copy(trace->rings[cpu].pages, to);
}

void export_trace_dat(struct view *view, const char *output)
{
	struct trace_dat trace = {
		.walker = { .enter = enter, .leave = leave, .lost = lost, .end = note_tasks },
		.view = view,
	};
	unsigned int cpu, nr = view->from->nr_cpus;
	FILE *to = output_open(output);

	trace.rings = xcalloc(nr, sizeof(*trace.rings));
	for (cpu = 0; cpu < nr; cpu++)
		trace.rings[cpu].pages = temporary_stream();
	walk(view, &trace.walker);
	symbols_each(view->symbols, &trace.symbols, put_symbol);
	buffer_puts(&trace.symbols, "ffffffffffffffff T __end\n");	/* ends the last one */
	for (cpu = 0; cpu < nr; cpu++) {
		put_page(&trace.rings[cpu]);
		if (ferror(trace.rings[cpu].pages) || fflush(trace.rings[cpu].pages))
			die_errno("a temporary file");
	}
	put_all(&trace, to);
	for (cpu = 0; cpu < nr; cpu++) {
		fclose(trace.rings[cpu].pages);
		buffer_free(&trace.rings[cpu].page);
	}
	free(trace.rings);
	buffer_free(&trace.symbols);
	buffer_free(&trace.tasks);
	output_close(to, output);
}
