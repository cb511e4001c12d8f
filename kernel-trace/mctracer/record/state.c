// SPDX-License-Identifier: GPL-2.0
/* The rings, and the state that hooks check; record.h describes it. */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/jump_label.h>
#include <linux/mctracer.h>
#include <linux/percpu.h>

#include "../ring/ring.h"
#include "record.h"

DEFINE_PER_CPU_PAGE_ALIGNED(struct mctracer_ring, mctracer_rings);

unsigned long mctracer_options = BIT(MCTRACER_OPT_OVERWRITE);
bool mctracer_stopped;
bool mctracer_ending;
bool mctracer_copying;
enum mctracer_crash mctracer_frozen;
atomic_t mctracer_recording = ATOMIC_INIT(MCTRACER_ON);
bool mctracer_pairs;
DEFINE_STATIC_KEY_FALSE(mctracer_in_use);
unsigned long mctracer_pids;
