/* SPDX-License-Identifier: GPL-2.0 */
/* The first bytes of a packet: what they say, and how they would lie on Ethernet. */
#ifndef _MCTRACE_HEADERS_H
#define _MCTRACE_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

#define HEADERS_ETH	14
#define HEADERS_MOST	(HEADERS_ETH + 98)

/* A packet's beginning as a frame, with addresses of zeroes if these were not recorded. */
struct headers {
	uint8_t frame[HEADERS_MOST];
	size_t captured;	/* bytes of it */
	size_t length;		/* of the whole; where that is not known, what was captured */
	bool sized;		/* it is known */
};

/* @ethernet: @data begins with its header; else with that of the network. False: it is neither. */
bool headers_take(struct headers *headers, const uint8_t *data, size_t nr, bool ethernet);
/* "UDP 10.0.0.1:4711 > 10.0.0.2:53, 28 bytes": what is behind all these headers is counted. */
void headers_print(struct buffer *to, const struct headers *headers);

#endif /* _MCTRACE_HEADERS_H */
