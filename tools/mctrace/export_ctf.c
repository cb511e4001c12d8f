// SPDX-License-Identifier: GPL-2.0
/*
 * Export to the Common Trace Format 1.8, a directory. The file "metadata" describes the format of
 * the other files, one for each CPU, which contain packets of events. An event has an id, a time, a
 * task and its own fields.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "events.h"
#include "export.h"
#include "select.h"
#include "util.h"
#include "walk.h"

static const char metadata[] =
"/* CTF 1.8 */\n"
"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
"trace {\n"
"	major = 1; minor = 8; byte_order = le;\n"
"	packet.header := struct { uint32_t magic; uint32_t stream_id; };\n"
"};\n"
"env { tracer_name = \"mctracer\"; domain = \"kernel\"; };\n"
"clock { name = boot; description = \"as in the kernel's log\"; freq = 1000000000; };\n"
"typealias integer { size = 64; align = 8; signed = false; map = clock.boot.value; } := ns_t;\n"
"stream {\n"
"	id = 0;\n"
"	packet.context := struct {\n"
"		uint64_t content_size; uint64_t packet_size;\n"
"		ns_t timestamp_begin; ns_t timestamp_end;\n"
"		uint64_t events_discarded; uint32_t cpu_id;\n"
"	};\n"
"	event.header := struct { uint8_t id; ns_t timestamp; };\n"
"	event.context := struct { uint32_t tid; uint32_t pid; string comm; };\n"
"};\n"
"event { name = call; id = 0; stream_id = 0;\n"
"	fields := struct { string function; string caller; }; };\n"
"event { name = return; id = 1; stream_id = 0;\n"
"	fields := struct { string function; uint8_t goes_on; }; };\n"
"event { name = mark; id = 2; stream_id = 0;\n"
"	fields := struct { string function; string mark; }; };\n";

enum { CALL, RETURN, MARK };

#define CTF_MAGIC	0xc1fc1fc1
#define PACKET		65536	/* write a packet when it has this many bytes of events */

struct stream {
	struct buffer events;
	uint64_t begin, end;	/* ns */
	uint64_t discarded;	/* events missing so far */
	FILE *to;
};

static void put_u32(struct buffer *to, uint32_t n)
{
	buffer_put(to, &n, sizeof(n));
}

static void put_u64(struct buffer *to, uint64_t n)
{
	buffer_put(to, &n, sizeof(n));
}

static void put_text(struct buffer *to, const char *text)
{
	buffer_put(to, text, strlen(text) + 1);
}

static void put_packet(struct stream *stream, unsigned int cpu)
{
	const size_t head = 2 * sizeof(uint32_t) + 5 * sizeof(uint64_t) + sizeof(uint32_t);
	uint64_t bits = 8 * (head + stream->events.length);
	struct buffer packet = { };

	put_u32(&packet, CTF_MAGIC);
	put_u32(&packet, 0);
	put_u64(&packet, bits);
	put_u64(&packet, bits);
	put_u64(&packet, stream->begin);
	put_u64(&packet, stream->end);
	put_u64(&packet, stream->discarded);
	put_u32(&packet, cpu);
	buffer_put(&packet, stream->events.data, stream->events.length);
	buffer_write(&packet, stream->to);
	buffer_free(&packet);
	stream->events.length = 0;
}

static void put_event(struct stream *stream, const struct event *event, struct symbols *symbols,
		      uint8_t id)
{
	char comm[MCTRACER_COMM_LEN + 1];
	struct buffer *to = &stream->events;

	if (!to->length)
		stream->begin = event->ns;
	symbols_at(symbols, event->symbols_at);
	stream->end = event->ns;
	event_name(event, comm);
	buffer_char(to, id);
	put_u64(to, event->ns);
	put_u32(to, event->state->pid);
	put_u32(to, event->state->tgid);
	put_text(to, comm);
	put_text(to, symbol_of(symbols, event->state->ip)->text);
	if (id == CALL)
		put_text(to, symbol_of(symbols, event->state->parent_ip)->text);
	else if (id == RETURN)
		buffer_char(to, event->state->value & MCTRACER_RETURN_TAIL ? 1 : 0);
	else
		put_text(to, event_mark(event));
}

static void take(struct stream *stream, const struct event *event, const struct view *view)
{
	switch (event->found) {
	case FOUND_CALL:
	case FOUND_RETURN:
	case FOUND_MARK:
		if (select_event(view->select, event))
			put_event(stream, event, view->symbols, event->found == FOUND_CALL ? CALL :
				  event->found == FOUND_RETURN ? RETURN : MARK);
		break;
	case FOUND_GAP:
		if (stream->events.length)	/* packets count the events missing before */
			put_packet(stream, event->cpu);
		stream->discarded += event->missing;
		break;
	default:
		break;
	}
	if (stream->events.length >= PACKET)
		put_packet(stream, event->cpu);
}

void export_ctf(struct view *view, const char *output)
{
	struct stream *streams = xcalloc(view->from->nr_cpus, sizeof(*streams));
	struct events events;
	struct event event;
	unsigned int cpu;
	char name[32];
	FILE *to;

	export_directory(output);
	to = export_in("metadata");
	fputs(metadata, to);
	export_close(to, "metadata");
	for (cpu = 0; cpu < view->from->nr_cpus; cpu++) {
		snprintf(name, sizeof(name), "cpu%u", cpu);
		streams[cpu].to = export_in(name);
	}
	select_prepare(view->select, true);
	events_begin(&events, view->from);
	while (events_next(&events, &event))
		take(&streams[event.cpu], &event, view);
	events_end(&events);
	select_check(view->select);
	for (cpu = 0; cpu < view->from->nr_cpus; cpu++) {
		if (streams[cpu].events.length)
			put_packet(&streams[cpu], cpu);
		buffer_free(&streams[cpu].events);
		export_close(streams[cpu].to, output);
	}
	free(streams);
}
