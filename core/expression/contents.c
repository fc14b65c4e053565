/* Small integer programs on symbols: shapes that are computed stay symbolic. */
#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/expression/evaluate.h"
#include "core/expression/scalar.h"

enum { MOST_ELEMENTS = 1024, MOST_AXES = 64 };

typedef struct symbolic_t {
  tenon__dim_pool_t* pool;
  const tenon__expression_t* expression;
  const tenon_dim_t* const* contents;
  const uint32_t* content_counts;
  const tenon_dim_t* const* operand_dims;
  int64_t space[MOST_AXES];
  int64_t point[MOST_AXES];
  tenon_dim_t* values; /* one for each instruction, at the point */
} symbolic_t;

/* Element of an operand at the current point; INVALID where it is not known. */
static tenon_dim_t element(const symbolic_t* s, uint32_t operand, const int64_t* coordinates,
                           uint32_t rank) {
  int64_t place = 0;
  if (s->contents[operand] == NULL) {
    return TENON_DIM_INVALID;
  }
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t extent = 0;
    if (!tenon__dim_known(s->pool, s->operand_dims[operand][d], &extent) || coordinates[d] < 0 ||
        coordinates[d] >= extent) {
      return TENON_DIM_INVALID;
    }
    place = place * extent + coordinates[d];
  }
  return place < (int64_t)s->content_counts[operand] ? s->contents[operand][place]
                                                     : TENON_DIM_INVALID;
}

static tenon_dim_t read_input(const symbolic_t* s, uint32_t operand) {
  const tenon__access_t* access = &s->expression->accesses[operand];
  tenon_dim_t point[MOST_AXES];
  int64_t coordinates[MOST_AXES];
  for (uint32_t k = 0; k < s->expression->program.rank; ++k) {
    point[k] = tenon__dim_constant(s->pool, s->point[k]);
  }
  for (uint32_t d = 0; d < access->rank; ++d) {
    const tenon_dim_t at = tenon__dim_substitute(s->pool, access->coordinates[d], point,
                                                 s->expression->program.rank, NULL);
    if (!tenon__dim_known(s->pool, at, &coordinates[d])) {
      return TENON_DIM_INVALID;
    }
  }
  return element(s, operand, coordinates, access->rank);
}

static tenon_dim_t read_load(const symbolic_t* s, const tenon_instruction_t* i) {
  int64_t coordinates[MOST_AXES];
  for (uint32_t d = 0; d < i->operands[1]; ++d) {
    const uint32_t coordinate = s->expression->program.coordinates[i->operands[0] + d];
    if (s->values[coordinate].id == TENON_NONE ||
        !tenon__dim_known(s->pool, s->values[coordinate], &coordinates[d])) {
      return TENON_DIM_INVALID;
    }
  }
  return element(s, (uint32_t)i->immediate.i, coordinates, i->operands[1]);
}

static tenon_dim_t arithmetic(const symbolic_t* s, const tenon_instruction_t* i, tenon_dim_t a,
                              tenon_dim_t b) {
  tenon__dim_pool_t* pool = s->pool;
  const bool is_float = tenon__dtype_class(i->dtype) == 'f';
  switch (i->opcode) {
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_SUB:
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
    case TENON_OPCODE_EQ:
    case TENON_OPCODE_LT:
      return tenon__dim_combine(pool, i->opcode, a, b);
    case TENON_OPCODE_FLOOR_DIV:
    case TENON_OPCODE_MOD:
      return is_float ? TENON_DIM_INVALID : tenon__dim_combine(pool, i->opcode, a, b);
    case TENON_OPCODE_DIV: {
      int64_t min_a = 0;
      int64_t min_b = 0;
      int64_t max = 0;
      tenon__dim_range(pool, a, &min_a, &max);
      tenon__dim_range(pool, b, &min_b, &max);
      return !is_float && min_a >= 0 && min_b > 0
                 ? tenon__dim_combine(pool, TENON_OPCODE_FLOOR_DIV, a, b)
                 : TENON_DIM_INVALID;
    }
    case TENON_OPCODE_NE:
      return tenon__dim_select(pool, tenon__dim_combine(pool, TENON_OPCODE_EQ, a, b),
                               tenon__dim_constant(pool, 0), tenon__dim_constant(pool, 1));
    case TENON_OPCODE_LE:
      return tenon__dim_select(pool, tenon__dim_combine(pool, TENON_OPCODE_LT, b, a),
                               tenon__dim_constant(pool, 0), tenon__dim_constant(pool, 1));
    case TENON_OPCODE_AND:
      return i->dtype == TENON_DTYPE_BOOL ? tenon__dim_combine(pool, TENON_OPCODE_MIN, a, b)
                                          : TENON_DIM_INVALID;
    case TENON_OPCODE_OR:
      return i->dtype == TENON_DTYPE_BOOL ? tenon__dim_combine(pool, TENON_OPCODE_MAX, a, b)
                                          : TENON_DIM_INVALID;
    default:
      return TENON_DIM_INVALID;
  }
}

