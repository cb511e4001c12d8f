// SPDX-License-Identifier: GPL-2.0
/*
 * Let one process at a time set the tracer up, and restore all settings, by that process or its
 * keeper.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session.h"
#include "settings.h"
#include "tracer.h"
#include "unfinished.h"
#include "util.h"

#define LOCK_NAP_NS	20000000
#define LOCK_NAPS	500		/* how long to wait for a keeper */

static int locked = -1;		/* holds the lock; never closed */
static pid_t owner;		/* the process that must restore; 0: nothing to restore */
static pid_t keeper;
static int watched = -1;	/* the keeper sees when all processes with this descriptor end */

/* Return true if a SIGKILL is pending for the process with this content of /proc/PID/status. */
static bool is_dying(const char *status)
{
	const char *pending = strstr(status, "\nSigPnd:");

	return pending && strtoull(pending + strlen("\nSigPnd:"), NULL, 16) &
			  1ULL << (SIGKILL - 1);
}

/*
 * Return true if process @pid has ended or is being killed, even if its parent has not reaped it.
 */
static bool is_gone(int pid)
{
	char path[64], *status;
	bool gone;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = read_file(path);
	gone = !status || strstr(status, "\nState:\tZ") || is_dying(status);
	free(status);
	return gone;
}

/*
 * locked_by() - Return the process that holds the lock of @fd; 0 if there is none
 * @comm: set to its name, in @size bytes
 *
 * /proc/locks has lines "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF".
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
	name = is_gone(pid) ? NULL : read_file(path);
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
	const struct timespec nap = { .tv_nsec = LOCK_NAP_NS };
	char comm[SESSION_COMM];
	int pid, naps = 0;

	locked = open(tracer_path("ctrl"), O_RDONLY | O_CLOEXEC);
	if (locked < 0)
		tracer_die("ctrl");
	while (flock(locked, LOCK_EX | LOCK_NB)) {
		pid = locked_by(locked, comm, sizeof(comm));
		if (pid && !is_gone(pid))
			die("process %d (%s) is using the tracer: end it first", pid, comm);
		if (naps++ == LOCK_NAPS && pid)
			die("process %d was killed: its settings are still being restored", pid);
		if (naps > LOCK_NAPS)
			die("a process of another pid namespace is using the tracer: end it first");
		nanosleep(&nap, NULL);
	}
}

/*
 * Close all files but standard error, the lock and @fd. A reader of a recording's pipe waits until
 * all writers have closed it.
 */
static void close_others(int fd)
{
	int low = fd < locked ? fd : locked, high = fd < locked ? locked : fd, null;

	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close_range(STDERR_FILENO + 1, low - 1, 0);
	close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

/* What the keeper must do; end of file: all processes that could tell were killed. */
#define KEEP	'k'
#define RESTORE	'r'
#define EARLY	'e'	/* all but the settings of the rings; another order follows */

/* Exit statuses of the keeper if it leaves the settings as they are: by order, or without one. */
#define KEPT	2
#define UNTOLD	3

/*
 * Run the keeper: wait for an order, and restore the settings. If the other process was killed,
 * also remove its unfinished recording. This needs no more memory or descriptors.
 */
static void keep_settings(int fd)
{
	sigset_t all;
	ssize_t n;
	bool good;
	char c;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();		/* a signal to the group must not kill the keeper */
	prctl(PR_SET_NAME, "mctrace-restore");
	n = read(fd, &c, 1);
	if (n > 0 && c == EARLY) {
		settings_write_back(false);
		n = read(fd, &c, 1);
	}
	if (n < 0)
		_exit(UNTOLD);	/* the other process may still be setting the tracer up */
	if (n && c == KEEP)
		_exit(KEPT);
	good = settings_write_back(true);
	if (!n)
		unfinished_remove_shared();
	if (!n && good)
		warning("the process that set the tracer was killed: the tracer is as it was");
	_exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Restore the settings when this process exits, but not when its forked children do. */
static void restore_at_exit(void)
{
	if (getpid() == owner)
		session_restore();
}

/*
 * Fork the keeper. A limit of CPU time that kills this process must not kill the keeper, which
 * inherits it: lift it meanwhile, if this process may.
 */
static pid_t fork_keeper(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit before;
	bool lifted = !getrlimit(RLIMIT_CPU, &before) && !setrlimit(RLIMIT_CPU, &none);
	pid_t pid = fork();
	int error = errno;

	if (pid && lifted)
		setrlimit(RLIMIT_CPU, &before);
	errno = error;
	return pid;
}

void session_begin(void)
{
	int fds[2];

	if (owner)
		return;
	settings_read();
	unfinished_share();
	if (pipe2(fds, O_CLOEXEC))
		die_errno("a pipe");
	keeper = fork_keeper();
	if (keeper < 0)
		die_errno("a process that restores the settings");
	if (!keeper) {
		close(fds[1]);
		close_others(fds[0]);
		keep_settings(fds[0]);
	}
	close(fds[0]);
	watched = fds[1];
	owner = getpid();
	atexit(restore_at_exit);
}

void session_set(const char *file, const char *text)
{
	session_begin();
	tracer_write(file, text);
}

void session_add(const char *file, const char *text, const char *place)
{
	session_begin();
	tracer_append(file, text, place);
}

bool session_try(const char *file, const char *text)
{
	session_begin();
	errno = tracer_put(file, text, false);
	return !errno;
}

pid_t session_keeper(void)
{
	return keeper;
}

/* Send the keeper an order. Return false and set errno on failure: EPIPE if it has ended. */
static bool order_keeper(char what)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	bool told;

	sigaction(SIGPIPE, &ignore, &before);
	told = write(watched, &what, 1) == 1;
	sigaction(SIGPIPE, &before, NULL);
	return told;
}

/*
 * Send the keeper @what, and wait for its end. Return its exit status; -1 if it was killed, had
 * ended before, or could not read @what.
 */
static int tell_keeper(char what)
{
	bool told = order_keeper(what);
	int status = -1;

	if (!told && errno != EPIPE)
		kill(keeper, SIGKILL);		/* or both processes would restore at once */
	while (waitpid(keeper, &status, 0) < 0 && errno == EINTR)
		;
	close(watched);
	keeper = 0;
	if (!told || !WIFEXITED(status) || WEXITSTATUS(status) == UNTOLD)
		return -1;
	return WEXITSTATUS(status);
}

bool session_keep(void)
{
	int status;
	bool good;

	owner = 0;
	status = tell_keeper(KEEP);
	if (status == KEPT)
		return true;
	good = status < 0 ? settings_write_back(true) : !status;
	warning("the process that restores settings has failed%s",
		good ? ": the tracer is as it was" : "");
	return false;
}

void session_restore_early(void)
{
	order_keeper(EARLY);	/* a failure shows in session_restore() */
}

void session_forked(void)
{
	close(watched);
}

bool session_restore(void)
{
	int status;

	if (!owner)
		return true;
	owner = 0;
	status = tell_keeper(RESTORE);
	return status < 0 ? settings_write_back(true) : !status;
}
