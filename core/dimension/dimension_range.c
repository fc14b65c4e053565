/* Ranges of nodes by interval arithmetic. A value that exists fits int64, so a bound that does not
 * is cut to int64's own. */
#include "core/dimension/dimension_range.h"

#include "core/base/allocator.h"
#include "core/dimension/dimension_apply.h"

static int64_t cut_product(int64_t a, int64_t b, bool* inout_cut) {
  int64_t product = 0;
  if (tenon__multiply_int64(a, b, &product)) {
    return product;
  }
  *inout_cut = true;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

bool tenon__bounds_multiply(int64_t* inout_low, int64_t* inout_high, int64_t other_low,
                            int64_t other_high) {
  bool cut = false;
  const int64_t corners[4] = {
      cut_product(*inout_low, other_low, &cut), cut_product(*inout_low, other_high, &cut),
      cut_product(*inout_high, other_low, &cut), cut_product(*inout_high, other_high, &cut)};
  *inout_low = corners[0];
  *inout_high = corners[0];
  for (int i = 1; i < 4; ++i) {
    *inout_low = corners[i] < *inout_low ? corners[i] : *inout_low;
    *inout_high = corners[i] > *inout_high ? corners[i] : *inout_high;
  }
  return cut;
}

void tenon__bounds_add(tenon__bounds_t* bounds, int64_t low, int64_t high) {
  bounds->low_open = bounds->low_open || !tenon__add_int64(bounds->low, low, &bounds->low);
  bounds->high_open = bounds->high_open || !tenon__add_int64(bounds->high, high, &bounds->high);
  bounds->low = bounds->low_open ? INT64_MIN : bounds->low;
  bounds->high = bounds->high_open ? INT64_MAX : bounds->high;
}

static void divide_ranges(const tenon__dim_node_t* a, const tenon__dim_node_t* b, int64_t* out_min,
                          int64_t* out_max) {
  *out_min = INT64_MIN;
  *out_max = INT64_MAX;
  if (b->min < 0) {
    return;
  }
  const int64_t least = b->min < 1 ? 1 : b->min; /* a division by zero has no value */
  const int64_t most = b->max < 1 ? 1 : b->max;
  *out_min = tenon__floor_div_int64(a->min, a->min < 0 ? least : most);
  *out_max = tenon__floor_div_int64(a->max, a->max < 0 ? most : least);
}

static void remainder_range(const tenon__dim_node_t* a, const tenon__dim_node_t* b,
                            int64_t* out_min, int64_t* out_max) {
  *out_min = b->min < 0 ? b->min + 1 : 0;
  *out_max = b->max > 0 ? b->max - 1 : 0;
  if (b->min >= 0 && a->min >= 0 && a->max < *out_max) {
    *out_max = a->max;
  }
}

static void add_ranges(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                       int64_t* out_min, int64_t* out_max) {
  tenon__bounds_t bounds = {0};
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    const tenon__dim_node_t* operand = tenon__dim_node(pool, node->operands[i].id);
    tenon__bounds_add(&bounds, operand->min, operand->max);
  }
  *out_min = bounds.low;
  *out_max = bounds.high;
}

/* MUL, MIN, MAX over all operands. */
static void fold_ranges(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                        int64_t* out_min, int64_t* out_max) {
  const tenon__dim_node_t* first = tenon__dim_node(pool, node->operands[0].id);
  int64_t low = first->min;
  int64_t high = first->max;
  for (uint32_t i = 1; i < node->operand_count; ++i) {
    const tenon__dim_node_t* operand = tenon__dim_node(pool, node->operands[i].id);
    if (node->opcode == TENON_OPCODE_MUL) {
      (void)tenon__bounds_multiply(&low, &high, operand->min, operand->max);
    } else if (node->opcode == TENON_OPCODE_MIN) {
      low = operand->min < low ? operand->min : low;
      high = operand->max < high ? operand->max : high;
    } else {
      low = operand->min > low ? operand->min : low;
      high = operand->max > high ? operand->max : high;
    }
  }
  *out_min = low;
  *out_max = high;
}

/* The one number that an operation on numbers gives, if it has a value; a choice is of one side
 * once its condition is decided. */
static bool decided(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node, int64_t* out_min,
                    int64_t* out_max) {
  const tenon__dim_node_t* operand = tenon__dim_node(pool, node->operands[0].id);
  int64_t result = operand->min;
  if (node->opcode == TENON_OPCODE_SELECT) {
    if (operand->min <= 0 && operand->max >= 0 && operand->min != operand->max) {
      return false;
    }
    const bool holds = operand->min != 0 || operand->max != 0;
    const tenon__dim_node_t* side = tenon__dim_node(pool, node->operands[holds ? 1 : 2].id);
    *out_min = side->min;
    *out_max = side->max;
    return true;
  }
  bool has_value = true;
  for (uint32_t i = 0; i < node->operand_count; ++i) {
    operand = tenon__dim_node(pool, node->operands[i].id);
    if (operand->min != operand->max) {
      return false;
    }
    has_value =
        has_value && (i == 0 || tenon__dim_apply(node->opcode, result, operand->min, &result));
  }
  *out_min = has_value ? result : INT64_MIN;
  *out_max = has_value ? result : INT64_MAX;
  return true;
}

static void operation_range(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                            int64_t* out_min, int64_t* out_max) {
  if (decided(pool, node, out_min, out_max)) {
    return;
  }
  const tenon__dim_node_t* a = tenon__dim_node(pool, node->operands[0].id);
  const tenon__dim_node_t* b = tenon__dim_node(pool, node->operands[1].id);
  switch (node->opcode) {
    case TENON_OPCODE_ADD:
      add_ranges(pool, node, out_min, out_max);
      break;
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
      fold_ranges(pool, node, out_min, out_max);
      break;
    case TENON_OPCODE_FLOOR_DIV:
      divide_ranges(a, b, out_min, out_max);
      break;
    case TENON_OPCODE_MOD:
      remainder_range(a, b, out_min, out_max);
      break;
    case TENON_OPCODE_SELECT: {
      const tenon__dim_node_t* c = tenon__dim_node(pool, node->operands[2].id);
      *out_min = b->min < c->min ? b->min : c->min;
      *out_max = b->max > c->max ? b->max : c->max;
      break;
    }
    default: /* EQ, LT */
      *out_min = 0;
      *out_max = 1;
      break;
  }
}

void tenon__dim_compute_range(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                              int64_t* out_min, int64_t* out_max) {
  *out_min = INT64_MIN;
  *out_max = INT64_MAX;
  if (node->kind == TENON_DIM_CONSTANT) {
    *out_min = node->value;
    *out_max = node->value;
  } else if (node->kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = pool->symbols[node->index];
    *out_min = symbol->min;
    *out_max = symbol->max;
    if (tenon__dim_valid(pool, symbol->bound)) {
      const int64_t bound = tenon__dim_node(pool, symbol->bound.id)->max;
      *out_max = bound < *out_max ? bound : *out_max;
    }
    /* An empty range says that the symbol takes no value: any bounds hold. */
    *out_max = *out_max < *out_min ? *out_min : *out_max;
  } else if (node->kind == TENON_DIM_OPERATION) {
    operation_range(pool, node, out_min, out_max);
  }
}
