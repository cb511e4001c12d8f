// SPDX-License-Identifier: GPL-2.0
/*
 * Open a recording: map the file. If it can't be mapped, copy it to a temporary file first. The
 * tracer's folder is a recording, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "buffer.h"
#include "build_id.h"
#include "output.h"
#include "recording_parts.h"
#include "tracer.h"
#include "util.h"

#define BLOCK	1048576

bool recording_is_known(const void *head, size_t size)
{
	return raw_kind(head, size) != RAW_NONE ||
	       (size >= strlen(RECORDING_MAGIC) &&
		!memcmp(head, RECORDING_MAGIC, strlen(RECORDING_MAGIC)));
}

static void recording_check_header(const char *path, const void *head, size_t size)
{
	const struct recording_header *header = head;

	if (!size)
		die("%s is empty: it is no recording", path);
	if (raw_kind(head, size) != RAW_NONE)
		return;
	if (size > 4 && !memcmp(head, "\177ELF", 4))
		die("%s is a dump of memory or a program: %s/extract.py makes a recording",
		    path, CRASH_DIR);
	if (size < sizeof(*header) ||
	    memcmp(header->magic, RECORDING_MAGIC, sizeof(header->magic)))
		die("%s is no recording of mctrace: it does not begin as one does (offset 0)",
		    path);
	if (header->version != RECORDING_VERSION ||
	    header->chunk_size != sizeof(struct recording_chunk))
		die("%s is a recording of version %u (offset 8), not %u: take another mctrace",
		    path, header->version, RECORDING_VERSION);
}

/* Read until @to has @size bytes, or the end of @in. Return the number of bytes. */
static size_t read_all(int in, char *to, size_t size, const char *path)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && (n = read(in, to + done, size - done)) != 0) {
		if (n < 0 && errno != EINTR)
			die_errno("%s", path);
		if (n > 0)
			done += n;
	}
	return done;
}

/*
 * Return how many bytes may be copied to the file system of @file: three quarters of its free
 * space, because other programs need space, too. A file system without a size, such as ramfs, has
 * no limit.
 */
static uint64_t most_to_copy(int file)
{
	struct statvfs fs;

	if (fstatvfs(file, &fs) || !fs.f_blocks)
		return UINT64_MAX;
	return (uint64_t)fs.f_bavail * fs.f_frsize / 4 * 3;
}

/*
 * Copy @in, which can't be mapped, to a temporary file. Check the first bytes before copying the
 * rest, because what is no recording may never end.
 */
static int spool(int in, const char *path)
{
	const char *folder = temporary_folder();
	char *buf = xcalloc(1, BLOCK);
	size_t n = read_all(in, buf, sizeof(struct recording_header), path);
	uint64_t copied = 0, most;
	int file;

	recording_check_header(path, buf, n);
	file = temporary_file();
	most = most_to_copy(file);
	for (; n; n = read_all(in, buf, BLOCK, path)) {
		copied += n;
		if (copied > most)
			die("%s has more than %llu MiB, and %s has no room: save it to a file",
			    path, (unsigned long long)(most >> 20), folder);
		if (!write_all(file, buf, n))
			die_errno("a temporary file in %s", folder);
	}
	free(buf);
	return file;
}

static int open_path(struct recording *from, const char *path)
{
	int fd;

	from->path = path ?: RECORDING_DEFAULT;
	if (!strcmp(from->path, "-")) {
		from->path = "standard input";
		if (isatty(STDIN_FILENO))
			die("standard input is a terminal: '-' is for a pipe");
		return STDIN_FILENO;
	}
	fd = open(from->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !path)
		die("there is no " RECORDING_DEFAULT " here: 'mctrace record' makes one");
	if (fd < 0)
		die_errno("%s", from->path);
	return fd;
}

static void map(struct recording *from, int fd, uint64_t size)
{
	char head[sizeof(struct recording_header)];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	/* Check before mmap(), because a file that can't be mapped can be read, too. */
	if (n > 0)
		recording_check_header(from->path, head, n);
	from->size = size;
	from->mapped = size;
	from->data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (from->data == MAP_FAILED)
		die_errno("mapping %s", from->path);
}

