// SPDX-License-Identifier: GPL-2.0
/* Stubs for a build without libpcap. */
#include "packet.h"
#include "util.h"

const char *packet_library(void)
{
	return "without libpcap";
}

struct packet_filter *packet_filter_new(const char *expression, bool ethernet)
{
	(void)ethernet;
	die("this mctrace was built without libpcap, so it does not know what '%s' means",
	    expression);
}

bool packet_matches(const struct packet_filter *filter, const uint8_t *frame, size_t captured,
		    size_t length)
{
	(void)filter;
	(void)frame;
	(void)captured;
	(void)length;
	return true;
}

void packet_filter_free(struct packet_filter *filter)
{
	(void)filter;
}
