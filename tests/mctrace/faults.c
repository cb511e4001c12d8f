// SPDX-License-Identifier: GPL-2.0
/*
 * Inject one fault into mctrace, and replace the tracer by plain files in the folder $FAKE. $FAULT
 * is "PROCESS:STEP:KIND". PROCESS is 0 for the first process, n for the child of its n-th fork().
 * STEP counts the process's calls of the functions below. KIND is the number of a signal, or
 * "error": the call fails. The fault creates $FAKE/hit. Link with all of mctrace, and with
 * --wrap=open and so on.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACER	"/sys/kernel/debug/mctracer"
#define SYSCTL	"/proc/sys/kernel/mcount_"
#define DUMP	"/sys/module/mctracer/parameters/dump"
#define NAMES	"/proc/kallsyms"
#define PIDS	"/proc/self/ns/pid"

int __real_open(const char *path, int flags, ...);
int __real_access(const char *path, int mode);
int __real_stat(const char *path, struct stat *st);
int __real_fstat(int fd, struct stat *st);
int __real_fstatvfs(int fd, struct statvfs *fs);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __real_write(int fd, const void *from, size_t size);
int __real_close(int fd);
pid_t __real_fork(void);
int __real_pipe(int *fds);
int __real_pipe2(int *fds, int flags);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __real_flock(int fd, int how);
int __real_kill(pid_t pid, int sig);
int __real_linkat(int from, const char *old, int to, const char *new, int flags);
int __real_renameat2(int from, const char *old, int to, const char *new, unsigned int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
			  void *arg);
void *__real_calloc(size_t n, size_t size);
pid_t __real_waitpid(pid_t pid, int *status, int how);
int __real_sigtimedwait(const sigset_t *signals, siginfo_t *info, const struct timespec *most);

static int process, forks, steps;	/* number of this process; its forks and steps so far */

/* Count a step, and send the signal of the fault. Return true if the call must fail with @error. */
static bool step(int error)
{
	const char *fault = getenv("FAULT"), *fake = getenv("FAKE");
	int of, at, kind, now = __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
	char path[PATH_MAX];

	if (!fault || sscanf(fault, "%d:%d", &of, &at) != 2 || of != process || at != now)
		return false;
	snprintf(path, sizeof(path), "%s/hit", fake);
	__real_close(__real_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	kind = atoi(strrchr(fault, ':') + 1);
	if (kind) {
		kill(getpid(), kind);
		return false;
	}
	errno = error;
	return true;
}

/* Return the path of the file in $FAKE that replaces @path, or @path. */
static const char *fake_path(const char *path, char room[PATH_MAX])
{
	const char *fake = getenv("FAKE");

	if (!strncmp(path, TRACER, strlen(TRACER)))
		snprintf(room, PATH_MAX, "%s%s", fake, path + strlen(TRACER));
	else if (!strncmp(path, SYSCTL, strlen(SYSCTL)))
		snprintf(room, PATH_MAX, "%s/mcount_%s", fake, path + strlen(SYSCTL));
	else if (!strcmp(path, DUMP))
		snprintf(room, PATH_MAX, "%s/dump", fake);
	else if (!strcmp(path, NAMES))
		snprintf(room, PATH_MAX, "%s/kallsyms", fake);
	else
		return path;
	return room;
}

/*
 * Return the name of the tracer's file that is open as @fd, or NULL. A recording is called "out", or
 * "#INODE" while it has no name.
 */
static const char *fake_name(int fd, char room[PATH_MAX])
{
	const char *fake = getenv("FAKE");
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, room, PATH_MAX - 1);
	if (n < 0)
		return NULL;
	room[n] = '\0';
	if (strncmp(room, fake, strlen(fake)) || strstr(room, "/out") || strstr(room, "/#"))
		return NULL;
	return strrchr(room, '/') + 1;
}

/*
 * In the file options, replace the line "NAME" or "noNAME" by @word. As in the kernel, a process
 * that is killed meanwhile leaves the file with the old line or with the new one, and two processes
 * change it one after the other. Return false if there is no descriptor left.
 */
