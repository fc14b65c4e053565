/* What a builder is given from outside. */
#ifndef TENON_CORE_NETWORK_BUILDER_INPUT_H_
#define TENON_CORE_NETWORK_BUILDER_INPUT_H_

#include "tenon/plugin.h"

#include <stdbool.h>

#include "core/base/nearest.h"

/* Asked for operators whose identities are like one that nobody offers, for the message; `user` is
 * find's. NULL: none are named. */
typedef void (*tenon__suggest_operator_t)(void* user, const char* name, tenon__nearest_t* nearest);

/* A value for the input called `name`: the input is a constant then. */
typedef struct tenon__given_input_t {
  const char* name;
  const tenon_tensor_view_t* view;
  bool is_used; /* the input was there */
} tenon__given_input_t;

#endif
