/* What a builder is given from outside: names for its messages, and values in place of inputs. */
#ifndef TENON_CORE_NETWORK_BUILDER_INPUT_H_
#define TENON_CORE_NETWORK_BUILDER_INPUT_H_

#include "tenon/plugin.h"

#include <stdbool.h>

#include "core/base/nearest.h"

/* Asked for operators whose identities are like one that nobody offers, for the message; `user` is
 * find's. NULL: none are named. It offers names to `nearest`, which keeps the best few and compares
 * them with `name`. */
typedef void (*tenon__suggest_operator_t)(void* user, const char* name, tenon__nearest_t* nearest);

/* A value for the input called `name`: the input is a constant then. Name and view are the giver's
 * and live while inputs are added. The builder sets is_used, so that the giver can refuse a name
 * that no input of the model has. */
typedef struct tenon__given_input_t {
  const char* name;
  const tenon_tensor_view_t* view;
  /* the input was there */
  bool is_used;
} tenon__given_input_t;

#endif
