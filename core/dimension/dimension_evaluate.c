/* Dimensions as numbers, when the symbols have values. One pass in order of ids; at coordinates, a
 * walk of one expression. Nothing is allocated: this runs between two executions of a context. */
#include "core/dimension/dimension_evaluate.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/dimension/dimension_apply.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"

enum { WALK_DEPTH = 256, WALK_STEPS = 100000 };

static bool evaluate_node(const tenon__dim_node_t* node, const int64_t* values,
                          const uint8_t* known, int64_t* out_value) {
  const tenon_dim_t* operands = node->operands;
  if (node->opcode == TENON_OPCODE_SELECT) {
    if (!known[operands[0].id]) {
      return false;
    }
    const uint32_t side = operands[values[operands[0].id] != 0 ? 1 : 2].id;
    *out_value = values[side];
    return known[side] != 0;
  }
  if (!known[operands[0].id]) {
    return false;
  }
  int64_t result = values[operands[0].id];
  for (uint32_t i = 1; i < node->operand_count; ++i) {
    const uint32_t operand = operands[i].id;
    if (!known[operand] || !tenon__dim_apply(node->opcode, result, values[operand], &result)) {
      return false;
    }
  }
  *out_value = result;
  return true;
}

void tenon__dim_pool_evaluate(const tenon__dim_pool_t* pool, const int64_t* symbol_values,
                              const uint8_t* symbol_known, int64_t* out_values,
                              uint8_t* out_known) {
  for (size_t i = 0; i < pool->node_count; ++i) {
    const tenon__dim_node_t* node = &pool->nodes[i];
    int64_t value = 0;
    bool known = false;
    if (node->kind == TENON_DIM_CONSTANT) {
      value = node->value;
      known = true;
    } else if (node->kind == TENON_DIM_SYMBOL) {
      const tenon__symbol_t* symbol = pool->symbols[node->index];
      const bool is_given = symbol_known[node->index] != 0;
      known = is_given || symbol->min == symbol->max;
      value = is_given ? symbol_values[node->index] : symbol->min;
    } else if (node->kind == TENON_DIM_OPERATION) {
      known = evaluate_node(node, out_values, out_known, &value);
    }
    out_values[i] = known ? value : 0;
    out_known[i] = known ? 1 : 0;
  }
}

typedef struct walk_t {
  const tenon__dim_pool_t* pool;
  const tenon__dim_point_t* point;
  uint32_t steps;
} walk_t;

static bool walk_value(walk_t* walk, tenon_dim_t dim, uint32_t depth, int64_t* out_value);

static bool walk_element(walk_t* walk, const tenon__dim_node_t* node, uint32_t depth,
                         int64_t* out_value) {
  int64_t coordinates[TENON__DIM_OPERANDS];
  if (walk->point->element == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    if (!walk_value(walk, node->operands[i], depth + 1, &coordinates[i])) {
      return false;
    }
  }
  return walk->point->element(walk->point->user, node->index, coordinates, node->operand_count,
                              out_value);
}

static bool walk_operation(walk_t* walk, const tenon__dim_node_t* node, uint32_t depth,
                           int64_t* out_value) {
  int64_t result = 0;
  if (!walk_value(walk, node->operands[0], depth + 1, &result)) {
    return false;
  }
  if (node->opcode == TENON_OPCODE_SELECT) {
    return walk_value(walk, node->operands[result != 0 ? 1 : 2], depth + 1, out_value);
  }
  for (uint32_t i = 1; i < node->operand_count; ++i) {
    int64_t operand = 0;
    if (!walk_value(walk, node->operands[i], depth + 1, &operand) ||
        !tenon__dim_apply(node->opcode, result, operand, &result)) {
      return false;
    }
  }
  *out_value = result;
  return true;
}

static bool walk_value(walk_t* walk, tenon_dim_t dim, uint32_t depth, int64_t* out_value) {
  if (!tenon__dim_valid(walk->pool, dim) || depth > WALK_DEPTH || walk->steps == 0) {
    return false;
  }
  --walk->steps;
  const tenon__dim_node_t* node = tenon__dim_node(walk->pool, dim.id);
  if (node->kind == TENON_DIM_CONSTANT) {
    *out_value = node->value;
    return true;
  }
  if (node->kind == TENON_DIM_ELEMENT) {
    return walk_element(walk, node, depth, out_value);
  }
  const uint32_t bits = (1u << TENON_SYMBOL_COORDINATE) | TENON__DIM_MENTIONS_ELEMENT;
  if ((node->mentions & bits) == 0) {
    if (walk->point->known == NULL) {
      return tenon__dim_known(walk->pool, dim, out_value);
    }
    *out_value = walk->point->values[dim.id];
    return walk->point->known[dim.id] != 0;
  }
  if (node->kind == TENON_DIM_SYMBOL) {
    const uint32_t axis = walk->pool->symbols[node->index]->a;
    if (axis >= walk->point->coordinate_count) {
      return false;
    }
    *out_value = walk->point->coordinates[axis];
    return true;
  }
  return walk_operation(walk, node, depth, out_value);
}

