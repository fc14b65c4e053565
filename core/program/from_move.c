/*
 * A move as a program: coordinates become integer instructions, sources become LOADs, each chosen
 * where its coordinates are in range, in order, then the fill. A source that is always in range at
 * affine coordinates is an operand like any other. */
#include "core/program/from_move.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_prove.h"
#include "core/program/dimension_code.h"

typedef struct conversion_t {
  const tenon__index_map_t* map;
  tenon__program_builder_t builder;
  tenon__dimension_code_t code;
} conversion_t;

static tenon_dtype_t readable_type(const conversion_t* c, uint32_t input) {
  return tenon__dimension_code_type(&c->code, input);
}

static uint32_t compare_code(conversion_t* c, uint32_t opcode, uint32_t a, uint32_t b) {
  return tenon__emit_operation(&c->builder, opcode, TENON_DTYPE_INT64, a, b, 0);
}

/* An input's element at an affine access. */
static uint32_t plain_code(conversion_t* c, uint32_t input, const tenon__access_t* access) {
  const tenon_operand_t operand = {.kind = TENON_OPERAND_ARGUMENT,
                                   .index = input,
                                   .dtype = c->code.inputs[input].dtype,
                                   .broadcast_axes = tenon__access_broadcast_axes(
                                       c->code.pool, access, c->map->dims, c->map->rank)};
  const uint32_t made = tenon__emit_operand(&c->builder, &operand, access);
  return tenon__emit_immediate(&c->builder, TENON_OPCODE_INPUT, readable_type(c, input), 0,
                               (int64_t)made);
}

/* A guard is what must hold for a source's coordinates to be in range and is not sure, a bool;
 * TENON_NONE when all is sure. */
static void add_condition(conversion_t* c, uint32_t* guard, uint32_t condition) {
  *guard = *guard == TENON_NONE ? condition
                                : tenon__emit_operation(&c->builder, TENON_OPCODE_AND,
                                                        TENON_DTYPE_BOOL, *guard, condition, 0);
}

