// SPDX-License-Identifier: GPL-2.0
/*
 * Export to uftrace's directory. The kernel appears as a program that all tasks have executed.
 *
 *	info		a header, whose bits select the lines that follow
 *	task.txt	tasks
 *	sid-*.map	the program's mapping, as in /proc/PID/maps
 *	vmlinux.sym	the program's functions
 *	TID.dat		entries and exits of a task, 16 bytes each
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "export.h"
#include "unfinished.h"
#include "util.h"
#include "walk.h"

#define PROGRAM		0x550000000000ULL	/* a usual address of a program */
#define SESSION		"6d63747261636500"
#define IDLE_TID	0x400001	/* above all pids; the CPU is added */
#define LATER_TID	0x800001	/* of tasks whose pid has a file; the number is added */

struct header {
	char magic[8];
	uint32_t version;
	uint16_t size;
	uint8_t little_endian;
	uint8_t class_64;
	uint64_t features;
	uint64_t infos;
	uint16_t max_stack;
	uint16_t unused1;
	uint32_t unused2;
};

#define FEATURE_TASK_SESSION	0x02
#define FEATURE_RELATIVE	0x20	/* symbols are offsets in the program */
#define FEATURE_MAX_STACK	0x40
#define INFO_EXE_NAME		0x01
#define INFO_CMDLINE		0x08
#define INFO_TASKS		0x80

/* A record: 64 bits of time, and 64 bits: */
#define RECORD_EXIT		1ULL
#define RECORD_MAGIC		(5ULL << 3)
#define RECORD_DEPTH_SHIFT	6
#define RECORD_DEPTH_MAX	1023
#define RECORD_ADDRESS_SHIFT	16

#define FLUSH	65536

struct track {
	struct buffer records;
	uint32_t tid, tgid;
	const char *path;	/* of the file TID.dat */
	uint64_t first;
};

struct uftrace {
	struct walker walker;
	struct view *view;
	struct track *tracks;
	uint32_t nr;
	uint64_t base;		/* lowest address of a function */
	uint64_t first;		/* time of the first event, ns */
	struct buffer symbols;
};

static void flush(struct track *track)
{
	FILE *file = fopen(track->path, "a");

	if (!file)
		die_errno("%s", track->path);
	buffer_write(&track->records, file);
	export_close(file, track->path);
}

/* Return the number that names the task's file: its pid, if that is not taken. */
static uint32_t tid_of(const struct uftrace *to, const struct task_calls *task)
{
	if (task->earlier)
		return LATER_TID + to->nr;
	return task->pid ? task->pid : IDLE_TID + task->cpu;
}

static struct track *track_of(struct uftrace *to, struct task_calls *task, uint64_t ns)
{
	struct track *track;
	char name[32];

	if (!task->track) {
		to->tracks = xrealloc(to->tracks, to->nr + 1, sizeof(*to->tracks));
		track = &to->tracks[to->nr];
		*track = (struct track) {
			.tid = tid_of(to, task),
			.first = ns,
		};
		snprintf(name, sizeof(name), "%u.dat", track->tid);
		track->path = unfinished_in(name);
		track->tgid = task->tgid ? task->tgid : track->tid;
		if (!to->nr || ns < to->first)
			to->first = ns;
		task->track = ++to->nr;
	}
	return &to->tracks[task->track - 1];
}

static void put(struct uftrace *to, struct task_calls *task, const struct call *call,
		uint64_t type, uint64_t ns)
{
	struct track *track = track_of(to, task, ns);
	unsigned int depth = task->nr - 1;
	uint64_t address = symbols_address(to->walker.symbols, call->symbol->id);
	uint64_t record[2];

	record[0] = ns;
	record[1] = type | RECORD_MAGIC |
		    (uint64_t)(depth < RECORD_DEPTH_MAX ? depth : RECORD_DEPTH_MAX)
		    << RECORD_DEPTH_SHIFT |
		    (address - to->base + PROGRAM) << RECORD_ADDRESS_SHIFT;
	buffer_put(&track->records, record, sizeof(record));
	if (track->records.length >= FLUSH)
		flush(track);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct uftrace *to = (struct uftrace *)walker;

	put(to, task, call, 0, call->ns);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct uftrace *to = (struct uftrace *)walker;

	put(to, task, call, RECORD_EXIT, ending->ns);
}

