// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace record: set the tracer up, have follow.c copy the rings into a file while a command runs
 * or until a signal, and restore all settings.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "build_id.h"
#include "compress.h"
#include "follow.h"
#include "kallsyms.h"
#include "mctrace.h"
#include "output.h"
#include "session.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

#define QUICK_SECONDS	0.2	/* for the rest of the words, before settings are restored */
#define STALL_SECONDS	2	/* without a message */
#define GIVE_UP_SECONDS	1	/* for the end of the file, without the rest of the words */

static const char help[] =
"Records the kernel's function calls into a file while COMMAND runs, or until Ctrl-C.\n";

static struct {
	const char *output, *compress;
	unsigned long seconds, most, parent;
	bool all, quiet;
} asked = { .output = RECORDING_DEFAULT };

static const struct option options[] = {
	OPT_TEXT('o', "output", &asked.output, "FILE",
		 "the file (" RECORDING_DEFAULT "); '-': a pipe"),
	OPT_BOOLEAN('a', "all", &asked.all, "with COMMAND: also record all other processes"),
	OPT_COUNT(0, "seconds", &asked.seconds, "N", "end after N seconds, at least 1"),
	OPT_WORD(0, "compress", &asked.compress, "zstd|none",
		 "a smaller file, for more time of the processor"),
	OPT_BOOLEAN('q', "quiet", &asked.quiet, "print nothing while recording, nor at the end"),
	/* for packet.c: end if the file takes more KiB of the disk */
	OPT_CALL_HIDDEN(0, "most", &asked.most, option_take_number),
	/* for selfrecord.c: remove the file at the end if this parent has ended before */
	OPT_CALL_HIDDEN(0, "parent", &asked.parent, option_take_number),
	OPT_PARENT(setup_options)
};

struct record {
	int64_t missed;		/* tracer_returns_missed() at the beginning */
	const char *output;
	bool all, quiet, compress;
	unsigned long seconds;	/* 0: no limit */
	char **command;
	char *program;		/* the path of @command */
	pid_t child;		/* 0: no child, or it has ended */
	int status;		/* exit status of the child */
	int go;			/* a pipe: a byte starts the child */
	sigset_t before;	/* the signal mask before */
	int signal;		/* the signal that ended recording; 0: none */
	bool over;		/* --seconds have passed */
	struct follower follower;
	bool followed;		/* the follower runs */
	bool shown;		/* a progress line is on the terminal */
	struct timespec began;
};

static void parse(struct record *record, int argc, char **argv)
{
	argc = options_parse(argc, argv, options, "record [OPTION...] [COMMAND [ARGUMENT...]]",
			     help, OPTIONS_FIRST);
	record->output = asked.output;
	record->all = asked.all;
	record->compress = asked.compress && !strcmp(asked.compress, "zstd");
	record->seconds = asked.seconds;
	record->quiet = asked.quiet;
	if (argc > 1)
		record->command = argv + 1;
	if (record->all && setup_asked.pids)
		die_usage("record", "either --all or --pid");
	if (record->command && setup_asked.pids)
		die_usage("record", "either --pid or a COMMAND: its own pid is recorded");
}

static pid_t recorder;

/* Remove a temporary recording that nobody reads, because --parent was killed. */
static void remove_orphan(void)
{
	if (getpid() == recorder && getppid() != (pid_t)asked.parent)
		unlink(asked.output);
}

