#ifndef PLUGINS_STANDARD_REWRITES_H_
#define PLUGINS_STANDARD_REWRITES_H_

#include "tenon/plugin.h"

enum { STANDARD_REWRITE_COUNT = 2 };
extern const tenon_rewrite_t tenon__standard_rewrites[STANDARD_REWRITE_COUNT];

#endif
