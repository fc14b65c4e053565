/* Which of a node's tensors a name of the index language means. */
#ifndef TENON_CORE_LANGUAGE_INDEX_TENSOR_H_
#define TENON_CORE_LANGUAGE_INDEX_TENSOR_H_

#include "core/language/index_language.h"

/* A tensor that a syntax names: "x", "xs[2]", an output. */
typedef struct tenon__index_tensor_t {
  const tenon__scope_port_t* port;
  bool is_output;
  uint32_t item;
  bool present;
  uint32_t rank; /* TENON_NONE: unknown */
  const tenon_dim_t* dims;
  const tenon__scope_value_t* value; /* NULL for an output that is being inferred */
} tenon__index_tensor_t;

const tenon__scope_port_t* tenon__index_find_port(const tenon__scope_t* scope, const char* name,
                                                  bool* out_is_output);
const tenon__scope_attribute_t* tenon__index_find_attribute(const tenon__scope_t* scope,
                                                            const char* name);
tenon_status_t tenon__index_tensor(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   tenon__index_tensor_t* out_tensor);
/* The same, and its rank must be known. */
tenon_status_t tenon__index_ranked(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax,
                                   tenon__index_tensor_t* out_tensor);
/* The output port to which item `output` belongs, and its number there. */
const tenon__scope_port_t* tenon__index_port_of(const tenon__scope_t* scope, uint32_t output,
                                                uint32_t* out_item);

#endif
