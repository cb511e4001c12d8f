// SPDX-License-Identifier: GPL-2.0
/* Read the tracer's settings before a session changes them, and write them back afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "settings.h"
#include "tracer.h"
#include "util.h"

#define BUSY_NAP_NS	20000000
#define BUSY_NAPS	200	/* how long to wait for a process that has mapped a ring */

struct setting {
	const char *file;
	char *before;	/* NULL: not in this kernel */
	char *now;	/* space for comparing the file with @before */
	size_t length;	/* of @before */
};

/*
 * Written back in reverse order: first the tracer's switch, then the settings that it would act on.
 */
static struct setting settings[] = {
	{ .file = "tracing_on" },
	{ .file = "buffer_size_kb" },
#define NR_OF_RINGS	2	/* the settings above */
	{ .file = TRACER_SYSCTL },
	{ .file = "filter" },
	{ .file = "notrace" },
	{ .file = "pid" },
	{ .file = "mode" },
	{ .file = "triggers" },
	{ .file = "options" },
	{ .file = TRACER_DUMP },
	{ .file = "ctrl" },
};

static int spare = -1;		/* a descriptor that is closed to make room for another one */

void settings_read(void)
{
	struct setting *setting;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		setting = &settings[i];
		if (!tracer_has(setting->file))
			continue;
		setting->before = tracer_read(setting->file);
		setting->length = strlen(setting->before);
		setting->now = xcalloc(setting->length + 1, 1);
	}
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (spare < 0)
		die_errno("/dev/null");
}

static bool setting_differs(const struct setting *setting)
{
	int fd = open(tracer_path(setting->file), O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n;

	if (fd < 0)
		return true;
	do {
		n = read(fd, setting->now + size, setting->length + 1 - size);
		size += n > 0 ? n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	close(fd);
	return n || size != setting->length || memcmp(setting->now, setting->before, size);
}

/* The result of writing a setting's lines one by one. */
struct put_lines {
	unsigned int lines, taken, refused;	/* lines and taken without "not PID" */
	int error;		/* errno of the first refused line */
	char line[80];		/* the first refused line */
};

static void refuse_line(struct put_lines *put, const char *line, int error)
{
	if (put->refused++)
		return;
	put->error = error;
	snprintf(put->line, sizeof(put->line), "%s", line);
}

/* Write the lines of a list one by one. A process that has ended meanwhile is no refusal. */
static struct put_lines setting_put_lines(struct setting *setting)
{
	bool pids = !strcmp(setting->file, "pid");
	struct put_lines put = { };
	char *line, *saved;
	bool records;
	int error;

	for (line = strtok_r(setting->before, "\n", &saved); line;
	     line = strtok_r(NULL, "\n", &saved)) {
		records = !pids || strncmp(line, "not ", strlen("not "));
		put.lines += records;
		error = pids && *line == '#' ? ESRCH : tracer_put(setting->file, line, true);
		if (!error)
			put.taken += records;
		else if (error != ESRCH || !pids || *line == '#')
			refuse_line(&put, line, error);
	}
	return put;
}

/* Return true if the remaining lines of a list would record more than the whole list. */
static bool records_more(const char *file, const struct put_lines *put)
{
	if (!strcmp(file, "notrace"))
		return put->refused;
	return put->lines && !put->taken && (!strcmp(file, "filter") || !strcmp(file, "pid"));
}

static bool is_list(const char *file)
{
	return !strcmp(file, "filter") || !strcmp(file, "notrace") || !strcmp(file, "pid") ||
	       !strcmp(file, "triggers");
}

/*
 * Write a whole setting. The size of the rings can't change while a process has mapped a ring, such
 * as one that is about to end or that reads the rings: wait for it. Return 0 or an errno.
 */
static int setting_put(const struct setting *setting)
{
	const struct timespec nap = { .tv_nsec = BUSY_NAP_NS };
	int naps = 0, error;

	while ((error = tracer_put(setting->file, setting->before, false)) == EBUSY &&
	       naps++ < BUSY_NAPS)
		nanosleep(&nap, NULL);
	return error;
}

/*
 * Write a setting back. Return true if it is as before. Set *@more if more would be recorded than
 * before.
 */
static bool setting_put_back(struct setting *setting, bool *more)
{
	bool options = !strcmp(setting->file, "options"), pids = !strcmp(setting->file, "pid");
	struct put_lines put;
	int error = 0;

	if (!options)
		error = setting_put(setting);
	/*
	 * A process of another pid namespace is a comment in pid, which the kernel accepts and
	 * ignores.
	 */
	if (!options && !error && !(pids && setting_differs(setting)))
		return true;
	/* An empty list has no lines that could be refused, but clearing it may fail. */
	if (!options && (!is_list(setting->file) || (error && !*setting->before))) {
		warning("%s can't be restored: %s", setting->file, strerror(error));
		return false;
	}
	if (!options && *setting->before)
		tracer_put(setting->file, "", false);
	put = setting_put_lines(setting);
	if (!options && records_more(setting->file, &put)) {
		*more = true;
		if (!put.refused)
			warning("%s can't be restored: the processes there have ended",
				setting->file);
	}
	if (put.refused)
		warning("%s can't be restored: %u lines were refused, '%s' first: %s",
			setting->file, put.refused, put.line, strerror(put.error));
	return !put.refused && !*more;
}

/*
 * Record nothing: a list whose only process has ended selects no task, and this process is about to
 * end.
 */
static void record_nothing(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d\n", getpid());
	if (!tracer_put("pid", pid, false)) {
		warning("or more would be recorded: pid has process %d alone, which ends now",
			getpid());
		return;
	}
	tracer_put(TRACER_SYSCTL, "0", false);
	warning("or more would be recorded: kernel.mcount_enabled is 0 now");
}

/* Return true if writing this setting would thaw frozen rings, or drop some of their calls. */
static bool spoils_frozen(const char *file)
{
	return !strcmp(file, "tracing_on") || !strcmp(file, "buffer_size_kb");
}

bool settings_write_back(bool all)
{
	static bool good = true;
	static int left = ARRAY_SIZE(settings);		/* settings to write back */
	const struct setting *setting;
	bool more = false, frozen;
	char reason[TRACER_REASON];

	if (spare >= 0)
		close(spare);
	spare = -1;
	frozen = tracer_frozen(reason);
	if (frozen && all)
		warning("an event (%s) has frozen the rings, which 'mctrace show' prints", reason);
	while (left > (all ? 0 : NR_OF_RINGS)) {
		setting = &settings[--left];
		if (setting->before && !(frozen && spoils_frozen(setting->file)) &&
		    setting_differs(setting) && !setting_put_back(&settings[left], &more))
			good = false;
	}
	if (more)
		record_nothing();
	return good;
}
