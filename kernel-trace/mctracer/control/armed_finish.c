// SPDX-License-Identifier: GPL-2.0
/* Do the work that a CPU has left when it comes or goes: armed.c has the proof. */
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/minmax.h>

#include "../record/record.h"
#include "control.h"

void mctracer_finish_armed(void)
{
	mctracer_snapshot_finish();
	mctracer_turn_off_finish();
}

static int armed_cpu_online(unsigned int cpu)
{
	mctracer_finish_armed();
	return 0;
}

static int armed_cpu_dead(unsigned int cpu)
{
	mctracer_finish_armed();
	return 0;
}

static int __init armed_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "trace/mctracer:prepare", NULL,
					armed_cpu_dead);
	if (ret < 0)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "trace/mctracer:online",
					armed_cpu_online,
					NULL);
	return min(ret, 0);
}
core_initcall(armed_init);