static void find_base(void *arg, uint64_t address, const char *name, size_t length,
		      const char *module, size_t module_length)
{
	struct uftrace *to = arg;

	(void)name;
	(void)length;
	(void)module;
	(void)module_length;
	if (address < to->base)
		to->base = address;
}

static void put_symbol(void *arg, uint64_t address, const char *name, size_t length,
		       const char *module, size_t module_length)
{
	struct uftrace *to = arg;

	buffer_printf(&to->symbols, "%016llx T %.*s", (unsigned long long)(address - to->base),
		      (int)length, name);
	if (module_length)
		buffer_printf(&to->symbols, " [%.*s]", (int)module_length, module);
	buffer_char(&to->symbols, '\n');
}

static void put_symbols(struct uftrace *to)
{
	FILE *file = export_in("vmlinux.sym");

	symbols_each(to->view->symbols, to, put_symbol);
	buffer_puts(&to->symbols, "000000007fffffff ? __sym_end\n");
	buffer_write(&to->symbols, file);
	export_close(file, "vmlinux.sym");
	file = export_in("sid-" SESSION ".map");
	/* uftrace ignores the last line, unless it is the stack's. */
	fprintf(file, "%08llx-%08llx r-xp 00000000 00:00 0                          /vmlinux\n"
		"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n",
		PROGRAM, PROGRAM + 0x80000000ULL);
	export_close(file, "sid-" SESSION ".map");
}

static void put_tasks(struct uftrace *to)
{
	FILE *file = export_in("task.txt");
	uint32_t i, j;

	for (i = 0; i < to->nr; i++) {
		for (j = 0; j < i && to->tracks[j].tgid != to->tracks[i].tgid; j++)
			;
		if (j == i)
			fprintf(file, "SESS timestamp=%llu.%09llu pid=%u sid=" SESSION
				" exename=\"%s\"\n",
				(unsigned long long)(to->first / 1000000000),
				(unsigned long long)(to->first % 1000000000),
				to->tracks[i].tgid, "vmlinux");
		fprintf(file, "TASK timestamp=%llu.%09llu tid=%u pid=%u\n",
			(unsigned long long)(to->first / 1000000000),
			(unsigned long long)(to->first % 1000000000), to->tracks[i].tid,
			to->tracks[i].tgid);
	}
	export_close(file, "task.txt");
}

static void put_info(struct uftrace *to)
{
	struct header header = {
		.magic = "Ftrace!",
		.version = 4,
		.size = sizeof(header),
		.little_endian = 1,
		.class_64 = 2,
		.features = FEATURE_TASK_SESSION | FEATURE_RELATIVE | FEATURE_MAX_STACK,
		.infos = INFO_EXE_NAME | INFO_CMDLINE | INFO_TASKS,
		.max_stack = RECORD_DEPTH_MAX,
	};
	FILE *file = export_in("info");
	uint32_t i;

	fwrite(&header, sizeof(header), 1, file);
	fprintf(file, "exename:vmlinux\ncmdline:mctrace export --to uftrace %s\n",
		to->view->from->path);
	fprintf(file, "taskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=", to->nr);
	for (i = 0; i < to->nr; i++)
		fprintf(file, "%s%u", i ? "," : "", to->tracks[i].tid);
	fputc('\n', file);
	export_close(file, "info");
}

void export_uftrace(struct view *view, const char *output)
{
	struct uftrace to = {
		.walker = { .enter = enter, .leave = leave },
		.view = view,
		.base = UINT64_MAX,
	};
	uint32_t i;

	export_directory(output);
	symbols_each(view->symbols, &to, find_base);
	walk(view, &to.walker);
	put_symbols(&to);
	put_tasks(&to);
	put_info(&to);
	for (i = 0; i < to.nr; i++) {
		flush(&to.tracks[i]);
		buffer_free(&to.tracks[i].records);
	}
	free(to.tracks);
	buffer_free(&to.symbols);
}
