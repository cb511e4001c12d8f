/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Match packets with an expression of pcap-filter(7), by libpcap. packet_none.c replaces it in a
 * build without libpcap.
 */
#ifndef _MCTRACE_PACKET_H
#define _MCTRACE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* packet_library() - Return "libpcap 1.10.3", or "without libpcap" */
const char *packet_library(void);

struct packet_filter;

/*
 * Compile an expression as tcpdump takes it. End mctrace if @expression is invalid, or needs what
 * is not recorded: a device's metadata, or, unless @ethernet, Ethernet addresses and types.
 */
struct packet_filter *packet_filter_new(const char *expression, bool ethernet);
/*
 * Return true if the packet matches. @frame holds the first @captured of @length bytes, with an
 * Ethernet header.
 */
bool packet_matches(const struct packet_filter *filter, const uint8_t *frame, size_t captured,
		    size_t length);
void packet_filter_free(struct packet_filter *filter);

#endif /* _MCTRACE_PACKET_H */
