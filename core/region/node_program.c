/* Is a node's expression element by element? */
#include "core/region/node_program.h"

#include "core/dimension/dimension_pool.h"

/* The coordinate of that axis, and nothing else? */
static bool is_coordinate(const tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t axis) {
  const tenon__dim_view_t view = tenon__dim_get(pool, dim);
  if (view.kind != TENON_DIM_SYMBOL) {
    return false;
  }
  const tenon__symbol_t* symbol = tenon__symbol_get(pool, view.index);
  return symbol->kind == TENON_SYMBOL_COORDINATE && symbol->a == axis;
}

/* Last dimensions together, those of one element at 0. */
static bool reads_broadcast(const tenon__dim_pool_t* pool, const tenon__access_t* access,
                            const tenon__value_node_t* value, uint32_t rank) {
  bool does = access->rank <= rank && value->type.rank == access->rank;
  for (uint32_t k = 0; does && k < access->rank; ++k) {
    does = is_coordinate(pool, access->coordinates[k], rank - access->rank + k) ||
           (tenon__dim_is(pool, access->coordinates[k], 0) &&
            tenon__dim_is(pool, value->type.dims[k], 1));
  }
  return does;
}

/* Its output has the axes of the space, in their order. */
static bool fills_space(const tenon__expression_t* expression) {
  bool does = expression->output_ranks[0] == expression->program.rank;
  for (uint32_t k = 0; does && k < expression->program.rank; ++k) {
    does = expression->output_axes[0][k] == k;
  }
  return does && expression->program.outputs[0].reduced_axes == 0;
}

const tenon_program_t* tenon__node_program(const tenon__network_t* network, uint32_t graph,
                                           uint32_t node) {
  const tenon__graph_t* g = network->graphs[graph];
  const tenon__node_t* n = &g->nodes[node];
  const tenon__expression_t* expression = n->expression;
  bool is_plain = expression != NULL && n->output_count == 1 &&
                  expression->program.output_count == 1 && fills_space(expression);
  for (uint32_t k = 0; is_plain && k < expression->program.operand_count; ++k) {
    const tenon_operand_t* operand = &expression->program.operands[k];
    is_plain = operand->indexed != 0 ||
               reads_broadcast(network->pool, &expression->accesses[k],
                               &g->values[n->inputs[operand->index]], expression->program.rank);
  }
  return is_plain ? &expression->program : NULL;
}
