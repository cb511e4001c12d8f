// SPDX-License-Identifier: GPL-2.0
/* Recording what is shown at once: by a process of its own, as if it had been typed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selfrecord.h"
#include "util.h"

#define MAX_ARGUMENTS	4096

static void run_record(const char *path, const char * const *options, char **command)
{
	const char *argv[MAX_ARGUMENTS] = { "mctrace", "record", "-q", "-o", path };
	int n = 5;

	while (*options)
		argv[n++] = *options++;
	argv[n++] = "--";
	while (command && *command && n < MAX_ARGUMENTS - 1)
		argv[n++] = *command++;
	if (command && *command)
		die("the command has more than %d arguments", MAX_ARGUMENTS);
	argv[n] = NULL;
	execv("/proc/self/exe", (char **)argv);
	die_errno("/proc/self/exe");
}

char *record_now(const char * const *options, char **command)
{
	char *path = xasprintf("%s/mctrace-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	int fd = mkstemp(path), status;
	struct stat st;
	pid_t pid;

	if (fd < 0)
		die_errno("%s", path);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die_errno("a process that records");
	if (!pid)
		run_record(path, options, command);
	signal(SIGINT, SIG_IGN);	/* that is for it to end by */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	if (fstat(fd, &st) || stat(path, &st) || !st.st_size) {
		unlink(path);			/* it has said why */
		exit(EXIT_FAILURE);
	}
	close(fd);
	return path;
}

void unlink_recorded(const char *path)
{
	unlink(path);
}
