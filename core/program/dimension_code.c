/* A dimension as instructions: each symbol is found in an extent or content that the program can
 * read, and equations with one unknown symbol are solved for it. */
#include "core/program/dimension_code.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"

enum { DEPTH_LIMIT = 128 };

typedef tenon__dimension_code_t code_t;

static tenon_status_t dim_code(code_t* c, tenon_dim_t dim, uint32_t depth, uint32_t* out_code);

static uint32_t number_code(const code_t* c, int64_t value) {
  return tenon__emit_constant(c->builder, TENON_DTYPE_INT64, (tenon__scalar_t){.i = value});
}

static uint32_t integer_code(const code_t* c, uint32_t opcode, uint32_t a, uint32_t b) {
  return tenon__emit_operation(c->builder, opcode, TENON_DTYPE_INT64, a, b, 0);
}

tenon_dtype_t tenon__dimension_code_type(const code_t* c, uint32_t input) {
  const tenon_dtype_t dtype =
      input < c->input_count ? c->inputs[input].dtype : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
  return strchr("biufs", tenon__dtype_class(dtype)) == NULL ? TENON_DTYPE_UNDEFINED
                                                            : tenon__dtype_arithmetic(dtype);
}

uint32_t tenon__dimension_code_operand(const code_t* c, uint32_t input) {
  const tenon_operand_t operand = {.kind = TENON_OPERAND_ARGUMENT,
                                   .index = input,
                                   .dtype = c->inputs[input].dtype,
                                   .indexed = 1};
  const tenon__access_t access = {.rank = TENON_NONE};
  return tenon__emit_operand(c->builder, &operand, &access);
}

static uint32_t extent_code(const code_t* c, const tenon__code_extent_t* extent) {
  return extent->input == TENON_NONE
             ? tenon__emit_immediate(c->builder, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0,
                                     (int64_t)extent->axis)
             : tenon__emit_immediate(c->builder, TENON_OPCODE_EXTENT, TENON_DTYPE_INT64,
                                     extent->axis,
                                     (int64_t)tenon__dimension_code_operand(c, extent->input));
}

/* symbol = (extent - base) / factor for an extent that is factor * symbol + base. */
static bool solve_extent(const code_t* c, tenon_dim_t symbol, uint32_t* out_code) {
  for (uint32_t k = 0; k < c->extent_count; ++k) {
    int64_t factor = 0;
    int64_t base = 0;
    if (!tenon__dim_linear(c->pool, c->extents[k].dim, symbol, &factor, &base) || factor == 0) {
      continue;
    }
    uint32_t code = extent_code(c, &c->extents[k]);
    if (base != 0) {
      code = integer_code(c, TENON_OPCODE_SUB, code, number_code(c, base));
    }
    if (factor != 1) {
      code = integer_code(c, TENON_OPCODE_FLOOR_DIV, code, number_code(c, factor));
    }
    *out_code = code;
    return true;
  }
  return false;
}

/* How many numbers can be read from an input's contents. */
static uint32_t number_count(const code_t* c, uint32_t input) {
  const tenon__type_t* type = &c->inputs[input];
  return tenon__dimension_code_type(c, input) == TENON_DTYPE_UNDEFINED || type->rank > 1 ||
                 type->contents == NULL
             ? 0
             : type->content_count;
}

/* An input's element as a number. */
static uint32_t load_code(const code_t* c, uint32_t input, const uint32_t* coordinates,
                          uint32_t count) {
  const uint32_t operand = tenon__dimension_code_operand(c, input);
  const uint32_t code = tenon__emit_load(c->builder, tenon__dimension_code_type(c, input), operand,
                                         coordinates, count);
  return tenon__emit_cast(c->builder, code, TENON_DTYPE_INT64);
}

/* One of them. */
static uint32_t content_code(const code_t* c, uint32_t input, uint32_t index) {
  const uint32_t place = number_code(c, (int64_t)index);
  return load_code(c, input, &place, c->inputs[input].rank);
}

/* An input that holds the dimension: its element. */
static bool read_number(const code_t* c, tenon_dim_t dim, uint32_t* out_code) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const uint32_t count = number_count(c, i);
    for (uint32_t k = 0; k < count; ++k) {
      if (tenon__dim_equal(c->inputs[i].contents[k], dim)) {
        *out_code = content_code(c, i, k);
        return true;
      }
    }
  }
  return false;
}

/* The extent that is this dimension; NULL: none. */
static const tenon__code_extent_t* find_extent(const code_t* c, tenon_dim_t dim) {
  for (uint32_t k = 0; k < c->extent_count; ++k) {
    if (tenon__dim_equal(c->extents[k].dim, dim)) {
      return &c->extents[k];
    }
  }
  return NULL;
}

/* symbol = extent / number for an extent that is symbol * number, the number in an input. Where
 * that is 0 the extent is, and nobody asks. */
