// SPDX-License-Identifier: GPL-2.0
/*
 * What BPF programs do that people write instead of using mctracer: count calls, record arguments, make a histogram of
 * durations. peers.c loads one or two of these programs. Their counters are per CPU, and they handle no strings.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define CALLS	131072		/* functions, or calls that are active at a time */
#define RING	(64 << 20)	/* bytes */

struct calls {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
};

struct calls seen SEC(".maps");		/* 0: calls; 1: calls that a map or the ring had no room for */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, CALLS);
	__type(key, __u64);
	__type(value, __u64);
} by_function SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, __u32);
	__type(value, __u64);
} began SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} histogram SEC(".maps");

struct record {
	__u64 ns;
	__u32 pid, cpu;
	__u64 args[4];
};

static __always_inline void add(__u32 which)
{
	__u64 *n = bpf_map_lookup_elem(&seen, &which);

	if (n)
		++*n;
}

static __always_inline void count_function(void *ctx)
{
	__u64 ip = bpf_get_func_ip(ctx), one = 1, *n = bpf_map_lookup_elem(&by_function, &ip);

	if (n)
		++*n;
	else if (bpf_map_update_elem(&by_function, &ip, &one, BPF_ANY))
		add(1);
}

static __always_inline void begin(void)
{
	__u32 pid = bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();

	if (bpf_map_update_elem(&began, &pid, &now, BPF_ANY))
		add(1);
}

static __always_inline void end(void)
{
	__u32 pid = bpf_get_current_pid_tgid(), bucket = 0;
	__u64 *then = bpf_map_lookup_elem(&began, &pid), took, *n;
	int bit;

	if (!then) {
		add(1);
		return;
	}
	took = bpf_ktime_get_ns() - *then;
	bpf_map_delete_elem(&began, &pid);
	for (bit = 32; bit; bit >>= 1) {
		if (took >> bit) {
			took >>= bit;
			bucket += bit;
		}
	}
	n = bpf_map_lookup_elem(&histogram, &bucket);
	if (n)
		++*n;
	add(0);
}

SEC("fentry/x")
int count_fentry(void *ctx)
{
	add(0);
	return 0;
}

SEC("kprobe.multi/x")
int count_multi(void *ctx)
{
	add(0);
	return 0;
}

SEC("kprobe.multi/x")
int all_multi(void *ctx)
{
	count_function(ctx);
	return 0;
}

SEC("fentry/x")
int args_fentry(__u64 *ctx)
{
	struct record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		add(1);
		return 0;
	}
	record->ns = bpf_ktime_get_ns();
	record->pid = bpf_get_current_pid_tgid();
	record->cpu = bpf_get_smp_processor_id();
	record->args[0] = ctx[0];
	record->args[1] = ctx[1];
	record->args[2] = ctx[2];
	record->args[3] = ctx[3];
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	add(0);
	return 0;
}

SEC("fentry/x")
int begin_fentry(void *ctx)
{
	begin();
	return 0;
}

SEC("fexit/x")
int end_fexit(void *ctx)
{
	end();
	return 0;
}

char _license[] SEC("license") = "GPL";
