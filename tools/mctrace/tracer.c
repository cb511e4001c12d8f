// SPDX-License-Identifier: GPL-2.0
/* The files of the kernel's tracer in debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer.h"
#include "util.h"

#define DEBUGFS		"/sys/kernel/debug"
#define SETTINGS	16

static struct {
	char *file;
	char *before;
} settings[SETTINGS];

static int nr_settings;
static pid_t owner;	/* who has set them */

void tracer_find(void)
{
	struct stat st;

	if (!stat(DEBUGFS "/mctracer", &st))
		return;
	if (errno == EACCES || geteuid())
		die("only root may use the tracer: try it with sudo");
	if (access("/proc/mounts", R_OK))
		die_errno("/proc is not mounted: mount -t proc none /proc");
	if (!access(DEBUGFS "/regmap", F_OK) || !access(DEBUGFS "/sleep_time", F_OK) ||
	    !access(DEBUGFS "/x86", F_OK))
		die("this kernel has no tracer: it wants CONFIG_MCTRACER=y");
	die("there is no " DEBUGFS "/mctracer: mount -t debugfs none " DEBUGFS
	    ", or take a kernel with CONFIG_MCTRACER=y");
}

const char *tracer_path(const char *file)
{
	static char path[PATH_MAX];

	if (*file == '/')
		return file;
	snprintf(path, sizeof(path), DEBUGFS "/mctracer/%s", file);
	return path;
}

bool tracer_has(const char *file)
{
	return !access(tracer_path(file), F_OK);
}

static void die_file(const char *file)
{
	if (errno == EPERM)
		die("the kernel is locked down, which closes %s: boot without lockdown",
		    tracer_path(file));
	if (errno == EACCES)
		die("only root may open %s: try it with sudo", tracer_path(file));
	if (errno == ENOENT)
		die("this kernel's tracer has no file %s: it is of another version", file);
	die_errno("%s", tracer_path(file));
}

char *tracer_read(const char *file)
{
	char *text = read_file(tracer_path(file));

	if (!text)
		die_file(file);
	return text;
}

void tracer_show(const char *file, const volatile sig_atomic_t *enough)
{
	int fd = open(tracer_path(file), O_RDONLY | O_CLOEXEC);
	char buf[65536];
	ssize_t n;

	if (fd < 0)
		die_file(file);
	while (!enough || !*enough) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno != EINTR)
			die_errno("%s", tracer_path(file));
		if (!n)
			break;
		if (n > 0 && !write_all(STDOUT_FILENO, buf, n)) {
			if (errno != EPIPE)
				die_errno("standard output");
			break;
		}
	}
	close(fd);
}

/* The kernel's log from now on. */
static int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Each record is "LEVEL,NUMBER,TIME,FLAGS;text\n", and more lines. */
static void log_show(int fd)
{
	char record[8192], *text, *end;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		text = strchr(record, ';');
		text = text ? strstr(text, "mctracer: ") : NULL;
		if (!text)
			continue;
		end = strchr(text, '\n');
		if (end)
			*end = '\0';
		warning("the kernel says: %s", text + strlen("mctracer: "));
	}
}

/* One write, since the kernel takes each as a whole. 0 or what errno was. */
static int put(const char *file, const char *text)
{
	int fd, ret = 0;

	fd = open(tracer_path(file), O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (*text && write(fd, text, strlen(text)) < 0)
		ret = errno;
	if (close(fd) && !ret)
		ret = errno;
	return ret;
}

static const char *first_line(const char *text)
{
	static char line[80];

	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line;
}

void tracer_write(const char *file, const char *text)
{
	int fd = log_open();

	errno = put(file, text);
	if (!errno) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (errno == EPERM || errno == EACCES || !tracer_has(file))
		die_file(file);
	warning("'%s' can't be written to %s: %s", first_line(text), file, strerror(errno));
	log_show(fd);
	exit(EXIT_FAILURE);
}

/*
 * Who has locked @fd, and the name of that process: /proc/locks has lines
 * "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF". 0 if nobody has.
 */
static int locked_by(int fd, char *comm, size_t size)
{
	char *locks = read_file("/proc/locks"), *line, *saved, *name, path[64];
	unsigned long inode;
	struct stat st;
	int pid = 0;

	if (!locks || fstat(fd, &st))
		return 0;
	for (line = strtok_r(locks, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %*x:%*x:%lu", &pid, &inode) == 2 &&
		    inode == st.st_ino)
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

void tracer_user(void)
{
	int fd = open(tracer_path("ctrl"), O_RDONLY | O_CLOEXEC), pid;
	char comm[32];

	pid = fd < 0 ? 0 : locked_by(fd, comm, sizeof(comm));
	if (pid)
		printf("%-12s process %d (%s)\n", "used by", pid, comm);
	if (fd >= 0)
		close(fd);
}

void tracer_lock(void)
{
	int fd = open(tracer_path("ctrl"), O_RDONLY | O_CLOEXEC);	/* and never closed */
	char comm[32];

	if (fd < 0)
		die_file("ctrl");
	if (flock(fd, LOCK_EX | LOCK_NB))
		die("process %d (%s) is using the tracer: end it first",
		    locked_by(fd, comm, sizeof(comm)), comm);
}

/* Whoever ends, for whatever reason: but not those that it has forked. */
static void restore_at_exit(void)
{
	if (getpid() == owner)
		tracer_restore();
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

void tracer_set(const char *file, const char *text)
{
	remember(file);
	tracer_write(file, text);
}

bool tracer_try(const char *file, const char *text)
{
	remember(file);
	errno = put(file, text);
	return !errno;
}

/* What was read can be written back; of options each line is one. */
static int put_back(const char *file, char *before)
{
	char *line, *saved;
	int ret, failed = 0;

	if (strcmp(file, "options"))
		return put(file, before);
	for (line = strtok_r(before, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		ret = put(file, line);
		failed = failed ?: ret;
	}
	return failed;
}

void tracer_keep(void)
{
	nr_settings = 0;
}

bool tracer_restore(void)
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