static bool solve_product(const code_t* c, tenon_dim_t symbol, uint32_t* out_code) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const uint32_t count = number_count(c, i);
    for (uint32_t k = 0; k < count; ++k) {
      const tenon__code_extent_t* extent =
          find_extent(c, tenon__dim_multiply(c->pool, symbol, c->inputs[i].contents[k]));
      if (extent != NULL) {
        *out_code =
            integer_code(c, TENON_OPCODE_FLOOR_DIV, extent_code(c, extent), content_code(c, i, k));
        return true;
      }
    }
  }
  return false;
}

static tenon_dim_t negated(const code_t* c, tenon_dim_t dim) {
  return tenon__dim_multiply(c->pool, dim, tenon__dim_constant(c->pool, -1));
}

static bool mentions(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t part) {
  const tenon__dim_view_t view = tenon__dim_get(pool, dim);
  bool found = tenon__dim_equal(dim, part);
  for (uint32_t k = 0; !found && k < view.operand_count; ++k) {
    found = mentions(pool, view.operands[k], part);
  }
  return found;
}

/* symbol = extent - rest for an extent that is symbol + rest, the rest computed from other extents
 * and from numbers in inputs. */
static bool solve_sum(code_t* c, tenon_dim_t symbol, uint32_t* out_code) {
  const tenon_sink_t* sink = c->sink;
  bool found = false;
  if (c->solves) {
    return false;
  }
  c->solves = true;
  c->sink = NULL;
  for (uint32_t k = 0; !found && k < c->extent_count; ++k) {
    const tenon_dim_t rest = tenon__dim_add(c->pool, c->extents[k].dim, negated(c, symbol));
    uint32_t code = 0;
    found = !tenon__dim_equal(rest, TENON_DIM_INVALID) && !mentions(c->pool, rest, symbol) &&
            dim_code(c, rest, 0, &code) == TENON_OK;
    if (found) {
      *out_code = integer_code(c, TENON_OPCODE_SUB, extent_code(c, &c->extents[k]), code);
    }
  }
  c->solves = false;
  c->sink = sink;
  return found;
}

/* The dimension is `factor` times an extent, or differs from that by a number. (Of sums too long for
 * their canonical form no difference is known, but whether they are the same is.) */
static bool shift_scaled_extent(const code_t* c, tenon_dim_t dim, int64_t factor,
                                uint32_t* out_code) {
  for (uint32_t k = 0; k < c->extent_count; ++k) {
    int64_t shift = 0;
    const tenon_dim_t scaled =
        factor == 1
            ? c->extents[k].dim
            : tenon__dim_multiply(c->pool, c->extents[k].dim, tenon__dim_constant(c->pool, factor));
    if (!tenon__dim_equal(scaled, dim) &&
        !tenon__dim_known(c->pool, tenon__dim_add(c->pool, scaled, negated(c, dim)), &shift)) {
      continue;
    }
    uint32_t code = extent_code(c, &c->extents[k]);
    code = factor == 1 ? code : integer_code(c, TENON_OPCODE_MUL, code, number_code(c, factor));
    *out_code = shift == 0 ? code : integer_code(c, TENON_OPCODE_SUB, code, number_code(c, shift));
    return true;
  }
  return false;
}

/* Paddings that reflect count with an extent, with twice as much, and with their negatives. */
static bool shift_extent(const code_t* c, tenon_dim_t dim, uint32_t* out_code) {
  static const int64_t factors[] = {1, -1, 2, -2};
  bool found = false;
  for (size_t k = 0; !found && k < sizeof factors / sizeof *factors; ++k) {
    found = shift_scaled_extent(c, dim, factors[k], out_code);
  }
  return found;
}

static tenon_status_t symbol_code(code_t* c, tenon_dim_t dim, uint32_t* out_code) {
  const tenon__dim_view_t view = tenon__dim_get(c->pool, dim);
  const tenon__symbol_t* symbol = tenon__symbol_get(c->pool, view.index);
  if (symbol->kind == TENON_SYMBOL_COORDINATE) {
    *out_code = tenon__emit_immediate(c->builder, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0,
                                      (int64_t)symbol->a);
    return symbol->a < c->rank ? TENON_OK : TENON_ERROR_UNSUPPORTED;
  }
  if (solve_extent(c, dim, out_code) || read_number(c, dim, out_code) ||
      solve_product(c, dim, out_code) || solve_sum(c, dim, out_code)) {
    return TENON_OK;
  }
  return tenon__fail(c->sink, TENON_ERROR_UNSUPPORTED,
                     "a coordinate depends on the extent %s, which follows neither from extents "
                     "of the output or of the sources nor from numbers among the inputs",
                     symbol->name);
}

static tenon_status_t element_code(code_t* c, const tenon__dim_view_t* view, uint32_t depth,
                                   uint32_t* out_code) {
  uint32_t coordinates[TENON_RANK_LIMIT];
  if (view->operand_count > TENON_RANK_LIMIT ||
      tenon__dimension_code_type(c, view->index) == TENON_DTYPE_UNDEFINED) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < view->operand_count; ++i) {
    TENON_TRY(dim_code(c, view->operands[i], depth + 1, &coordinates[i]));
  }
  *out_code = load_code(c, view->index, coordinates, view->operand_count);
  return TENON_OK;
}

