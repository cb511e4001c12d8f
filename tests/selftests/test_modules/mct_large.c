// SPDX-License-Identifier: GPL-2.0
/*
 * 500 functions: a test measures how long a large module takes to load.
 */
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/module.h>

#define ONE(n)						\
	static noinline __used int mct_large_##n(int x)	\
	{						\
		return x + (n);				\
	}

/* A leading 1 keeps the numbers from being octal. */
#define TEN(n) \
	ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) \
	ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) \
	TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) \
	TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)

HUNDRED(10)
HUNDRED(11)
HUNDRED(12)
HUNDRED(13)
HUNDRED(14)

static int __init mct_large_init(void)
{
	return 0;
}
module_init(mct_large_init);

static void __exit mct_large_exit(void)
{
}
module_exit(mct_large_exit);

MODULE_DESCRIPTION("500 functions");
MODULE_LICENSE("GPL");
