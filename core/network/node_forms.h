/* Adding nodes that need no operator: expressions and moves. */
#ifndef TENON_CORE_NETWORK_NODE_FORMS_H_
#define TENON_CORE_NETWORK_NODE_FORMS_H_

#include "core/dimension/shape.h"
#include "core/network/network.h"

/* The inputs of the node, and one meaning: an expression, a text or a move. Everything is
 * copied. */
typedef struct tenon__form_request_t {
  const char* name; /* NULL: made */
  const uint32_t* inputs;
  uint32_t input_count;
  /* Operands' indices are numbers of `inputs`; a shape for each output of the program. */
  const tenon__expression_t* expression;
  const tenon__inferred_shape_t* shapes;
  /* "y = max(a, 0) * b" with a name for each input: one output, of the type that it computes. */
  const char* text;
  const char* const* input_names;
  /* Sources' inputs are indices of `inputs`; elements have type `dtype`, as those of the
   * sources. */
  const tenon__index_map_t* map;
  tenon_dtype_t dtype;
} tenon__form_request_t;

/* Returns INVALID_DATA with the node's name if a text does not fit its inputs. On failure nothing
 * is added. */
tenon_status_t tenon__graph_add_form(tenon__network_t* network, uint32_t graph,
                                     const tenon__form_request_t* request, const tenon_sink_t* sink,
                                     uint32_t* out_node);

#endif