/* A dimension as a truth: comparisons as they are, other numbers by not being 0. */
static tenon_status_t truth_code(code_t* c, tenon_dim_t dim, uint32_t depth, uint32_t* out_code) {
  const tenon__dim_view_t view = tenon__dim_get(c->pool, dim);
  uint32_t codes[2] = {0, 0};
  if (view.kind == TENON_DIM_OPERATION &&
      (view.opcode == TENON_OPCODE_EQ || view.opcode == TENON_OPCODE_LT)) {
    TENON_TRY(dim_code(c, view.operands[0], depth + 1, &codes[0]));
    TENON_TRY(dim_code(c, view.operands[1], depth + 1, &codes[1]));
    *out_code = integer_code(c, view.opcode, codes[0], codes[1]);
    return TENON_OK;
  }
  TENON_TRY(dim_code(c, dim, depth + 1, &codes[0]));
  *out_code = integer_code(c, TENON_OPCODE_NE, codes[0], number_code(c, 0));
  return TENON_OK;
}

/* Neither a coordinate nor an element is in it. */
static bool is_free(const code_t* c, tenon_dim_t dim) {
  return !tenon__dim_mentions(c->pool, dim, TENON_SYMBOL_COORDINATE) &&
         !tenon__dim_mentions(c->pool, dim, -1);
}

/* An extent of many terms is one sum with what was added to it: all that is free in a sum, where
 * it is an extent, or differs from one by a number. */
static bool free_sum_code(const code_t* c, tenon_dim_t dim, const tenon__dim_view_t* view,
                          uint32_t* out_code) {
  tenon_dim_t rest = dim;
  uint32_t count = 0;
  if (view->opcode != TENON_OPCODE_ADD) {
    return false;
  }
  for (uint32_t i = 0; i < view->operand_count; ++i) {
    if (is_free(c, view->operands[i])) {
      ++count;
    } else {
      rest = tenon__dim_add(c->pool, rest, negated(c, view->operands[i]));
    }
  }
  return count > 1 && is_free(c, rest) && shift_extent(c, rest, out_code);
}

static tenon_status_t operation_code(code_t* c, tenon_dim_t dim, const tenon__dim_view_t* view,
                                     uint32_t depth, uint32_t* out_code) {
  uint32_t codes[3] = {0, 0, 0};
  if (view->opcode == TENON_OPCODE_EQ || view->opcode == TENON_OPCODE_LT) {
    TENON_TRY(truth_code(c, dim, depth + 1, &codes[0]));
    *out_code = tenon__emit_cast(c->builder, codes[0], TENON_DTYPE_INT64);
    return TENON_OK;
  }
  if (view->opcode == TENON_OPCODE_SELECT) {
    TENON_TRY(truth_code(c, view->operands[0], depth + 1, &codes[0]));
    TENON_TRY(dim_code(c, view->operands[1], depth + 1, &codes[1]));
    TENON_TRY(dim_code(c, view->operands[2], depth + 1, &codes[2]));
    *out_code = tenon__emit_operation(c->builder, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, codes[0],
                                      codes[1], codes[2]);
    return TENON_OK;
  }
  const bool has_extent = free_sum_code(c, dim, view, &codes[0]);
  bool is_first = !has_extent;
  for (uint32_t i = 0; i < view->operand_count; ++i) {
    if (has_extent && is_free(c, view->operands[i])) {
      continue;
    }
    TENON_TRY(dim_code(c, view->operands[i], depth + 1, &codes[is_first ? 0 : 1]));
    codes[0] = is_first ? codes[0] : integer_code(c, view->opcode, codes[0], codes[1]);
    is_first = false;
  }
  *out_code = codes[0];
  return TENON_OK;
}

/* The i64 instruction that computes a dimension. */
static tenon_status_t dim_code(code_t* c, tenon_dim_t dim, uint32_t depth, uint32_t* out_code) {
  if (depth > DEPTH_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (dim.id < c->code_count && c->codes[dim.id] != 0) {
    *out_code = c->codes[dim.id] - 1;
    return TENON_OK;
  }
  const tenon__dim_view_t view = tenon__dim_get(c->pool, dim);
  uint32_t code = 0;
  int64_t number = 0;
  if (tenon__dim_known(c->pool, dim, &number)) {
    code = number_code(c, number);
  } else if (is_free(c, dim) && shift_extent(c, dim, &code)) {
    /* found */
  } else if (view.kind == TENON_DIM_SYMBOL) {
    TENON_TRY(symbol_code(c, dim, &code));
  } else if (view.kind == TENON_DIM_ELEMENT) {
    TENON_TRY(element_code(c, &view, depth, &code));
  } else {
    TENON_TRY(operation_code(c, dim, &view, depth, &code));
  }
  if (dim.id < c->code_count) {
    c->codes[dim.id] = code + 1;
  }
  *out_code = code;
  return TENON_OK;
}

tenon_status_t tenon__dimension_code(code_t* c, tenon_dim_t dim, uint32_t* out_code) {
  return dim_code(c, dim, 0, out_code);
}
