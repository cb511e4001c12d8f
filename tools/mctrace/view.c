// SPDX-License-Identifier: GPL-2.0
/*
 * Open a recording, its symbols and the output, and close them: shared by all commands that show a
 * recording.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"
#include "kallsyms.h"
#include "mctrace.h"
#include "output.h"
#include "select.h"
#include "util.h"
#include "view.h"
#include "walk.h"

struct view_asked view_asked;

const struct option view_options[] = {
	OPT_GROUP("Options of all commands that show a recording:"),
	OPT_TEXT('i', "input", &view_asked.input, "FILE",
		 "the recording (" RECORDING_DEFAULT "); '-': standard input"),
	OPT_BOOLEAN(0, "json", &view_asked.json, "JSON Lines"),
	OPT_WORD(0, "color", &view_asked.color, "yes|no|auto",
		 "auto: on a terminal, unless NO_COLOR is set"),
	OPT_BOOLEAN(0, "no-pager", &view_asked.no_pager,
		    "no pager; the default on a terminal is $PAGER or less"),
	OPT_TEXT(0, "kallsyms", &view_asked.kallsyms, "FILE",
		 "symbols for the kernel's raw files: kallsyms, System.map or vmlinux"),
	OPT_PARENT(common_options)
};

/* Start $PAGER or less, and redirect standard output to it. Return its pid; 0 if there is none. */
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
		setenv("LESS", "FRSX", 0);	/* quit if it fits on a screen; pass colours */
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

/* What is wrong with the recordings: printed at exit, however the command ends. */
static char **damages;
static unsigned int nr_damages;

static void say_damage(void)
{
	unsigned int i;

	for (i = 0; i < nr_damages; i++) {
		warning("%s; the part before that was shown", damages[i]);
		free(damages[i]);
	}
	nr_damages = 0;
}

static void note_damage(const char *damage)
{
	damages = xrealloc(damages, nr_damages + 1, sizeof(*damages));
	damages[nr_damages++] = xstrdup(damage);
}

/* The pager's pid. Wait for it at exit, because it has the terminal. */
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

/* Print nothing if the output goes to the terminal, too. */
void view_progress(const struct view *view, double done)
{
	if (view->pager || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO) ||
	    seconds_since(&progress.began) < 1)
		return;
	fprintf(stderr, "\r%s: %.0f %%\033[K", view->from->path, 100 * done);
	progress.shown = true;
}

/*
 * Find names for the kernel's raw files, which have none. Refuse to guess, because a wrong name is
 * worse than none.
 */
static void find_names(struct recording *from)
{
	static const char other[] = "# kernel: another one";
	int64_t modules = -1;
	struct stat st;
	char *names;

	if (from->nr_symbols && view_asked.kallsyms)
		die("%s has its own names: --kallsyms is for the kernel's raw files", from->path);
	if (!from->is_raw)
		return;
	if (view_asked.kallsyms) {
		if (!stat(view_asked.kallsyms, &st))
			output_add_input(&st);
		recording_add_names(from, kallsyms_read_file(view_asked.kallsyms), -1);
		return;
	}
	if (from->origin && !strncmp(from->origin, other, strlen(other)))
		die("%s is of another kernel (%.*s): --kallsyms takes its System.map or vmlinux",
		    from->path, (int)strcspn(from->origin + 2, "\n"), from->origin + 2);
	if (!from->is_live && from->origin)
		die("%s is a copy: --kallsyms takes /proc/kallsyms of the boot that made it",
		    from->path);
	if (!from->is_live)
		warning("%s has no names of functions: the running kernel's are shown", from->path);
	names = from->is_own ? kallsyms_read_at(&modules) : kallsyms_read();
	recording_add_names(from, names, modules);
}

/* Make @from the recording that is shown. */
static void take_recording(struct view *view, struct recording *from)
{
	view->from = from;
	if (!view->several)
		view->title = from->path;
	if (from->damage)
		note_damage(from->damage);
	find_names(from);
	view->symbols = symbols_of(from, view->sums);
	view->select = select_new(view);
}

