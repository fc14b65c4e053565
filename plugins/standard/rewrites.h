/* What holds between the operators, whatever computes them: rewrites, tried by the host on
 * numbers before it believes them. Few, since what needs no plugin's knowledge is the core's
 * algebra. */
#ifndef PLUGINS_STANDARD_REWRITES_H_
#define PLUGINS_STANDARD_REWRITES_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tenon__rewrites;

#endif
