// SPDX-License-Identifier: GPL-2.0
/* mctrace stat: print the tracer's settings and counters. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mctrace.h"
#include "openmetrics.h"
#include "options.h"
#include "session.h"
#include "tracer.h"
#include "util.h"

static const char help[] =
"Shows the tracer's settings, and the counters of each CPU.\n";

static bool json, openmetrics;

static const struct option options[] = {
	OPT_BOOLEAN(0, "json", &json, "JSON Lines: the settings, then an object for each CPU"),
	OPT_BOOLEAN(0, "openmetrics", &openmetrics, "metrics for Prometheus"),
	OPT_PARENT(common_options)
};

/* Files with settings, and what to print for an empty file. */
static const struct {
	const char *name, *file, *none;
} settings[] = {
	{ "mode",	"mode",			"" },
	{ "options",	"options",		"" },
	{ "ring, KB",	"buffer_size_kb",	"" },
	{ "filter",	"filter",		"(all functions)" },
	{ "notrace",	"notrace",		"(none)" },
	{ "pid",	"pid",			"(all)" },
	{ "triggers",	"triggers",		"(none)" },
};

static bool is_on(const char *file)
{
	char *text = tracer_read(file);
	bool on = atoi(text);

	free(text);
	return on;
}

static const char *state(void)
{
	if (!is_on("ctrl"))
		return "off";
	if (!is_on("/proc/sys/kernel/mcount_enabled"))
		return "on, but kernel.mcount_enabled is 0: nothing is called";
	if (!is_on("tracing_on"))
		return "paused";
	return "on";
}

/* Print the lines of @file, from one column on. */
static void put_setting(const char *name, const char *file, const char *none)
{
	char *text = tracer_read(file), *line, *saved;
	int nr = 0;

	for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		printf("%-12s %s\n", nr++ ? "" : name, line);
	if (!nr)
		printf("%-12s %s\n", name, none);
	free(text);
}

/* Print the header of last_boot/trace, if an earlier boot has left its rings. */
static void put_last_boot(void)
{
	FILE *file = fopen(tracer_path("last_boot/trace"), "r");
	char *line = NULL;
	size_t room = 0;
	int nr = 0;

	while (file && getline(&line, &room, file) > 0 && !strncmp(line, "# ", 2))
		printf("%-12s %s", nr++ ? "" : "last boot", line + 2);
	free(line);
	if (file)
		fclose(file);
}

static void put_text(void)
{
	char *hook = tracer_others_hook(), *stats, comm[SESSION_COMM];
	int pid = session_user(comm);
	size_t i;

	printf("%-12s %s\n", "tracer", state());
	if (hook)
		printf("%-12s %s\n", "other hook", hook);
	if (pid)
		printf("%-12s process %d (%s)\n", "used by", pid, comm);
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (tracer_has(settings[i].file))
			put_setting(settings[i].name, settings[i].file, settings[i].none);
	put_last_boot();
	stats = tracer_read("stats");
	printf("\n%s", stats);
	free(stats);
	free(hook);
}

/* Append the lines of @file as a JSON array. */
static void json_setting(struct buffer *to, const char *file)
{
	char *text = tracer_read(file), *line, *saved;
	int nr = 0;

	buffer_printf(to, ",\"%s\":[", file);
	for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (nr++)
			buffer_char(to, ',');
		json_string(to, line);
	}
	buffer_char(to, ']');
	free(text);
}

/*
 * Append the counters of each CPU. The line "# cpu entries written ..." has their names; other
 * comments are omitted.
 */
static void json_stats(struct buffer *to)
{
	char *stats = tracer_read("stats"), *names[16], *line, *saved, *word, *words;
	unsigned int nr = 0, i;

	for (line = strtok_r(stats, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (!strncmp(line, "# cpu ", 6)) {
			for (word = strtok_r(line, "# ", &words); word && nr < ARRAY_SIZE(names);
			     word = strtok_r(NULL, "# ", &words))
				names[nr++] = word;
			continue;
		}
		if (*line == '#')
			continue;
		buffer_char(to, '{');
		word = strtok_r(line, " ", &words);
		for (i = 0; word && i < nr; i++, word = strtok_r(NULL, " ", &words))
			json_number(to, names[i], strtoull(word, NULL, 10));
		buffer_puts(to, "}\n");
	}
	free(stats);
}

static void put_json(void)
{
	char *hook = tracer_others_hook(), comm[SESSION_COMM];
	int64_t missed = tracer_returns_missed();
	int pid = session_user(comm);
	struct buffer to = { };
	size_t i;

	buffer_char(&to, '{');
	json_text(&to, "tracer", state());
	if (hook)
		json_text(&to, "other_hook", hook);
	if (pid) {
		json_number(&to, "user_pid", pid);
		json_comm(&to, "user_comm", comm);
	}
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (tracer_has(settings[i].file))
			json_setting(&to, settings[i].file);
	if (missed >= 0)
		json_number(&to, "returns_missed", missed);
	buffer_puts(&to, "}\n");
	json_stats(&to);
	buffer_write(&to, stdout);
	buffer_free(&to);
	free(hook);
}

int cmd_stat(int argc, char **argv)
{
	argc = options_parse(argc, argv, options, "stat [--json | --openmetrics]", help,
			     OPTIONS_ANYWHERE);
	if (argc > 1)
		die_usage("stat", "stat takes no argument");
	if (json && openmetrics)
		die_usage("stat", "either --json or --openmetrics");
	tracer_find();
	if (openmetrics)
		openmetrics_put(!strcmp(state(), "on"));
	else if (json)
		put_json();
	else
		put_text();
	return flush_output();
}
