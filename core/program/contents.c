/*
 * Small integer programs on symbols: shapes that are computed stay symbolic. Floats are quotients
 * of dimensions, as long as nothing rounds: from an extent to a float, times or divided by a
 * number, rounded to an integer and back is exact for extents below 2^20 or so, which is taken for
 * granted, as it is that extents fit 32 bits.
 */
#include "core/program/contents.h"

#include "core/base/status.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/contents_value.h"
#include "core/program/evaluate_block.h"
#include "core/program/scalar.h"

typedef tenon__content_t content_t;

typedef struct symbolic_t {
  tenon__dim_pool_t* pool;
  const tenon__expression_t* expression;
  const tenon__type_t* operands;
  tenon__arena_t* arena;
  int64_t space[TENON_RANK_LIMIT];
  tenon__walk_t walk;
  content_t* values; /* one for each instruction, at the point */
  content_t** sums;  /* results of reductions, over the whole space */
  uint32_t* stages;  /* after how many rounds of reductions an instruction can be computed */
} symbolic_t;

/* Element of an operand at coordinates; unknown where its contents are. */
static content_t element(const symbolic_t* s, uint32_t operand, const int64_t* coordinates,
                         uint32_t rank) {
  tenon_dim_t content = TENON_DIM_INVALID;
  return rank == s->operands[operand].rank &&
                 tenon__type_content(s->pool, &s->operands[operand], coordinates, &content) ==
                     TENON_CONTENT_FOUND
             ? tenon__content_whole(s->pool, content)
             : tenon__content_unknown();
}

static content_t read_input(const symbolic_t* s, uint32_t operand) {
  const tenon__access_t* access = &s->expression->accesses[operand];
  int64_t coordinates[TENON_RANK_LIMIT];
  const tenon__dim_point_t point = {.coordinates = s->walk.point,
                                    .coordinate_count = s->expression->program.rank};
  for (uint32_t d = 0; d < access->rank; ++d) {
    if (!tenon__dim_value_at(s->pool, access->coordinates[d], &point, &coordinates[d])) {
      return tenon__content_unknown();
    }
  }
  return element(s, operand, coordinates, access->rank);
}

static content_t read_load(const symbolic_t* s, const tenon_instruction_t* i) {
  int64_t coordinates[TENON_RANK_LIMIT];
  for (uint32_t d = 0; d < i->operands[1]; ++d) {
    const uint32_t coordinate = s->expression->program.coordinates[i->operands[0] + d];
    if (!tenon__content_known(s->pool, s->values[coordinate], &coordinates[d])) {
      return tenon__content_unknown();
    }
  }
  return element(s, (uint32_t)i->immediate.i, coordinates, i->operands[1]);
}

/* Place of the current point among all of the space, in row-major order. */
static uint64_t place_of_point(const symbolic_t* s, uint64_t without) {
  uint64_t place = 0;
  for (uint32_t k = 0; k < s->expression->program.rank; ++k) {
    const bool gone = ((without >> k) & 1u) != 0;
    place = place * (gone ? 1u : (uint64_t)s->space[k]) + (gone ? 0u : (uint64_t)s->walk.point[k]);
  }
  return place;
}

static content_t at_instruction(const symbolic_t* s, uint32_t index) {
  const tenon_instruction_t* instructions = s->expression->program.instructions;
  const tenon_instruction_t* i = &instructions[index];
  switch (i->opcode) {
    case TENON_OPCODE_INPUT:
      return read_input(s, (uint32_t)i->immediate.i);
    case TENON_OPCODE_LOAD:
      return read_load(s, i);
    case TENON_OPCODE_CONSTANT:
      return tenon__dtype_class(i->dtype) == 'f' ? tenon__content_float(s->pool, i->immediate.f)
                                                 : tenon__content_number(s->pool, i->immediate.i);
    case TENON_OPCODE_INDEX:
      return tenon__content_number(s->pool, s->walk.point[i->immediate.i]);
    case TENON_OPCODE_SIZE:
      return tenon__content_number(s->pool, s->space[i->immediate.i]);
    case TENON_OPCODE_EXTENT:
      return tenon__content_whole(s->pool, s->operands[i->immediate.i].dims[i->operands[0]]);
    default:
      break;
  }
  if (tenon__opcode_is_reduction(i->opcode)) {
    return s->sums[index][place_of_point(s, (uint64_t)i->immediate.i)];
  }
  const content_t* const operands[3] = {&s->values[i->operands[0]], &s->values[i->operands[1]],
                                        &s->values[i->operands[2]]};
  return tenon__content_combine(s->pool, i, tenon__instruction_type(&instructions[i->operands[0]]),
                                operands);
}

/* Computes every instruction that can be after `stage` rounds. */
static void evaluate_point(symbolic_t* s, uint32_t stage) {
  for (uint32_t k = 0; k < s->expression->program.instruction_count; ++k) {
    if (s->stages[k] <= stage) {
      s->values[k] = at_instruction(s, k);
    }
  }
}

