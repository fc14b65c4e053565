/* What holds between the operators: rewrites, tried by the host before it believes them. */
#ifndef PLUGINS_STANDARD_REWRITES_H_
#define PLUGINS_STANDARD_REWRITES_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tenon__rewrites;

#endif
