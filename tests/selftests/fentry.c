// SPDX-License-Identifier: GPL-2.0
/*
 * Attach a BPF program to the head of a function, as bpftrace and others do.
 *
 *	fentry FUNCTION [COMMAND...]
 *
 * Attaches a counting program, runs COMMAND, and prints how often FUNCTION was called
 * meanwhile. The exit status is 2 if the program can't be attached, with the reason, and 1 if
 * COMMAND fails. Without COMMAND it prints "attached" and waits until its input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL_TYPES	"/sys/kernel/btf/vmlinux"

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static char *read_types(void)
{
	int fd = open(KERNEL_TYPES, O_RDONLY);
	struct stat st;
	char *types;
	ssize_t n, at = 0;

	if (fd < 0 || fstat(fd, &st))
		die(KERNEL_TYPES);
	types = malloc(st.st_size);
	if (!types)
		die("malloc");
	while (at < st.st_size) {
		n = read(fd, types + at, st.st_size - at);
		if (n <= 0)
			die(KERNEL_TYPES);
		at += n;
	}
	close(fd);
	return types;
}

/* Return the size of the data after a type, by its kind: see Documentation/bpf/btf.rst. */
static size_t size_behind(const struct btf_type *type)
{
	const size_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return n * 8;
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return n * 12;
	}
	return 0;
}

static int find_function(const char *types, const char *name)
{
	const struct btf_header *header = (const void *)types;
	const char *at = types + header->hdr_len + header->type_off;
	const char *end = at + header->type_len;
	const char *names = types + header->hdr_len + header->str_off;
	const struct btf_type *type;
	int id;

	for (id = 1; at < end; id++) {
		type = (const void *)at;
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(names + type->name_off, name))
			return id;
		at += sizeof(*type) + size_behind(type);
	}
	errno = ENOENT;
	die(name);
	return 0;
}

static int make_counter(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 1,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		die("BPF_MAP_CREATE");
	return fd;
}

static int load_program(int counter, int function)
{
	const struct bpf_insn insns[] = {
		/* r1 = &counter[0] */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = counter },
		{ },
		/* r2 = 1; lock *(u64 *)r1 += r2 */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2, .imm = BPF_ADD },
		/* return 0 */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_FENTRY,
		.insns = (unsigned long)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.license = (unsigned long)"GPL",
		.attach_btf_id = function,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		die("BPF_PROG_LOAD");
	return fd;
}

static void attach(int program)
{
	union bpf_attr attr = { .raw_tracepoint.prog_fd = program };

	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) < 0)
		die("attach");
}

static unsigned long long counted(int counter)
{
	unsigned long long value;
	int key = 0;
	union bpf_attr attr = {
		.map_fd = counter,
		.key = (unsigned long)&key,
		.value = (unsigned long)&value,
	};

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("BPF_MAP_LOOKUP_ELEM");
	return value;
}

static int run(char **command)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		execvp(*command, command);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	return status;
}

int main(int argc, char **argv)
{
	int counter, status = 0;
	char c;

	if (argc < 2) {
		fprintf(stderr, "usage: fentry FUNCTION [COMMAND...]\n");
		return 2;
	}
	counter = make_counter();
	attach(load_program(counter, find_function(read_types(), argv[1])));
	if (argc > 2) {
		status = run(argv + 2);
	} else {
		puts("attached");
		fflush(stdout);
		while (read(0, &c, 1) > 0)
			;
	}
	printf("%llu\n", counted(counter));
	return status ? 1 : 0;
}
