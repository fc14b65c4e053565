/*
 * Tensors that a text names: "x", "xs[2]", an output, and their properties known when building.
 *
 * A bare name of a variadic port refers to the environment's current item, of another port to its
 * only tensor. These functions read the scope and allocate only messages.
 */
#ifndef TENON_CORE_LANGUAGE_NAMED_TENSOR_H_
#define TENON_CORE_LANGUAGE_NAMED_TENSOR_H_

#include "core/language/environment.h"

/* Borrowed from scope and environment. `dims` of an output under inference are those set so far;
 * INVALID: not set. */
typedef struct tenon__named_tensor_t {
  const tenon__scope_port_t* port;
  bool is_output;
  uint32_t item;
  bool present;
  uint32_t rank; /* TENON_NONE: unknown */
  const tenon_dim_t* dims;
  const tenon__scope_value_t* value; /* NULL for an output under inference */
} tenon__named_tensor_t;

/* Returns true for the bare name of an input or output. */
bool tenon__names_port(const tenon__environment_t* environment, const tenon__syntax_t* syntax);
/* Returns the tensor, present or not. Returns INVALID_DATA for any other syntax. */
tenon_status_t tenon__named_tensor(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                   tenon__named_tensor_t* out_tensor);
/* Same for a present tensor of known rank. Returns INVALID_DATA for an absent input, because a text
 * can check present(x), and UNSUPPORTED for an unknown rank. */
tenon_status_t tenon__ranked_tensor(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__named_tensor_t* out_tensor);
/* Returns an extent. `axis` must be below the rank. An extent of an output under inference must be
 * set already, else returns INVALID_DATA. So y[1] may use y[0], but not y[2]. */
tenon_status_t tenon__tensor_extent(const tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    const tenon__named_tensor_t* tensor, uint32_t axis,
                                    tenon_dim_t* out_dim);
/* Returns the tracked contents as a list. Returns UNSUPPORTED if they are not tracked. */
tenon_status_t tenon__tensor_contents(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      tenon__language_value_t* out_list);
/* Evaluates to a list. A port's name is the list of its contents, also with a program. Returns
 * INVALID_DATA if it is no list. */
tenon_status_t tenon__language_list(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__language_value_t* out_list);

#endif
