/* SPDX-License-Identifier: GPL-2.0 */
/* Which packets are asked for, by libpcap, if that was there at the build. */
#ifndef _MCTRACE_PACKET_H
#define _MCTRACE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "libpcap 1.10.3", or that it is not there. */
const char *packet_library(void);

struct packet_filter;

/*
 * An expression as tcpdump takes it. Ends if it is none, or if it needs what is not recorded: a
 * device's metadata, and unless @ethernet, addresses and types of Ethernet.
 */
struct packet_filter *packet_filter_new(const char *expression, bool ethernet);
/* @frame: as on Ethernet, of @length bytes, of which there are the first @captured. */
bool packet_matches(const struct packet_filter *filter, const uint8_t *frame, size_t captured,
		    size_t length);
void packet_filter_free(struct packet_filter *filter);

#endif /* _MCTRACE_PACKET_H */
