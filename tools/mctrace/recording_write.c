// SPDX-License-Identifier: GPL-2.0
/* Writing a recording: chunks, by several threads. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

	struct stat st;

	memset(to, 0, sizeof(*to));
	pthread_mutex_init(&to->mutex, NULL);
	signal(SIGPIPE, SIG_IGN);	/* it is an error like the others */
	if (strcmp(path, "-")) {
		/* Who reads an older one goes on with that. */
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			unlink(path);
		to->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
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

void recording_put_text(struct recording_writer *to, enum recording_type type, const char *text)
{
	size_t length = strlen(text);
	struct recording_chunk chunk = {
		.mark = RECORDING_MARK,
		.type = type,
		.size = (length + 8) & ~7UL,	/* with zeroes at its end, one at least */
	};
	char *padded = xcalloc(chunk.size, 1);

	memcpy(padded, text, length);
	recording_put(to, &chunk, padded);
	free(padded);
}

bool recording_finish(struct recording_writer *to)
{
	if (close(to->fd) && !to->error)
		to->error = errno;
	errno = to->error;
	return !to->error;
}
