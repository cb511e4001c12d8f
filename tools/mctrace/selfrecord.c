// SPDX-License-Identifier: GPL-2.0
/* Run "mctrace record" in a child process for commands that record and show at once. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "selfrecord.h"
#include "setup.h"
#include "util.h"

#define NAP_NS	20000000	/* between two looks for the recording */

static volatile pid_t recorder_pid;
static const char *temporary;	/* the recording, until unlink_recorded() */
static pid_t creator;

static void remove_temporary(void)
{
	if (temporary && getpid() == creator)
		unlink(temporary);
}

/*
 * Pass the signal on: the recorder ends first, and then this process. A signal some seconds later
 * ends this process at once, such as when nobody reads its output. timeout(1) sends two signals at
 * once.
 */
static void forward(int sig, siginfo_t *info, void *context __attribute__((unused)))
{
	const int error = errno;
	static time_t first;

	if (first && time(NULL) > first + 1) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	if (!first)
		first = time(NULL);
	if (info->si_code != SI_KERNEL)	/* a terminal sends it to both */
		kill(recorder_pid, sig);
	errno = error;
}

static size_t count_words(const char * const *words)
{
	size_t nr = 0;

	while (words[nr])
		nr++;
	return nr;
}

static void run_record(const char *path, const char * const *options, char **command)
{
	const char *parent = xasprintf("%d", creator);
	const char * const first[] = {
		"mctrace", "record", "-q", "-o", path, "--parent", parent,
	};
	const char **argv;
	size_t n;

	n = ARRAY_SIZE(first) + count_words(options) + 1;
	n += command ? count_words((const char * const *)command) : 0;
	argv = xcalloc(n + 1, sizeof(*argv));
	for (n = 0; n < ARRAY_SIZE(first); n++)
		argv[n] = first[n];
	while (*options)
		argv[n++] = *options++;
	argv[n++] = "--";
	while (command && *command)
		argv[n++] = *command++;
	execv("/proc/self/exe", (char **)argv);
	die_errno("/proc/self/exe");
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static bool handled[ARRAY_SIZE(signals)];

static sigset_t before;		/* the signal mask */

void recorder_expect_signals(void)
{
	setup_block_ignored(&before);
}

/* Pass signals on from now on, but leave SIGHUP alone if it is ignored, as under nohup. */
static void handle_signals(void)
{
	const struct sigaction action = {
		.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		handled[i] = signals[i] != SIGHUP || sigaction(SIGHUP, NULL, &old) ||
			     old.sa_handler != SIG_IGN;
		if (handled[i])
			sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/*
 * Fork a recorder that writes recorder->path. Return the descriptor of the empty file with that
 * name: record_now() needs it to see whether the recording has replaced the file.
 */
static int begin(struct recorder *recorder, const char * const *options, char **command)
{
	pid_t pid = getpid();
	int fd;

	recorder_expect_signals();
	recorder->path = xasprintf("%s/mctrace-XXXXXX", temporary_folder());
	fd = mkstemp(recorder->path);
	if (fd < 0)
		die_errno("%s", recorder->path);
	temporary = recorder->path;
	creator = pid;
	atexit(remove_temporary);
	fflush(stdout);
	recorder->pid = fork();
	if (recorder->pid < 0)
		die_errno("a process that records");
	if (!recorder->pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != pid) {
			unlink(recorder->path);
			die("the process that wanted this recording is gone");
		}
		run_record(recorder->path, options, command);
	}
	recorder_pid = recorder->pid;
	handle_signals();
	return fd;
}

static void ended(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (handled[i])
			signal(signals[i], SIG_DFL);
}

static bool has_ended(struct recorder *recorder)
{
	if (waitpid(recorder->pid, &recorder->status, WNOHANG) != recorder->pid)
		return false;
	recorder->pid = 0;
	ended();
	return true;
}

void unlink_recorded(const char *path)
{
	unlink(path);
	temporary = NULL;
}

/*
 * Open the recording, which has replaced the @empty file when it begins, and remove its name at
 * once: then nothing of it is left whatever ends mctrace. Return its descriptor; -1 if the recorder
 * has ended before.
 */
static int open_begun(struct recorder *recorder, int empty)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	struct stat old, new;
	bool over;
	int fd;

	if (fstat(empty, &old))
		return -1;
	do {
		over = has_ended(recorder);
		fd = open(recorder->path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && !fstat(fd, &new) && new.st_ino != old.st_ino) {
			unlink_recorded(recorder->path);
			return fd;
		}
		if (fd >= 0)
			close(fd);
		nanosleep(&nap, NULL);
	} while (!over);
	return -1;
}

char *record_now(const char * const *options, char **command)
{
	struct recorder recorder = { };
	int empty = begin(&recorder, options, command);
	int fd = open_begun(&recorder, empty);

	while (recorder.pid && waitpid(recorder.pid, &recorder.status, 0) < 0 && errno == EINTR)
		;
	ended();
	if (fd < 0)
		recorder_failed(&recorder);
	close(empty);
	free(recorder.path);
	return xasprintf("/proc/self/fd/%d", fd);
}

void recorder_begin(struct recorder *recorder, const char * const *options, char **command)
{
	close(begin(recorder, options, command));
}

bool recorder_has_ended(struct recorder *recorder, unsigned int ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	if (!recorder->pid)
		return true;
	nanosleep(&time, NULL);
	return has_ended(recorder);
}

int recorder_status(const struct recorder *recorder)
{
	if (WIFSIGNALED(recorder->status))
		return 128 + WTERMSIG(recorder->status);
	return WEXITSTATUS(recorder->status);
}

void recorder_failed(const struct recorder *recorder)
{
	exit(recorder_status(recorder) ?: EXIT_FAILURE);
}