static bool set_option(const char *word)
{
	const char *name = strncmp(word, "no", 2) ? word : word + 2, *fake = getenv("FAKE");
	static char all[4096], path[PATH_MAX], new[PATH_MAX];
	char *line, *saved;
	FILE *to;
	int from, folder;

	folder = __real_open(fake, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__real_flock(folder, LOCK_EX);
	snprintf(path, sizeof(path), "%s/options", fake);
	snprintf(new, sizeof(new), "%s/options.new", fake);
	from = __real_open(path, O_RDONLY | O_CLOEXEC);
	to = from < 0 ? NULL : fopen(new, "w");
	if (!to) {
		__real_close(from);
		__real_close(folder);
		errno = EMFILE;
		return false;
	}
	all[__real_read(from, all, sizeof(all) - 1)] = '\0';
	__real_close(from);
	for (line = strtok_r(all, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		fprintf(to, "%s\n",
			!strcmp(strncmp(line, "no", 2) ? line : line + 2, name) ? word : line);
	fclose(to);
	rename(new, path);
	__real_close(folder);
	return true;
}

/* Remove the first line of stats if it is "# frozen: REASON", as it is while rings are frozen. */
static void thaw(void)
{
	char all[4096], path[PATH_MAX], new[PATH_MAX];
	int from, to;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stats", getenv("FAKE"));
	snprintf(new, sizeof(new), "%s/stats.new", getenv("FAKE"));
	from = __real_open(path, O_RDONLY | O_CLOEXEC);
	n = from < 0 ? -1 : __real_read(from, all, sizeof(all) - 1);
	__real_close(from);
	if (n < 0)
		return;
	all[n] = '\0';
	if (strncmp(all, "# frozen: ", strlen("# frozen: ")))
		return;
	to = __real_open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	n = strlen(strchr(all, '\n') + 1);
	if (__real_write(to, strchr(all, '\n') + 1, n) == n)
		rename(new, path);
	__real_close(to);
}

/*
 * Write to one of the tracer's files as the kernel would. A write that contains $REFUSED fails.
 * With $OLD, pid does not take "not PID". While the file "busy" exists, the rings can't be resized.
 */
static ssize_t set(int fd, const char *name, const char *from, size_t size)
{
	const char *refused = getenv("REFUSED");
	static char text[65536], busy[PATH_MAX];	/* a test limits the stack; one thread writes */

	snprintf(text, sizeof(text), "%.*s", (int)size, from);
	if (refused && strstr(text, refused)) {
		errno = ENOENT;
		return -1;
	}
	if (getenv("OLD") && !strcmp(name, "pid") && strstr(text, "not ")) {
		errno = EINVAL;
		return -1;
	}
	snprintf(busy, sizeof(busy), "%s/busy", getenv("FAKE"));
	if (!strcmp(name, "buffer_size_kb") && !__real_access(busy, F_OK)) {
		errno = EBUSY;
		return -1;
	}
	text[strcspn(text, "\n")] = '\0';
	if (!strcmp(name, "options"))
		return set_option(text) ? (ssize_t)size : -1;
	if (!strcmp(name, "tracing_on") && *text == '1')
		thaw();
	if (!strcmp(name, "trace"))
		return size;
	if (!strcmp(name, "stats")) {
		errno = EINVAL;
		return -1;
	}
	if (size && *from == '#' && !strcmp(name, "pid"))
		return size;
	if (!strcmp(name, "dump") && ftruncate(fd, 0))
		return -1;
	if (__real_write(fd, from, size) != (ssize_t)size)
		return -1;
	if (size && from[size - 1] != '\n' && __real_write(fd, "\n", 1) != 1)
		return -1;
	return size;
}

/* With $NAMED, no file system can create a file without a name. */
int __wrap_open(const char *path, int flags, ...)
{
	char room[PATH_MAX];
	const char *name;
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	if (step(EMFILE))
		return -1;
	if (getenv("NAMED") && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	path = fake_path(path, room);
	name = strrchr(path, '/');
	if (path == room && name && !strcmp(name, "/options"))
		flags &= ~O_TRUNC;
	return __real_open(path, flags, mode);
}

int __wrap_access(const char *path, int mode)
{
	char room[PATH_MAX];

	return __real_access(fake_path(path, room), mode);
}

/* With $NAMESPACE, that number is the inode of the file of this process's pid namespace. */
int __wrap_stat(const char *path, struct stat *st)
{
	const char *namespace = getenv("NAMESPACE");
	char room[PATH_MAX];
	int ret;

	if (step(EACCES))
		return -1;
	ret = __real_stat(fake_path(path, room), st);
	if (namespace && !strcmp(path, PIDS))
		st->st_ino = strtoul(namespace, NULL, 10);
	return ret;
}

/* With $BLOCKS "none", no file has blocks, as in a ramfs. */
int __wrap_fstat(int fd, struct stat *st)
{
	const char *blocks = getenv("BLOCKS");
	int ret = __real_fstat(fd, st);

	if (blocks && !strcmp(blocks, "none"))
		st->st_blocks = 0;
	return ret;
}

/*
 * With $FREE, each file system has that many free bytes, in blocks of 512; if it is "none", it has
 * no size, as a ramfs.
 */
int __wrap_fstatvfs(int fd, struct statvfs *fs)
{
	const char *available = getenv("FREE");
	int ret = __real_fstatvfs(fd, fs);

	if (available) {
		fs->f_frsize = 512;
		fs->f_bavail = strtoul(available, NULL, 10) / 512;
		fs->f_blocks = strcmp(available, "none") ? fs->f_bavail + 1 : 0;
	}
	return ret;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	return step(EIO) ? -1 : __real_read(fd, to, size);
}

ssize_t __wrap_write(int fd, const void *from, size_t size)
{
	char room[PATH_MAX];
	const char *name;

	if (step(ENOSPC))
		return -1;
	name = fake_name(fd, room);
	return name ? set(fd, name, from, size) : __real_write(fd, from, size);
}

int __wrap_close(int fd)
{
	bool fails = step(EIO);
	int ret = __real_close(fd);

	return fails ? -1 : ret;
}

pid_t __wrap_fork(void)
{
	pid_t pid;

	if (step(EAGAIN))
		return -1;
	forks++;
	pid = __real_fork();
	if (!pid) {
		process = process ? -1 : forks;
		steps = 0;
	}
	return pid;
}

int __wrap_pipe(int *fds)
{
	return step(EMFILE) ? -1 : __real_pipe(fds);
}

int __wrap_pipe2(int *fds, int flags)
{
	return step(EMFILE) ? -1 : __real_pipe2(fds, flags);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	return step(ENOMEM) ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);
}

int __wrap_flock(int fd, int how)
{
	return step(ENOLCK) ? -1 : __real_flock(fd, how);
}

int __wrap_linkat(int from, const char *old, int to, const char *new, int flags)
{
	return step(ENOSPC) ? -1 : __real_linkat(from, old, to, new, flags);
}

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
	return step(EINVAL) ? -1 : __real_renameat2(from, old, to, new, flags);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
			  void *arg)
{
	return step(EAGAIN) ? EAGAIN : __real_pthread_create(thread, how, run, arg);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return step(ENOMEM) ? NULL : __real_calloc(n, size);
}

pid_t __wrap_waitpid(pid_t pid, int *status, int how)
{
	return !(how & WNOHANG) && step(EINTR) ? -1 : __real_waitpid(pid, status, how);
}

int __wrap_sigtimedwait(const sigset_t *signals, siginfo_t *info, const struct timespec *most)
{
	return step(EAGAIN) ? -1 : __real_sigtimedwait(signals, info, most);
}

/* A process that does not exist may have been one of mctrace's, and another one's soon. */
int __wrap_kill(pid_t pid, int sig)
{
	char path[PATH_MAX];
	int ret = __real_kill(pid, sig), error = errno;

	if (ret && error == ESRCH) {
		snprintf(path, sizeof(path), "%s/out.stray", getenv("FAKE"));
		__real_close(__real_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	errno = error;
	return ret;
}