static void remove_orphan_by_signal(int sig)
{
	remove_orphan();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* The death of --parent sends SIGTERM, which ends mctrace at once until setup_block_signals(). */
static void remove_orphan_at_end(void)
{
	struct sigaction before;

	if (!asked.parent)
		return;
	recorder = getpid();
	atexit(remove_orphan);
	if (!sigaction(SIGTERM, NULL, &before) && before.sa_handler != SIG_IGN)
		signal(SIGTERM, remove_orphan_by_signal);
}

/* Return the path of the file that execvp() would run, or NULL and errno. The caller frees it. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH") ?: "/bin:/usr/bin", *end;
	int error = ENOENT;
	struct stat st;
	char *file;

	for (;; path = end + 1) {
		end = strchrnul(path, ':');
		if (strchr(name, '/') || !*name)
			file = xstrdup(name);
		else
			file = xasprintf("%.*s%s%s", (int)(end - path), path,
					 end > path ? "/" : "./", name);
		if (!access(file, X_OK) && !stat(file, &st)) {
			if (!S_ISDIR(st.st_mode))
				return file;
			errno = EACCES;
		}
		if (errno != ENOENT && errno != ENOTDIR)
			error = errno;
		free(file);
		if (!*end || strchr(name, '/') || !*name)
			break;
	}
	errno = error;
	return NULL;
}

/*
 * Find the command before anything is set or written, because a typo must not destroy a recording.
 * End mctrace if there is none.
 */
static void find_command(struct record *record)
{
	int error;

	if (!record->command)
		return;
	record->program = find_program(record->command[0]);
	if (record->program)
		return;
	error = errno;
	warning("%s: %s", record->command[0], strerror(error));
	if (setup_asked.graph && error == ENOENT && !record->quiet)
		warning("-g takes no function: 'mctrace record -g -l %s COMMAND'",
			record->command[0]);
	exit(error == ENOENT ? 127 : 126);
}

/* Fork the child. It waits for a byte in the pipe, and is recorded from its exec() on. */
static void start_child(struct record *record)
{
	int go[2];
	char c;

	if (pipe(go))
		die_errno("a pipe");
	record->child = fork();
	if (record->child < 0)
		die_errno("a process for %s", record->command[0]);
	if (!record->child) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(EXIT_FAILURE);
		close(go[0]);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		sigprocmask(SIG_SETMASK, &record->before, NULL);
		if (output_is_stdout(record->output))	/* standard output is the recording */
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(record->program, record->command);
		warning("%s: %s", record->command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(go[0]);
	record->go = go[1];
}

/* Read the kernel's counts since the last clear: calls written and lost, of all CPUs. */
static void read_stats(uint64_t *written, uint64_t *lost)
{
	char *stats = tracer_read("stats"), *line, *saved;
	unsigned long long w, l;

	*written = 0;
	*lost = 0;
	for (line = strtok_r(stats, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		if (sscanf(line, "%*u %*u %llu %*u %llu", &w, &l) == 2) {
			*written += w;
			*lost += l;
		}
	}
	free(stats);
}

static void show_progress(struct record *record)
{
	uint64_t written, lost;
	double seconds;

	if (record->quiet || !isatty(STDERR_FILENO))
		return;
	read_stats(&written, &lost);
	seconds = seconds_since(&record->began);
	fprintf(stderr, "\r%.0f s: %.0f events a second, %.1f MB, %llu lost\033[K", seconds,
		seconds > 0 ? written / seconds : 0, record->follower.counts->bytes / 1e6,
		(unsigned long long)lost);
	record->shown = true;
}

/* Pass a signal that ends recording on to the command; but a terminal sends its signals to both. */
static void take_signal(struct record *record, const siginfo_t *info)
{
	record->signal = info->si_signo;
	if (record->child && info->si_code != SI_KERNEL)
		kill(record->child, info->si_signo);
}

/* Set @nap to a second, or to the rest of --seconds. Return false if --seconds have passed. */
static bool next_nap(const struct record *record, struct timespec *nap)
{
	double left = record->seconds ? record->seconds - seconds_since(&record->began) : 1;

	*nap = (struct timespec) { .tv_sec = left >= 1 };
	if (left < 1 && left > 0)
		nap->tv_nsec = left * 1e9;
	return left > 0;
}

/* Wait for a reason to stop recording. @signals are blocked, and waited for here. */
static void wait_for_end(struct record *record, const sigset_t *signals)
{
	struct timespec nap;
	siginfo_t info;
	int sig, status;
	pid_t pid;

	for (;;) {
		if (!next_nap(record, &nap)) {
			record->over = true;
			if (record->child)
				kill(record->child, SIGTERM);
			return;
		}
		sig = sigtimedwait(signals, &info, &nap);
		if (sig < 0 && (errno == EAGAIN || errno == EINTR)) {
			show_progress(record);
			continue;
		}
		if (sig != SIGCHLD) {
			take_signal(record, &info);
			return;
		}
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == record->child) {
				record->child = 0;
				record->status = status;
				return;
			}
			if (pid == record->follower.pid) {
				record->followed = false;
				follow_ended(status);
				return;
			}
		}
	}
}

/* Return a copy of @text as one line; the caller frees it. */
static char *as_line(const char *text)
{
	char *line = xstrdup(text), *c;

	for (c = line; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return line;
}

/* Return the line "rules NAME", or "" without rules; the caller frees it. */
static char *rules_line(const struct setup *setup)
{
	char *name, *line;

	if (!setup->rules)
		return xstrdup("");
	name = as_line(setup->rules);
	line = xasprintf("rules %s\n", name);
	free(name);
	return line;
}

/* Return the line that names how the kernel sees returns; "" if no returns are recorded. */
static const char *returns_line(const struct setup *setup)
{
	if (!setup->graph)
		return "";
	return tracer_returns_missed() < 0 ? "returns sites\n" : "returns rethook\n";
}

/* Return the lines of RECORDING_INFO; the caller frees them. */
static char *info_before(const struct setup *setup)
{
	char *lines = tracer_read("options"), *options = as_line(lines), *mode, *info;
	char *id = build_id(), *rules = rules_line(setup);
	struct utsname name;
	struct timespec now;

	uname(&name);
	clock_gettime(CLOCK_REALTIME, &now);
	mode = tracer_has("mode") ? tracer_read("mode") : xstrdup("function\n");
	info = xasprintf("release %s\nversion %s\nbuild_id %s\nmachine %s\nhost %s\ncpus %ld\n"
			 "began %lld%09ld\nchosen %d\nstrings %d\n%s%soptions %s\nmode %s",
			 name.release, name.version, id, name.machine, name.nodename,
			 sysconf(_SC_NPROCESSORS_CONF), (long long)now.tv_sec, now.tv_nsec,
			 setup->filter || setup->notrace, setup->strings, returns_line(setup),
			 rules, options, mode);
	free(lines);
	free(rules);
	free(options);
	free(mode);
	free(id);
	return info;
}

/* Wait for the command, which continues unrecorded. Signals end mctrace from now on. */
static void wait_for_command(struct record *record)
{
	sigprocmask(SIG_SETMASK, &record->before, NULL);
	while (record->child && waitpid(record->child, &record->status, 0) < 0 && errno == EINTR)
		;
}

/* Print how many calls and returns the kernel wrote, and how many of them are not in the file. */
static void show_summary(const struct record *record, uint64_t written, uint64_t lost,
			 uint64_t missed, bool good)
{
	const struct follow_counts *counts = record->follower.counts;
	uint64_t left = written > lost + counts->seen ? written - lost - counts->seen : 0;

	if (record->quiet)
		return;
	fprintf(stderr, "%llu written, %llu %s, %llu lost; %.1f MB in %s\n",
		(unsigned long long)written, (unsigned long long)left,
		good ? "overwritten" : "not written to the file", (unsigned long long)lost,
		counts->bytes / 1e6, record->output);
	if (counts->own > counts->seen / 50)
		fprintf(stderr, "%llu of them are mctrace's own\n",
			(unsigned long long)counts->own);
	if (missed)
		fprintf(stderr, "%llu returns were missed\n", (unsigned long long)missed);
}

/*
 * Wait @seconds for the follower's end; 0: without limit. Return 0 if it has ended, and -1 if the
 * time has passed. If @end, also return a signal of @signals that comes.
 */
static int wait_for_follower(struct record *record, const sigset_t *signals, double seconds,
			     bool end)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	struct timespec began;
	int sig;

	clock_gettime(CLOCK_MONOTONIC, &began);
	while (!follow_has_ended(&record->follower)) {
		sig = sigtimedwait(signals, NULL, &nap);
		if (end && sig > 0 && sig != SIGCHLD)
			return sig;
		if (seconds && seconds_since(&began) > seconds)
			return -1;
	}
	return 0;
}

/*
 * End the follower because of the signal @sig, without the words that it has not copied yet. Return
 * false if the file is incomplete.
 */
static bool give_up(struct record *record, const sigset_t *signals, int sig)
{
	follow_hurry(&record->follower);
	if (wait_for_follower(record, signals, GIVE_UP_SECONDS, false)) {
		kill(record->follower.pid, SIGKILL);
		wait_for_follower(record, signals, STALL_SECONDS, false);
	} else if (!follow_was_good(&record->follower)) {
		return false;
	} else if (!record->follower.counts->given_up) {
		return true;
	}
	warning("signal %d (%s): the last calls were given up, so %s is incomplete", sig,
		strsignal(sig), record->output);
	return false;
}

/*
 * Let the follower complete the file. While the file's reader stalls, restore all settings but
 * those of the rings, and wait until a signal comes. A signal that comes within QUICK_SECONDS, such
 * as the second SIGTERM of timeout(1), is no reason to leave words out. Return false if the file is
 * incomplete.
 */
static bool end_follower(struct record *record, const char *info, const sigset_t *signals)
{
	int sig;

	follow_end(&record->follower, info);
	sig = wait_for_follower(record, signals, QUICK_SECONDS, false);
	if (sig) {
		session_restore_early();
		sig = wait_for_follower(record, signals, STALL_SECONDS, true);
	}
	if (sig < 0) {
		warning("%s takes the last calls slowly: another signal ends mctrace without them",
			record->output);
		sig = wait_for_follower(record, signals, 0, true);
	}
	if (sig)
		return give_up(record, signals, sig);
	return follow_was_good(&record->follower);
}

/* Stop recording, complete the file, and restore all settings. Return the exit status. */
static int finish(struct record *record, const sigset_t *signals)
{
	uint64_t written, lost, missed = 0, reused = 0;
	char *info, reason[TRACER_REASON];
	bool good, whole, frozen;

	tracer_write("ctrl", "0");
	read_stats(&written, &lost);
	if (record->missed >= 0)
		missed = tracer_returns_missed() - record->missed;
	if (setup_asked.rules || setup_asked.triggers)
		reused = tracer_objects_reused();
	frozen = tracer_frozen(reason);
	info = xasprintf("written %llu\nlost %llu\nmissed %llu\nreused %llu\n%s%s%s",
			 (unsigned long long)written, (unsigned long long)lost,
			 (unsigned long long)missed, (unsigned long long)reused,
			 frozen ? "frozen " : "", frozen ? reason : "", frozen ? "\n" : "");
	whole = record->followed && end_follower(record, info, signals);
	free(info);
	good = session_restore() && whole;
	if (record->shown)
		fputs("\r\033[K", stderr);
	wait_for_command(record);
	show_summary(record, written, lost, missed, whole);
	if (frozen)
		warning("nothing was recorded after the event (%s) that froze the rings", reason);
	if (!good)
		return EXIT_FAILURE;
	if (record->command && record->signal)
		return 128 + record->signal;
	if (record->over && WIFSIGNALED(record->status) && WTERMSIG(record->status) == SIGTERM)
		return EXIT_SUCCESS;	/* ended by --seconds */
	if (WIFSIGNALED(record->status))
		return 128 + WTERMSIG(record->status);
	return WEXITSTATUS(record->status);
}

/*
 * Exclude mctrace itself if all processes are recorded. Older kernels can't: they have no "not
 * PID". If only calls with followed objects are recorded do not: an object may need a call of an
 * interrupt that arrives while mctrace runs, and objects.c knows objects that only mctrace used.
 */
static void leave_out_oneself(const struct record *record)
{
	const pid_t own[] = { getpid(), record->follower.pid, session_keeper() };

	if ((record->command && !record->all) || setup_asked.rules)
		return;
	if (setup_leave_out(own, ARRAY_SIZE(own)) || record->quiet)
		return;
	if (errno == EINVAL)
		warning("this kernel can't leave mctrace's own calls out");
	else
		warning("mctrace's own calls can't be left out: %s", strerror(errno));
}

int cmd_record(int argc, char **argv)
{
	struct record record = { };
	struct compressor *compressor = NULL;
	struct recording_writer to;
	char *info, *symbols, *pids;
	int64_t modules;
	sigset_t signals, wake;

	setup_block_ignored(&record.before);
	parse(&record, argc, argv);
	remove_orphan_at_end();
	if (record.compress) {
		compressor = compressor_new();
		if (!compressor)
			die("this mctrace was built without zstd: leave --compress out");
	}
	find_command(&record);
	tracer_find();
	session_lock();
	setup_check_free();

	setup_block_signals(&wake);	/* @wake keeps ignored signals, which wake nothing */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);	/* the parent may have ignored it */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sigprocmask(SIG_BLOCK, NULL, &signals);

	session_begin();
	symbols = kallsyms_read_at(&modules);
	recording_create(&to, record.output, &wake);
	setup_apply(&setup_asked);
	info = info_before(&setup_asked);
	recording_put_text(&to, RECORDING_INFO, info);
	to.compress = record.compress;
	to.most = 1024ULL * asked.most;
	recording_put_text_by(&to, compressor, RECORDING_SYMBOLS, symbols);
	recording_put_modules(&to, modules);
	compressor_free(compressor);
	if (record.command)
		start_child(&record);
	if (record.command && !record.all) {
		pids = xasprintf("%d children", record.child);
		session_set("pid", pids);
		free(pids);
	}
	setup_pause();
	follow_begin(&record.follower, &to, symbols, modules);
	record.followed = true;
	leave_out_oneself(&record);
	recording_name(&to);
	record.missed = tracer_returns_missed();
	clock_gettime(CLOCK_MONOTONIC, &record.began);
	tracer_write("tracing_on", "1");
	/* After a signal the command does not start: it ends when nothing comes from the pipe. */
	if (record.command && signal_is_pending())
		close(record.go);
	else if (record.command && write(record.go, "", 1) != 1)
		die_errno("%s", record.command[0]);
	wait_for_end(&record, &signals);
	free(info);
	free(symbols);
	return finish(&record, &signals);
}
