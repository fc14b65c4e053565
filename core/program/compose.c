/*
 * Composition. Both programs are copied into one; a part that stands in another space than the
 * result is copied with a replacement for each of its coordinates. The result's space is the
 * consumer's, unless the producer reduces and the consumer works on the reduced extents: then the
 * consumer is lifted into the producer's space, where its values do not vary along the reduced
 * axes.
 */
#include "core/program/compose.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/normalise.h"
#include "core/program/program_builder.h"

typedef struct composition_t {
  tenon__dim_pool_t* pool;
  tenon__arena_t* arena;
  tenon__program_builder_t builder;
  uint32_t rank; /* of the result's space */
  const tenon_dim_t* space;
  bool unsupported; /* the result cannot say something */
} composition_t;

/* How one part is copied. */
typedef struct part_t {
  const tenon__expression_t* expression;
  const tenon_dim_t* replacements; /* of its coordinates; NULL: it stands in the result's space */
  const uint32_t* axes; /* of the result for each of its own, for reductions; NULL: same */
  uint32_t index_base;
  const uint32_t* slots; /* operands that read values made already */
  const uint32_t* values;
  uint32_t slot_count;
  uint32_t* map; /* instruction -> of the builder */
} part_t;

/* What was noted while parts were copied: memory that is out, or what cannot be said. */
static tenon_status_t status_of(const composition_t* c) {
  TENON_TRY_MEMORY(!c->builder.failed && !tenon__dim_pool_failed(c->pool));
  return c->unsupported ? TENON_ERROR_UNSUPPORTED : TENON_OK;
}

/* Notes it; any number will do then. */
static uint32_t no_code(composition_t* c) {
  c->unsupported = true;
  return 0;
}

/* The operand of the result for an operand of the part. */
static uint32_t copy_operand(composition_t* c, const part_t* part, uint32_t number) {
  tenon_operand_t operand = part->expression->program.operands[number];
  tenon__access_t access = part->expression->accesses[number];
  if (operand.kind == TENON_OPERAND_ARGUMENT) {
    operand.index += part->index_base;
  }
  if (operand.indexed == 0 && part->replacements != NULL) {
    tenon_dim_t* coordinates =
        tenon__arena_allocate(c->arena, access.rank + 1u, sizeof(*coordinates));
    if (coordinates == NULL) {
      c->builder.failed = true;
      return 0;
    }
    for (uint32_t i = 0; i < access.rank; ++i) {
      coordinates[i] = tenon__dim_substitute(c->pool, access.coordinates[i], part->replacements,
                                             part->expression->program.rank, NULL);
      c->unsupported = c->unsupported || tenon__dim_equal(coordinates[i], TENON_DIM_INVALID);
    }
    access.coordinates = coordinates;
  }
  if (operand.indexed == 0 && status_of(c) == TENON_OK) {
    operand.broadcast_axes = tenon__access_broadcast_axes(c->pool, &access, c->space, c->rank);
  }
  return status_of(c) == TENON_OK ? tenon__emit_operand(&c->builder, &operand, &access) : 0;
}

/* A coordinate of the part's space as an instruction: known numbers times coordinates, plus a known
 * number. */
static uint32_t coordinate_code(composition_t* c, tenon_dim_t coordinate, tenon_dtype_t dtype) {
  tenon_dim_t parts[TENON_RANK_LIMIT];
  tenon_dim_t base = TENON_DIM_INVALID;
  int64_t number = 0;
  if (!tenon__dim_affine(c->pool, coordinate, c->rank, &base, parts) ||
      !tenon__dim_known(c->pool, base, &number)) {
    return no_code(c);
  }
  uint32_t code = tenon__emit_constant(&c->builder, dtype, (tenon__scalar_t){.i = number});
  for (uint32_t k = 0; k < c->rank; ++k) {
    if (!tenon__dim_known(c->pool, parts[k], &number)) {
      return no_code(c);
    }
    if (number != 0) {
      const uint32_t index =
          tenon__emit_immediate(&c->builder, TENON_OPCODE_INDEX, dtype, 0, (int64_t)k);
      const uint32_t factor =
          tenon__emit_constant(&c->builder, dtype, (tenon__scalar_t){.i = number});
      const uint32_t product =
          tenon__emit_operation(&c->builder, TENON_OPCODE_MUL, dtype, index, factor, 0);
      code = tenon__emit_operation(&c->builder, TENON_OPCODE_ADD, dtype, code, product, 0);
    }
  }
  return code;
}

