/* SPDX-License-Identifier: GPL-2.0 */
/* In the place of kernel/trace/ftrace_internal.h, of which one declaration is needed: compat.h has it. */
