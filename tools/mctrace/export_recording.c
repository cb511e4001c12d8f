// SPDX-License-Identifier: GPL-2.0
/*
 * Export the kernel's rings, such as last_boot/raw, to a recording, which contains the names of
 * functions, and so stays readable when the kernel has changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "compress.h"
#include "export.h"
#include "recording.h"
#include "util.h"

#define BLOCK	1048576		/* bytes of words in a chunk */

/* Add lines of RECORDING_INFO that describe @from. */
static void put_info(struct recording_writer *to, const struct recording *from)
{
	static const char same[] = "# kernel: this one, ";
	const char *line = from->origin ?: "", *id = NULL;
	struct utsname name;
	char *info;

	if (!strncmp(line, same, strlen(same)))
		id = line + strlen(same);
	uname(&name);
	info = xasprintf("%sbase %llx\n", from->info, (unsigned long long)from->base);
	recording_put_text(to, RECORDING_INFO, info);
	free(info);
	if (from->is_live) {	/* a copy may be of another machine */
		info = xasprintf("machine %s\nhost %s\n", name.machine, name.nodename);
		recording_put_text(to, RECORDING_INFO, info);
		free(info);
	}
	if (from->is_live && (id || from->is_own)) {
		info = xasprintf("release %s\nversion %s\n", name.release, name.version);
		recording_put_text(to, RECORDING_INFO, info);
		free(info);
	}
	if (id) {
		info = xasprintf("build_id %.*s\n", (int)strcspn(id, "\n"), id);
		recording_put_text(to, RECORDING_INFO, info);
		free(info);
	}
	for (; !strncmp(line, "# ", 2); line += strcspn(line, "\n") + 1) {
		info = xasprintf("origin %.*s\n", (int)strcspn(line + 2, "\n"), line + 2);
		recording_put_text(to, RECORDING_INFO, info);
		free(info);
	}
}

static void put_run(struct recording_writer *to, struct compressor *compressor, unsigned int cpu,
		    uint32_t notes, const struct recording_run *run)
{
	const size_t most = BLOCK / sizeof(*run->words);
	struct recording_chunk chunk = {
		.mark = RECORDING_MARK,
		.type = RECORDING_WORDS,
		.cpu = cpu,
		.notes = notes,
		.start = run->start,
	};
	size_t at, n;

	for (at = 0; at < run->nr; at += n) {
		n = run->nr - at < most ? run->nr - at : most;
		chunk.size = n * sizeof(*run->words);
		chunk.pos = run->pos + at * sizeof(*run->words);
		recording_put_by(to, compressor, &chunk, run->words + at);
	}
}

void export_recording(struct view *view, const char *output)
{
	const struct recording *from = view->from;
	struct compressor *compressor;
	struct recording_writer to;
	struct recording_cpu *cpu;
	size_t i;

	if (!from->is_raw)
		die("%s is a recording already: copy it", from->path);
	recording_create(&to, output ?: "-", NULL);
	compressor = compressor_new();
	put_info(&to, from);
	recording_put_text_by(&to, compressor, RECORDING_SYMBOLS, from->symbols[0]);
	if (from->nr_modules)
		recording_put_modules(&to, from->modules->count);
	for (cpu = from->cpus; cpu < from->cpus + from->nr_cpus; cpu++)
		for (i = 0; i < cpu->nr; i++)
			put_run(&to, compressor, cpu - from->cpus, cpu->notes, &cpu->runs[i]);
	compressor_free(compressor);
	recording_put_text(&to, RECORDING_END, "");
	if (!to.error && fsync(to.fd) && errno != EINVAL && errno != EROFS)
		to.error = errno;
	recording_name(&to);
	if (!recording_finish(&to))
		die_errno("%s", output ?: "standard output");
}
