// SPDX-License-Identifier: GPL-2.0
/* Write a recording: create and name its file, and write chunks from several threads. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compress.h"
#include "output.h"
#include "recording.h"
#include "unfinished.h"
#include "util.h"

#define NAP_NS	20000000	/* between two looks for a reader */

/* Append to the file. The caller holds to->mutex, once there are threads. */
static void put(struct recording_writer *to, const void *data, size_t size)
{
	if (to->error)
		return;
	if (to->wake ? write_all_waking(to->fd, data, size, to->wake) :
		       write_all(to->fd, data, size))
		__atomic_fetch_add(&to->size, size, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&to->error, errno, __ATOMIC_RELAXED);
}

/*
 * Create a file without a name in the folder of to->path; with a temporary name where the file
 * system has no O_TMPFILE.
 */
static int create_unnamed(struct recording_writer *to)
{
	char *folder = xstrdup(to->path), *slash = strrchr(folder, '/');
	int fd;

	if (slash)
		slash[1] = '\0';
	fd = open(slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(folder);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	to->is_unfinished = true;
	return unfinished_file(to->path);
}

bool signal_is_pending(void)
{
	sigset_t signals;

	sigpending(&signals);
	return sigismember(&signals, SIGINT) || sigismember(&signals, SIGTERM) ||
	       sigismember(&signals, SIGQUIT) || sigismember(&signals, SIGHUP);
}

/* Open a device or a named pipe. A named pipe can be opened once it has a reader. */
static int open_other(const char *path)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	struct stat st;
	int fd;

	while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO &&
	       !stat(path, &st) && S_ISFIFO(st.st_mode) && !signal_is_pending())
		nanosleep(&nap, NULL);
	if (fd >= 0 && isatty(fd))
		die("%s is a terminal, and a recording is no text: name a file", path);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/*
 * Create the file. A path that exists and is no regular file, such as a device or a named pipe, is
 * opened and written directly.
 */
static int create_file(struct recording_writer *to, const char *path)
{
	struct stat st;

	/*
	 * The kernel may forbid to follow a symbolic link of somebody else, as in /tmp:
	 * realpath() does not ask it, so ask here.
	 */
	if (stat(path, &st) && errno != ENOENT)
		return -1;
	to->path = realpath(path, NULL) ?: xstrdup(path);
	if (!lstat(to->path, &st) ? S_ISREG(st.st_mode) : errno == ENOENT)
		return create_unnamed(to);
	free(to->path);
	to->path = NULL;
	return open_other(path);
}

void recording_create(struct recording_writer *to, const char *path, const sigset_t *wake)
{
	struct recording_header header = {
		.version = RECORDING_VERSION,
		.chunk_size = sizeof(struct recording_chunk),
	};

	memset(to, 0, sizeof(*to));
	pthread_mutex_init(&to->mutex, NULL);
	to->wake = wake;
	signal(SIGPIPE, SIG_IGN);	/* a closed pipe becomes an EPIPE error */
	if (!output_is_stdout(path)) {
		output_check(path);
		to->fd = create_file(to, path);
		if (to->fd < 0)
			die_errno("%s", path);
	} else {
		to->fd = STDOUT_FILENO;
		if (isatty(to->fd))
			die("a recording is no text: '-o -' is for a pipe");
	}
	memcpy(header.magic, RECORDING_MAGIC, sizeof(header.magic));
	put(to, &header, sizeof(header));
}