/* Let the output begin. */
static void begin_output(struct view *view)
{
	bool terminal = isatty(STDOUT_FILENO);

	view->json = view_asked.json;
	view->width = terminal_width();		/* before a pager takes its place */
	view->no_pager |= view_asked.no_pager;
	view->color = view_asked.color && strcmp(view_asked.color, "auto") ?
		      !strcmp(view_asked.color, "yes") : terminal && !getenv("NO_COLOR");
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

void view_begin(struct view *view, struct recording *from)
{
	atexit(say_damage);
	take_recording(view, from);
	begin_output(view);
}

static bool has_words(const struct recording *from)
{
	unsigned int cpu;

	for (cpu = 0; cpu < from->nr_cpus; cpu++)
		if (from->cpus[cpu].nr)
			return true;
	return from->damage;	/* the damage is printed */
}

static const char *why_empty(const struct recording *from)
{
	return recording_number(from, "chosen") ? "none of the selected functions was called" :
	       "nothing was recorded";
}

void view_open(struct view *view, const char *file)
{
	struct recording *from;

	if (file && view_asked.input && strcmp(file, view_asked.input))
		die_usage(option_command(), "one recording at a time: --input, or an argument");
	from = recording_open(file ?: view_asked.input);
	if (!has_words(from))		/* each answer would be empty */
		die("%s is empty: %s", from->path, why_empty(from));
	view_begin(view, from);
}

/* Close the recording. The output continues. */
static void put_away(struct view *view)
{
	struct recording *from = view->from;
	uint64_t written = recording_number(from, "written");
	uint64_t seen = recording_number(from, "seen");
	uint64_t lost = recording_number(from, "lost");
	const char *frozen = recording_info(from, "frozen");

	if (frozen)
		warning("nothing was recorded after an event (%s) that froze the rings", frozen);
	view->sum.missed += recording_number(from, "missed");
	if (from->ended && recording_info(from, "seen")) {
		view->sum.written += written;
		view->sum.seen += seen;
		view->sum.lost += lost;
	}
	if (from->damage) {
		say_damage();
		view->sum.damaged = true;
	}
	select_free(view->select);
	symbols_free(view->symbols);
	recording_close(from);
	view->from = NULL;
}

/*
 * End mctrace if only some recordings have returns, because the paths of the others differ. Only
 * warn of a raw file, because a CPU that was idle may have calls alone.
 */
static void check_mode(const struct recording *from, const char **with, const char **without)
{
	if (!recording_info(from, "mode"))
		return;
	if (from->is_raw && !has_returns(from)) {
		if (*with)
			warning("%s has no returns: its calls take no time", from->path);
		return;
	}
	*(has_returns(from) ? with : without) = from->path;
	if (*with && *without)
		die("%s has returns and %s has none: they can't be summed up", *with, *without);
}

static void take_each(struct view *view, char **files,
		      void (*take)(struct view *view, void *arg), void *arg)
{
	const char *with = NULL, *without = NULL;
	struct recording *from;
	unsigned int nr = 0;

	for (; *files; files++) {
		from = recording_open(*files);
		if (!has_words(from)) {
			warning("%s is empty: %s", from->path, why_empty(from));
			recording_close(from);
			continue;
		}
		check_mode(from, &with, &without);
		if (view->from)
			put_away(view);
		take_recording(view, from);
		take(view, arg);
		nr++;
	}
	if (!nr)
		die("all of %s are empty", view->title);
	free((char *)view->title);
	view->title = xasprintf("%u recording%s", nr, nr == 1 ? "" : "s");
	select_check(view->select);
}

void view_each(struct view *view, char **files, void (*take)(struct view *view, void *arg),
	       void *arg)
{
	unsigned int nr, inputs = 0;

	for (nr = 0; files[nr]; nr++)
		inputs += !strcmp(files[nr], "-");
	if (inputs > 1)
		die_usage(option_command(), "standard input is one recording");
	if (nr < 2) {
		view_open(view, files[0]);
		take(view, arg);
		return;
	}
	if (view_asked.input)
		die_usage(option_command(), "several recordings: without --input");
	atexit(say_damage);
	view->several = true;
	view->title = xasprintf("%u recordings", nr);
	view->sums = functions_new(true);
	view->check_later = true;
	begin_output(view);
	take_each(view, files, take, arg);
}

void view_heading(const struct view *view, const char *text)
{
	printf("%s%s%s\n", view->color ? "\033[1m" : "", text, view->color ? "\033[m" : "");
}

/* Warn if calls are missing: the output describes only the recorded calls. */
static void say_missing(const struct view *view)
{
	unsigned long long written = view->sum.written, seen = view->sum.seen;
	unsigned long long lost = view->sum.lost, missed = view->sum.missed;

	if (missed)
		warning("%llu returns were missed: such a call has no result and no duration",
			missed);
	if (view->counted || written <= seen || written - seen < lost)
		return;
	warning("of %llu calls and returns %llu were overwritten and %llu lost: try --buffer-size",
		written, written - seen - lost, lost);
}

int view_close(struct view *view)
{
	int ret;

	end_progress();
	ret = flush_output();
	if (view->pager)
		end_pager();
	put_away(view);
	say_missing(view);
	if (view->sum.damaged)
		ret = EXIT_FAILURE;
	if (view->several) {
		functions_free(view->sums);
		free((char *)view->title);
	}
	return ret;
}

static const char *module_of(const char *title)
{
	return strstr(title, " [") ?: "";
}

/*
 * End mctrace if nothing in the recording has this name: a typo, or a function that was not
 * recorded. Warn if it is a function of several modules.
 */
void check_function(const struct view *view, const char *name)
{
	const struct functions *met = symbols_sums(view->symbols);
	struct guess guess = { .typed = name };
	const char *other, *first = NULL;
	size_t i;

	for (i = 0; i < functions_nr(met); i++) {
		other = functions_title(met, i);
		if (is_named(other, name)) {
			if (first && strcmp(module_of(first), module_of(other))) {
				warning("%s and %s are taken together: NAME[MODULE] chooses one",
					first, other);
				return;
			}
			first = other;
			continue;
		}
		guess_consider(&guess, functions_name(met, i));
	}
	if (first)
		return;
	die_not_called(view, name, guess.meant);
}
