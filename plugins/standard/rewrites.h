/* What holds between the operators, whatever computes them: rewrites that the optimiser tries,
 * on numbers first. Few, since what needs no plugin's knowledge is the core's algebra. */
#ifndef PLUGINS_STANDARD_REWRITES_H_
#define PLUGINS_STANDARD_REWRITES_H_

#include "tenon/plugin.h"

/* Raised with the table in rewrites.c: the count is part of the type. */
enum { STANDARD_REWRITE_COUNT = 2 };
extern const tenon_rewrite_t tenon__standard_rewrites[STANDARD_REWRITE_COUNT];

#endif
