// SPDX-License-Identifier: GPL-2.0
/* Remove the unfinished output of a command that fails, or that a signal ends: see unfinished.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unfinished.h"
#include "util.h"

#define TRIES	100		/* for the temporary name of a folder */

struct file {
	struct file *next;
	char *path;
};

/* Changed only while signals are blocked, except for @files. */
static struct {
	char *path;		/* the temporary name; NULL: nothing is unfinished */
	bool is_folder;
	struct file *files;	/* the files in the folder */
	pid_t creator;
} unfinished;

/* In memory that processes share: see unfinished_share(). */
static struct shared {
	bool exists;		/* the file has its temporary name, @path */
	char path[PATH_MAX];
} *shared;

/* Remove the file or folder. Async-signal-safe. Do nothing in a child of the creator. */
static void remove_unfinished(void)
{
	const struct file *file;

	if (!unfinished.path || getpid() != unfinished.creator)
		return;
	for (file = __atomic_load_n(&unfinished.files, __ATOMIC_ACQUIRE); file; file = file->next)
		unlink(file->path);
	if (unfinished.is_folder)
		rmdir(unfinished.path);
	else
		unlink(unfinished.path);
}

/* The signal comes again when this function returns: its default action ends mctrace. */
static void end_by_signal(int sig)
{
	remove_unfinished();
	raise(sig);
}

/* Handle the signals that would end mctrace. Leave ignored signals alone, such as nohup's. */
static void handle_signals(void)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU,
		SIGBUS,
	};
	struct sigaction action = { .sa_handler = end_by_signal, .sa_flags = SA_RESETHAND }, old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

/* Remember that @path was created. The caller has blocked all signals. */
static void created(char *path, bool is_folder)
{
	static bool registered;

	unfinished.path = path;
	unfinished.is_folder = is_folder;
	unfinished.creator = getpid();
	if (shared && !is_folder) {
		snprintf(shared->path, sizeof(shared->path), "%s", path);
		__atomic_store_n(&shared->exists, true, __ATOMIC_RELEASE);
	}
	handle_signals();
	if (!registered)
		atexit(remove_unfinished);
	registered = true;
}

int unfinished_file(const char *path)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	sigset_t before;
	int fd, error;

	block_signals(&before);
	fd = mkostemp(temporary, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		created(temporary, false);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd < 0)
		free(temporary);
	errno = error;
	return fd;
}

/* Create a folder with a temporary name and usual permissions. Return the name; NULL and errno. */
static char *make_folder(const char *path)
{
	size_t length = strlen(path);
	char *temporary;
	int i, error;

	while (length && path[length - 1] == '/')
		length--;
	for (i = 0; i < TRIES; i++) {
		temporary = xasprintf("%.*s.%d.%d", (int)length, path, getpid(), i);
		if (!mkdir(temporary, 0777))
			return temporary;
		error = errno;
		free(temporary);
		if (error != EEXIST)
			break;
	}
	errno = error;
	return NULL;
}

bool unfinished_folder(const char *path)
{
	char *temporary;
	sigset_t before;
	struct stat st;
	int error;

	if (!lstat(path, &st)) {
		errno = EEXIST;
		return false;
	}
	block_signals(&before);
	temporary = make_folder(path);
	error = errno;
	if (temporary)
		created(temporary, true);
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return temporary;
}

const char *unfinished_in(const char *name)
{
	struct file *file = xcalloc(1, sizeof(*file));

	file->path = xasprintf("%s/%s", unfinished.path, name);
	file->next = unfinished.files;
	__atomic_store_n(&unfinished.files, file, __ATOMIC_RELEASE);
	return file->path;
}

/* Rename the folder, but replace no empty folder: not every file system can refuse that itself. */
static bool name_folder(const char *path)
{
	struct stat st;

	if (!renameat2(AT_FDCWD, unfinished.path, AT_FDCWD, path, RENAME_NOREPLACE))
		return true;
	if (errno != EINVAL)
		return false;
	if (!lstat(path, &st)) {
		errno = EEXIST;
		return false;
	}
	return !rename(unfinished.path, path);
}

/* Forget the file or folder, which is complete. The caller has blocked all signals. */
static void forget(void)
{
	struct file *file;

	while ((file = unfinished.files)) {
		unfinished.files = file->next;
		free(file->path);
		free(file);
	}
	free(unfinished.path);
	unfinished.path = NULL;
	if (shared)
		__atomic_store_n(&shared->exists, false, __ATOMIC_RELEASE);
}

void unfinished_share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		die_errno("memory for the name of a file");
}

void unfinished_remove_shared(void)
{
	if (shared && __atomic_load_n(&shared->exists, __ATOMIC_ACQUIRE))
		unlink(shared->path);
}

bool unfinished_name(const char *path)
{
	sigset_t before;
	bool done;
	int error;

	block_signals(&before);
	done = unfinished.is_folder ? name_folder(path) : !rename(unfinished.path, path);
	error = errno;
	if (done)
		forget();
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return done;
}
