// SPDX-License-Identifier: GPL-2.0
/* What all commands that show a recording do first and last. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "mctrace.h"
#include "util.h"
#include "view.h"

static const char *input;	/* of --input */

void view_option(struct view *view, int letter, const char *argument, const char *command,
		 const char *usage, const char *help)
{
	switch (letter) {
	case VIEW_JSON:
		view->json = true;
		break;
	case VIEW_COLOR:
		view->color_when = argument;
		if (strcmp(argument, "yes") && strcmp(argument, "no") && strcmp(argument, "auto"))
			die_usage(command, "--color is yes, no or auto");
		break;
	case VIEW_NO_PAGER:
		view->no_pager = true;
		break;
	case VIEW_TASK:
		view->task = argument;
		break;
	case 'i':
		input = argument;
		break;
	case 'h':
		show_help(usage, help);
	}
}

/* On a terminal: $PAGER, or less, if it is there; it takes what is printed from now on. */
static pid_t start_pager(void)
{
	const char *pager = getenv("PAGER") ?: "less";
	int ends[2];
	pid_t pid;

	if (!*pager || !strcmp(pager, "cat") || pipe(ends))
		return 0;
	pid = fork();
	if (pid < 0)
		return 0;
	if (!pid) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		setenv("LESS", "FRSX", 0);	/* not for what fits a screen; with colours */
		execl("/bin/sh", "sh", "-c", pager, NULL);
		_exit(127);
	}
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static bool is_there(const char *program)
{
	char *path = xstrdup(getenv("PATH") ?: "/usr/bin:/bin"), *dir, *saved, *file;
	bool found = false;

	for (dir = strtok_r(path, ":", &saved); dir && !found; dir = strtok_r(NULL, ":", &saved)) {
		file = xasprintf("%s/%s", dir, program);
		found = !access(file, X_OK);
		free(file);
	}
	free(path);
	return found;
}

/* Whatever becomes of a command: what is wrong with its recording is said. */
static char *damage;

static void say_damage(void)
{
	if (damage)
		warning("%s; what is before was shown", damage);
	free(damage);
	damage = NULL;
}

/* A pager is waited for, also by who ends early: it has the terminal. */
static pid_t pager;

static void end_pager(void)
{
	if (!pager)
		return;
	fclose(stdout);
	waitpid(pager, NULL, 0);
	pager = 0;
}

static struct {
	struct timespec began;
	bool shown;
} progress;

static void end_progress(void)
{
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.shown = false;
}

/* Not where the output itself goes by. */
void view_progress(const struct view *view, double done)
{
	if (view->pager || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO) ||
	    seconds_since(&progress.began) < 1)
		return;
	fprintf(stderr, "\r%s: %.0f %%\033[K", view->from->path, 100 * done);
	progress.shown = true;
}

void view_begin(struct view *view, struct recording *from)
{
	bool terminal = isatty(STDOUT_FILENO);

	view->from = from;
	if (view->from->damage && !damage) {
		damage = xstrdup(view->from->damage);
		atexit(say_damage);
	}
	view->symbols = symbols_of(view->from);
	view->color = view->color_when && strcmp(view->color_when, "auto") ?
		      !strcmp(view->color_when, "yes") : terminal && !getenv("NO_COLOR");
	if (terminal && !view->no_pager && (getenv("PAGER") || is_there("less")))
		view->pager = start_pager();
	if (view->pager) {
		pager = view->pager;
		atexit(end_pager);
	}
	atexit(end_progress);
	clock_gettime(CLOCK_MONOTONIC, &progress.began);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}

void view_open(struct view *view, const char *file)
{
	view_begin(view, recording_open(file ?: input));
}

void view_heading(const struct view *view, const char *text)
{
	printf("%s%s%s\n", view->color ? "\033[1m" : "", text, view->color ? "\033[m" : "");
}

/* What is said holds for what was recorded. */
static void say_missing(const struct view *view)
{
	unsigned long long written = recording_number(view->from, "written");
	unsigned long long seen = recording_number(view->from, "seen");
	unsigned long long lost = recording_number(view->from, "lost");

	if (view->counted || !recording_info(view->from, "seen") || written <= seen ||
	    written - seen < lost)
		return;
	warning("of %llu calls and returns %llu were overwritten and %llu lost: try --buffer-size",
		written, written - seen - lost, lost);
}

int view_close(struct view *view)
{
	int ret = EXIT_SUCCESS;

	end_progress();
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		warning("standard output: %s", strerror(errno));
		ret = EXIT_FAILURE;
	}
	if (view->pager)
		end_pager();
	say_missing(view);
	if (view->from->damage) {
		say_damage();
		ret = EXIT_FAILURE;
	}
	symbols_free(view->symbols);
	recording_close(view->from);
	return ret;
}

/* A name that nothing in the recording has is a slip of the pen, or was not recorded. */
void check_function(const struct view *view, const char *name)
{
	unsigned int changes, least = ~0U;
	const char *other, *meant = NULL;
	size_t i;

	for (i = 0; i < symbols_functions(view->symbols); i++) {
		other = symbols_name(view->symbols, i);
		if (is_named(other, name))
			return;
		changes = changes_between(name, other);
		if (changes < least && is_slip(changes, other)) {
			least = changes;
			meant = other;
		}
	}
	die("%s was not called in %s%s%s", name, view->from->path, meant ? ": did you mean " : "",
	    meant ?: "");
}

bool view_shows(const struct view *view, const struct task_calls *task)
{
	const char *wanted = view->task;

	if (!wanted)
		return true;
	if (*wanted && !wanted[strspn(wanted, "0123456789")])
		return (uint32_t)atoi(wanted) == task->pid || (uint32_t)atoi(wanted) == task->tgid;
	return !strcmp(wanted, task->comm);
}
