/*
 * A move as a program: coordinates become integer instructions, sources become LOADs, each chosen
 * where its coordinates are in range, in order, then the fill. A source that is always in range at
 * affine coordinates is an operand like any other. What is symbolic in a coordinate must be found
 * again in an extent that the program can ask for, of its space, or among the numbers in an input.
 */
#include "core/program/from_move.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_prove.h"
#include "core/program/program_builder.h"

enum { RANK_LIMIT = 64, DEPTH_LIMIT = 128 };

typedef struct conversion_t {
  tenon__dim_pool_t* pool;
  const tenon__index_map_t* map;
  const tenon__move_input_t* inputs;
  uint32_t input_count;
  const tenon_sink_t* sink;
  tenon__program_builder_t builder;
  uint32_t* codes; /* by dimension: its instruction + 1 */
  uint32_t code_count;
  bool solves; /* a symbol is being solved for: not for another one to do so */
} conversion_t;

static tenon_status_t dim_code(conversion_t* c, tenon_dim_t dim, uint32_t depth,
                               uint32_t* out_code);

static uint32_t number_code(conversion_t* c, int64_t value) {
  return tenon__emit_constant(&c->builder, TENON_DTYPE_INT64, (tenon__scalar_t){.i = value});
}

static uint32_t integer_code(conversion_t* c, uint32_t opcode, uint32_t a, uint32_t b) {
  return tenon__emit_operation(&c->builder, opcode, TENON_DTYPE_INT64, a, b, 0);
}

/* The type in which an input can be read; UNDEFINED when expressions cannot. */
static tenon_dtype_t readable_type(const conversion_t* c, uint32_t input) {
  const tenon_dtype_t dtype = input < c->input_count ? c->inputs[input].dtype : 0;
  return strchr("biuf", tenon__dtype_class(dtype)) == NULL ? TENON_DTYPE_UNDEFINED
                                                           : tenon__dtype_arithmetic(dtype);
}

static uint32_t indexed_operand(conversion_t* c, uint32_t input) {
  const tenon_operand_t operand = {.kind = TENON_OPERAND_ARGUMENT,
                                   .index = input,
                                   .dtype = c->inputs[input].dtype,
                                   .indexed = 1};
  const tenon__access_t access = {.rank = TENON_NONE};
  return tenon__emit_operand(&c->builder, &operand, &access);
}

/* An input's element at an affine access. */
static uint32_t plain_code(conversion_t* c, uint32_t input, const tenon__access_t* access) {
  const tenon_operand_t operand = {
      .kind = TENON_OPERAND_ARGUMENT,
      .index = input,
      .dtype = c->inputs[input].dtype,
      .broadcast_axes = tenon__access_broadcast_axes(c->pool, access, c->map->dims, c->map->rank)};
  const uint32_t made = tenon__emit_operand(&c->builder, &operand, access);
  return tenon__emit_immediate(&c->builder, TENON_OPCODE_INPUT, readable_type(c, input), 0,
                               (int64_t)made);
}

/* symbol = (extent - base) / factor for an extent of the space that is factor * symbol + base. */
static bool solve_extent(conversion_t* c, tenon_dim_t symbol, uint32_t* out_code) {
  for (uint32_t k = 0; k < c->map->rank; ++k) {
    int64_t factor = 0;
    int64_t base = 0;
    if (!tenon__dim_linear(c->pool, c->map->dims[k], symbol, &factor, &base) || factor == 0) {
      continue;
    }
    uint32_t code =
        tenon__emit_immediate(&c->builder, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, (int64_t)k);
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

/* An element of an input's contents. */
static uint32_t content_code(conversion_t* c, uint32_t input, uint32_t index) {
  const tenon_dtype_t type = readable_type(c, input);
  const uint32_t place = number_code(c, (int64_t)index);
  const uint32_t code =
      tenon__emit_load(&c->builder, type, indexed_operand(c, input), &place, c->inputs[input].rank);
  return type == TENON_DTYPE_INT64
             ? code
             : tenon__emit_operation(&c->builder, TENON_OPCODE_CAST, TENON_DTYPE_INT64, code, 0, 0);
}

/* An input that holds the dimension: its element. */
static bool read_number(conversion_t* c, tenon_dim_t dim, uint32_t* out_code) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (readable_type(c, i) == TENON_DTYPE_UNDEFINED) {
      continue;
    }
    for (uint32_t k = 0; k < c->inputs[i].content_count; ++k) {
      if (tenon__dim_equal(c->inputs[i].contents[k], dim)) {
        *out_code = content_code(c, i, k);
        return true;
      }
    }
  }
  return false;
}

