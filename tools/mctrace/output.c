// SPDX-License-Identifier: GPL-2.0
/* The file that a command writes: see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "recording.h"
#include "unfinished.h"
#include "util.h"

static struct {
	FILE *file;
	char *path;		/* without symbolic links; NULL: no temporary name */
} output;

struct input {
	struct input *next;
	dev_t device;
	ino_t inode;
};

static struct input *inputs;

void output_add_input(const struct stat *st)
{
	struct input *input = xcalloc(1, sizeof(*input));

	input->device = st->st_dev;
	input->inode = st->st_ino;
	input->next = inputs;
	inputs = input;
}

static bool is_input(const struct stat *st)
{
	const struct input *input;

	for (input = inputs; input; input = input->next)
		if (input->device == st->st_dev && input->inode == st->st_ino)
			return true;
	return false;
}

bool output_is_stdout(const char *path)
{
	struct stat st, out;

	if (!strcmp(path, "-"))
		return true;
	return !stat(path, &st) && !S_ISCHR(st.st_mode) && !fstat(STDOUT_FILENO, &out) &&
	       st.st_dev == out.st_dev && st.st_ino == out.st_ino;
}

static bool is_mount_point(const char *path)
{
	struct statx st;

	return !statx(AT_FDCWD, path, 0, 0, &st) && st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

void output_check(const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		if (errno == ENOENT && !lstat(path, &st))
			die("%s is a symbolic link to a file that does not exist: name that file",
			    path);
		return;
	}
	if (is_input(&st) && !S_ISCHR(st.st_mode))
		die("%s is what this command reads, and stays: name another output", path);
	if (S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode))
		die("%s is a %s: name a file as the output", path,
		    S_ISBLK(st.st_mode) ? "disk" : "socket");
	if (S_ISREG(st.st_mode) && is_mount_point(path))
		die("%s is a mount point, which no file can replace: name another output", path);
}

/* Do not look at an empty file: reading the kernel's own raw files would consume their words. */
static bool is_recording(const char *path, const struct stat *st)
{
	char head[sizeof(struct recording_header)];
	int fd = st->st_size ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool found = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
		     recording_is_known(head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return found;
}

/*
 * Give the new file @fd the owner and the mode of the one that it will replace. Only root may give
 * a file away.
 */
static void copy_owner(int fd, const struct stat *old, const char *path)
{
	if (fchown(fd, old->st_uid, old->st_gid)) {
		if (errno != EPERM)
			die_errno("%s", path);
		die("%s belongs to somebody else: name another output", path);
	}
	if (fchmod(fd, old->st_mode & 0777))
		die_errno("%s", path);
}

static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

FILE *output_open(const char *path)
{
	struct stat old = { };
	bool exists;
	int fd;

	if (!path || output_is_stdout(path))
		return stdout;
	output_check(path);
	exists = !stat(path, &old);
	if (exists && S_ISREG(old.st_mode) && is_recording(path, &old))
		die("%s is a recording, and stays: name another output", path);
	if (exists && !S_ISREG(old.st_mode)) {
		output.file = fopen(path, "w");
		if (!output.file)
			die_errno("%s", path);
		return output.file;
	}
	output.path = exists ? realpath(path, NULL) : xstrdup(path);
	if (!output.path || (exists && access(path, W_OK)))
		die_errno("%s", path);
	fd = unfinished_file(output.path);
	if (fd < 0 || (!exists && fchmod(fd, new_mode())))
		die_errno("%s", path);
	if (exists)
		copy_owner(fd, &old, path);
	output.file = fdopen(fd, "w");
	if (!output.file)
		die_errno("%s", path);
	return output.file;
}

void output_close(FILE *file, const char *path)
{
	bool failed = fflush(file) || ferror(file);
	struct stat st;

	if (file == stdout)
		return;
	if (fclose(file) || failed)
		die_errno("%s", path);
	if (!output.path)
		return;
	if (!lstat(output.path, &st) && !S_ISREG(st.st_mode))
		die("%s is no file any more: it stays", path);
	if (!unfinished_name(output.path))
		die_errno("%s", path);
	free(output.path);
	output.path = NULL;
}
