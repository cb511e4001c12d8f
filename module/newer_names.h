/* SPDX-License-Identifier: GPL-2.0 */
/* Names that the series uses and that newer kernels have in another form: see newer.h. */
#ifdef MCTRACER_HAS_TEXT_POKE_SINGLE
#define text_poke_bp			static_call(mctracer_smp_text_poke_single)
#else
#define text_poke_bp			static_call(mctracer_text_poke_bp)
#endif

/* The series passes the instruction, newer kernels its address. */
#if defined(MCTRACER_HAS_ENDBR_POINTER) && defined(CONFIG_X86_KERNEL_IBT)
#define is_endbr			__is_endbr
#elif defined(MCTRACER_HAS_ENDBR_POINTER)
#define is_endbr(insn)			((void)(insn), false)
#endif

#ifndef REP_PREFIX
#define REP_PREFIX			0xf3
#endif

#ifdef HARDIRQ_DISABLE_SHIFT
#include "raw_context.h"
#endif
