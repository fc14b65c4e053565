/* External data of a builder: similar names for messages, and given values of inputs. */
#ifndef TENON_CORE_NETWORK_BUILDER_INPUT_H_
#define TENON_CORE_NETWORK_BUILDER_INPUT_H_

#include "tenon/plugin.h"

#include <stdbool.h>

#include "core/base/nearest.h"

/* Suggests operators with identities similar to an unknown `name`, for messages. It passes names to
 * `nearest`, which keeps the most similar ones. `user` is find's. NULL: no suggestions. */
typedef void (*tenon__suggest_operator_t)(void* user, const char* name, tenon__nearest_t* nearest);

/* A value for the input `name`, which becomes a constant. Name and view are borrowed while inputs
 * are added. The builder sets is_used, so that the caller can reject names that the model does not
 * have. */
typedef struct tenon__given_input_t {
  const char* name;
  const tenon_tensor_view_t* view;
  /* the input exists */
  bool is_used;
} tenon__given_input_t;

#endif
