/* Programs while they are put together. */
#include "core/expression/assembler.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/expression/scalar.h"

bool tenon__assembler_initialize(tenon__assembler_t* out_assembler, tenon__arena_t* arena,
                                 uint32_t rank, const tenon_dim_t* space, uint32_t instructions,
                                 uint32_t operands, uint32_t coordinates) {
  tenon__assembler_t a = {.arena = arena, .rank = rank, .space = space};
  /* Simplification adds at most one constant or one product for each instruction. */
  a.instruction_capacity = 3 * instructions + 4;
  a.operand_capacity = operands + 1;
  a.coordinate_capacity = coordinates + 1;
  a.instructions =
      tenon__arena_allocate(arena, a.instruction_capacity, sizeof *a.instructions);
  a.operands = tenon__arena_allocate(arena, a.operand_capacity, sizeof *a.operands);
  a.accesses = tenon__arena_allocate(arena, a.operand_capacity, sizeof *a.accesses);
  a.coordinates = tenon__arena_allocate(arena, a.coordinate_capacity, sizeof *a.coordinates);
  *out_assembler = a;
  return a.instructions != NULL && a.operands != NULL && a.accesses != NULL &&
         a.coordinates != NULL;
}

static bool same_access(const tenon__access_t* a, const tenon__access_t* b) {
  if (a->rank != b->rank) {
    return false;
  }
  for (uint32_t k = 0; a->rank != TENON_NONE && k < a->rank; ++k) {
    if (!tenon__dim_equal(a->coordinates[k], b->coordinates[k])) {
      return false;
    }
  }
  return true;
}

uint32_t tenon__assembler_operand(tenon__assembler_t* a, const tenon_operand_t* operand,
                                  const tenon__access_t* access) {
  for (uint32_t k = 0; k < a->operand_count; ++k) {
    if (a->operands[k].kind == operand->kind && a->operands[k].index == operand->index &&
        a->operands[k].dtype == operand->dtype && a->operands[k].indexed == operand->indexed &&
        (operand->indexed != 0 || same_access(&a->accesses[k], access))) {
      return k;
    }
  }
  if (a->operand_count == a->operand_capacity) {
    a->failed = true;
    return 0;
  }
  a->operands[a->operand_count] = *operand;
  a->accesses[a->operand_count] = *access;
  return a->operand_count++;
}

uint64_t tenon__access_broadcast(tenon__dim_pool_t* pool, const tenon__access_t* access,
                                 uint32_t rank) {
  uint64_t varies = 0;
  if (access->rank == TENON_NONE) {
    return 0;
  }
  for (uint32_t d = 0; d < access->rank; ++d) {
    tenon_dim_t base;
    tenon_dim_t coefficients[64];
    if (!tenon__dim_affine(pool, access->coordinates[d], rank, &base, coefficients)) {
      return 0;
    }
    for (uint32_t k = 0; k < rank; ++k) {
      int64_t value = 0;
      if (!tenon__dim_known(pool, coefficients[k], &value) || value != 0) {
        varies |= UINT64_C(1) << k;
      }
    }
  }
  const uint64_t all = rank >= 64 ? UINT64_MAX : (UINT64_C(1) << rank) - 1;
  return all & ~varies;
}

static uint32_t append(tenon__assembler_t* a, const tenon_instruction_t* instruction) {
  if (a->instruction_count == a->instruction_capacity) {
    a->failed = true;
    return 0;
  }
  a->instructions[a->instruction_count] = *instruction;
  return a->instruction_count++;
}

static bool same_instruction(const tenon__assembler_t* a, const tenon_instruction_t* x,
                             const tenon_instruction_t* y, const uint32_t* y_coordinates) {
  if (x->opcode != y->opcode || x->dtype != y->dtype) {
    return false;
  }
  if (x->opcode == TENON_OPCODE_LOAD) {
    return x->immediate.i == y->immediate.i && x->operands[1] == y->operands[1] &&
           (x->operands[1] == 0 || memcmp(a->coordinates + x->operands[0], y_coordinates,
                                          x->operands[1] * sizeof(uint32_t)) == 0);
  }
  /* Immediates are compared by their bits: -0.0 and 0.0 differ, a NaN equals itself. */
  return memcmp(&x->immediate, &y->immediate, sizeof x->immediate) == 0 &&
         memcmp(x->operands, y->operands, sizeof x->operands) == 0;
}

