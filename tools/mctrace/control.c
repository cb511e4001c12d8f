// SPDX-License-Identifier: GPL-2.0
/* mctrace start, stop, reset, show and snapshot: control the tracer by its files. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config.h"
#include "mctrace.h"
#include "options.h"
#include "session.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

/* Parse a command without arguments whose only option is --help. */
static void parse(int argc, char **argv, const char *help)
{
	argc = options_parse(argc, argv, common_options, argv[0], help, OPTIONS_ANYWHERE);
	if (argc > 1)
		die_usage(argv[0], "%s takes no argument", argv[0]);
	tracer_find();
}

static int take_config(const struct option *option, const char *path, int unset)
{
	(void)option;
	(void)unset;
	config_read(path, &setup_asked);
	return 0;
}

/* Tell systemd that the service is ready: see sd_notify(3). Do nothing outside of a service. */
static void notify_ready(void)
{
	static const char ready[] = "READY=1";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (!length || length >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, length);
	if (*path == '@')	/* an abstract name */
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, ready, strlen(ready), MSG_NOSIGNAL, (struct sockaddr *)&to,
			     offsetof(struct sockaddr_un, sun_path) + length) < 0)
		warning("the service manager can't be reached: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Wait for one of the blocked signals, and restore all settings. */
static int wait_and_restore(void)
{
	sigset_t signals;

	sigprocmask(SIG_BLOCK, NULL, &signals);
	notify_ready();
	while (sigwaitinfo(&signals, NULL) < 0 && errno == EINTR)
		;
	tracer_write("ctrl", "0");
	return session_restore() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_start(int argc, char **argv)
{
	static bool wait;
	static const struct option options[] = {
		OPT_CALL(0, "config", NULL, "FILE", "settings as in /etc/mctracer.conf",
			 take_config),
		OPT_BOOLEAN(0, "wait", &wait,
			    "until Ctrl-C or SIGTERM, and then restore all settings"),
		OPT_PARENT(setup_options)
	};
	sigset_t before;

	setup_block_signals(&before);	/* so that no signal leaves half of the settings */
	setup_from(argc, argv, options, "Traces into the kernel's rings until 'mctrace stop'.\n");
	config_apply();
	setup_switch_on();
	if (wait)
		return wait_and_restore();
	return session_keep() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_stop(int argc, char **argv)
{
	parse(argc, argv, "Stops tracing. The rings keep their calls for 'mctrace show'.\n");
	session_lock();
	tracer_write("ctrl", "0");
	return EXIT_SUCCESS;
}

static bool parse_reset(int argc, char **argv)
{
	static bool force;
	static const struct option options[] = {
		OPT_BOOLEAN(0, "force", &force,
			    "even if this loses the last calls before a crash"),
		OPT_PARENT(common_options)
	};

	argc = options_parse(argc, argv, options, "reset [--force]",
			     "Stops tracing, and resets all settings but the rings' size.\n",
			     OPTIONS_ANYWHERE);
	if (argc > 1)
		die_usage(argv[0], "%s takes no argument", argv[0]);
	tracer_find();
	return force;
}

int cmd_reset(int argc, char **argv)
{
	static const char * const lists[] = { "filter", "notrace", "pid", "triggers" };
	static const char * const off[] = { "notime", "nocontext", "nomax_stack", "overwrite",
		"nofreeze_on_warning", "nofreeze_on_hung_task",
		"nofreeze_on_soft_lockup", "nofreeze_on_hard_lockup" };
	bool force = parse_reset(argc, argv);
	unsigned int i;
	char *hook;

	session_lock();
	setup_check_frozen(force);
	tracer_write("ctrl", "0");
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		tracer_write(lists[i], "");
	for (i = 0; i < ARRAY_SIZE(off); i++)
		tracer_write("options", off[i]);
	if (tracer_has("mode"))
		tracer_write("mode", "function");
	tracer_write("snapshot", "0");
	tracer_write("max_stack", "0");
	if (tracer_has(TRACER_DUMP))
		tracer_write(TRACER_DUMP, "0");
	tracer_write("trace", "");
	tracer_write("tracing_on", "1");	/* this also thaws the rings */
	/* Switch function calls off only if no other hook uses them. */
	hook = tracer_others_hook();
	if (!hook)
		tracer_write(TRACER_SYSCTL, "0");
	free(hook);
	return EXIT_SUCCESS;
}

int cmd_show(int argc, char **argv)
{
	static bool pipe;
	static const struct option options[] = {
		OPT_BOOLEAN(0, "pipe", &pipe, "consume the calls, and wait for more"),
		OPT_INSTEAD('p', NULL, "-p is --pid in other commands: --pipe"),
		OPT_PARENT(common_options)
	};

	argc = options_parse(argc, argv, options, "show [--pipe]",
			     "Prints the calls in the kernel's rings.\n", OPTIONS_ANYWHERE);
	if (argc > 1)
		die_usage("show", "show takes no argument");
	tracer_find();
	tracer_show(pipe ? "trace_pipe" : "trace", NULL, NULL);
	return EXIT_SUCCESS;
}

int cmd_snapshot(int argc, char **argv)
{
	static bool take, drop;
	static const struct option options[] = {
		OPT_BOOLEAN(0, "take", &take, "take a frozen copy of the rings now"),
		OPT_BOOLEAN('f', "free", &drop, "free the copy"),
		OPT_INSTEAD('t', NULL, "-t is --times in other commands: --take"),
		OPT_PARENT(common_options)
	};

	argc = options_parse(argc, argv, options, "snapshot [--take | --free]",
			     "Prints the frozen copy of the rings that a trigger or --take took.\n",
			     OPTIONS_ANYWHERE);
	if (argc > 1 || (take && drop))
		die_usage("snapshot", "either --take or --free, and no argument");
	tracer_find();
	if (take || drop) {
		session_lock();		/* else a recording command could lose calls, or its copy */
		tracer_write("snapshot", take ? "1" : "0");
	} else {
		tracer_show("snapshot", NULL, NULL);
	}
	return EXIT_SUCCESS;
}
