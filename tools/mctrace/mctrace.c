// SPDX-License-Identifier: GPL-2.0
/* The main program of mctrace, the command line of mctracer: find the command and run it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compress.h"
#include "gzip.h"
#include "lines.h"
#include "mctrace.h"
#include "packet.h"
#include "prototypes.h"
#include "util.h"

#ifndef VERSION
#define VERSION	"unknown"
#endif

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "record",	cmd_record,	"record what the kernel calls into a file" },
	{ "report",	cmd_report,	"print a recording" },
	{ "profile",	cmd_profile,	"how often functions were called, and how long that took" },
	{ "graph",	cmd_graph,	"the callees and callers of a function" },
	{ "latency",	cmd_latency,	"how long a function's calls took: a histogram" },
	{ "slow",	cmd_slow,	"what a function's slowest calls did that others did not" },
	{ "diff",	cmd_diff,	"where two recordings differ" },
	{ "why",	cmd_why,	"which function first returned an error" },
	{ "flame",	cmd_flame,	"a flame graph" },
	{ "packet",	cmd_packet,	"what happened to packets on their way" },
	{ "object",	cmd_object,	"what happened to other objects: bios, files, inodes" },
	{ "export",	cmd_export,	"convert a recording for another program" },
	{ "stat",	cmd_stat,	"the tracer's settings and counters" },
	{ "list",	cmd_list,	"the functions that can be traced" },
	{ "stream",	cmd_stream,	"print events as they come" },
	{ "show",	cmd_show,	"print the kernel's rings" },
	{ "start",	cmd_start,	"trace into the kernel's rings" },
	{ "stop",	cmd_stop,	"stop tracing into the kernel's rings" },
	{ "reset",	cmd_reset,	"reset all settings, and empty the rings" },
	{ "snapshot",	cmd_snapshot,	"take, print or drop a copy of the rings" },
};

/* Commands of other tools, and the mctrace command to use instead. */
static const struct {
	const char *name, *instead;
} others[] = {
	{ "replay",	"'mctrace report --tree' prints nested calls" },
	{ "dump",	"'mctrace report' prints a recording, 'mctrace export' converts it" },
	{ "info",	"the first lines of 'mctrace report' describe a recording" },
	{ "script",	"'mctrace report' prints events, with --json for programs" },
	{ "clear",	"'mctrace reset' resets all settings, and empties the rings" },
	{ "top",	"'mctrace profile' sums up a recording" },
	{ "extract",	"'mctrace report' reads the kernel's file raw" },
};

static void show_commands(FILE *to)
{
	size_t i;

	fputs("usage: mctrace COMMAND [OPTION...]\n\n", to);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
	fputs("\n'mctrace COMMAND --help' describes each command.\n", to);
}

static void show_version(void)
{
	puts("mctrace " VERSION);
	puts(compress_library());
	puts(gzip_library());
	puts(lines_library());
	puts(prototypes_library());
	puts(packet_library());
}

/* Return the command that @name may have been meant for; NULL if there is none. */
static const char *command_meant(const char *name)
{
	struct guess guess = { .typed = name };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		guess_consider(&guess, commands[i].name);
	return guess.meant;
}

static const struct command *find_command(const char *name)
{
	const char *meant;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].name))
			die_usage(NULL, "there is no command '%s': %s", name, others[i].instead);
	meant = command_meant(name);
	die_usage(NULL, "there is no command '%s'%s%s%s", name, meant ? ": did you mean '" : "",
		  meant ?: "", meant ? "'?" : "");
}

static int help_of(const char *name)
{
	char *argv[3] = { xstrdup(name), "--help" };

	return find_command(name)->run(2, argv);
}

/*
 * Open /dev/null for each closed descriptor of 0 to 2; else a recording would get one of them, and
 * messages would be written into the recording. Use the wrong direction, so that reading standard
 * input or writing the others still fails.
 */
static void reserve_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *name = argv[1];

	reserve_standard_files();
	signal(SIGXFSZ, SIG_IGN);	/* the file size limit becomes an EFBIG error */
	if (!name) {
		show_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "help") && argc > 2)
		return help_of(argv[2]);
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		show_commands(stdout);
		return EXIT_SUCCESS;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
		show_version();
		return EXIT_SUCCESS;
	}
	return find_command(name)->run(argc - 1, argv + 1);
}
