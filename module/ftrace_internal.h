/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces kernel/trace/ftrace_internal.h: compat.h has the one declaration that the series needs.
 */
