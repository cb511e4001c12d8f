// SPDX-License-Identifier: GPL-2.0
/* Match packets with an expression of pcap-filter(7), by libpcap. */
#include <pcap/pcap.h>
#include <stdlib.h>

#include "packet.h"
#include "util.h"

#define ADDRESSES	12		/* bytes of Ethernet's header before the type */
#define METADATA	0xfffff000u	/* SKF_AD_OFF: not in the packet */
#define LONGEST	65549	/* longest frame: an expression may ask for any byte of it */

struct packet_filter {
	struct bpf_program program;
};

const char *packet_library(void)
{
	static char name[64];
	const char *version = pcap_lib_version();	/* "libpcap version 1.10.3 (with ...)" */
	char number[32];

	if (sscanf(version, "libpcap version %31[0-9.]", number) != 1)
		return version;
	snprintf(name, sizeof(name), "libpcap %s", number);
	return name;
}

/*
 * Return true for the Ethernet types that recorded packets can have. "host" also compares with
 * RARP, 0x8035.
 */
static bool is_known_type(bpf_u_int32 type)
{
	return type == 0x0800 || type == 0x0806 || type == 0x86dd || type == 0x8035;
}

/* Return what the load @at reads that is not recorded, or NULL. */
static const char *not_loaded(const struct bpf_insn *at, bool ethernet)
{
	if (BPF_CLASS(at->code) != BPF_LD || BPF_MODE(at->code) != BPF_ABS)
		return NULL;
	if (at->k >= METADATA)
		return "what only a device knows, as its direction or a VLAN's tag";
	return at->k < ADDRESSES && !ethernet ? "addresses of Ethernet" : NULL;
}

static void mark_both(bool *one, bool *other, bool loaded)
{
	*one |= loaded;
	*other |= loaded;
}

/*
 * Mark where the program continues after @at, whose mark is @type[0]: set the mark where the
 * accumulator may hold the Ethernet type.
 */
static void mark_next(const struct bpf_insn *at, bool *type)
{
	if (BPF_CLASS(at->code) == BPF_LD)
		type[1] |= BPF_MODE(at->code) == BPF_ABS && at->k == ADDRESSES;
	else if (BPF_CLASS(at->code) == BPF_JMP && BPF_OP(at->code) == BPF_JA)
		type[1 + at->k] |= type[0];
	else if (BPF_CLASS(at->code) == BPF_JMP)
		mark_both(type + 1 + at->jt, type + 1 + at->jf, type[0]);
	else if (BPF_CLASS(at->code) == BPF_LDX || BPF_CLASS(at->code) == BPF_ST)
		type[1] |= type[0];
}

/*
 * Return what the program uses that is not recorded, or NULL. One pass is enough, because programs
 * only jump forward.
 */
static const char *not_recorded(const struct bpf_program *program, bool ethernet)
{
	bool *type = xcalloc(program->bf_len + 1, sizeof(*type));
	const char *missing = NULL;
	const struct bpf_insn *at;
	unsigned int i;

	for (i = 0; i < program->bf_len && !missing; i++) {
		at = &program->bf_insns[i];
		missing = not_loaded(at, ethernet);
		if (type[i] && !ethernet && BPF_CLASS(at->code) == BPF_JMP &&
		    BPF_OP(at->code) != BPF_JA && !is_known_type(at->k))
			missing = "another type of Ethernet than IP, ARP and IPv6";
		mark_next(at, type + i);
	}
	free(type);
	return missing;
}

struct packet_filter *packet_filter_new(const char *expression, bool ethernet)
{
	struct packet_filter *filter = xcalloc(1, sizeof(*filter));
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, LONGEST);
	const char *missing;

	if (!pcap)
		die_errno("libpcap");
	if (pcap_compile(pcap, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN))
		die("'%s' is no expression of pcap-filter(7): %s", expression, pcap_geterr(pcap));
	pcap_close(pcap);
	missing = not_recorded(&filter->program, ethernet);
	if (missing)
		die_usage("packet",
			  "'%s' asks for %s: packets are recorded from the network's header on",
			  expression, missing);
	return filter;
}

bool packet_matches(const struct packet_filter *filter, const uint8_t *frame, size_t captured,
		    size_t length)
{
	struct pcap_pkthdr header = { .caplen = captured, .len = length };

	return pcap_offline_filter(&filter->program, &header, frame);
}

void packet_filter_free(struct packet_filter *filter)
{
	if (!filter)
		return;
	pcap_freecode(&filter->program);
	free(filter);
}
