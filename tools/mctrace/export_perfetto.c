// SPDX-License-Identifier: GPL-2.0
/*
 * Export to Perfetto's protobuf: a sequence of packets (protos/perfetto/trace/trace_packet.proto).
 * The enum below has the numbers of the used fields. A function's name is written once, with an id
 * that replaces the name in all later packets (interning).
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "export.h"
#include "output.h"
#include "protobuf.h"
#include "util.h"
#include "walk.h"

enum {
	TRACE_PACKET = 1,

	PACKET_TIMESTAMP = 8,		/* ns */
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,

	FLAG_CLEARED = 1,		/* forget interned names */
	FLAG_NEEDS_INTERNED = 2,

	INTERNED_EVENT_NAME = 2,
	NAME_ID = 1,
	NAME_TEXT = 2,

	TRACK_UUID = 1,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
};

struct perfetto {
	struct walker walker;
	struct view *view;
	struct buffer packet, part, out;
	uint32_t tracks;
	bool *named;			/* by function id: the name was written */
	size_t nr_named;
	FILE *to;
};

static void end_packet(struct perfetto *perfetto)
{
	proto_number(&perfetto->packet, PACKET_SEQUENCE, 1);
	proto_part(&perfetto->out, TRACE_PACKET, &perfetto->packet);
	buffer_write(&perfetto->out, perfetto->to);
	perfetto->walker.enough = ferror(perfetto->to);
}

static void put_track(struct perfetto *perfetto, struct task_calls *task)
{
	struct buffer thread = { };

	if (!task->track)
		task->track = ++perfetto->tracks;
	memcpy(task->named, task->comm, sizeof(task->named));
	/* Process 0 is not allowed: put the idle tasks into a made-up process. */
	proto_number(&thread, THREAD_PID, task->tgid ? task->tgid : 0x40000000);
	proto_number(&thread, THREAD_TID, task->pid ? task->pid : 0x40000000 + task->cpu);
	proto_text(&thread, THREAD_NAME, task->comm);
	proto_number(&perfetto->part, TRACK_UUID, task->track);
	proto_part(&perfetto->part, TRACK_THREAD, &thread);
	proto_part(&perfetto->packet, PACKET_TRACK, &perfetto->part);
	end_packet(perfetto);
	buffer_free(&thread);
}

/* Write the function's name, unless an earlier packet has it. */
static void put_name(struct perfetto *perfetto, const struct symbol *symbol)
{
	struct buffer name = { };
	size_t nr = perfetto->nr_named;

	if (symbol->id >= nr) {
		perfetto->nr_named = 2 * symbol->id + 1024;
		perfetto->named = xrealloc(perfetto->named, perfetto->nr_named, sizeof(bool));
		memset(perfetto->named + nr, 0, perfetto->nr_named - nr);
	}
	if (perfetto->named[symbol->id])
		return;
	perfetto->named[symbol->id] = true;
	proto_number(&name, NAME_ID, symbol->id + 1);
	proto_text(&name, NAME_TEXT, symbol->title);
	proto_part(&perfetto->part, INTERNED_EVENT_NAME, &name);
	proto_part(&perfetto->packet, PACKET_INTERNED, &perfetto->part);
	buffer_free(&name);
}

static void put_event(struct perfetto *perfetto, struct task_calls *task, int type,
		      const struct symbol *symbol, uint64_t ns)
{
	if (!task->track || strcmp(task->named, task->comm))
		put_track(perfetto, task);
	proto_number(&perfetto->packet, PACKET_TIMESTAMP, ns);
	proto_number(&perfetto->packet, PACKET_FLAGS, FLAG_NEEDS_INTERNED);
	if (symbol)
		put_name(perfetto, symbol);
	proto_number(&perfetto->part, EVENT_TYPE, type);
	proto_number(&perfetto->part, EVENT_TRACK, task->track);
	if (symbol)
		proto_number(&perfetto->part, EVENT_NAME_ID, symbol->id + 1);
	proto_part(&perfetto->packet, PACKET_TRACK_EVENT, &perfetto->part);
	end_packet(perfetto);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct perfetto *perfetto = (struct perfetto *)walker;

	if (walker->returns || !call->implied)
		put_event(perfetto, task, walker->returns ? TYPE_BEGIN : TYPE_INSTANT,
			  call->symbol, call->ns);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct perfetto *perfetto = (struct perfetto *)walker;

	(void)call;
	if (walker->returns)
		put_event(perfetto, task, TYPE_END, NULL, ending->ns);
}

void export_perfetto(struct view *view, const char *output)
{
	struct perfetto perfetto = {
		.walker = { .enter = enter, .leave = leave },
		.view = view,
		.to = output_open(output),
	};

	proto_number(&perfetto.packet, PACKET_FLAGS, FLAG_CLEARED);
	end_packet(&perfetto);
	walk(view, &perfetto.walker);
	buffer_free(&perfetto.packet);
	buffer_free(&perfetto.part);
	buffer_free(&perfetto.out);
	free(perfetto.named);
	output_close(perfetto.to, output);
}