/* All reductions of a stage: each point is added to its sum. */
static tenon_status_t reduce(symbolic_t* s, uint32_t stage, uint32_t points) {
  const tenon_program_t* program = &s->expression->program;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    if (s->stages[k] == stage && tenon__opcode_is_reduction(program->instructions[k].opcode)) {
      s->sums[k] = tenon__arena_allocate(s->arena, points + 1u, sizeof(content_t));
      TENON_TRY_MEMORY(s->sums[k] != NULL);
    }
  }
  (void)tenon__walk_begin(program->rank, s->space, 0, &s->walk);
  for (; s->walk.left > 0; tenon__walk_advance(&s->walk, 1)) {
    evaluate_point(s, stage - 1);
    for (uint32_t k = 0; k < program->instruction_count; ++k) {
      const tenon_instruction_t* i = &program->instructions[k];
      if (s->stages[k] == stage && tenon__opcode_is_reduction(i->opcode)) {
        content_t* sum = &s->sums[k][place_of_point(s, (uint64_t)i->immediate.i)];
        *sum = tenon__content_add_to_sum(s->pool, i, *sum, s->values[i->operands[0]]);
      }
    }
  }
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    if (s->sums[k] == NULL || s->stages[k] != stage) {
      continue;
    }
    for (uint32_t p = 0; p < points; ++p) {
      s->sums[k][p] = tenon__content_end_sum(s->pool, &program->instructions[k], s->sums[k][p]);
    }
  }
  return TENON_OK;
}

/* Whole numbers up to this a narrow float holds exactly; other types do not round, or all of what
 * contents hold, as is taken for granted. */
static int64_t exact_limit(tenon_dtype_t dtype) {
  if (tenon__dtype_class(dtype) != 'f' || tenon__dtype_arithmetic(dtype) == dtype) {
    return INT64_MAX;
  }
  return dtype == TENON_DTYPE_FLOAT16 ? 2048 : dtype == TENON_DTYPE_BFLOAT16 ? 256 : 0;
}

/* A number as it is stored and read again: half precision rounds it, packed integers wrap it. */
static content_t as_stored(const symbolic_t* s, content_t value, tenon_dtype_t from,
                           tenon_dtype_t dtype) {
  int64_t number = 0;
  uint64_t bytes = 0;
  if (from == dtype) {
    return value;
  }
  if (!tenon__content_known(s->pool, value, &number)) {
    const int64_t limit = exact_limit(dtype);
    int64_t low = 0;
    int64_t high = 0;
    tenon__dim_range(s->pool, value.numerator, &low, &high);
    const bool is_exact = low >= -limit && high <= limit && limit > 0;
    return is_exact || limit == INT64_MAX ? value : tenon__content_unknown();
  }
  tenon__scalar_t scalar = {.i = number};
  if (tenon__dtype_class(from) == 'f') {
    scalar.f = (double)number;
  }
  tenon__element_store(&bytes, dtype, 0, scalar, from);
  scalar = tenon__element_load(&bytes, dtype, 0);
  return tenon__dtype_class(dtype) == 'f' ? tenon__content_float(s->pool, scalar.f)
                                          : tenon__content_number(s->pool, scalar.i);
}

/* The output's elements, one by one, where all are known. */
static tenon_status_t collect(symbolic_t* s, const tenon_program_output_t* output,
                              tenon__type_t* inout_type) {
  const tenon_program_t* program = &s->expression->program;
  const tenon_dtype_t from = tenon__instruction_type(&program->instructions[output->instruction]);
  bool all = true;
  (void)tenon__walk_begin(program->rank, s->space, output->reduced_axes, &s->walk);
  const uint32_t count = (uint32_t)s->walk.left;
  tenon_dim_t* contents = tenon__arena_allocate(s->arena, count + 1u, sizeof(*contents));
  TENON_TRY_MEMORY(contents != NULL);
  for (uint32_t p = 0; p < count && all; ++p) {
    evaluate_point(s, UINT32_MAX);
    const content_t value = as_stored(s, s->values[output->instruction], from, output->dtype);
    all = tenon__content_is_whole(s->pool, value);
    contents[p] = value.numerator;
    tenon__walk_advance(&s->walk, 1);
  }
  TENON_TRY_MEMORY(!tenon__dim_pool_failed(s->pool));
  if (all) {
    inout_type->contents = contents;
    inout_type->content_count = count;
  }
  return TENON_OK;
}

/* Could the output be an integer at all, and everything read be contents? */
static bool may_be_contents(const tenon__expression_t* e, uint32_t output,
                            const tenon__type_t* operands) {
  const char kind = tenon__dtype_class(e->program.outputs[output].dtype);
  bool fine = kind == 'i' || kind == 'u' || kind == 'b' || kind == 'f';
  for (uint32_t k = 0; k < e->program.operand_count; ++k) {
    fine = fine && operands[k].contents != NULL;
  }
  return fine;
}

tenon_status_t tenon__program_contents(tenon__dim_pool_t* pool,
                                       const tenon__expression_t* expression, uint32_t output,
                                       const tenon__type_t* operands, tenon__arena_t* arena,
                                       tenon__type_t* inout_type) {
  const tenon_program_t* program = &expression->program;
  const tenon_program_output_t* made = &program->outputs[output];
  const size_t count = (size_t)program->instruction_count + 1;
  symbolic_t s = {.pool = pool, .expression = expression, .operands = operands, .arena = arena};
  uint32_t points = 0;
  if (!may_be_contents(expression, output, operands) ||
      !tenon__type_is_small(pool, program->rank, expression->space, s.space, &points) ||
      !tenon__walk_begin(program->rank, s.space, made->reduced_axes, &s.walk) ||
      (points == 0 && s.walk.left > 0)) {
    return TENON_OK; /* sums over nothing are left to the evaluator */
  }
  s.values = tenon__arena_allocate(arena, count, sizeof(*s.values));
  s.sums = tenon__arena_allocate(arena, count, sizeof(void*));
  s.stages = tenon__arena_allocate(arena, count, sizeof(*s.stages));
  TENON_TRY_MEMORY(s.values != NULL && s.sums != NULL && s.stages != NULL);
  const uint32_t stages = tenon__program_stages(program, s.stages);
  for (uint32_t stage = 1; stage <= stages; ++stage) {
    TENON_TRY(reduce(&s, stage, points));
  }
  return collect(&s, made, inout_type);
}