bool tenon__dim_value_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                         const tenon__dim_point_t* point, int64_t* out_value) {
  walk_t walk = {.pool = pool, .point = point, .steps = WALK_STEPS};
  return walk_value(&walk, dim, 0, out_value);
}

/* A sum of coordinates that is being added up: coefficients, and behind them what does not vary. */
typedef struct affine_walk_t {
  walk_t walk;
  int64_t sums[TENON_RANK_LIMIT + 1];
} affine_walk_t;

/* Adds scale * dim. */
static bool walk_affine(affine_walk_t* affine, tenon_dim_t dim, int64_t scale, uint32_t depth);

/* A product: one factor may vary, the others scale it. */
static bool walk_product(affine_walk_t* affine, const tenon__dim_node_t* node, int64_t scale,
                         uint32_t depth) {
  tenon_dim_t varying = TENON_DIM_INVALID;
  walk_t* walk = &affine->walk;
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    if (tenon__dim_mentions(walk->pool, node->operands[i], TENON_SYMBOL_COORDINATE)) {
      if (tenon__dim_valid(walk->pool, varying)) {
        return false;
      }
      varying = node->operands[i];
      continue;
    }
    int64_t factor = 0;
    if (!walk_value(walk, node->operands[i], depth + 1, &factor) ||
        !tenon__multiply_int64(scale, factor, &scale)) {
      return false;
    }
  }
  return walk_affine(affine, varying, scale, depth + 1);
}

static bool walk_affine(affine_walk_t* affine, tenon_dim_t dim, int64_t scale, uint32_t depth) {
  walk_t* walk = &affine->walk;
  const uint32_t axis_count = walk->point->coordinate_count;
  int64_t* sums = affine->sums;
  if (!tenon__dim_valid(walk->pool, dim) || depth > WALK_DEPTH || walk->steps == 0) {
    return false;
  }
  --walk->steps;
  const tenon__dim_node_t* node = tenon__dim_node(walk->pool, dim.id);
  if (!tenon__dim_mentions(walk->pool, dim, TENON_SYMBOL_COORDINATE)) {
    int64_t value = 0;
    return walk_value(walk, dim, depth, &value) && tenon__multiply_int64(value, scale, &value) &&
           tenon__add_int64(sums[axis_count], value, &sums[axis_count]);
  }
  if (node->kind == TENON_DIM_SYMBOL) {
    const uint32_t axis = walk->pool->symbols[node->index]->a;
    return axis < axis_count && tenon__add_int64(sums[axis], scale, &sums[axis]);
  }
  if (node->kind != TENON_DIM_OPERATION) {
    return false;
  }
  if (node->opcode == TENON_OPCODE_MUL) {
    return walk_product(affine, node, scale, depth);
  }
  if (node->opcode == TENON_OPCODE_SELECT) {
    int64_t condition = 0;
    return !tenon__dim_mentions(walk->pool, node->operands[0], TENON_SYMBOL_COORDINATE) &&
           walk_value(walk, node->operands[0], depth + 1, &condition) &&
           walk_affine(affine, node->operands[condition != 0 ? 1 : 2], scale, depth + 1);
  }
  bool fine = node->opcode == TENON_OPCODE_ADD;
  for (uint32_t i = 0; i < node->operand_count && fine; ++i) {
    fine = walk_affine(affine, node->operands[i], scale, depth + 1);
  }
  return fine;
}

bool tenon__dim_affine_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                          const tenon__dim_point_t* point, int64_t* out_base,
                          int64_t* out_coefficients) {
  const uint32_t axis_count = point->coordinate_count;
  affine_walk_t affine = {.walk = {.pool = pool, .point = point, .steps = WALK_STEPS}};
  if (axis_count > TENON_RANK_LIMIT || !walk_affine(&affine, dim, 1, 0)) {
    return false;
  }
  *out_base = affine.sums[axis_count];
  if (axis_count > 0) {
    memcpy(out_coefficients, affine.sums, axis_count * sizeof(affine.sums[0]));
  }
  return true;
}