/* Give the recording the name @path, which must not exist. */
static void recording_link(struct recording_writer *to, const char *path)
{
	char *unnamed_file = xasprintf("/proc/self/fd/%d", to->fd);

	if (to->is_unfinished ? !unfinished_name(path) :
	    linkat(AT_FDCWD, unnamed_file, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		die_errno("%s", path);
	free(unnamed_file);
}

/* Let each of two files have the name of the other. Return false and set errno if that fails. */
static bool recording_exchange(const char *path, const char *old)
{
	char *third;
	bool done;

	if (!renameat2(AT_FDCWD, path, AT_FDCWD, old, RENAME_EXCHANGE))
		return true;
	/* Some file systems can't exchange names. */
	third = xasprintf("%s.%d", path, getpid());
	done = !rename(old, third) && !rename(path, old) && !rename(third, path);
	free(third);
	return done;
}

/*
 * The recording is named .old first, then the names are exchanged: a program that reads the older
 * file can continue, and the path names a file whenever mctrace ends. Only where the file system
 * can't exchange names, a kill between two renames may leave the recording under a third name.
 */
void recording_name(struct recording_writer *to)
{
	struct stat st;
	char *old;

	if (!to->path)
		return;
	if (to->error) {
		errno = to->error;
		die_errno("%s", to->path);
	}
	if (!lstat(to->path, &st) && !S_ISREG(st.st_mode))
		die("%s is no file any more: it stays", to->path);
	if (!stat(to->path, &st) && st.st_size) {
		old = xasprintf("%s.old", to->path);
		if (unlink(old) && errno != ENOENT)
			die_errno("%s", old);
		recording_link(to, old);
		if (!recording_exchange(to->path, old))
			die_errno("%s", to->path);
		free(old);
	} else {
		if (unlink(to->path) && errno != ENOENT)
			die_errno("%s", to->path);
		recording_link(to, to->path);
	}
}

/* Return how many bytes of the disk a file takes. Some file systems, as ramfs, count no blocks. */
static uint64_t size_on_disk(const struct stat *st)
{
	return st->st_blocks ? (uint64_t)st->st_blocks * 512 : (uint64_t)st->st_size;
}

bool recording_is_full(struct recording_writer *to)
{
	struct stat st;

	if (!to->most || fstat(to->fd, &st) || size_on_disk(&st) <= to->most)
		return false;
	pthread_mutex_lock(&to->mutex);
	if (!to->error) {
		to->is_full = true;
		__atomic_store_n(&to->error, EFBIG, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&to->mutex);
	return true;
}

void recording_put(struct recording_writer *to, const struct recording_chunk *chunk,
		   const void *data)
{
	pthread_mutex_lock(&to->mutex);
	put(to, chunk, sizeof(*chunk));
	put(to, data, chunk->size);
	pthread_mutex_unlock(&to->mutex);
}

void recording_put_by(struct recording_writer *to, struct compressor *compressor,
		      const struct recording_chunk *chunk, const void *data)
{
	struct recording_chunk smaller = *chunk;
	size_t room, used;
	uint64_t *all;

	if (!compressor || chunk->size > (chunk->type == RECORDING_WORDS ? RECORDING_MOST_WORDS :
							      RECORDING_MOST)) {
		recording_put(to, chunk, data);
		return;
	}
	room = compress_room(chunk->size);
	all = xcalloc(1, sizeof(*all) + room + 8);
	all[0] = chunk->size;
	used = compress_block(compressor, all + 1, room, data, chunk->size);
	if (used) {
		smaller.type |= RECORDING_COMPRESSED;
		smaller.size = sizeof(*all) + ((used + 7) & ~7UL);
		recording_put(to, &smaller, all);
	} else {
		recording_put(to, chunk, data);
	}
	free(all);
}

void recording_put_text(struct recording_writer *to, enum recording_type type, const char *text)
{
	recording_put_text_by(to, NULL, type, text);
}

void recording_put_text_by(struct recording_writer *to, struct compressor *compressor,
			   enum recording_type type, const char *text)
{
	size_t length = strlen(text);
	struct recording_chunk chunk = {
		.mark = RECORDING_MARK,
		.type = type,
		.size = (length + 8) & ~7UL,	/* padded with at least one zero */
	};
	char *padded = xcalloc(chunk.size, 1);

	memcpy(padded, text, length);
	recording_put_by(to, compressor, &chunk, padded);
	free(padded);
}

bool recording_finish(struct recording_writer *to)
{
	if (close(to->fd) && !to->error)
		to->error = errno;
	errno = to->error;
	return !to->error;
}

void recording_put_modules(struct recording_writer *to, int64_t count)
{
	const struct recording_chunk chunk = {
		.mark = RECORDING_MARK,
		.type = RECORDING_MODULES,
		.size = sizeof(count),
	};

	if (count >= 0)
		recording_put(to, &chunk, &count);
}
