// SPDX-License-Identifier: GPL-2.0
/*
 * Print the tracer's counters as metrics, in the text format that Prometheus and node_exporter's
 * textfile collector read
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 *
 * In that format the type of a counter has the name of its values, with "_total", which the
 * stricter OpenMetrics does not allow; the textfile collector reads only the former.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "names.h"
#include "openmetrics.h"
#include "tracer.h"
#include "util.h"

#define COLUMNS	16	/* most columns of stats */

struct metric {
	const char *key;	/* where the tracer has the value */
	const char *name;	/* names of counters end with "_total" */
	const char *help;
};

/* The columns of stats, by their names there: a value for each CPU. */
static const struct metric of_cpus[] = {
	{ "written",	"mctracer_written_total",
	  "Calls and returns since the rings were cleared, including lost ones." },
	{ "overwritten", "mctracer_overwritten_total",
	  "Calls and returns that newer ones have overwritten." },
	{ "lost",	"mctracer_lost_total",
	  "Calls and returns that were lost because a ring was full or being copied." },
	{ "recursions",	"mctracer_recursions_total",
	  "Calls since boot that were refused because the tracer made them." },
	{ "read",	"mctracer_read_total",
	  "Calls and returns that trace_pipe or raw have consumed." },
	{ "entries",	"mctracer_ring_entries", "Calls and returns in the ring." },
};

/* Lines "# KEY: NUMBER" of stats. */
static const struct metric of_lines[] = {
	{ "own",	"mctracer_own_calls_total",
	  "Calls since boot on behalf of the tracer itself, which are not recorded." },
	{ "modules",	"mctracer_module_changes_total",
	  "Loads and unloads of modules since boot." },
	{ "returns missed", "mctracer_returns_missed_total",
	  "Returns since boot that should have been recorded but were not seen." },
};

static void put_head(struct buffer *to, const struct metric *metric)
{
	size_t length = strlen(metric->name);
	bool counter = length > 6 && !strcmp(metric->name + length - 6, "_total");

	buffer_printf(to, "# HELP %s %s\n", metric->name, metric->help);
	buffer_printf(to, "# TYPE %s %s\n", metric->name, counter ? "counter" : "gauge");
}

static void put_value(struct buffer *to, const char *name, const char *help,
		      unsigned long long value)
{
	const struct metric metric = { .name = name, .help = help };

	put_head(to, &metric);
	buffer_printf(to, "%s %llu\n", name, value);
}

/* Append a label's value in quotes. */
static void put_quoted(struct buffer *to, const char *text)
{
	int length;

	buffer_char(to, '"');
	for (; *text; text += length ?: 1) {
		length = utf8_length(text);
		if (*text == '\\' || *text == '"')
			buffer_char(to, '\\');
		if (length)
			buffer_put(to, text, length);
		else
			buffer_char(to, '?');
	}
	buffer_char(to, '"');
}

/* Split a line at blanks. Return the number of words, at most COLUMNS. */
static unsigned int split(char *line, char **words)
{
	unsigned int nr = 0;
	char *word, *saved;

	for (word = strtok_r(line, " ", &saved); word && nr < COLUMNS;
	     word = strtok_r(NULL, " ", &saved))
		words[nr++] = word;
	return nr;
}

/* Append the metric of a column of @stats, which begins with the line "# cpu ...". */
static void put_column(struct buffer *to, const struct metric *metric, const char *stats)
{
	char *text = xstrdup(stats), *line, *saved, *words[COLUMNS];
	unsigned int column = 0, nr;

	for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (!strncmp(line, "# cpu ", 6)) {
			for (nr = split(line + 2, words); nr-- > 1;)
				if (!strcmp(words[nr], metric->key))
					column = nr;
			if (!column)
				break;		/* an older kernel */
			put_head(to, metric);
		}
		if (!column || *line == '#' || split(line, words) <= column)
			continue;
		buffer_printf(to, "%s{cpu=\"%s\"} %s\n", metric->name, words[0], words[column]);
	}
	free(text);
}

/*
 * Return the rest of the line in @stats that begins with "# KEY: "; NULL if there is none. The file
 * stats has a line for each CPU, and there are few keys, so this takes linear time.
 */
static const char *find_line(const char *stats, const char *key)
{
	size_t length = strlen(key);
	const char *line;

	for (line = stats; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "# ", 2) && !strncmp(line + 2, key, length) &&
		    !strncmp(line + 2 + length, ": ", 2))
			return line + 2 + length + 2;
	}
	return NULL;
}

static void put_stats(struct buffer *to)
{
	char *stats = tracer_read("stats");
	const char *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_cpus); i++)
		put_column(to, &of_cpus[i], stats);
	for (i = 0; i < ARRAY_SIZE(of_lines); i++) {
		value = find_line(stats, of_lines[i].key);
		if (value)
			put_value(to, of_lines[i].name, of_lines[i].help,
				  strtoull(value, NULL, 10));
	}
	put_value(to, "mctracer_frozen", "Whether an event such as an oops froze the rings.",
		  !!find_line(stats, "frozen"));
	put_value(to, "mctracer_failed",
		  "Whether stats contains an error that could not be returned to a user.",
		  !!find_line(stats, "failed"));
	free(stats);
}