/* An axis of the space with this extent, or TENON_NONE. */
static uint32_t axis_of_extent(const conversion_t* c, tenon_dim_t extent) {
  for (uint32_t d = 0; d < c->map->rank; ++d) {
    if (tenon__dim_equal(c->map->dims[d], extent)) {
      return d;
    }
  }
  return TENON_NONE;
}

/* symbol = extent / number for an extent of the space that is symbol * number, the number in an
 * input. Where that is 0 the space is empty, and nobody asks. */
static bool solve_product(conversion_t* c, tenon_dim_t symbol, uint32_t* out_code) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (readable_type(c, i) == TENON_DTYPE_UNDEFINED) {
      continue;
    }
    for (uint32_t k = 0; k < c->inputs[i].content_count; ++k) {
      const tenon_dim_t number = c->inputs[i].contents[k];
      const uint32_t axis = axis_of_extent(c, tenon__dim_multiply(c->pool, symbol, number));
      if (axis != TENON_NONE) {
        const uint32_t extent = tenon__emit_immediate(&c->builder, TENON_OPCODE_SIZE,
                                                      TENON_DTYPE_INT64, 0, (int64_t)axis);
        *out_code = integer_code(c, TENON_OPCODE_FLOOR_DIV, extent, content_code(c, i, k));
        return true;
      }
    }
  }
  return false;
}

static bool mentions(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t part) {
  const tenon__dim_view_t view = tenon__dim_get(pool, dim);
  bool found = tenon__dim_equal(dim, part);
  for (uint32_t k = 0; !found && k < view.operand_count; ++k) {
    found = mentions(pool, view.operands[k], part);
  }
  return found;
}

/* symbol = extent - rest for an extent of the space that is symbol + rest, the rest computed from
 * other extents and from numbers in inputs. */
static bool solve_sum(conversion_t* c, tenon_dim_t symbol, uint32_t* out_code) {
  const tenon_sink_t* sink = c->sink;
  bool found = false;
  if (c->solves) {
    return false;
  }
  c->solves = true;
  c->sink = NULL;
  for (uint32_t d = 0; !found && d < c->map->rank; ++d) {
    const tenon_dim_t minus =
        tenon__dim_multiply(c->pool, symbol, tenon__dim_constant(c->pool, -1));
    const tenon_dim_t rest = tenon__dim_add(c->pool, c->map->dims[d], minus);
    uint32_t code = 0;
    found = !tenon__dim_equal(rest, TENON_DIM_INVALID) && !mentions(c->pool, rest, symbol) &&
            dim_code(c, rest, 0, &code) == TENON_OK;
    if (found) {
      const uint32_t extent =
          tenon__emit_immediate(&c->builder, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, (int64_t)d);
      *out_code = integer_code(c, TENON_OPCODE_SUB, extent, code);
    }
  }
  c->solves = false;
  c->sink = sink;
  return found;
}

/* The dimension is an extent of the space, or differs from one by a number. */
static bool shift_extent(conversion_t* c, tenon_dim_t dim, uint32_t* out_code) {
  const tenon_dim_t minus = tenon__dim_multiply(c->pool, dim, tenon__dim_constant(c->pool, -1));
  for (uint32_t k = 0; k < c->map->rank; ++k) {
    int64_t shift = 0;
    if (!tenon__dim_known(c->pool, tenon__dim_add(c->pool, c->map->dims[k], minus), &shift)) {
      continue;
    }
    const uint32_t code =
        tenon__emit_immediate(&c->builder, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, (int64_t)k);
    *out_code = shift == 0 ? code : integer_code(c, TENON_OPCODE_SUB, code, number_code(c, shift));
    return true;
  }
  return false;
}

