/* The expression of one node, from its operator or its index map. */
#include "core/rehearsal/node_expression.h"

#include "core/base/status.h"
#include "core/program/from_move.h"

static tenon_status_t from_map(tenon__tuning_t* tuning, const tenon__graph_t* g,
                               const tenon__node_t* node, uint32_t output,
                               tenon__expression_t* out_expression) {
  tenon__type_t* inputs =
      tenon__arena_allocate(tuning->arena, node->input_count + 1u, sizeof *inputs);
  TENON_TRY_MEMORY(inputs != NULL);
  TENON_EACH_INPUT(k, node) {
    inputs[k] = g->values[node->inputs[k]].type;
  }
  return tenon__expression_from_move(
      tuning->network->pool, &node->maps[output], g->values[node->outputs[output]].type.dtype,
      inputs, node->input_count, tuning->arena, tuning->sink, out_expression);
}

tenon_status_t tenon__node_expression(tenon__tuning_t* tuning, uint32_t graph, uint32_t node,
                                      uint32_t output, const tenon__expression_t** out_expression) {
  const tenon__graph_t* g = tuning->network->graphs[graph];
  const tenon__node_t* n = &g->nodes[node];
  tenon__expression_t* own = tenon__arena_allocate(tuning->arena, 1, sizeof *own);
  *out_expression = NULL;
  TENON_TRY_MEMORY(own != NULL);
  if (n->expression != NULL) {
    *own = *n->expression;
  } else if (n->maps != NULL) {
    const tenon_status_t status = from_map(tuning, g, n, output, own);
    if (status == TENON_ERROR_UNSUPPORTED) {
      return TENON_OK;
    }
    TENON_TRY(status);
  } else {
    return TENON_OK;
  }
  tenon_operand_t* operands =
      tenon__arena_allocate(tuning->arena, own->program.operand_count + 1u, sizeof *operands);
  TENON_TRY_MEMORY(operands != NULL);
  for (uint32_t k = 0; k < own->program.operand_count; ++k) {
    operands[k] = own->program.operands[k];
    operands[k].index = n->inputs[operands[k].index];
  }
  own->program.operands = operands;
  *out_expression = own;
  return TENON_OK;
}
