// SPDX-License-Identifier: GPL-2.0
/* mctrace stream: print events as they come, until Ctrl-C. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "mctrace.h"
#include "session.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

static const char help[] =
"Prints the kernel's function calls as they come, until Ctrl-C.\n";

static volatile sig_atomic_t enough;

static void on_signal(int sig)
{
	(void)sig;
	enough = 1;
}

/* Exclude mctrace from recording: each line that it prints would cause more lines. */
static void leave_out_oneself(void)
{
	const pid_t own[] = { getpid(), session_keeper() };
	bool left_out = setup_leave_out(own, ARRAY_SIZE(own));

	if (!left_out)
		warning("this kernel records mctrace, too: limit it by --pid or --func");
	else if (isatty(STDOUT_FILENO) && !setup_asked.filter && !setup_asked.pids)
		warning("all is recorded, also the terminal's work: limit it by --pid or --func");
}

int cmd_stream(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t before;

	setup_block_signals(&before);	/* delivered only while waiting */
	setup_from(argc, argv, setup_options, help);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN)		/* nohup's stays */
		sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	setup_pause();
	leave_out_oneself();
	tracer_write("tracing_on", "1");
	tracer_show("trace_pipe", &enough, &before);
	tracer_write("ctrl", "0");
	return session_restore() ? EXIT_SUCCESS : EXIT_FAILURE;
}