static tenon_status_t symbol_code(conversion_t* c, tenon_dim_t dim, uint32_t* out_code) {
  const tenon__dim_view_t view = tenon__dim_get(c->pool, dim);
  const tenon__symbol_t* symbol = tenon__symbol_get(c->pool, view.index);
  if (symbol->kind == TENON_SYMBOL_COORDINATE) {
    *out_code = tenon__emit_immediate(&c->builder, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0,
                                      (int64_t)symbol->a);
    return symbol->a < c->map->rank ? TENON_OK : TENON_ERROR_UNSUPPORTED;
  }
  if (solve_extent(c, dim, out_code) || read_number(c, dim, out_code) ||
      solve_product(c, dim, out_code) || solve_sum(c, dim, out_code)) {
    return TENON_OK;
  }
  return tenon__fail(c->sink, TENON_ERROR_UNSUPPORTED,
                     "what is read depends on the extent %s, which follows neither from the "
                     "extents of the output nor from numbers among the inputs",
                     symbol->name);
}

static tenon_status_t element_code(conversion_t* c, const tenon__dim_view_t* view, uint32_t depth,
                                   uint32_t* out_code) {
  uint32_t coordinates[RANK_LIMIT];
  const tenon_dtype_t type = readable_type(c, view->index);
  if (view->operand_count > RANK_LIMIT || type == TENON_DTYPE_UNDEFINED) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < view->operand_count; ++i) {
    TENON_TRY(dim_code(c, view->operands[i], depth + 1, &coordinates[i]));
  }
  uint32_t code = tenon__emit_load(&c->builder, type, indexed_operand(c, view->index), coordinates,
                                   view->operand_count);
  if (type != TENON_DTYPE_INT64) {
    code = tenon__emit_operation(&c->builder, TENON_OPCODE_CAST, TENON_DTYPE_INT64, code, 0, 0);
  }
  *out_code = code;
  return TENON_OK;
}

