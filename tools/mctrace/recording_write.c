// SPDX-License-Identifier: GPL-2.0
/* Writing a recording: chunks, by several threads. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compress.h"
#include "recording.h"
#include "util.h"

/* Under the mutex, once there are threads. */
static void put(struct recording_writer *to, const void *data, size_t size)
{
	if (to->error)
		return;
	if (write_all(to->fd, data, size))
		__atomic_fetch_add(&to->size, size, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&to->error, errno, __ATOMIC_RELAXED);
}

static struct recording_writer *unnamed;	/* has a temporary name */
static pid_t creator;

static void remove_unnamed(void)
{
	if (unnamed && getpid() == creator)
		unlink(unnamed->temporary);
}

/* A file in the folder of to->path, which nobody can see where file systems know such files. */
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
	to->temporary = xasprintf("%s.XXXXXX", to->path);
	fd = mkostemp(to->temporary, O_CLOEXEC);
	if (fd >= 0) {
		unnamed = to;
		creator = getpid();
		atexit(remove_unnamed);
	}
	return fd;
}

/* What is neither a file nor absent, as a device or a named pipe, is written as it is. */
static int create_file(struct recording_writer *to, const char *path)
{
	struct stat st;

	to->path = realpath(path, NULL) ?: xstrdup(path);
	if (!lstat(to->path, &st) ? S_ISREG(st.st_mode) : errno == ENOENT)
		return create_unnamed(to);
	free(to->path);
	to->path = NULL;
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

void recording_create(struct recording_writer *to, const char *path)
{
	struct recording_header header = {
		.version = RECORDING_VERSION,
		.chunk_size = sizeof(struct recording_chunk),
	};

	memset(to, 0, sizeof(*to));
	pthread_mutex_init(&to->mutex, NULL);
	signal(SIGPIPE, SIG_IGN);	/* it is an error like the others */
	if (strcmp(path, "-")) {
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

/* Give the recording the name @path, which no file has. */
static void name_it(struct recording_writer *to, const char *path)
{
	char *unnamed_file = xasprintf("/proc/self/fd/%d", to->fd);

	if (to->temporary ? rename(to->temporary, path) :
	    linkat(AT_FDCWD, unnamed_file, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		die_errno("%s", path);
	unnamed = NULL;
	free(unnamed_file);
}

static bool exchange(const char *path, const char *old)
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
 * A program that reads the older file can continue. The recording is named .old first, then both
 * names are exchanged: whenever mctrace ends, the path names a file, and no third name is left.
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
	if (!stat(to->path, &st) && st.st_size) {
		old = xasprintf("%s.old", to->path);
		if (unlink(old) && errno != ENOENT)
			die_errno("%s", old);
		name_it(to, old);
		if (!exchange(to->path, old))
			die_errno("%s", to->path);
		free(old);
	} else {
		if (unlink(to->path) && errno != ENOENT)
			die_errno("%s", to->path);
		name_it(to, to->path);
	}
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
		.size = (length + 8) & ~7UL,	/* with zeroes at its end, one at least */
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
