// SPDX-License-Identifier: GPL-2.0
/* Access the files of the kernel's tracer in debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capability.h"
#include "tracer.h"
#include "util.h"

#define DEBUGFS		"/sys/kernel/debug"
#define MODULE		"mctracer"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define HOOK		"/proc/sys/kernel/mcount_hook"
/* The kernel's limit for one write; longer texts are written in parts of whole lines. */
#define MAX_WRITE	262144

/* Load the module. Return NULL, or modprobe's last line if that failed; the caller frees it. */
static char *modprobe_error(void)
{
	/* root's PATH may lack these directories, as with su. */
	FILE *output = popen("PATH=$PATH:/usr/sbin:/sbin modprobe " MODULE " 2>&1", "re");
	char line[256], *last = NULL;

	if (!output)
		return xstrdup(strerror(errno));
	while (fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = '\0';
		free(last);
		last = xstrdup(line);
	}
	if (pclose(output))
		return last ?: xstrdup("modprobe failed");
	free(last);
	return NULL;
}

/* Load the module, which may be installed where the kernel has no tracer of its own. */
static void load_module(void)
{
	char *error;

	if (!has_capability(CAP_SYS_MODULE))
		die("there is no tracer, and this process may not load it: 'modprobe " MODULE
		    "' does if mctracer-dkms is installed");
	error = modprobe_error();
	if (error && strstr(error, "not found"))
		die("this kernel has no tracer: install mctracer-dkms, or set CONFIG_MCTRACER=y");
	if (error)
		die("the module " MODULE " can't be loaded: %s", error);
	warning("loaded the module " MODULE "; it stays until 'modprobe -r " MODULE "'");
}