/* An extent of the part's space: a number, or the same extent of the result's. */
static uint32_t extent_code(composition_t* c, tenon_dim_t extent, tenon_dtype_t dtype) {
  int64_t number = 0;
  if (tenon__dim_known(c->pool, extent, &number)) {
    return tenon__emit_constant(&c->builder, dtype, (tenon__scalar_t){.i = number});
  }
  for (uint32_t k = 0; k < c->rank; ++k) {
    if (tenon__dim_equal(extent, c->space[k])) {
      return tenon__emit_immediate(&c->builder, TENON_OPCODE_SIZE, dtype, 0, (int64_t)k);
    }
  }
  return no_code(c);
}

static uint64_t map_axes(const part_t* part, uint64_t mask) {
  if (part->axes == NULL) {
    return mask;
  }
  uint64_t mapped = 0;
  for (uint32_t k = 0; k < part->expression->program.rank; ++k) {
    if (((mask >> k) & 1u) != 0 && part->axes[k] != TENON_NONE) {
      mapped |= UINT64_C(1) << part->axes[k];
    }
  }
  return mapped;
}

static bool find_slot(const part_t* part, int64_t operand, uint32_t* out_value) {
  for (uint32_t k = 0; k < part->slot_count; ++k) {
    if ((int64_t)part->slots[k] == operand) {
      *out_value = part->values[k];
      return true;
    }
  }
  return false;
}

/* Where the part stands in another space, what looks at its own is replaced. */
static uint32_t copy_instruction(composition_t* c, const part_t* part,
                                 const tenon_instruction_t* i) {
  const tenon__expression_t* e = part->expression;
  uint32_t coordinates[TENON_RANK_LIMIT];
  uint32_t value = 0;
  if (i->opcode == TENON_OPCODE_INPUT && find_slot(part, i->immediate.i, &value)) {
    return tenon__emit_cast(&c->builder, value, i->dtype);
  }
  if (i->opcode == TENON_OPCODE_INDEX && part->replacements != NULL) {
    return coordinate_code(c, part->replacements[i->immediate.i], i->dtype);
  }
  if (i->opcode == TENON_OPCODE_SIZE && part->replacements != NULL) {
    return extent_code(c, e->space[i->immediate.i], i->dtype);
  }
  tenon_instruction_t own =
      tenon__instruction_renumber(e->program.coordinates, i, part->map, NULL, coordinates);
  if (tenon__opcode_reads_operand(i->opcode)) {
    own.immediate.i = (int64_t)copy_operand(c, part, (uint32_t)i->immediate.i);
  } else if (tenon__opcode_is_reduction(i->opcode)) {
    own.immediate.i = (int64_t)map_axes(part, (uint64_t)i->immediate.i);
  }
  return tenon__emit(&c->builder, &own, coordinates);
}

static tenon_status_t copy_part(composition_t* c, part_t* part) {
  const tenon_program_t* program = &part->expression->program;
  part->map = tenon__arena_allocate(c->arena, program->instruction_count + 1u, sizeof(uint32_t));
  TENON_TRY_MEMORY(part->map != NULL);
  for (uint32_t k = 0; k < program->instruction_count && !c->unsupported; ++k) {
    part->map[k] = copy_instruction(c, part, &program->instructions[k]);
  }
  return status_of(c);
}

/* Where an access reads the output along an axis of its producer; INVALID for one that it lacks. */
static tenon_dim_t read_along(const tenon__access_t* access, const tenon__expression_t* producer,
                              uint32_t output, uint32_t axis) {
  tenon_dim_t coordinate = TENON_DIM_INVALID;
  for (uint32_t d = 0; d < access->rank; ++d) {
    coordinate = producer->output_axes[output][d] == axis ? access->coordinates[d] : coordinate;
  }
  return coordinate;
}

static bool is_reduced(const tenon__expression_t* producer, uint32_t output, uint32_t axis) {
  return ((producer->program.outputs[output].reduced_axes >> axis) & 1u) != 0;
}

/* Is the output read at the same point of an equal space? Along reduced axes it may be read
 * anywhere. */
static bool reads_same_point(tenon__dim_pool_t* pool, const tenon__expression_t* consumer,
                             uint32_t slot, const tenon__expression_t* producer, uint32_t output) {
  const tenon__access_t* access = &consumer->accesses[slot];
  const uint32_t rank = producer->program.rank;
  bool is_same = consumer->program.rank == rank &&
                 tenon__dims_equal(consumer->space, producer->space, rank) &&
                 access->rank == producer->output_ranks[output];
  for (uint32_t k = 0; k < rank && is_same; ++k) {
    const tenon_dim_t extent = producer->space[k];
    const tenon_dim_t coordinate = read_along(access, producer, output, k);
    is_same = is_reduced(producer, output, k) ||
              (tenon__dim_equal(coordinate, TENON_DIM_INVALID)
                   ? tenon__dim_is(pool, extent, 1)
                   : tenon__dim_equal(coordinate, tenon__dim_coordinate(pool, k, extent)));
  }
  return is_same;
}

