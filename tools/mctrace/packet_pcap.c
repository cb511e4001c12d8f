// SPDX-License-Identifier: GPL-2.0
/* Which packets are asked for, by libpcap. */
#include <pcap/pcap.h>
#include <stdlib.h>

#include "packet.h"
#include "util.h"

#define LONGEST	65549	/* of a frame: so an expression may ask for any byte of it */

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

struct packet_filter *packet_filter_new(const char *expression)
{
	struct packet_filter *filter = xcalloc(1, sizeof(*filter));
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, LONGEST);

	if (!pcap)
		die_errno("libpcap");
	if (pcap_compile(pcap, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN))
		die("'%s' is no expression of pcap-filter(7): %s", expression, pcap_geterr(pcap));
	pcap_close(pcap);
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