/* --- triggers --- */

static const struct metric hits = {
	.name = "mctracer_trigger_hits_total",
	.help = "Calls that met a trigger's condition.",
};

static const struct metric calls = {
	.name = "mctracer_function_calls_total",
	.help = "Calls of a function that a count trigger counts.",
};

/*
 * Cut a line of triggers, "FUNCTION:ACTION:LEFT\t# N hits", at the end of ACTION. LEFT changes with
 * each hit, so it can't be part of a label. Return N; -1 if this is no such line.
 */
static long long take_trigger(char *line)
{
	char *end = strstr(line, "\t# "), *left;

	if (*line == '#' || !end)
		return -1;
	*end = '\0';
	left = strrchr(line, ':');
	if (left && left[1] && strspn(left + 1, "0123456789") == strlen(left + 1))
		*left = '\0';
	return strtoll(end + strlen("\t# "), NULL, 10);
}

static void put_hits(struct buffer *to, const char *triggers)
{
	char *text = xstrdup(triggers), *line, *saved;
	long long n;

	put_head(to, &hits);
	for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		n = take_trigger(line);
		if (n < 0)
			continue;
		buffer_printf(to, "%s{trigger=", hits.name);
		put_quoted(to, line);
		buffer_printf(to, "} %lld\n", n);
	}
	free(text);
}

/* The calls that one trigger counts, of each function. Functions of one name are one. */
struct counted {
	const char *trigger;
	char *function;			/* the only one that the trigger names, or NULL, */
	unsigned long long hits;	/* and its calls, unless lines for functions follow */
	struct names functions;
	unsigned long long *calls;	/* by number of the function */
};

/* @function: "NAME" or "NAME [MODULE]"; anything else is no function, and is left out. */
static void add_calls(struct counted *counted, const char *function, unsigned long long n)
{
	size_t length = strcspn(function, " :*?[,");
	uint32_t nr = counted->functions.nr, i;

	if (!length || (function[length] && strncmp(function + length, " [", 2)) ||
	    strpbrk(function + length, ":*?,"))
		return;
	i = names_number(&counted->functions, function);
	if (i == nr) {
		counted->calls = xrealloc(counted->calls, nr + 1, sizeof(*counted->calls));
		counted->calls[i] = 0;
	}
	counted->calls[i] += n;
}

/* Append what was counted, and begin to count for the next trigger. */
static void put_counted(struct buffer *to, struct counted *counted)
{
	uint32_t i;

	if (counted->function && !counted->functions.nr)
		add_calls(counted, counted->function, counted->hits);
	free(counted->function);
	counted->function = NULL;
	for (i = 0; i < counted->functions.nr; i++) {
		buffer_printf(to, "%s{trigger=", calls.name);
		put_quoted(to, counted->trigger);
		buffer_puts(to, ",function=");
		put_quoted(to, counted->functions.all[i]);
		buffer_printf(to, "} %llu\n", counted->calls[i]);
	}
	names_free(&counted->functions);
}

/*
 * Append the calls of the functions of "count" triggers. The line of a trigger for one function has
 * its count. Below a trigger for several functions, or several of one name, are lines
 * "#\tN\tFUNCTION" of those that were called; two counters may not have one name.
 */
static void put_calls(struct buffer *to, const char *triggers)
{
	static const char count[] = ":count";
	char *text = xstrdup(triggers), *line, *saved, *function, *end;
	struct counted counted = { };
	long long n;

	put_head(to, &calls);
	for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		function = strncmp(line, "#\t", 2) ? NULL : strchr(line + 2, '\t');
		if (function) {
			add_calls(&counted, function + 1, strtoull(line + 2, NULL, 10));
			continue;
		}
		n = take_trigger(line);
		if (n < 0)
			continue;
		put_counted(to, &counted);
		counted.trigger = line;
		end = strrchr(line, ':');
		if (!end || strcmp(end, count))
			continue;
		counted.function = xasprintf("%.*s", (int)(end - line), line);
		counted.hits = n;
	}
	put_counted(to, &counted);
	free(counted.calls);
	free(text);
}

void openmetrics_put(bool recording)
{
	struct buffer to = { };
	char *text;

	put_value(&to, "mctracer_recording", "Whether calls are recorded.", recording);
	text = tracer_read("buffer_size_kb");
	put_value(&to, "mctracer_ring_size_bytes", "Size of each CPU's ring.",
		  strtoull(text, NULL, 10) * 1024);
	free(text);
	put_stats(&to);
	if (tracer_has("triggers")) {
		text = tracer_read("triggers");
		put_hits(&to, text);
		put_calls(&to, text);
		free(text);
	}
	buffer_write(&to, stdout);
	buffer_free(&to);
}