static uint32_t intern(tenon__assembler_t* a, const tenon_instruction_t* instruction,
                       const uint32_t* coordinates) {
  for (uint32_t k = 0; k < a->instruction_count; ++k) {
    if (same_instruction(a, &a->instructions[k], instruction, coordinates)) {
      return k;
    }
  }
  tenon_instruction_t own = *instruction;
  if (own.opcode == TENON_OPCODE_LOAD) {
    if (a->coordinate_count + own.operands[1] > a->coordinate_capacity) {
      a->failed = true;
      return 0;
    }
    own.operands[0] = a->coordinate_count;
    if (own.operands[1] > 0) {
      memcpy(a->coordinates + a->coordinate_count, coordinates,
             own.operands[1] * sizeof(uint32_t));
    }
    a->coordinate_count += own.operands[1];
  }
  return append(a, &own);
}

uint32_t tenon__assembler_constant(tenon__assembler_t* a, tenon_dtype_t dtype,
                                   tenon__scalar_t value) {
  tenon_instruction_t instruction = {.opcode = TENON_OPCODE_CONSTANT, .dtype = (uint16_t)dtype};
  if (tenon__dtype_class(dtype) == 'f') {
    instruction.immediate.f = tenon__round_float(dtype, value.f);
  } else {
    instruction.immediate.i = tenon__wrap_integer(dtype, value.i);
  }
  return intern(a, &instruction, NULL);
}

static bool constant_of(const tenon__assembler_t* a, uint32_t index, tenon__scalar_t* out_value) {
  const tenon_instruction_t* i = &a->instructions[index];
  if (i->opcode != TENON_OPCODE_CONSTANT) {
    return false;
  }
  if (tenon__dtype_class(i->dtype) == 'f') {
    out_value->f = i->immediate.f;
  } else {
    out_value->i = i->immediate.i;
  }
  return true;
}

static bool is_number(const tenon__assembler_t* a, uint32_t index, double number) {
  tenon__scalar_t value;
  if (!constant_of(a, index, &value)) {
    return false;
  }
  return tenon__dtype_class(a->instructions[index].dtype) == 'f' ? value.f == number
                                                                  : (double)value.i == number;
}

