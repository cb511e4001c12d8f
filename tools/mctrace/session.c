// SPDX-License-Identifier: GPL-2.0
/* Who sets the tracer, and that what was set is set back. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "session.h"
#include "tracer.h"
#include "util.h"

#define SETTINGS	16

static struct {
	char *file;
	char *before;
} settings[SETTINGS];

static int nr_settings;
static pid_t owner;	/* who has set them */

/*
 * Who has locked @fd, and the name of that process: /proc/locks has lines
 * "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF". 0 if nobody has.
 */
static int locked_by(int fd, char *comm, size_t size)
{
	char *locks = read_file("/proc/locks"), *line, *saved, *name, path[64];
	unsigned int major, minor;
	unsigned long inode;
	struct stat st;
	int pid = 0;

	if (!locks || fstat(fd, &st))
		return 0;
	for (line = strtok_r(locks, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor,
			   &inode) == 4 &&
		    inode == st.st_ino && makedev(major, minor) == st.st_dev)
			break;
		pid = 0;
	}
	free(locks);
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	name = read_file(path);
	snprintf(comm, size, "%.*s", name ? (int)strcspn(name, "\n") : 4, name ?: "gone");
	free(name);
	return pid;
}

int session_user(char comm[SESSION_COMM])
{
	int fd = open(tracer_path("ctrl"), O_RDONLY | O_CLOEXEC), pid;

	pid = fd < 0 ? 0 : locked_by(fd, comm, SESSION_COMM);
	if (fd >= 0)
		close(fd);
	return pid;
}

void session_lock(void)
{
	int fd = open(tracer_path("ctrl"), O_RDONLY | O_CLOEXEC);	/* and never closed */
	char comm[SESSION_COMM];

	if (fd < 0)
		tracer_die("ctrl");
	if (flock(fd, LOCK_EX | LOCK_NB))
		die("process %d (%s) is using the tracer: end it first",
		    locked_by(fd, comm, sizeof(comm)), comm);
}

/* Whoever ends, for whatever reason: but not those that it has forked. */
static void restore_at_exit(void)
{
	if (getpid() == owner)
		session_restore();
}

static void remember(const char *file)
{
	char *before = tracer_read(file);
	int i;

	if (!owner) {
		owner = getpid();
		atexit(restore_at_exit);
	}
	for (i = 0; i < nr_settings; i++)
		if (!strcmp(settings[i].file, file))
			break;
	if (i == nr_settings) {
		if (i == SETTINGS)
			die("more than %d settings", SETTINGS);
		settings[i].file = xstrdup(file);
		settings[i].before = xstrdup(before);
		nr_settings++;
	}
	free(before);
}

void session_set(const char *file, const char *text)
{
	remember(file);
	tracer_write(file, text);
}

bool session_try(const char *file, const char *text)
{
	remember(file);
	errno = tracer_put(file, text, false);
	return !errno;
}

/* Each option on its own; and of processes those that are still there, which may be none. */
static int put_lines_back(const char *file, char *before, int but)
{
	char *line, *saved;
	int ret, failed = 0;

	for (line = strtok_r(before, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		ret = tracer_put(file, line, true);
		if (ret != but)
			failed = failed ?: ret;
	}
	return failed;
}

/* What was read can be written back. */
static int put_back(const char *file, char *before)
{
	int ret;

	if (!strcmp(file, "options"))
		return put_lines_back(file, before, 0);
	ret = tracer_put(file, before, false);
	if (ret == ESRCH && !strcmp(file, "pid")) {
		ret = tracer_put(file, "", false);
		return ret ?: put_lines_back(file, before, ESRCH);
	}
	return ret;
}

void session_keep(void)
{
	nr_settings = 0;
}

bool session_restore(void)
{
	bool good = true;
	int i = nr_settings;

	nr_settings = 0;
	while (i--) {
		errno = put_back(settings[i].file, settings[i].before);
		if (errno) {
			warning("%s can't be set back: %s", settings[i].file, strerror(errno));
			good = false;
		}
	}
	return good;
}
