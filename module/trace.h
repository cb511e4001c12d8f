/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces kernel/trace/trace.h, of which only one declaration is needed: compat.h has it. */