/* A dimension as a truth: comparisons as they are, other numbers by not being 0. */
static tenon_status_t truth_code(conversion_t* c, tenon_dim_t dim, uint32_t depth,
                                 uint32_t* out_code) {
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

static tenon_status_t operation_code(conversion_t* c, tenon_dim_t dim,
                                     const tenon__dim_view_t* view, uint32_t depth,
                                     uint32_t* out_code) {
  uint32_t codes[3] = {0, 0, 0};
  if (view->opcode == TENON_OPCODE_EQ || view->opcode == TENON_OPCODE_LT) {
    TENON_TRY(truth_code(c, dim, depth + 1, &codes[0]));
    *out_code =
        tenon__emit_operation(&c->builder, TENON_OPCODE_CAST, TENON_DTYPE_INT64, codes[0], 0, 0);
    return TENON_OK;
  }
  if (view->opcode == TENON_OPCODE_SELECT) {
    TENON_TRY(truth_code(c, view->operands[0], depth + 1, &codes[0]));
    TENON_TRY(dim_code(c, view->operands[1], depth + 1, &codes[1]));
    TENON_TRY(dim_code(c, view->operands[2], depth + 1, &codes[2]));
    *out_code = tenon__emit_operation(&c->builder, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, codes[0],
                                      codes[1], codes[2]);
    return TENON_OK;
  }
  TENON_TRY(dim_code(c, view->operands[0], depth + 1, &codes[0]));
  for (uint32_t i = 1; i < view->operand_count; ++i) {
    TENON_TRY(dim_code(c, view->operands[i], depth + 1, &codes[1]));
    codes[0] = integer_code(c, view->opcode, codes[0], codes[1]);
  }
  *out_code = codes[0];
  return TENON_OK;
}

/* The i64 instruction that computes a dimension. */
static tenon_status_t dim_code(conversion_t* c, tenon_dim_t dim, uint32_t depth,
                               uint32_t* out_code) {
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
  const bool is_free = !tenon__dim_mentions(c->pool, dim, TENON_SYMBOL_COORDINATE) &&
                       !tenon__dim_mentions(c->pool, dim, -1);
  if (tenon__dim_known(c->pool, dim, &number)) {
    code = number_code(c, number);
  } else if (is_free && shift_extent(c, dim, &code)) {
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

/* What must hold for a source's coordinates to be in range and is not sure; false when all is sure.
 */
typedef struct guard_t {
  bool needed;
  uint32_t code; /* bool */
} guard_t;

static void add_condition(conversion_t* c, guard_t* guard, uint32_t condition) {
  guard->code = guard->needed ? tenon__emit_operation(&c->builder, TENON_OPCODE_AND,
                                                      TENON_DTYPE_BOOL, guard->code, condition, 0)
                              : condition;
  guard->needed = true;
}

static tenon_status_t guard_axis(conversion_t* c, tenon_dim_t coordinate, tenon_dim_t extent,
                                 uint32_t code, guard_t* guard) {
  const tenon_dim_t zero = tenon__dim_constant(c->pool, 0);
  const tenon_dim_t last = tenon__dim_add(c->pool, extent, tenon__dim_constant(c->pool, -1));
  if (tenon__dim_equal(last, TENON_DIM_INVALID)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (!tenon__dim_never_above(c->pool, zero, coordinate)) {
    add_condition(c, guard, integer_code(c, TENON_OPCODE_LE, number_code(c, 0), code));
  }
  if (!tenon__dim_never_above(c->pool, coordinate, last)) {
    uint32_t bound = 0;
    TENON_TRY(dim_code(c, extent, 0, &bound));
    add_condition(c, guard, integer_code(c, TENON_OPCODE_LT, code, bound));
  }
  return TENON_OK;
}

/* Always in range, at affine coordinates: an aligned operand. */
static bool is_plain(conversion_t* c, const tenon__map_source_t* source,
                     const tenon_dim_t* coordinates) {
  const tenon__map_source_t alone = {
      .rank = source->rank, .dims = source->dims, .coordinates = coordinates};
  const tenon__index_map_t map = {.kind = TENON_MAP_GENERAL,
                                  .rank = c->map->rank,
                                  .dims = c->map->dims,
                                  .source_count = 1,
                                  .sources = &alone};
  return tenon__index_map_is_view(c->pool, &map);
}

/* A source's element, and what must hold for it to be there. */
static tenon_status_t source_code(conversion_t* c, uint32_t number, guard_t* out_guard,
                                  uint32_t* out_code) {
  const tenon__map_source_t* source = &c->map->sources[number];
  const tenon_dtype_t type = readable_type(c, source->input);
  const tenon_dim_t* coordinates = NULL;
  uint32_t codes[RANK_LIMIT];
  *out_guard = (guard_t){false, 0};
  if (type == TENON_DTYPE_UNDEFINED || source->rank > RANK_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(tenon__index_map_coordinates(c->pool, c->builder.arena, c->map, number, &coordinates));
  if (is_plain(c, source, coordinates)) {
    const tenon__access_t access = {source->rank, coordinates};
    *out_code = plain_code(c, source->input, &access);
    return TENON_OK;
  }
  const bool last = number + 1 == c->map->source_count && c->map->fill == TENON_FILL_NONE;
  for (uint32_t i = 0; i < source->rank; ++i) {
    TENON_TRY(dim_code(c, coordinates[i], 0, &codes[i]));
    /* The last one is read in any case: out of range is an error. */
    TENON_TRY(last ? TENON_OK
                   : guard_axis(c, coordinates[i], source->dims[i], codes[i], out_guard));
  }
  const uint32_t operand = indexed_operand(c, source->input);
  *out_code = tenon__emit_load(&c->builder, type, operand, codes, source->rank);
  return TENON_OK;
}

static tenon_status_t fill_code(conversion_t* c, tenon_dtype_t type, uint32_t* out_code) {
  if (c->map->fill == TENON_FILL_VALUE) {
    *out_code = tenon__emit_constant(
        &c->builder, type, tenon__scalar_cast(c->map->fill_value, c->map->fill_dtype, type));
    return TENON_OK;
  }
  const uint32_t input = c->map->fill_input;
  if (readable_type(c, input) != type) {
    return TENON_ERROR_UNSUPPORTED;
  }
  /* One element: it stands at the beginning whatever its rank. */
  static const tenon_dim_t none = {0};
  const tenon__access_t access = {0, &none};
  *out_code = plain_code(c, input, &access);
  return TENON_OK;
}

/* The whole choice: the first source in range, the next one, ..., the fill. */
static tenon_status_t choose(conversion_t* c, tenon_dtype_t type, uint32_t* out_code) {
  guard_t* guards =
      tenon__arena_allocate(c->builder.arena, c->map->source_count + 1u, sizeof(*guards));
  uint32_t* codes =
      tenon__arena_allocate(c->builder.arena, c->map->source_count + 1u, sizeof(*codes));
  if (guards == NULL || codes == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  uint32_t count = 0;
  bool open = true; /* something may still be left for later sources */
  while (count < c->map->source_count && open) {
    TENON_TRY(source_code(c, count, &guards[count], &codes[count]));
    open = guards[count++].needed;
  }
  uint32_t code = 0;
  if (open) {
    TENON_TRY(fill_code(c, type, &code));
  } else {
    code = codes[--count];
  }
  while (count > 0) {
    --count;
    code = tenon__emit_operation(&c->builder, TENON_OPCODE_SELECT, type, guards[count].code,
                                 codes[count], code);
  }
  *out_code = code;
  return TENON_OK;
}

static tenon_status_t convert(conversion_t* c, tenon_dtype_t dtype,
                              tenon__expression_t* out_expression) {
  uint32_t axes[RANK_LIMIT];
  const uint32_t* const all_axes = axes;
  uint32_t code = 0;
  const tenon_dtype_t type = tenon__dtype_arithmetic(dtype);
  if (c->map->rank > RANK_LIMIT || strchr("biuf", tenon__dtype_class(dtype)) == NULL ||
      readable_type(c, c->map->sources[0].input) != type) {
    return tenon__fail(c->sink, TENON_ERROR_UNSUPPORTED, "expressions cannot move %s",
                       tenon__dtype_name(dtype));
  }
  TENON_TRY(choose(c, type, &code));
  for (uint32_t k = 0; k < c->map->rank; ++k) {
    axes[k] = k;
  }
  const tenon_program_output_t output = {.instruction = code, .dtype = dtype};
  const tenon__program_outputs_t outputs = {1, &output, &all_axes, &c->map->rank};
  return tenon__program_builder_finish(&c->builder, c->map->rank, c->map->dims, &outputs, c->sink,
                                       out_expression);
}

/* The parameters are the header's. NOLINTNEXTLINE(readability-function-size) */
tenon_status_t tenon__expression_from_move(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                           tenon_dtype_t dtype, const tenon__move_input_t* inputs,
                                           uint32_t input_count, tenon__arena_t* arena,
                                           const tenon_sink_t* sink,
                                           tenon__expression_t* out_expression) {
  conversion_t conversion = {.pool = pool,
                             .map = map,
                             .inputs = inputs,
                             .input_count = input_count,
                             .sink = sink,
                             .code_count = tenon__dim_pool_count(pool)};
  const tenon_allocator_t allocator = tenon__dim_pool_allocator(pool);
  tenon__program_builder_initialize(&conversion.builder, arena);
  conversion.codes = tenon__allocate(allocator, conversion.code_count, sizeof(uint32_t));
  if (conversion.codes == NULL || map->source_count == 0) {
    tenon__free(allocator, conversion.codes, conversion.code_count * sizeof(uint32_t));
    return conversion.codes == NULL ? tenon__fail_memory(sink) : TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon_status_t status = convert(&conversion, dtype, out_expression);
  tenon__free(allocator, conversion.codes, conversion.code_count * sizeof(uint32_t));
  if (status != TENON_OK && (conversion.builder.failed || tenon__dim_pool_failed(pool))) {
    status = TENON_ERROR_OUT_OF_MEMORY;
  }
  return status;
}