/*
 * Read the header of last_boot/trace, which describes the boot, if it is in the folder of the raw
 * file.
 */
static void find_origin(struct recording *from)
{
	char *trace = xasprintf("%.*strace", (int)(strlen(from->path) - strlen("raw")), from->path);
	FILE *file = fopen(trace, "r");
	char *line = NULL, *before;
	size_t room = 0;

	free(trace);
	while (file && getline(&line, &room, file) > 0 && !strncmp(line, "# ", 2)) {
		if (!from->origin && strncmp(line, "# kernel: ", 10))
			break;
		replace_controls(line, "\n\t");
		before = from->origin;
		from->origin = xasprintf("%s%s", before ?: "", line);
		free(before);
	}
	free(line);
	if (file)
		fclose(file);
}

/* Find the same lines in a recording that 'mctrace export' has made of a raw file. */
static void find_origin_lines(struct recording *from)
{
	static const char key[] = "origin ";
	const char *line = from->info;
	struct buffer lines = { };
	size_t length;

	for (; line && *line; line += length + (line[length] == '\n')) {
		length = strcspn(line, "\n");
		if (strncmp(line, key, strlen(key)))
			continue;
		buffer_puts(&lines, "# ");
		buffer_put(&lines, line + strlen(key), length - strlen(key));
		buffer_char(&lines, '\n');
	}
	if (lines.length) {
		buffer_char(&lines, '\0');
		from->origin = lines.data;
	}
}

/* Map one CPU's ring, if the file is a raw file in debugfs. Return false if it is another file. */
static bool take_ring(struct recording *from, int fd, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_size || !from->is_live)
		return false;
	return recording_map_ring(from, fd);
}

/* Describe the rings of the running kernel. */
static void describe_running(struct recording *from)
{
	char reason[TRACER_REASON], *id = build_id();
	bool frozen = tracer_frozen(reason);

	from->origin = xasprintf("# kernel: this one, %s\n%s%s%s", id, frozen ? "# frozen: " : "",
				 frozen ? reason : "", frozen ? "\n" : "");
	free(id);
}

/* Take the rings of all CPUs from the tracer's folder in debugfs, @fd, or from a copy. */
static void take_folder(struct recording *from, int fd)
{
	if (!recording_map_rings(from, fd))
		die("%s is a folder, no recording", from->path);
	if (from->is_live)
		describe_running(from);
}

static void find_all(struct recording *from)
{
	const char *name = strrchr(from->path, '/');
	enum raw_kind kind;

	recording_check_header(from->path, from->data, from->size);
	kind = raw_kind(from->data, from->size);
	if (kind == RAW_NONE) {
		recording_find_chunks(from);
		find_origin_lines(from);
		return;
	}
	recording_find_rings(from, kind);
	if (!strcmp(name ? name + 1 : from->path, "raw"))
		find_origin(from);
}

/* Return true if the file belongs to the running kernel. */
static bool is_in_debugfs(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == DEBUGFS_MAGIC;
}

struct recording *recording_open(const char *path)
{
	struct recording *from = xcalloc(1, sizeof(*from));
	struct stat st;
	int fd, given;

	from->fd = -1;
	fd = open_path(from, path);
	given = fd;
	if (fstat(fd, &st))
		die_errno("%s", from->path);
	output_add_input(&st);
	from->is_live = is_in_debugfs(fd);
	if (S_ISDIR(st.st_mode))
		take_folder(from, fd);
	if (S_ISDIR(st.st_mode) || take_ring(from, fd, &st)) {
		close(fd);
		return from;
	}
	if (!S_ISREG(st.st_mode) || !st.st_size) {	/* the kernel's files have size 0 */
		fd = spool(fd, from->path);
		if (fstat(fd, &st))
			die_errno("a temporary file");
	}
	map(from, fd, st.st_size);
	if (fd != given)
		close(fd);
	if (given != STDIN_FILENO)
		close(given);
	find_all(from);
	return from;
}
