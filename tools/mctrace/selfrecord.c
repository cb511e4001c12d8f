// SPDX-License-Identifier: GPL-2.0
/* Recording what is shown at once: by a process of its own, as if it had been typed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selfrecord.h"
#include "util.h"

#define MAX_ARGUMENTS	4096

static volatile pid_t recorder;

/* What is to end this is to end that, and then this. */
static void forward(int sig)
{
	kill(recorder, sig);
}

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
	static const int signals[] = { SIGTERM, SIGHUP, SIGQUIT };
	int fd = mkstemp(path), status;
	pid_t pid = getpid();
	struct stat st;
	size_t i;

	if (fd < 0)
		die_errno("%s", path);
	fflush(stdout);
	recorder = fork();
	if (recorder < 0)
		die_errno("a process that records");
	if (!recorder) {
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != pid)
			die("the process that wanted this recording is gone");
		run_record(path, options, command);
	}
	signal(SIGINT, SIG_IGN);	/* that is for it to end by */
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], forward);
	while (waitpid(recorder, &status, 0) < 0 && errno == EINTR)
		;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
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