/* Does the consumer stand on the output's own shape and read it point by point? */
static bool stands_on_output(tenon__dim_pool_t* pool, const tenon__expression_t* consumer,
                             uint32_t slot, const tenon__expression_t* producer, uint32_t output) {
  const tenon__access_t* access = &consumer->accesses[slot];
  const uint32_t rank = producer->output_ranks[output];
  if (consumer->program.rank != rank || access->rank != rank) {
    return false;
  }
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  for (uint32_t d = 0; d < rank; ++d) {
    const uint32_t axis = producer->output_axes[output][d];
    const tenon_dim_t extent = is_reduced(producer, output, axis) ? one : producer->space[axis];
    if (!tenon__dim_equal(consumer->space[d], extent) ||
        !tenon__dim_equal(access->coordinates[d], tenon__dim_coordinate(pool, d, extent))) {
      return false;
    }
  }
  return true;
}

/* The producer's coordinates where the consumer reads it; axes that its output lacks must have
 * extent 1. */
static tenon_status_t producer_replacements(composition_t* c, const tenon__access_t* access,
                                            const tenon__expression_t* producer, uint32_t output,
                                            const tenon_dim_t** out_replacements) {
  const uint32_t rank = producer->program.rank;
  tenon_dim_t* replacements = tenon__arena_allocate(c->arena, rank + 1u, sizeof(*replacements));
  TENON_TRY_MEMORY(replacements != NULL);
  c->unsupported = access->rank != producer->output_ranks[output];
  for (uint32_t k = 0; k < rank && !c->unsupported; ++k) {
    const tenon_dim_t coordinate = read_along(access, producer, output, k);
    const bool is_missing = tenon__dim_equal(coordinate, TENON_DIM_INVALID);
    replacements[k] = is_missing ? tenon__dim_constant(c->pool, 0) : coordinate;
    c->unsupported = is_missing && !tenon__dim_is(c->pool, producer->space[k], 1);
  }
  *out_replacements = replacements;
  return status_of(c);
}

/* The consumer's coordinates and axes in the producer's space, into which it is lifted. */
static tenon_status_t lift(composition_t* c, const tenon__expression_t* producer, uint32_t output,
                           part_t* consumer) {
  const uint32_t rank = producer->output_ranks[output];
  tenon_dim_t* replacements = tenon__arena_allocate(c->arena, rank + 1u, sizeof(*replacements));
  uint32_t* axes = tenon__arena_allocate(c->arena, rank + 1u, sizeof(*axes));
  TENON_TRY_MEMORY(replacements != NULL && axes != NULL);
  for (uint32_t d = 0; d < rank; ++d) {
    const uint32_t axis = producer->output_axes[output][d];
    const bool gone = is_reduced(producer, output, axis);
    axes[d] = gone ? TENON_NONE : axis;
    replacements[d] = gone ? tenon__dim_constant(c->pool, 0)
                           : tenon__dim_coordinate(c->pool, axis, producer->space[axis]);
  }
  consumer->replacements = replacements;
  consumer->axes = axes;
  return status_of(c);
}

/* The producer's value where slot number `slot` reads it: stored and loaded again. Packed types
 * change a value when it is stored; narrow floats round, which a strict build keeps, and every
 * build where the rounding was asked for. `in_place`: every slot reads the producer at the same
 * point of its own space. */
static tenon_status_t copy_value(composition_t* c, const tenon__composition_t* composition,
                                 bool in_place, uint32_t slot, part_t* producer,
                                 uint32_t* out_value) {
  const tenon_program_output_t* made = &producer->expression->program.outputs[composition->output];
  const tenon__access_t* access = &composition->consumer->accesses[composition->slots[slot]];
  if (!in_place) {
    TENON_TRY(producer_replacements(c, access, producer->expression, composition->output,
                                    &producer->replacements));
  }
  if (slot == 0 || !in_place) {
    TENON_TRY(copy_part(c, producer));
  }
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(made->dtype);
  c->unsupported = arithmetic != made->dtype &&
                   (composition->strict || (made->reserved & TENON_OUTPUT_ROUNDS) != 0 ||
                    tenon__dtype_class(made->dtype) != 'f');
  *out_value = tenon__emit_cast(&c->builder, producer->map[made->instruction], arithmetic);
  return status_of(c);
}

