// SPDX-License-Identifier: GPL-2.0
/* Parse the operand of a trigger's action: an argument, and memory or an object derived from it. */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "../record/triggers.h"

/* Parse "N", or "ret" for the returned value, and advance *@text behind it. */
static bool operand_parse_argument(u8 *argument, char **text)
{
	char *word = skip_spaces(*text);

	if (!strncmp(word, "ret", 3)) {
		*argument = MCTRACER_OPERAND_RET;
		*text = word + 3;
		return true;
	}
	if (*word < '1' || *word > '0' + MCTRACER_ARGS)
		return false;
	*argument = *word - '0';
	*text = word + 1;
	return true;
}

/* Return true if @word comes next, and advance *@text behind it. */
static bool operand_skip_word(char **text, const char *word)
{
	char *at = skip_spaces(*text);
	size_t length = strlen(word);

	if (strncmp(at, word, length))
		return false;
	*text = at + length;
	return true;
}

static size_t operand_print_argument(char *to, size_t size, const char *before, u8 argument)
{
	return argument == MCTRACER_OPERAND_RET ? scnprintf(to, size, "%sret", before) :
						  scnprintf(to, size, "%s%u", before, argument);
}

#define USUAL_LENGTH	64	/* default length of memory, in bytes */

static bool operand_parse_offset(u16 *offset, char **text)
{
	unsigned int value = 0;
	char *at = skip_spaces(*text);

	if (!isdigit(*at))
		return false;
	for (; isdigit(*at) && value <= U16_MAX; at++)
		value = 10 * value + *at - '0';
	*text = at;
	*offset = value;
	return value <= U16_MAX;
}

/*
 * Parse "->A.B+C,LENGTH": LENGTH bytes of memory, at the value of the pointer at offset A, plus B,
 * plus the 16-bit number at offset C from the argument.
 */
static int operand_parse_memory(struct mctracer_trigger *trigger, char *text, size_t n,
				const char **why)
{
	const size_t size = sizeof(trigger->operand);
	struct mctracer_memory *memory = &trigger->memory;
	char *to = trigger->operand;
	u16 length = USUAL_LENGTH;

	*why = "needs an argument's number, ->OFFSET up to three times, .OFFSET, +OFFSET, ,LENGTH";
	while (operand_skip_word(&text, "->")) {
		if (memory->nr_pointers == MCTRACER_POINTERS ||
		    !operand_parse_offset(&memory->pointers[memory->nr_pointers], &text))
			return -EINVAL;
		n += scnprintf(to + n, size - n, "->%u", memory->pointers[memory->nr_pointers++]);
	}
	if (operand_skip_word(&text, ".")) {
		if (!operand_parse_offset(&memory->behind, &text))
			return -EINVAL;
		n += scnprintf(to + n, size - n, ".%u", memory->behind);
	}
	memory->adds = operand_skip_word(&text, "+");
	if (memory->adds) {
		if (!operand_parse_offset(&memory->add, &text))
			return -EINVAL;
		n += scnprintf(to + n, size - n, "+%u", memory->add);
	}
	if (operand_skip_word(&text, ",")) {
		if (!operand_parse_offset(&length, &text))
			return -EINVAL;
		if (length != USUAL_LENGTH)
			scnprintf(to + n, size - n, ",%u", length);
	}
	if (*skip_spaces(text))
		return -EINVAL;
	*why = "the length must be 1 to 98 bytes";
	memory->length = length;
	return length && length <= MCTRACER_DATA_MAX ? 0 : -EINVAL;
}

int mctracer_operand_parse(struct mctracer_trigger *trigger, char *text, const char **why)
{
	const bool follows = trigger->action == MCTRACER_DO_FOLLOW;
	const bool ends = trigger->action == MCTRACER_DO_UNFOLLOW;
	char *to = trigger->operand;
	size_t size = sizeof(trigger->operand), n;

	*why = "needs an argument's number, 1 to 6, or ret";
	if (!operand_parse_argument(&trigger->from, &text))
		return -EINVAL;
	n = operand_print_argument(to, size, "", trigger->from);
	if (trigger->action == MCTRACER_DO_DATA) {
		*why = "needs an argument's number, 1 to 6";
		return trigger->from == MCTRACER_OPERAND_RET ? -EINVAL :
							       operand_parse_memory(trigger, text,
										    n, why);
	}
	if (ends && trigger->from != MCTRACER_OPERAND_RET && operand_skip_word(&text, "[")) {
		*why = "needs another argument's number, 1 to 6, between [ and ]";
		if (!operand_parse_argument(&trigger->length, &text) ||
		    trigger->length == trigger->from ||
		    trigger->length == MCTRACER_OPERAND_RET || !operand_skip_word(&text, "]"))
			return -EINVAL;
		scnprintf(to + n, size - n, "[%u]", trigger->length);
	} else if (follows && trigger->from != MCTRACER_OPERAND_RET &&
		   operand_skip_word(&text, "->")) {
		*why = "needs another argument's number, 1 to 6, or ret, behind ->";
		if (!operand_parse_argument(&trigger->to, &text) || trigger->to == trigger->from)
			return -EINVAL;
		n += operand_print_argument(to + n, size - n, " -> ", trigger->to);
	} else if (follows && operand_skip_word(&text, "+calls")) {
		trigger->calls = true;
		scnprintf(to + n, size - n, " +calls");
	}
	*why = "has unknown text at its end";
	return *skip_spaces(text) ? -EINVAL : 0;
}