/* Known numbers go through the scalar rules, symbols through the pool. */
static tenon_dim_t combine(const symbolic_t* s, const tenon_instruction_t* i) {
  const tenon_program_t* program = &s->expression->program;
  const uint32_t count = tenon__opcode_operand_count(i->opcode);
  tenon__scalar_t numbers[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
  tenon_dim_t dims[3] = {{0}, {0}, {0}};
  bool all_known = true;
  if (i->opcode == TENON_OPCODE_SELECT) {
    const tenon_dim_t condition = s->values[i->operands[0]];
    int64_t known = 0;
    if (condition.id == TENON_NONE) {
      return TENON_DIM_INVALID;
    }
    if (tenon__dim_known(s->pool, condition, &known)) {
      return s->values[i->operands[known != 0 ? 1 : 2]];
    }
  }
  for (uint32_t k = 0; k < count; ++k) {
    int64_t number = 0;
    dims[k] = s->values[i->operands[k]];
    if (dims[k].id == TENON_NONE) {
      return TENON_DIM_INVALID;
    }
    all_known = all_known && tenon__dim_known(s->pool, dims[k], &number);
    const tenon_dtype_t type = tenon__instruction_type(&program->instructions[i->operands[k]]);
    if (tenon__dtype_class(type) == 'f') {
      numbers[k].f = (double)number;
    } else {
      numbers[k].i = number;
    }
  }
  if (all_known) {
    const tenon_dtype_t from = tenon__instruction_type(&program->instructions[i->operands[0]]);
    const tenon__scalar_t result =
        tenon__scalar_apply(i->opcode, i->dtype, from, numbers[0], numbers[1], numbers[2]);
    if (tenon__dtype_class(tenon__instruction_type(i)) != 'f') {
      return tenon__dim_constant(s->pool, result.i);
    }
    return result.f == rint(result.f) && fabs(result.f) < 0x1p53
               ? tenon__dim_constant(s->pool, (int64_t)result.f)
               : TENON_DIM_INVALID;
  }
  if (i->opcode == TENON_OPCODE_CAST) {
    /* A dimension fits every wide type. */
    return tenon__dtype_bits(i->dtype) >= 32 ? dims[0] : TENON_DIM_INVALID;
  }
  if (i->opcode == TENON_OPCODE_SELECT) {
    return tenon__dim_select(s->pool, dims[0], dims[1], dims[2]);
  }
  return count == 2 ? arithmetic(s, i, dims[0], dims[1]) : TENON_DIM_INVALID;
}

static tenon_dim_t at_instruction(const symbolic_t* s, const tenon_instruction_t* i) {
  switch (i->opcode) {
    case TENON_OPCODE_INPUT:
      return read_input(s, (uint32_t)i->immediate.i);
    case TENON_OPCODE_LOAD:
      return read_load(s, i);
    case TENON_OPCODE_CONSTANT:
      if (tenon__dtype_class(i->dtype) != 'f') {
        return tenon__dim_constant(s->pool, i->immediate.i);
      }
      return i->immediate.f == rint(i->immediate.f) && fabs(i->immediate.f) < 0x1p53
                 ? tenon__dim_constant(s->pool, (int64_t)i->immediate.f)
                 : TENON_DIM_INVALID;
    case TENON_OPCODE_INDEX:
      return tenon__dim_constant(s->pool, s->point[i->immediate.i]);
    case TENON_OPCODE_SIZE:
      return tenon__dim_constant(s->pool, s->space[i->immediate.i]);
    default:
      return combine(s, i);
  }
}

/* Reductions over all axes of a vector: the one kind that shapes need (a product of extents). */
static tenon_dim_t reduce_all(symbolic_t* s, uint32_t index, uint64_t count) {
  const tenon_program_t* program = &s->expression->program;
  const tenon_instruction_t* i = &program->instructions[index];
  static const uint16_t kOpcodes[] = {TENON_OPCODE_ADD, TENON_OPCODE_MUL, TENON_OPCODE_MIN,
                                      TENON_OPCODE_MAX};
  const uint32_t which = (uint32_t)i->opcode - TENON_OPCODE_SUM;
  if (which >= sizeof kOpcodes / sizeof *kOpcodes || program->rank != 1 || count == 0 ||
      tenon__dtype_class(i->dtype) == 'f') {
    return TENON_DIM_INVALID;
  }
  tenon_dim_t total = TENON_DIM_INVALID;
  for (uint64_t p = 0; p < count; ++p) {
    s->point[0] = (int64_t)p;
    for (uint32_t k = 0; k < index; ++k) {
      s->values[k] = at_instruction(s, &program->instructions[k]);
    }
    const tenon_dim_t value = s->values[i->operands[0]];
    if (value.id == TENON_NONE) {
      return value;
    }
    total = p == 0 ? value : tenon__dim_combine(s->pool, kOpcodes[which], total, value);
  }
  return total;
}

static tenon_status_t evaluate_points(symbolic_t* s, uint32_t output, uint64_t points,
                                      uint64_t results, tenon_dim_t* contents, bool* out_all) {
  const tenon_program_t* program = &s->expression->program;
  const uint32_t root = program->outputs[output].instruction;
  *out_all = true;
  for (uint64_t p = 0; p < results && *out_all; ++p) {
    uint64_t rest = p;
    for (uint32_t k = program->rank; k-- > 0;) {
      const bool reduced = ((program->outputs[output].reduced_axes >> k) & 1u) != 0;
      const uint64_t extent = reduced ? 1 : (uint64_t)s->space[k];
      s->point[k] = (int64_t)(rest % extent);
      rest /= extent;
    }
    for (uint32_t k = 0; k <= root; ++k) {
      s->values[k] = tenon__opcode_is_reduction(program->instructions[k].opcode)
                         ? reduce_all(s, k, points)
                         : at_instruction(s, &program->instructions[k]);
    }
    contents[p] = s->values[root];
    *out_all = contents[p].id != TENON_NONE;
  }
  return tenon__dim_pool_failed(s->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__program_contents(tenon__dim_pool_t* pool,
                                       const tenon__expression_t* expression, uint32_t output,
                                       const tenon_dim_t* const* contents,
                                       const uint32_t* content_counts,
                                       const tenon_dim_t* const* operand_dims,
                                       tenon__arena_t* arena, const tenon_dim_t** out_contents,
                                       uint32_t* out_count) {
  const tenon_program_t* program = &expression->program;
  symbolic_t s = {.pool = pool,
                  .expression = expression,
                  .contents = contents,
                  .content_counts = content_counts,
                  .operand_dims = operand_dims};
  uint64_t points = 1;
  uint64_t results = 1;
  bool all = false;
  *out_contents = NULL;
  *out_count = 0;
  for (uint32_t k = 0; k < program->rank; ++k) {
    if (!tenon__dim_known(pool, expression->space[k], &s.space[k]) || s.space[k] < 0 ||
        s.space[k] > MOST_ELEMENTS) {
      return TENON_OK;
    }
    points *= (uint64_t)s.space[k];
    if (((program->outputs[output].reduced_axes >> k) & 1u) == 0) {
      results *= (uint64_t)s.space[k];
    }
    if (points > MOST_ELEMENTS) {
      return TENON_OK;
    }
  }
  tenon_dim_t* found = tenon__arena_allocate(arena, results + 1, sizeof *found);
  s.values = tenon__arena_allocate(arena, program->instruction_count + 1u, sizeof *s.values);
  if (found == NULL || s.values == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  TENON_TRY(evaluate_points(&s, output, points, results, found, &all));
  if (all) {
    *out_contents = found;
    *out_count = (uint32_t)results;
  }
  return TENON_OK;
}
