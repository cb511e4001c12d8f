// SPDX-License-Identifier: GPL-2.0
/*
 * Export to pprof's profile.proto
 * (https://github.com/google/pprof/blob/main/proto/profile.proto), compressed by gzip. The enum
 * below has the numbers of the used fields.
 *
 * A sample is a call path of the tasks of one name on one CPU, in one recording: its values are the
 * number of calls and, if there are returns, the own time on and off the CPU. Its labels tell task,
 * CPU, host and release of the kernel. Each recording's samples are written before the next one is
 * read. The tables of functions and strings follow all samples, because fields may come in any
 * order; so only these tables stay in memory.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "buffer.h"
#include "export.h"
#include "functions.h"
#include "gzip.h"
#include "names.h"
#include "output.h"
#include "protobuf.h"
#include "tally.h"
#include "util.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,		/* ns since 1970 */
	PROFILE_DURATION = 10,		/* ns */
	PROFILE_DEFAULT_TYPE = 14,

	TYPE_TYPE = 1,
	TYPE_UNIT = 2,

	SAMPLE_LOCATIONS = 1,		/* packed, the innermost first */
	SAMPLE_VALUES = 2,		/* packed */
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_TEXT = 2,

	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,

	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
};

struct pprof {
	struct gzip *to;
	struct names strings;
	struct buffer out, message, part;
	bool returns;
	uint64_t began, duration;	/* of the first recording; of the longest; ns */
	const char *host, *release;	/* of the current recording */
};

/* Return the number of @text in the table of strings, in which only UTF-8 is allowed. */
static uint32_t string(struct pprof *pprof, const char *text)
{
	struct buffer valid = { };
	uint32_t number;
	int length;

	for (; *text; text += length ?: 1) {
		length = utf8_length(text);
		if (length)
			buffer_put(&valid, text, length);
		else
			buffer_char(&valid, '?');
	}
	buffer_char(&valid, '\0');
	number = names_number(&pprof->strings, valid.data);
	buffer_free(&valid);
	return number;
}

static void put_type(struct pprof *pprof, const char *type, const char *unit)
{
	proto_number(&pprof->message, TYPE_TYPE, string(pprof, type));
	proto_number(&pprof->message, TYPE_UNIT, string(pprof, unit));
	proto_part(&pprof->out, PROFILE_SAMPLE_TYPE, &pprof->message);
}

static void put_label(struct pprof *pprof, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	proto_number(&pprof->part, LABEL_KEY, string(pprof, key));
	proto_number(&pprof->part, LABEL_TEXT, string(pprof, text));
	proto_part(&pprof->message, SAMPLE_LABEL, &pprof->part);
}

/* Write the sample of @place, which has its parent's own values on one CPU. */
static void put_sample(struct pprof *pprof, const struct tally *tally, uint32_t place)
{
	const struct path *all = tally->paths.all, *path = &all[place];
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%u", path->id - TALLY_CPU);
	for (place = path->parent; all[place].parent; place = all[place].parent)
		proto_varint(&pprof->part, all[place].id + 1);
	proto_part(&pprof->message, SAMPLE_LOCATIONS, &pprof->part);
	proto_varint(&pprof->part, path->calls);
	if (pprof->returns) {
		proto_varint(&pprof->part, path->self_cpu);
		proto_varint(&pprof->part, path->self - path->self_cpu);
	}
	proto_part(&pprof->message, SAMPLE_VALUES, &pprof->part);
	put_label(pprof, "task", tally_name(tally, place));
	put_label(pprof, "cpu", cpu);
	put_label(pprof, "host", pprof->host);
	put_label(pprof, "release", pprof->release);
	proto_part(&pprof->out, PROFILE_SAMPLE, &pprof->message);
	gzip_write(pprof->to, &pprof->out);
}

static char *info_of(const struct recording *from, const char *key)
{
	const char *value = recording_info(from, key);

	return value ? xstrdup(value) : NULL;
}

/* Return the host's name; the recording's if it has none. The caller frees it. */
static char *host_of(const struct recording *from)
{
	char *host = info_of(from, "host");

	if (host && *host)
		return host;
	free(host);
	return xstrdup(from->path);
}

