// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace record: sets the tracer up, has the rings followed into a file while a command runs
 * or until it is interrupted, and sets all back.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compress.h"
#include "follow.h"
#include "kallsyms.h"
#include "mctrace.h"
#include "session.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

static const char help[] =
"Records what the kernel calls into a file, while COMMAND runs, or until Ctrl-C.\n"
"\n"
"  -o, --output FILE     the file (" RECORDING_DEFAULT "); '-': a pipe\n"
SETUP_HELP
"  -a, --all             with COMMAND: also what others do meanwhile\n"
"      --seconds N       end after so many seconds\n"
"      --compress zstd   a smaller file, for more time of the processor\n"
"  -q, --quiet           say nothing while it goes on, nor at its end\n";

enum { COMPRESS = 256, SECONDS };	/* no letters */

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	SETUP_OPTIONS,
	{ "all", no_argument, NULL, 'a' },
	{ "seconds", required_argument, NULL, SECONDS },
	{ "compress", required_argument, NULL, COMPRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

struct record {
	const char *output;
	bool all, quiet, compress;
	unsigned long seconds;	/* 0: any number */
	char **command;
	pid_t child;		/* 0: none, or it has ended */
	int status;		/* its */
	int go;			/* closed: the child may go on */
	sigset_t before;	/* what signals were blocked */
	int signal;		/* that has ended it */
	struct follower follower;
	bool followed;		/* the follower is there */
	bool shown;		/* there is a line that says how far it is */
	struct timespec began;
};

static void parse(struct record *record, struct setup *setup, int argc, char **argv)
{
	int c;

	record->output = RECORDING_DEFAULT;
	while ((c = next_option(argc, argv, "+o:" SETUP_LETTERS "aqh", options)) != -1) {
		switch (c) {
		case 'o':
			record->output = optarg;
			break;
		case 'a':
			record->all = true;
			break;
		case COMPRESS:
			if (strcmp(optarg, "zstd") && strcmp(optarg, "none"))
				die_usage("record", "--compress knows zstd and none");
			record->compress = !strcmp(optarg, "zstd");
			break;
		case SECONDS:
			record->seconds = option_number("record", "--seconds", optarg);
			break;
		case 'q':
			record->quiet = true;
			break;
		case 'h':
			show_help("record [OPTION...] [COMMAND [ARGUMENT...]]", help);
		default:
			setup_option(setup, c, optarg);
		}
	}
	if (optind < argc)
		record->command = argv + optind;
	if (record->all && !record->command)
		die_usage("record", "--all is for a COMMAND: without one all is recorded");
	if (record->command && setup_has_pids(setup))
		die_usage("record", "either --pid or a COMMAND: its own pid is recorded");
}

/* It waits to be let go, and is recorded from its exec() on. */
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
		sigprocmask(SIG_SETMASK, &record->before, NULL);
		if (!strcmp(record->output, "-"))	/* that is the recording's */
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(record->command[0], record->command);
		warning("%s: %s", record->command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(go[0]);
	record->go = go[1];
}

/* What the kernel has counted since the clear: calls written and lost, of all CPUs. */
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

/* What ends it ends the command, too; but a terminal tells both. */
static void take_signal(struct record *record, const siginfo_t *info)
{
	record->signal = info->si_signo;
	if (record->child && info->si_code != SI_KERNEL)
		kill(record->child, info->si_signo);
}

/* At most a second, and not longer than is asked for; false if that is over. */
static bool next_nap(const struct record *record, struct timespec *nap)
{
	double left = record->seconds ? record->seconds - seconds_since(&record->began) : 1;

	*nap = (struct timespec) { .tv_sec = left >= 1 };
	if (left < 1 && left > 0)
		nap->tv_nsec = left * 1e9;
	return left > 0;
}

/* Until there is a reason to stop. Signals are blocked and waited for. */
static void wait_for_end(struct record *record, const sigset_t *signals)
{
	struct timespec nap;
	siginfo_t info;
	int sig, status;
	pid_t pid;

	for (;;) {
		if (!next_nap(record, &nap)) {
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

/* In hex, of the running kernel: the note of type 3 by GNU; "" if there is none. */
static char *build_id(void)
{
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	char notes[4096], *id = xcalloc(1, 2 * 64 + 1);
	ssize_t size = fd < 0 ? 0 : read(fd, notes, sizeof(notes)), at = 0;
	const unsigned char *byte;
	const Elf32_Nhdr *note;
	uint32_t i;

	if (fd >= 0)
		close(fd);
	while (size - at >= (ssize_t)sizeof(*note)) {
		note = (const Elf32_Nhdr *)(notes + at);
		at += sizeof(*note);
		byte = (const unsigned char *)notes + at + ((note->n_namesz + 3) & ~3U);
		if (note->n_namesz > sizeof(notes) || note->n_descsz > 64 ||
		    byte + note->n_descsz > (const unsigned char *)notes + size)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4)) {
			for (i = 0; i < note->n_descsz; i++)
				sprintf(id + 2 * i, "%02x", byte[i]);
			break;
		}
		at = (const char *)byte - notes + ((note->n_descsz + 3) & ~3U);
	}
	return id;
}

/* What a reader of the recording wants to know. */
static char *info_before(const struct setup *setup)
{
	char *options = tracer_read("options"), *mode, *info, *c, *id = build_id();
	struct utsname name;

	uname(&name);
	for (c = options; *c; c++)
		if (*c == '\n')
			*c = ' ';
	mode = tracer_has("mode") ? tracer_read("mode") : xstrdup("function\n");
	info = xasprintf("release %s\nversion %s\nbuild_id %s\nmachine %s\nhost %s\ncpus %ld\n"
			 "chosen %d\nstrings %d\noptions %s\nmode %s", name.release,
			 name.version, id, name.machine, name.nodename,
			 sysconf(_SC_NPROCESSORS_CONF), setup->filter || setup->notrace,
			 setup->strings, options, mode);
	free(options);
	free(mode);
	free(id);
	return info;
}

/* It goes on alone; what would end mctrace does so now. */
static void wait_for_command(struct record *record)
{
	sigprocmask(SIG_SETMASK, &record->before, NULL);
	while (record->child && waitpid(record->child, &record->status, 0) < 0 && errno == EINTR)
		;
}

/* All that was set is set back, whatever happens. */
static int finish(struct record *record)
{
	uint64_t written, lost, seen;
	char *info;
	bool good;

	tracer_write("ctrl", "0");
	read_stats(&written, &lost);
	info = xasprintf("written %llu\nlost %llu\n", (unsigned long long)written,
			 (unsigned long long)lost);
	good = record->followed && follow_end(&record->follower, info);
	seen = record->follower.counts->seen;
	free(info);
	if (!session_restore())
		good = false;
	if (record->shown)
		fputs("\r\033[K", stderr);
	wait_for_command(record);
	if (!record->quiet)
		fprintf(stderr, "%llu written, %llu overwritten, %llu lost; %.1f MB in %s\n",
			(unsigned long long)written,
			(unsigned long long)(written > lost + seen ? written - lost - seen : 0),
			(unsigned long long)lost,
			record->follower.counts->bytes / 1e6, record->output);
	if (!good)
		return EXIT_FAILURE;
	if (record->command && record->signal)
		return 128 + record->signal;
	if (WIFSIGNALED(record->status))
		return 128 + WTERMSIG(record->status);
	return WEXITSTATUS(record->status);
}

int cmd_record(int argc, char **argv)
{
	struct record record = { };
	struct setup setup = { };
	struct compressor *compressor = NULL;
	struct recording_writer to;
	char *info, *symbols, *pids;
	sigset_t signals;

	parse(&record, &setup, argc, argv);
	if (record.compress) {
		compressor = compressor_new();
		if (!compressor)
			die("this mctrace was built without zstd: leave --compress out");
	}
	tracer_find();
	session_lock();
	setup_check_free();

	setup_block_signals(&record.before);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);	/* who began this may ignore it */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sigprocmask(SIG_BLOCK, NULL, &signals);

	setup_apply(&setup);
	symbols = kallsyms_read();
	recording_create(&to, record.output);
	info = info_before(&setup);
	recording_put_text(&to, RECORDING_INFO, info);
	to.compress = record.compress;
	recording_put_text_by(&to, compressor, RECORDING_SYMBOLS, symbols);
	compressor_free(compressor);
	if (record.command)
		start_child(&record);
	if (record.command && !record.all) {
		pids = xasprintf("%d children", record.child);
		session_set("pid", pids);
		free(pids);
	}
	setup_pause();
	follow_begin(&record.follower, &to, symbols);
	record.followed = true;
	clock_gettime(CLOCK_MONOTONIC, &record.began);
	tracer_write("tracing_on", "1");
	if (record.command && write(record.go, "", 1) != 1)
		die_errno("%s", record.command[0]);
	wait_for_end(&record, &signals);
	free(info);
	free(symbols);
	return finish(&record);
}
