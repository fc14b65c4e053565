/*
 * Tensors that a text names: "x", "xs[2]", an output, and what is known of them when building.
 *
 * A bare name of a variadic port means the item that the environment stands at, of another port its
 * only tensor. All here asks the scope and allocates nothing but messages.
 */
#ifndef TENON_CORE_LANGUAGE_NAMED_TENSOR_H_
#define TENON_CORE_LANGUAGE_NAMED_TENSOR_H_

#include "core/language/environment.h"

/* Borrowed from scope and environment; `dims` of an output in the making are those set so far,
 * INVALID where none is set. */
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
/* The same, and it must be present and of known rank. An absent input is INVALID_DATA, since a text
 * can ask present(x); an unknown rank is UNSUPPORTED. */
tenon_status_t tenon__ranked_tensor(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__named_tensor_t* out_tensor);
/* An extent; of an output in the making, one that is there already. So y[1] may be said in terms of
 * y[0], but not of y[2]: INVALID_DATA. `axis` must be below the rank. */
tenon_status_t tenon__tensor_extent(const tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    const tenon__named_tensor_t* tensor, uint32_t axis,
                                    tenon_dim_t* out_dim);
/* The contents that are tracked, as a list; UNSUPPORTED when they are not. */
tenon_status_t tenon__tensor_contents(tenon__environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      tenon__language_value_t* out_list);
/* Any list: a port's name is the list of its contents, also where a program is made. INVALID_DATA
 * for what is no list. */
tenon_status_t tenon__language_list(tenon__environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__language_value_t* out_list);

#endif