static bool fold(tenon__assembler_t* a, const tenon_instruction_t* i, uint32_t* out_index) {
  const uint32_t count = tenon__opcode_operand_count(i->opcode);
  tenon__scalar_t values[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
  if (count == 0 || i->opcode == TENON_OPCODE_RANDOM || tenon__opcode_is_reduction(i->opcode)) {
    return false;
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (!constant_of(a, i->operands[k], &values[k])) {
      return false;
    }
  }
  const tenon_dtype_t from = tenon__instruction_type(&a->instructions[i->operands[0]]);
  const tenon__scalar_t result =
      tenon__scalar_apply(i->opcode, i->dtype, from, values[0], values[1], values[2]);
  *out_index = tenon__assembler_constant(a, tenon__instruction_type(i), result);
  return true;
}

/* 1 / (1 + exp(-x)) in any of its usual spellings, given the divisor. */
static bool sigmoid_argument(const tenon__assembler_t* a, uint32_t divisor, uint32_t* out_argument) {
  const tenon_instruction_t* sum = &a->instructions[divisor];
  if (sum->opcode != TENON_OPCODE_ADD) {
    return false;
  }
  for (uint32_t side = 0; side < 2; ++side) {
    const tenon_instruction_t* e = &a->instructions[sum->operands[1 - side]];
    if (is_number(a, sum->operands[side], 1.0) && e->opcode == TENON_OPCODE_EXP &&
        a->instructions[e->operands[0]].opcode == TENON_OPCODE_NEG) {
      *out_argument = a->instructions[e->operands[0]].operands[0];
      return true;
    }
  }
  return false;
}

static uint32_t unary(tenon__assembler_t* a, uint16_t opcode, uint16_t dtype, uint32_t operand) {
  const tenon_instruction_t i = {.opcode = opcode, .dtype = dtype, .operands = {operand, 0, 0}};
  return tenon__assembler_add(a, &i, NULL);
}

static bool simplify_float(tenon__assembler_t* a, const tenon_instruction_t* i,
                           uint32_t* out_index) {
  uint32_t argument = 0;
  switch (i->opcode) {
    case TENON_OPCODE_SUB:
      if (is_number(a, i->operands[1], 0.0)) {
        *out_index = i->operands[0];
        return !signbit(a->instructions[i->operands[1]].immediate.f);
      }
      return false;
    case TENON_OPCODE_POW:
      if (is_number(a, i->operands[1], 2.0)) {
        const tenon_instruction_t square = {.opcode = TENON_OPCODE_MUL,
                                            .dtype = i->dtype,
                                            .operands = {i->operands[0], i->operands[0], 0}};
        *out_index = tenon__assembler_add(a, &square, NULL);
        return true;
      }
      if (is_number(a, i->operands[1], 1.0)) {
        *out_index = i->operands[0];
        return true;
      }
      return false;
    case TENON_OPCODE_DIV:
      if (is_number(a, i->operands[0], 1.0) &&
          sigmoid_argument(a, i->operands[1], &argument)) {
        *out_index = unary(a, TENON_OPCODE_SIGMOID, i->dtype, argument);
        return true;
      }
      return false;
    case TENON_OPCODE_RECIP:
      if (sigmoid_argument(a, i->operands[0], &argument)) {
        *out_index = unary(a, TENON_OPCODE_SIGMOID, i->dtype, argument);
        return true;
      }
      return false;
    default:
      return false;
  }
}

static bool simplify(tenon__assembler_t* a, const tenon_instruction_t* i, uint32_t* out_index) {
  const bool is_float = tenon__dtype_class(i->dtype) == 'f';
  const tenon_instruction_t* first = &a->instructions[i->operands[0]];
  switch (i->opcode) {
    case TENON_OPCODE_CAST:
      *out_index = i->operands[0];
      return tenon__instruction_type(first) == i->dtype;
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_DIV:
      for (uint32_t side = 0; side < 2; ++side) {
        if (is_number(a, i->operands[side], 1.0) &&
            (side == 1 || i->opcode == TENON_OPCODE_MUL)) {
          *out_index = i->operands[1 - side];
          return true;
        }
      }
      break;
    case TENON_OPCODE_ADD:
      for (uint32_t side = 0; side < 2 && !is_float; ++side) {
        if (is_number(a, i->operands[side], 0.0)) {
          *out_index = i->operands[1 - side];
          return true;
        }
      }
      return false;
    case TENON_OPCODE_NEG:
      if (first->opcode == TENON_OPCODE_NEG) {
        *out_index = first->operands[0];
        return true;
      }
      return false;
    case TENON_OPCODE_NOT:
      if (first->opcode == TENON_OPCODE_NOT) {
        *out_index = first->operands[0];
        return true;
      }
      return false;
    case TENON_OPCODE_ABS:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
      *out_index = i->operands[0];
      return i->opcode == TENON_OPCODE_ABS ? first->opcode == TENON_OPCODE_ABS
                                           : i->operands[0] == i->operands[1];
    case TENON_OPCODE_SELECT:
      if (first->opcode == TENON_OPCODE_CONSTANT) {
        *out_index = i->operands[first->immediate.i != 0 ? 1 : 2];
        return true;
      }
      *out_index = i->operands[1];
      return i->operands[1] == i->operands[2];
    default:
      break;
  }
  return is_float && simplify_float(a, i, out_index);
}

/* A number that tells instructions apart by what they are, not by which values they read. */
static uint64_t rank_of(const tenon__assembler_t* a, uint32_t index) {
  const tenon_instruction_t* i = &a->instructions[index];
  if (i->opcode == TENON_OPCODE_CONSTANT) {
    return UINT64_MAX; /* constants stand on the right */
  }
  if (i->opcode == TENON_OPCODE_INPUT) {
    const tenon_operand_t* operand = &a->operands[i->immediate.i];
    const uint64_t place = operand->kind == TENON_OPERAND_SLOT_VALUE ? 0 : 1;
    return (place << 62) | (operand->broadcast_axes << 8) | operand->dtype;
  }
  return (UINT64_C(1) << 61) | ((uint64_t)i->opcode << 8) | i->dtype;
}

uint32_t tenon__assembler_add(tenon__assembler_t* a, const tenon_instruction_t* instruction,
                              const uint32_t* coordinates) {
  tenon_instruction_t i = *instruction;
  uint32_t result = 0;
  if (a->failed) {
    return 0;
  }
  for (uint32_t k = tenon__opcode_operand_count(i.opcode);
       i.opcode != TENON_OPCODE_LOAD && k < 3; ++k) {
    i.operands[k] = 0;
  }
  if (i.opcode == TENON_OPCODE_GT || i.opcode == TENON_OPCODE_GE) { /* less than, the other way round */
    i.opcode = i.opcode == TENON_OPCODE_GT ? TENON_OPCODE_LT : TENON_OPCODE_LE;
    const uint32_t swap = i.operands[0];
    i.operands[0] = i.operands[1];
    i.operands[1] = swap;
  }
  if (tenon__opcode_is_commutative(i.opcode) &&
      rank_of(a, i.operands[0]) > rank_of(a, i.operands[1])) {
    const uint32_t swap = i.operands[0];
    i.operands[0] = i.operands[1];
    i.operands[1] = swap;
  }
  if (tenon__opcode_operand_count(i.opcode) > 0 &&
      (fold(a, &i, &result) || simplify(a, &i, &result))) {
    return result;
  }
  return intern(a, &i, coordinates);
}

/* ---- The end: depth first from the outputs ---- */

typedef struct layout_t {
  const tenon__assembler_t* from;
  tenon__assembler_t to;
  uint32_t* placed; /* instruction of `from` -> of `to` */
} layout_t;

static void place(layout_t* l, uint32_t index) {
  const tenon_instruction_t* i = &l->from->instructions[index];
  if (l->placed[index] != TENON_NONE) {
    return;
  }
  tenon_instruction_t own = *i;
  uint32_t coordinates[64];
  if (i->opcode == TENON_OPCODE_LOAD) {
    for (uint32_t k = 0; k < i->operands[1] && k < 64; ++k) {
      const uint32_t coordinate = l->from->coordinates[i->operands[0] + k];
      place(l, coordinate);
      coordinates[k] = l->placed[coordinate];
    }
  } else {
    for (uint32_t k = 0; k < tenon__opcode_operand_count(i->opcode); ++k) {
      place(l, i->operands[k]);
      own.operands[k] = l->placed[i->operands[k]];
    }
  }
  if (i->opcode == TENON_OPCODE_INPUT || i->opcode == TENON_OPCODE_LOAD) {
    own.immediate.i = tenon__assembler_operand(&l->to, &l->from->operands[i->immediate.i],
                                               &l->from->accesses[i->immediate.i]);
  }
  l->placed[index] = intern(&l->to, &own, coordinates);
}

tenon_status_t tenon__assembler_finish(tenon__assembler_t* a, const tenon_program_output_t* outputs,
                                       const uint32_t* const* output_axes,
                                       const uint32_t* output_ranks, uint32_t output_count,
                                       tenon__expression_t* out_expression) {
  layout_t l = {.from = a};
  tenon_program_output_t* own =
      tenon__arena_allocate(a->arena, output_count + 1u, sizeof *own);
  l.placed = tenon__arena_allocate(a->arena, a->instruction_count + 1u, sizeof *l.placed);
  if (a->failed || own == NULL || l.placed == NULL ||
      !tenon__assembler_initialize(&l.to, a->arena, a->rank, a->space, a->instruction_count,
                                   a->operand_count, a->coordinate_count)) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(l.placed, 0xff, (a->instruction_count + 1u) * sizeof *l.placed);
  for (uint32_t k = 0; k < output_count; ++k) {
    place(&l, outputs[k].instruction);
    own[k] = outputs[k];
    own[k].instruction = l.placed[outputs[k].instruction];
  }
  if (l.to.failed) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_expression = (tenon__expression_t){
      .program = {.instructions = l.to.instructions,
                  .operands = l.to.operands,
                  .outputs = own,
                  .coordinates = l.to.coordinates,
                  .instruction_count = l.to.instruction_count,
                  .operand_count = l.to.operand_count,
                  .output_count = output_count,
                  .coordinate_count = l.to.coordinate_count,
                  .rank = a->rank},
      .accesses = l.to.accesses,
      .space = a->space,
      .output_axes = output_axes,
      .output_ranks = output_ranks,
  };
  return TENON_OK;
}
