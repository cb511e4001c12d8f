// SPDX-License-Identifier: GPL-2.0
/* The file that a command writes: see output.h. */
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

static bool is_recording(const char *path)
{
	char magic[sizeof(RECORDING_MAGIC) - 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool found = fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
		     !memcmp(magic, RECORDING_MAGIC, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return found;
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

	if (!path || !strcmp(path, "-"))
		return stdout;
	exists = !stat(path, &old);
	if (exists && S_ISREG(old.st_mode) && is_recording(path))
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
	if (fd < 0 || fchmod(fd, exists ? old.st_mode & 0777 : new_mode()))
		die_errno("%s", path);
	output.file = fdopen(fd, "w");
	if (!output.file)
		die_errno("%s", path);
	return output.file;
}

void output_close(FILE *file, const char *path)
{
	bool failed = fflush(file) || ferror(file);

	if (file == stdout)
		return;
	if (fclose(file) || failed)
		die_errno("%s", path);
	if (!output.path)
		return;
	if (!unfinished_name(output.path))
		die_errno("%s", path);
	free(output.path);
	output.path = NULL;
}
