/*
 * Tensors that a text names: "x", "xs[2]", an output, and what is known of them when building.
 */
#ifndef TENON_CORE_LANGUAGE_NAMED_TENSOR_H_
#define TENON_CORE_LANGUAGE_NAMED_TENSOR_H_

#include "core/language/environment.h"

typedef struct tenon__named_tensor_t {
  const tenon__scope_port_t* port;
  bool is_output;
  uint32_t item;
  bool present;
  uint32_t rank; /* TENON_NONE: unknown */
  const tenon_dim_t* dims;
  const tenon__scope_value_t* value; /* NULL for an output that is being inferred */
} tenon__named_tensor_t;

/* True for the bare name of an input or output. */
bool tenon__names_port(const tenon__environment_t* environment, const tenon__syntax_t* syntax);
/* The tensor, present or not; INVALID_DATA for any other syntax. */
tenon_status_t tenon__named_tensor(tenon__environment_t* environment, const tenon__syntax_t* syntax,
                                   tenon__named_tensor_t* out_tensor);
/* The same, and it must be present and of known rank. */
tenon_status_t tenon__ranked_tensor(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__named_tensor_t* out_tensor);
/* An extent; of an output in the making, one that is there already. */
tenon_status_t tenon__tensor_extent(const tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    const tenon__named_tensor_t* tensor, uint32_t axis,
                                    tenon_dim_t* out_dim);
/* The contents that are tracked, as a list; UNSUPPORTED when they are not. */
tenon_status_t tenon__tensor_contents(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      tenon__language_value_t* out_list);
/* Any list: a port's name is the list of its contents, also where a program is made. */
tenon_status_t tenon__language_list(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__language_value_t* out_list);

#endif