void tracer_find(void)
{
	struct stat st;

	if (!stat(DEBUGFS "/mctracer", &st))
		return;
	if (errno == EACCES || geteuid())
		die("only root may use the tracer, for it shows all tasks: try it with sudo");
	if (access("/proc/mounts", R_OK))
		die_errno("/proc is not mounted: mount -t proc none /proc");
	if (!has_capability(CAP_SYS_ADMIN))
		die("root lacks CAP_SYS_ADMIN here, as in a container, and there is no " DEBUGFS
		    "/mctracer: use mctrace outside of it");
	if (access(DEBUGFS "/regmap", F_OK) && access(DEBUGFS "/sleep_time", F_OK) &&
	    access(DEBUGFS "/x86", F_OK))
		die("there is no " DEBUGFS "/mctracer: mount -t debugfs none " DEBUGFS
		    ", or use a kernel with CONFIG_MCTRACER=y");
	load_module();
	if (stat(DEBUGFS "/mctracer", &st))
		die_errno("the module " MODULE " is loaded, but there is no " DEBUGFS "/mctracer");
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

/*
 * Return true if the kernel is locked down. The file has all modes, and brackets around the current
 * one: "[none] integrity confidentiality".
 */
static bool is_locked_down(void)
{
	char *modes = read_file(LOCKDOWN);
	bool locked = modes && !strstr(modes, "[none]");

	free(modes);
	return locked;
}

void tracer_die(const char *file)
{
	int error = errno;

	if (error == EPERM && is_locked_down())
		die("the kernel is locked down, which closes %s: boot without lockdown",
		    tracer_path(file));
	if ((error == EPERM || error == EACCES) && !geteuid() && !has_capability(CAP_SYS_ADMIN))
		die("root lacks CAP_SYS_ADMIN here, as in a container, and may not use %s",
		    tracer_path(file));
	if (error == EROFS)
		die("%s can't be written, as in a container: use mctrace outside of it",
		    tracer_path(file));
	errno = error;
	if (errno == EPERM && access(LOCKDOWN, F_OK))
		die("%s is closed, maybe by lockdown: mount securityfs, and look at " LOCKDOWN,
		    tracer_path(file));
	errno = error;
	if (errno == EACCES)
		die("only root may open %s: try it with sudo", tracer_path(file));
	if (errno == ENOENT)
		die("this kernel's tracer has no file %s: it is another version", file);
	die_errno("%s", tracer_path(file));
}

char *tracer_read(const char *file)
{
	char *text = read_file(tracer_path(file));

	if (!text)
		tracer_die(file);
	return text;
}

char *tracer_others_hook(void)
{
	char *hook = read_file(HOOK), *ctrl;
	bool ours;

	if (!hook)
		return NULL;
	ctrl = tracer_read("ctrl");
	ours = atoi(ctrl);
	free(ctrl);
	hook[strcspn(hook, "\n")] = '\0';
	if (!ours && strcmp(hook, "none"))
		return hook;
	free(hook);
	return NULL;
}

void tracer_show(const char *file, const volatile sig_atomic_t *enough, const sigset_t *wake)
{
	int fd = open(tracer_path(file), O_RDONLY | O_CLOEXEC | O_NONBLOCK), out = -1;
	const struct timespec now = { }, second = { .tv_sec = 1 };
	char reason[TRACER_REASON];
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	bool more = true;
	char buf[65536];
	ssize_t n;
	int ready;

	if (fd < 0)
		tracer_die(file);
	/* A terminal with little room blocks. Not so this open file; the shell's stays as it is. */
	if (isatty(STDOUT_FILENO))
		out = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/*
	 * Only ppoll() unblocks signals: the first one where there is always more to read, the
	 * second where there is not, and write_all_waking()'s where nobody reads the output.
	 */
	while (!enough || !*enough) {
		if (enough && ppoll(NULL, 0, &now, wake) < 0)
			continue;
		ready = more ? 1 : ppoll(fds, ARRAY_SIZE(fds), &second, wake);
		if (ready < 0)
			continue;
		if (!ready && tracer_frozen(reason)) {
			warning("an event (%s) has frozen the rings: nothing was recorded after it",
				reason);
			break;
		}
		/* Standard output is a pipe without a reader. */
		if (!more && fds[1].revents & POLLERR)
			break;
		n = read(fd, buf, sizeof(buf));
		more = n >= 0 || errno != EAGAIN;
		if (!more)
			continue;
		if (n < 0 && errno != EINTR)
			die_errno("%s", tracer_path(file));
		if (!n)
			break;
		if (n > 0 && !write_all_waking(out < 0 ? STDOUT_FILENO : out, buf, n, wake)) {
			if (errno != EPIPE && errno != EINTR)
				die_errno("standard output");
			break;
		}
	}
	if (out >= 0)
		close(out);
	close(fd);
}

/* Open the kernel's log, at its end. */
static int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * Return the first message of the tracer in the log since log_open(); NULL if there is none. A
 * record is "LEVEL,NUMBER,TIME,FLAGS;text
 * ". The caller frees it.
 */
static char *log_said(int fd)
{
	char record[8192], *text, *end, *said = NULL;
	ssize_t n;

	while (!said && fd >= 0 && (n = read(fd, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		text = strchr(record, ';');
		text = text ? strstr(text, "mctracer: ") : NULL;
		if (!text)
			continue;
		end = strchr(text, '\n');
		if (end)
			*end = '\0';
		said = xstrdup(text + strlen("mctracer: "));
	}
	return said;
}

/* Return how many bytes of @text to write at once: whole lines, at most MAX_WRITE bytes. */
static size_t first_lines(const char *text)
{
	size_t length = strlen(text);

	if (length <= MAX_WRITE)
		return length;
	for (length = MAX_WRITE; length && text[length - 1] != '\n';)
		length--;
	return length ? length : MAX_WRITE;
}

/* The kernel parses each write on its own, so each one must be whole lines. */
int tracer_put(const char *file, const char *text, bool append)
{
	int fd, ret = 0;
	ssize_t n;

	fd = open(tracer_path(file), O_WRONLY | (append ? O_APPEND : O_TRUNC) | O_CLOEXEC);
	if (fd < 0)
		return errno;
	for (; *text && !ret; text += n > 0 ? n : 0) {
		n = write(fd, text, first_lines(text));
		if (n <= 0)
			ret = n < 0 ? errno : EIO;
	}
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

/* Write or append @text to @file. On failure end mctrace; the message begins with @place. */
static void put_or_die(const char *file, const char *text, bool append, const char *place)
{
	int fd = log_open(), error;
	char *said;

	error = tracer_put(file, text, append);
	errno = error;
	if (!errno) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (errno == EPERM || errno == EACCES || errno == EROFS || !tracer_has(file)) {
		errno = error;
		tracer_die(file);
	}
	said = log_said(fd);
	if (said && error == ENOENT)
		die("%s%s: 'mctrace list' shows which functions there are", place, said);
	die("%s'%s' can't be written to %s: %s", place, first_line(text), file,
	    said ?: strerror(error));
}

void tracer_write(const char *file, const char *text)
{
	put_or_die(file, text, false, "");
}

void tracer_append(const char *file, const char *text, const char *place)
{
	put_or_die(file, text, true, place);
}

/* Return the number behind @key in stats; -1 if this kernel has no such line. */
static int64_t number_in_stats(const char *key)
{
	char *stats = tracer_read("stats"), *found = strstr(stats, key);
	int64_t number = found ? atoll(found + strlen(key)) : -1;

	free(stats);
	return number;
}

/* The first line of stats is "# frozen: REASON" then. */
bool tracer_frozen(char reason[TRACER_REASON])
{
	static const char first[] = "# frozen: ";
	char stats[64] = "";
	int fd = open(tracer_path("stats"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, stats, sizeof(stats) - 1) < 0)
		*stats = '\0';
	close(fd);
	if (strncmp(stats, first, strlen(first)))
		return false;
	snprintf(reason, TRACER_REASON, "%.*s", (int)strcspn(stats + strlen(first), "\n"),
		 stats + strlen(first));
	return true;
}

int64_t tracer_modules(void)
{
	return number_in_stats("\n# modules: ");
}

int64_t tracer_returns_missed(void)
{
	return number_in_stats("\n# returns missed: ");
}

uint64_t tracer_objects_reused(void)
{
	char *text = read_file(tracer_path("triggers")), *line, *saved;
	unsigned long long nr, found = 0;
	int end = 0;

	for (line = text ? strtok_r(text, "\n", &saved) : NULL; line && !end;
	     line = strtok_r(NULL, "\n", &saved)) {
		if (sscanf(line, "# %llu objects were allocated again%n", &nr, &end) == 1 && end)
			found = nr;
	}
	free(text);
	return found;
}
