// SPDX-License-Identifier: GPL-2.0
/* Stubs for a build without libbpf. */
#include <errno.h>
#include <stddef.h>

#include "prototypes.h"
#include "util.h"

const char *prototypes_library(void)
{
	return "without libbpf";
}

struct prototypes *prototypes_open(const char *file)
{
	(void)file;
	die("this mctrace was built without libbpf, so it does not know what functions take");
}

struct prototypes *prototypes_try(const char *file)
{
	(void)file;
	errno = ENOTSUP;
	return NULL;
}

long prototypes_offset(struct prototypes *prototypes, const char *path)
{
	(void)prototypes;
	(void)path;
	return -1;
}

int prototypes_arguments(struct prototypes *prototypes, const char *name)
{
	return prototypes_offset(prototypes, name);
}

const char *prototypes_constant(struct prototypes *prototypes, const char *name, int value)
{
	(void)value;
	return prototype_of(prototypes, name, NULL);
}

const char *prototype_of(struct prototypes *prototypes, const char *name, const char *module)
{
	(void)prototypes;
	(void)name;
	(void)module;
	return NULL;
}

const char *prototypes_string(struct prototypes *prototypes, const char *name, const char *module)
{
	return prototype_of(prototypes, name, module);
}

const char *arguments_of(struct prototypes *prototypes, const char *name, const char *module,
			 const unsigned long long *values, unsigned int nr, const char *string)
{
	(void)values;
	(void)nr;
	(void)string;
	return prototype_of(prototypes, name, module);
}

void prototypes_close(struct prototypes *prototypes)
{
	(void)prototypes;
}
