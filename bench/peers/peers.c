// SPDX-License-Identifier: GPL-2.0
/*
 * usage: peers WHAT FUNCTION COMMAND...
 *
 * Attach BPF programs of peers.bpf.c to FUNCTION, run COMMAND, and detach them. WHAT is count, count-multi, args,
 * histogram, or all: the calls of each function, where FUNCTION is a file with their addresses. Print lines of a name
 * and a number to standard error: ns to load and attach, and to detach; the calls that the programs have seen, and those
 * that they have missed.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST	131072		/* functions */

extern const char object_begin[], object_end[];
__asm__(".section .rodata\n.balign 16\nobject_begin: .incbin \"" OBJECT "\"\nobject_end:\n.previous");

static const struct {
	const char *what, *programs[2];
} kinds[] = {
	{ "count",		{ "count_fentry" } },
	{ "count-multi",	{ "count_multi" } },
	{ "args",		{ "args_fentry" } },
	{ "histogram",		{ "begin_fentry", "end_fexit" } },
	{ "all",		{ "all_multi" } },
};

static void die(const char *what)
{
	fprintf(stderr, "peers: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned long long now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000ULL + at.tv_nsec;
}

static unsigned long *read_addresses(const char *path, size_t *nr)
{
	unsigned long *all = calloc(MOST, sizeof(*all));
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file || !all)
		die(path);
	for (*nr = 0; *nr < MOST && fgets(line, sizeof(line), file); ++*nr)
		all[*nr] = strtoul(line, NULL, 16);
	fclose(file);
	return all;
}

static struct bpf_link *attach(struct bpf_program *program, const char *what, const char *function)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, multi);

	if (!strcmp(what, "count-multi")) {
		multi.syms = &function;
		multi.cnt = 1;
		return bpf_program__attach_kprobe_multi_opts(program, NULL, &multi);
	}
	if (strcmp(what, "all"))
		return bpf_program__attach(program);
	multi.addrs = read_addresses(function, &multi.cnt);
	return bpf_program__attach_kprobe_multi_opts(program, NULL, &multi);
}

/* Sum up a value of each CPU. */
static unsigned long long sum(struct bpf_map *map, const void *key, size_t size)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	unsigned long long *values = calloc(cpus, sizeof(*values)), all = 0;

	if (bpf_map__lookup_elem(map, key, size, values, cpus * sizeof(*values), 0))
		die("a map");
	for (cpu = 0; cpu < cpus; cpu++)
		all += values[cpu];
	free(values);
	return all;
}

static unsigned long long sum_functions(struct bpf_map *map)
{
	unsigned long long all = 0, key, *last = NULL;

	while (!bpf_map__get_next_key(map, last, &key, sizeof(key))) {
		all += sum(map, &key, sizeof(key));
		last = &key;
	}
	return all;
}

static unsigned long long missed_by(struct bpf_program *program)
{
	struct bpf_prog_info info = { };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		die("a program");
	return info.recursion_misses;
}

static void run(char **command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(command[0], command);
		die(command[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die(command[0]);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct bpf_program *program, *programs[2];
	unsigned long long began, missed = 0;
	const __u32 calls = 0, full = 1;
	struct bpf_object *object;
	struct bpf_link *links[2];
	unsigned int nr = 0, i, kind;

	for (kind = 0; argc > 3 && kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		if (!strcmp(kinds[kind].what, argv[1]))
			break;
	if (argc < 4 || kind == sizeof(kinds) / sizeof(kinds[0])) {
		fprintf(stderr, "usage: peers WHAT FUNCTION COMMAND...\n");
		return 2;
	}
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	began = now();
	object = bpf_object__open_mem(object_begin, object_end - object_begin, NULL);
	if (!object)
		die("the programs");
	bpf_object__for_each_program(program, object) {
		for (i = 0; i < 2 && kinds[kind].programs[i]; i++)
			if (!strcmp(kinds[kind].programs[i], bpf_program__name(program)))
				break;
		if (i == 2 || !kinds[kind].programs[i]) {
			bpf_program__set_autoload(program, false);
			continue;
		}
		programs[nr++] = program;
		if (strncmp(bpf_program__section_name(program), "kprobe", 6) &&
		    bpf_program__set_attach_target(program, 0, argv[2]))
			die(argv[2]);
	}
	if (bpf_object__load(object))
		die("loading the programs");
	for (i = 0; i < nr; i++) {
		links[i] = attach(programs[i], argv[1], argv[2]);
		if (!links[i])
			die("attaching the programs");
	}
	fprintf(stderr, "attach %llu\n", now() - began);
	run(argv + 3);
	began = now();
	for (i = 0; i < nr; i++) {
		missed += missed_by(programs[i]);
		bpf_link__destroy(links[i]);
	}
	fprintf(stderr, "detach %llu\n", now() - began);
	missed += sum(bpf_object__find_map_by_name(object, "seen"), &full, sizeof(full));
	if (!strcmp(argv[1], "all"))
		fprintf(stderr, "seen %llu\n", sum_functions(bpf_object__find_map_by_name(object, "by_function")));
	else
		fprintf(stderr, "seen %llu\n",
			sum(bpf_object__find_map_by_name(object, "seen"), &calls, sizeof(calls)));
	fprintf(stderr, "missed %llu\n", missed);
	bpf_object__close(object);
	return 0;
}
