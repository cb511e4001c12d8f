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

void recording_create(struct recording_writer *to, const char *path)
{
	struct recording_header header = {
		.version = RECORDING_VERSION,
		.chunk_size = sizeof(struct recording_chunk),
	};
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	struct stat st;

	memset(to, 0, sizeof(*to));
	pthread_mutex_init(&to->mutex, NULL);
	signal(SIGPIPE, SIG_IGN);	/* it is an error like the others */
	if (strcmp(path, "-")) {
		/* Who reads an older one goes on with that. */
		if (!lstat(path, &st) && S_ISREG(st.st_mode)) {
			unlink(path);
			flags |= O_EXCL;	/* what comes there now is not what is meant */
		}
		to->fd = open(path, flags, 0600);
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

	if (!compressor || chunk->size > RECORDING_MOST) {
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