/* The consumer's outputs, on the result's axes, and the producer's if it is kept. */
static tenon_status_t finish(composition_t* c, const part_t* consumer, const part_t* producer,
                             uint32_t producer_output, bool keep,
                             tenon__expression_t* out_expression) {
  const tenon__expression_t* e = consumer->expression;
  const uint32_t own = e->program.output_count;
  const uint32_t count = own + (keep ? 1u : 0u);
  const uint64_t lifted = consumer->axes == NULL
                              ? 0
                              : producer->expression->program.outputs[producer_output].reduced_axes;
  tenon_program_output_t* outputs = tenon__arena_allocate(c->arena, count + 1u, sizeof(*outputs));
  const uint32_t** axes = tenon__arena_allocate(c->arena, count + 1u, sizeof(*axes));
  uint32_t* ranks = tenon__arena_allocate(c->arena, count + 1u, sizeof(*ranks));
  TENON_TRY_MEMORY(outputs != NULL && axes != NULL && ranks != NULL);
  for (uint32_t k = 0; k < own; ++k) {
    outputs[k] = e->program.outputs[k];
    outputs[k].instruction = consumer->map[outputs[k].instruction];
    outputs[k].reduced_axes = map_axes(consumer, outputs[k].reduced_axes) | lifted;
    ranks[k] = e->output_ranks[k];
    axes[k] = e->output_axes[k];
    if (consumer->axes != NULL) {
      uint32_t* placed = tenon__arena_allocate(c->arena, ranks[k] + 1u, sizeof(*placed));
      TENON_TRY_MEMORY(placed != NULL);
      for (uint32_t d = 0; d < ranks[k]; ++d) {
        placed[d] = producer->expression->output_axes[producer_output][e->output_axes[k][d]];
      }
      axes[k] = placed;
    }
  }
  if (keep) {
    outputs[own] = producer->expression->program.outputs[producer_output];
    outputs[own].instruction = producer->map[outputs[own].instruction];
    axes[own] = producer->expression->output_axes[producer_output];
    ranks[own] = producer->expression->output_ranks[producer_output];
  }
  tenon__expression_t raw = {0};
  const tenon__program_outputs_t all = {count, outputs, axes, ranks};
  TENON_TRY(tenon__program_builder_finish(&c->builder, c->rank, c->space, &all, &raw));
  return tenon__expression_normalise(&raw, c->arena, out_expression);
}

tenon_status_t tenon__expression_compose(tenon__dim_pool_t* pool,
                                         const tenon__composition_t* composition,
                                         tenon__arena_t* arena,
                                         tenon__expression_t* out_expression) {
  const tenon__expression_t* consumer = composition->consumer;
  const tenon__expression_t* producer = composition->producer;
  const uint32_t output = composition->output;
  composition_t c = {.pool = pool, .arena = arena};
  bool same_point = true;
  bool on_output = true;
  for (uint32_t k = 0; k < composition->slot_count; ++k) {
    const uint32_t slot = composition->slots[k];
    if (consumer->program.operands[slot].indexed != 0) {
      return TENON_ERROR_UNSUPPORTED;
    }
    same_point = same_point && reads_same_point(pool, consumer, slot, producer, output);
    on_output = on_output && stands_on_output(pool, consumer, slot, producer, output);
  }
  const bool reduces = tenon__program_has(&producer->program, TENON_OPCODE_SUM, TENON_OPCODE_MEAN);
  const bool lifted = !same_point && on_output && reduces;
  if (composition->slot_count == 0 ||
      (!same_point && !lifted && (composition->keep_output || reduces))) {
    c.unsupported = true;
    return status_of(&c);
  }
  const tenon__expression_t* frame = lifted ? producer : consumer;
  c.rank = frame->program.rank;
  c.space = frame->space;
  tenon__program_builder_initialize(&c.builder, arena);
  part_t first = {.expression = producer, .index_base = composition->index_base};
  part_t second = {
      .expression = consumer, .slots = composition->slots, .slot_count = composition->slot_count};
  uint32_t* values = tenon__arena_allocate(arena, composition->slot_count, sizeof(*values));
  TENON_TRY_MEMORY(values != NULL);
  for (uint32_t k = 0; k < composition->slot_count; ++k) {
    TENON_TRY(copy_value(&c, composition, same_point || lifted, k, &first, &values[k]));
  }
  second.values = values;
  if (lifted) {
    TENON_TRY(lift(&c, producer, output, &second));
  }
  TENON_TRY(copy_part(&c, &second));
  return finish(&c, &second, &first, output, composition->keep_output, out_expression);
}
