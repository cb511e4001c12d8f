// SPDX-License-Identifier: GPL-2.0
/* The tracer's settings: read before a session changes them, and written back afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"
#include "tracer.h"
#include "util.h"

struct setting {
	const char *file;
	char *before;	/* NULL: this kernel has no such file */
	char *now;	/* room for what the file has later, if that is as long as before */
	size_t length;	/* of @before */
};

/* Written back from the last to the first: the tracer's switch, then all that it would obey. */
static struct setting settings[] = {
	{ .file = "tracing_on" },
	{ .file = "buffer_size_kb" },
	{ .file = TRACER_SYSCTL },
	{ .file = "filter" },
	{ .file = "notrace" },
	{ .file = "pid" },
	{ .file = "mode" },
	{ .file = "triggers" },
	{ .file = "options" },
	{ .file = "ctrl" },
};

static int spare = -1;		/* a descriptor, closed to make room for another */

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

/* What came of writing a setting's lines one by one. */
struct put_lines {
	unsigned int lines, taken, refused;	/* the first two without "not PID" */
	int error;		/* the first refusal's */
	char line[80];		/* and its line */
};

static void refuse_line(struct put_lines *put, const char *line, int error)
{
	if (put->refused++)
		return;
	put->error = error;
	snprintf(put->line, sizeof(put->line), "%s", line);
}

/* A process that has ended meanwhile is not missed among others. */
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

/* Would more be recorded by what is left of a list than by all of it? */
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

/* Return true if the setting is as it was. Set *@more if more would be recorded than before. */
static bool setting_put_back(struct setting *setting, bool *more)
{
	bool options = !strcmp(setting->file, "options"), pids = !strcmp(setting->file, "pid");
	struct put_lines put;
	int error = 0;

	if (!options)
		error = tracer_put(setting->file, setting->before, false);
	/* A process of another pid namespace is a comment in pid, which is taken and ignored. */
	if (!options && !error && !(pids && setting_differs(setting)))
		return true;
	if (!options && !is_list(setting->file)) {
		warning("%s can't be set back: %s", setting->file, strerror(error));
		return false;
	}
	if (!options && *setting->before)
		tracer_put(setting->file, "", false);
	put = setting_put_lines(setting);
	if (!options && records_more(setting->file, &put)) {
		*more = true;
		if (!put.refused)
			warning("%s can't be set back: the processes there have ended",
				setting->file);
	}
	if (put.refused)
		warning("%s can't be set back: %u lines were refused, '%s' first: %s",
			setting->file, put.refused, put.line, strerror(put.error));
	return !put.refused && !*more;
}

/* A list with a process that has ended has nothing recorded. This one is about to end. */
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

bool settings_write_back(void)
{
	bool good = true, more = false;
	int i = ARRAY_SIZE(settings);

	close(spare);
	while (i--)
		if (settings[i].before && setting_differs(&settings[i]) &&
		    !setting_put_back(&settings[i], &more))
			good = false;
	if (more)
		record_nothing();
	return good;
}