/* Return when the recording began, in ns since 1970; if it has no such time, when it ended. */
static uint64_t began_at(const struct recording *from)
{
	struct stat status;

	if (recording_info(from, "began"))
		return recording_number(from, "began");
	if (!stat(from->path, &status))
		return status.st_mtim.tv_sec * 1000000000ULL + status.st_mtim.tv_nsec;
	return 0;
}

static void put_recording(struct view *view, void *arg)
{
	char *host = host_of(view->from), *release = info_of(view->from, "release");
	uint64_t began = began_at(view->from);
	struct pprof *pprof = arg;
	struct tally tally;
	uint32_t place;

	tally_begin(&tally, view);
	tally.by_task = true;
	tally.by_cpu = true;
	tally_walk(&tally);
	/* All samples have the same values, and those of the recordings before are written. */
	if (tally.returns && !pprof->returns && pprof->host)
		die("%s has returns, and the recordings before it have none: name it first",
		    view->from->path);
	pprof->returns |= tally.returns;
	pprof->host = host;
	pprof->release = release;
	for (place = 1; place < tally.paths.nr; place++)
		if (tally.paths.all[place].id >= TALLY_CPU)
			put_sample(pprof, &tally, place);
	if (began && (!pprof->began || began < pprof->began))
		pprof->began = began;
	if (pprof->duration < tally.walker.last_ns - tally.walker.first_ns)
		pprof->duration = tally.walker.last_ns - tally.walker.first_ns;
	tally_end(&tally);
	free(host);
	free(release);
}

/* A location is a function: which of its lines was running is not known. */
static void put_function(struct pprof *pprof, const char *title, uint64_t id)
{
	uint32_t name = string(pprof, title);

	proto_number(&pprof->message, FUNCTION_ID, id);
	proto_number(&pprof->message, FUNCTION_NAME, name);
	proto_number(&pprof->message, FUNCTION_SYSTEM_NAME, name);
	proto_part(&pprof->out, PROFILE_FUNCTION, &pprof->message);
	proto_number(&pprof->part, LINE_FUNCTION, id);
	proto_number(&pprof->message, LOCATION_ID, id);
	proto_number(&pprof->message, LOCATION_MAPPING, 1);
	proto_part(&pprof->message, LOCATION_LINE, &pprof->part);
	proto_part(&pprof->out, PROFILE_LOCATION, &pprof->message);
	gzip_write(pprof->to, &pprof->out);
}

static void put_tables(struct pprof *pprof, const struct functions *functions)
{
	uint32_t i;

	proto_number(&pprof->message, MAPPING_ID, 1);
	proto_number(&pprof->message, MAPPING_FILE, string(pprof, "[kernel.kallsyms]"));
	proto_number(&pprof->message, MAPPING_HAS_FUNCTIONS, true);
	proto_part(&pprof->out, PROFILE_MAPPING, &pprof->message);
	for (i = 0; i < functions_nr(functions); i++)
		put_function(pprof, functions_title(functions, i), i + 1);
	put_type(pprof, "calls", "count");
	if (pprof->returns) {
		put_type(pprof, "cpu", "nanoseconds");
		put_type(pprof, "off_cpu", "nanoseconds");
	}
	proto_number(&pprof->out, PROFILE_DEFAULT_TYPE,
		     string(pprof, pprof->returns ? "cpu" : "calls"));
	if (pprof->began)
		proto_number(&pprof->out, PROFILE_TIME, pprof->began);
	proto_number(&pprof->out, PROFILE_DURATION, pprof->duration);
	for (i = 0; i < pprof->strings.nr; i++)
		proto_text(&pprof->out, PROFILE_STRING, pprof->strings.all[i]);
	gzip_write(pprof->to, &pprof->out);
}

void export_pprof(struct view *view, char **files, const char *output)
{
	FILE *to = output_open(output);
	struct pprof pprof = { .to = gzip_begin(to) };

	string(&pprof, "");		/* the first string must be empty */
	view_each(view, files, put_recording, &pprof);
	put_tables(&pprof, symbols_sums(view->symbols));
	if (!gzip_end(pprof.to))
		die_errno("%s", output ?: "standard output");
	names_free(&pprof.strings);
	buffer_free(&pprof.out);
	buffer_free(&pprof.message);
	buffer_free(&pprof.part);
	output_close(to, output);
}