static tenon_status_t guard_axis(conversion_t* c, tenon_dim_t coordinate, tenon_dim_t extent,
                                 uint32_t code, uint32_t* guard) {
  const tenon_dim_t zero = tenon__dim_constant(c->code.pool, 0);
  const tenon_dim_t last =
      tenon__dim_add(c->code.pool, extent, tenon__dim_constant(c->code.pool, -1));
  if (tenon__dim_equal(last, TENON_DIM_INVALID)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (!tenon__dim_never_above(c->code.pool, zero, coordinate)) {
    const uint32_t none =
        tenon__emit_constant(&c->builder, TENON_DTYPE_INT64, (tenon__scalar_t){.i = 0});
    add_condition(c, guard, compare_code(c, TENON_OPCODE_LE, none, code));
  }
  if (!tenon__dim_never_above(c->code.pool, coordinate, last)) {
    uint32_t bound = 0;
    TENON_TRY(tenon__dimension_code(&c->code, extent, &bound));
    add_condition(c, guard, compare_code(c, TENON_OPCODE_LT, code, bound));
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
  return tenon__index_map_is_view(c->code.pool, &map);
}

/* A source's element, and what must hold for it to be there. */
static tenon_status_t source_code(conversion_t* c, uint32_t number, uint32_t* out_guard,
                                  uint32_t* out_code) {
  const tenon__map_source_t* source = &c->map->sources[number];
  const tenon_dtype_t type = readable_type(c, source->input);
  const tenon_dim_t* coordinates = NULL;
  uint32_t codes[TENON_RANK_LIMIT];
  *out_guard = TENON_NONE;
  if (type == TENON_DTYPE_UNDEFINED || source->rank > TENON_RANK_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(
      tenon__index_map_coordinates(c->code.pool, c->builder.arena, c->map, number, &coordinates));
  if (is_plain(c, source, coordinates)) {
    const tenon__access_t access = {source->rank, coordinates};
    *out_code = plain_code(c, source->input, &access);
    return TENON_OK;
  }
  const bool last = number + 1 == c->map->source_count && c->map->fill == TENON_FILL_NONE;
  for (uint32_t i = 0; i < source->rank; ++i) {
    TENON_TRY(tenon__dimension_code(&c->code, coordinates[i], &codes[i]));
    /* The last one is read in any case: out of range is an error. */
    TENON_TRY(last ? TENON_OK
                   : guard_axis(c, coordinates[i], source->dims[i], codes[i], out_guard));
  }
  const uint32_t operand = tenon__dimension_code_operand(&c->code, source->input);
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
  uint32_t* guards =
      tenon__arena_allocate(c->builder.arena, c->map->source_count + 1u, sizeof(*guards));
  uint32_t* codes =
      tenon__arena_allocate(c->builder.arena, c->map->source_count + 1u, sizeof(*codes));
  TENON_TRY_MEMORY(guards != NULL && codes != NULL);
  uint32_t count = 0;
  bool open = true; /* something may still be left for later sources */
  while (count < c->map->source_count && open) {
    TENON_TRY(source_code(c, count, &guards[count], &codes[count]));
    open = guards[count++] != TENON_NONE;
  }
  uint32_t code = 0;
  if (open) {
    TENON_TRY(fill_code(c, type, &code));
  } else {
    code = codes[--count];
  }
  while (count > 0) {
    --count;
    code = tenon__emit_operation(&c->builder, TENON_OPCODE_SELECT, type, guards[count],
                                 codes[count], code);
  }
  *out_code = code;
  return TENON_OK;
}

static tenon_status_t convert(conversion_t* c, tenon_dtype_t dtype,
                              tenon__expression_t* out_expression) {
  uint32_t axes[TENON_RANK_LIMIT];
  const uint32_t* const all_axes = axes;
  uint32_t code = 0;
  const tenon_dtype_t type = tenon__dtype_arithmetic(dtype);
  if (c->map->rank > TENON_RANK_LIMIT || strchr("biufs", tenon__dtype_class(dtype)) == NULL ||
      readable_type(c, c->map->sources[0].input) != type) {
    return tenon__fail(c->code.sink, TENON_ERROR_UNSUPPORTED, "expressions cannot move %s",
                       tenon__dtype_name(dtype));
  }
  TENON_TRY(choose(c, type, &code));
  for (uint32_t k = 0; k < c->map->rank; ++k) {
    axes[k] = k;
  }
  const tenon_program_output_t output = {.instruction = code, .dtype = dtype};
  const tenon__program_outputs_t outputs = {1, &output, &all_axes, &c->map->rank};
  return tenon__program_builder_finish(&c->builder, c->map->rank, c->map->dims, &outputs,
                                       out_expression);
}

/* What the program can ask for: extents of its space, then of what it reads. */
static tenon_status_t list_extents(conversion_t* c) {
  const tenon__index_map_t* map = c->map;
  uint32_t count = map->rank;
  for (uint32_t s = 0; s < map->source_count; ++s) {
    count += map->sources[s].rank;
  }
  tenon__code_extent_t* extents =
      tenon__arena_allocate(c->builder.arena, count + 1u, sizeof(*extents));
  TENON_TRY_MEMORY(extents != NULL);
  for (uint32_t k = 0; k < map->rank; ++k) {
    extents[k] = (tenon__code_extent_t){map->dims[k], TENON_NONE, k};
  }
  count = map->rank;
  for (uint32_t s = 0; s < map->source_count; ++s) {
    const tenon__map_source_t* source = &map->sources[s];
    if (readable_type(c, source->input) == TENON_DTYPE_UNDEFINED) {
      continue;
    }
    for (uint32_t k = 0; k < source->rank; ++k) {
      extents[count++] = (tenon__code_extent_t){source->dims[k], source->input, k};
    }
  }
  c->code.extents = extents;
  c->code.extent_count = count;
  return TENON_OK;
}

/* The parameters are the header's. NOLINTNEXTLINE(readability-function-size) */
tenon_status_t tenon__expression_from_move(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                           tenon_dtype_t dtype, const tenon__type_t* inputs,
                                           uint32_t input_count, tenon__arena_t* arena,
                                           const tenon_sink_t* sink,
                                           tenon__expression_t* out_expression) {
  conversion_t conversion = {.map = map,
                             .code = {.pool = pool,
                                      .rank = map->rank,
                                      .inputs = inputs,
                                      .input_count = input_count,
                                      .sink = sink,
                                      .builder = &conversion.builder,
                                      .code_count = tenon__dim_pool_count(pool)}};
  tenon__dimension_code_t* code = &conversion.code;
  const tenon_allocator_t allocator = tenon__dim_pool_allocator(pool);
  tenon__program_builder_initialize(&conversion.builder, arena);
  if (map->source_count == 0) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  TENON_TRY(list_extents(&conversion));
  code->codes = tenon__allocate(allocator, code->code_count, sizeof(uint32_t));
  TENON_TRY_MEMORY(code->codes != NULL);
  tenon_status_t status = convert(&conversion, dtype, out_expression);
  tenon__free(allocator, code->codes, code->code_count * sizeof(uint32_t));
  if (status != TENON_OK && (conversion.builder.failed || tenon__dim_pool_failed(pool))) {
    status = TENON_ERROR_OUT_OF_MEMORY;
  }
  return status;
}
