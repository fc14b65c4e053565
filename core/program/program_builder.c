/* Value numbering: a hash table from instructions to their numbers. */
#include "core/program/program_builder.h"

#include <string.h>

#include "core/base/status.h"
#include "core/base/string_map.h"
#include "core/dimension/dimension_pool.h"

void tenon__program_builder_initialize(tenon__program_builder_t* out_builder,
                                       tenon__arena_t* arena) {
  *out_builder = (tenon__program_builder_t){.arena = arena};
}

/* Room for `needed` elements of one of the builder's arrays. */
static bool reserve(tenon__program_builder_t* builder, void* inout_array, uint32_t* inout_capacity,
                    uint32_t needed, size_t element_size) {
  builder->failed = builder->failed || !tenon__arena_grow(builder->arena, inout_array,
                                                          inout_capacity, needed, element_size);
  return !builder->failed;
}

_Static_assert(sizeof(tenon_instruction_t) == 24, "hashed as bytes: no padding");

/* Equal fields; the coordinates of LOADs by what they hold, not by where they lie. */
static bool same_instruction(const tenon__program_builder_t* builder, const tenon_instruction_t* a,
                             const tenon_instruction_t* b) {
  if (a->opcode != TENON_OPCODE_LOAD || b->opcode != TENON_OPCODE_LOAD) {
    /* Immediates by their bits: -0.0 is not 0.0, and a NaN equals itself. */
    return a->opcode == b->opcode && a->dtype == b->dtype &&
           memcmp(a->operands, b->operands, sizeof(a->operands)) == 0 &&
           memcmp(&a->immediate.i, &b->immediate.i, sizeof(a->immediate.i)) == 0;
  }
  return a->dtype == b->dtype && a->immediate.i == b->immediate.i &&
         a->operands[1] == b->operands[1] &&
         memcmp(builder->coordinates + a->operands[0], builder->coordinates + b->operands[0],
                a->operands[1] * sizeof(uint32_t)) == 0;
}

static uint64_t hash_any(const tenon__program_builder_t* builder,
                         const tenon_instruction_t* instruction) {
  if (instruction->opcode != TENON_OPCODE_LOAD) {
    return tenon__hash_bytes(instruction, sizeof(*instruction), 17);
  }
  return tenon__hash_bytes(builder->coordinates + instruction->operands[0],
                           instruction->operands[1] * sizeof(uint32_t),
                           tenon__hash_bytes(&instruction->immediate, sizeof(int64_t), 19));
}

static uint32_t find_slot(const tenon__program_builder_t* builder,
                          const tenon_instruction_t* instruction) {
  uint32_t slot = (uint32_t)hash_any(builder, instruction) & (builder->slot_count - 1);
  while (
      builder->slots[slot] != 0 &&
      !same_instruction(builder, &builder->instructions[builder->slots[slot] - 1], instruction)) {
    slot = (slot + 1) & (builder->slot_count - 1);
  }
  return slot;
}

static bool grow_slots(tenon__program_builder_t* builder) {
  if ((builder->instruction_count + 1) * 2 <= builder->slot_count) {
    return true;
  }
  const uint32_t count = builder->slot_count == 0 ? 32 : builder->slot_count * 2;
  uint32_t* slots = tenon__arena_allocate(builder->arena, count, sizeof(*slots));
  if (slots == NULL) {
    builder->failed = true;
    return false;
  }
  builder->slots = slots;
  builder->slot_count = count;
  for (uint32_t i = 0; i < builder->instruction_count; ++i) {
    builder->slots[find_slot(builder, &builder->instructions[i])] = i + 1;
  }
  return true;
}

static uint32_t emit(tenon__program_builder_t* builder, const tenon_instruction_t* instruction) {
  if (builder->failed || !grow_slots(builder) ||
      !reserve(builder, &builder->instructions, &builder->instruction_capacity,
               builder->instruction_count + 1, sizeof(*instruction))) {
    return 0;
  }
  const uint32_t slot = find_slot(builder, instruction);
  if (builder->slots[slot] != 0) {
    return builder->slots[slot] - 1;
  }
  builder->instructions[builder->instruction_count] = *instruction;
  builder->slots[slot] = ++builder->instruction_count;
  return builder->instruction_count - 1;
}

uint32_t tenon__emit(tenon__program_builder_t* builder, const tenon_instruction_t* instruction,
                     const uint32_t* coordinates) {
  return instruction->opcode == TENON_OPCODE_LOAD
             ? tenon__emit_load(builder, instruction->dtype, (uint32_t)instruction->immediate.i,
                                coordinates, instruction->operands[1])
             : emit(builder, instruction);
}

tenon_instruction_t tenon__instruction_renumber(const uint32_t* coordinates,
                                                const tenon_instruction_t* instruction,
                                                const uint32_t* values, const uint32_t* operands,
                                                uint32_t* out_coordinates) {
  tenon_instruction_t own = *instruction;
  const bool is_load = own.opcode == TENON_OPCODE_LOAD;
  uint32_t count = 0;
  const uint32_t* needs = tenon__instruction_needs(coordinates, instruction, &count);
  uint32_t* places = is_load ? out_coordinates : own.operands;
  for (uint32_t o = is_load || own.opcode == TENON_OPCODE_EXTENT ? 3 : count; o < 3; ++o) {
    own.operands[o] = 0;
  }
  for (uint32_t k = 0; k < count && k < TENON_RANK_LIMIT; ++k) {
    places[k] = values[needs[k]];
  }
  if (operands != NULL && tenon__opcode_reads_operand(own.opcode)) {
    own.immediate.i = (int64_t)operands[own.immediate.i];
  }
  return own;
}

uint32_t tenon__emit_constant(tenon__program_builder_t* builder, tenon_dtype_t dtype,
                              tenon__scalar_t value) {
  tenon_instruction_t instruction = {.opcode = TENON_OPCODE_CONSTANT, .dtype = (uint16_t)dtype};
  value = tenon__scalar_fit(dtype, value);
  memcpy(&instruction.immediate, &value, sizeof(value));
  return emit(builder, &instruction);
}

uint32_t tenon__emit_load(tenon__program_builder_t* builder, tenon_dtype_t dtype, uint32_t operand,
                          const uint32_t* coordinates, uint32_t count) {
  const uint32_t first = builder->coordinate_count;
  if (!reserve(builder, &builder->coordinates, &builder->coordinate_capacity, first + count + 1,
               sizeof(uint32_t))) {
    return 0;
  }
  for (uint32_t k = 0; k < count; ++k) {
    builder->coordinates[first + k] = coordinates[k];
  }
  const uint32_t before = builder->instruction_count;
  const tenon_instruction_t instruction = {.opcode = TENON_OPCODE_LOAD,
                                           .dtype = (uint16_t)dtype,
                                           .operands = {first, count, 0},
                                           .immediate = {.i = (int64_t)operand}};
  const uint32_t made = emit(builder, &instruction);
  if (builder->instruction_count > before) {
    builder->coordinate_count = first + count;
  }
  return made;
}

static bool same_access(const tenon__access_t* a, const tenon__access_t* b) {
  return a->rank == b->rank &&
         (a->rank == TENON_NONE || a->rank == 0 ||
          memcmp(a->coordinates, b->coordinates, a->rank * sizeof(tenon_dim_t)) == 0);
}

uint64_t tenon__access_broadcast_axes(const tenon__dim_pool_t* pool, const tenon__access_t* access,
                                      const tenon_dim_t* space, uint32_t rank) {
  uint64_t varying = 0;
  if (access->rank == TENON_NONE) {
    return 0;
  }
  for (uint32_t i = 0; i < access->rank; ++i) {
    varying |= tenon__dim_coordinate_axes(pool, access->coordinates[i]);
  }
  uint64_t axes = 0;
  for (uint32_t k = 0; k < rank; ++k) {
    if (!tenon__dim_is(pool, space[k], 1) && ((varying >> k) & 1u) == 0) {
      axes |= UINT64_C(1) << k;
    }
  }
  return axes;
}

uint32_t tenon__emit_operand(tenon__program_builder_t* builder, const tenon_operand_t* operand,
                             const tenon__access_t* access) {
  for (uint32_t i = 0; i < builder->operand_count; ++i) {
    const tenon_operand_t* other = &builder->operands[i];
    if (other->kind == operand->kind && other->index == operand->index &&
        other->dtype == operand->dtype && other->indexed == operand->indexed &&
        same_access(&builder->accesses[i], access)) {
      return i;
    }
  }
  const uint32_t count = builder->operand_count;
  if (!reserve(builder, &builder->operands, &builder->operand_capacity, count + 1,
               sizeof(tenon_operand_t)) ||
      !reserve(builder, &builder->accesses, &builder->access_capacity, count + 1,
               sizeof(tenon__access_t))) {
    return 0;
  }
  builder->operands[count] = *operand;
  builder->accesses[count] = *access;
  return builder->operand_count++;
}

uint32_t tenon__emit_cast(tenon__program_builder_t* builder, uint32_t instruction,
                          tenon_dtype_t dtype) {
  return builder->failed || tenon__builder_type(builder, instruction) == dtype
             ? instruction
             : tenon__emit_operation(builder, TENON_OPCODE_CAST, dtype, instruction, 0, 0);
}

bool tenon__builder_constant(const tenon__program_builder_t* builder, uint32_t instruction,
                             tenon__scalar_t* out_value) {
  if (builder->instruction_count <= instruction ||
      builder->instructions[instruction].opcode != TENON_OPCODE_CONSTANT) {
    return false;
  }
  memcpy(out_value, &builder->instructions[instruction].immediate, sizeof(*out_value));
  return true;
}

/* A copy in the arena; of nothing, something that is not NULL. */
static const void* keep(tenon__program_builder_t* builder, const void* data, size_t count,
                        size_t size) {
  const void* copy = count == 0 ? tenon__arena_allocate(builder->arena, 1, size)
                                : tenon__arena_copy(builder->arena, data, count * size);
  builder->failed = builder->failed || copy == NULL;
  return copy;
}

tenon_status_t tenon__program_builder_finish(tenon__program_builder_t* builder, uint32_t rank,
                                             const tenon_dim_t* space,
                                             const tenon__program_outputs_t* outputs,
                                             tenon__expression_t* out_expression) {
  const uint32_t count = outputs->count;
  const uint32_t** axes = tenon__arena_allocate(builder->arena, count + 1u, sizeof(void*));
  tenon__expression_t made = {
      .program = tenon__builder_program(builder, rank),
      .accesses = builder->accesses,
      .space = keep(builder, space, rank, sizeof(*space)),
      .output_axes = axes,
      .output_ranks = keep(builder, outputs->ranks, count, sizeof(*outputs->ranks))};
  made.program.outputs = keep(builder, outputs->outputs, count, sizeof(*outputs->outputs));
  made.program.output_count = count;
  TENON_TRY_MEMORY(axes != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] = keep(builder, outputs->axes[i], outputs->ranks[i], sizeof(uint32_t));
  }
  TENON_TRY_MEMORY(!builder->failed);
  *out_expression = made;
  return TENON_OK;
}

void tenon__program_axes(const tenon_program_t* program, uint64_t* out_varying,
                         uint64_t* out_reduced) {
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const tenon_instruction_t* i = &program->instructions[k];
    uint32_t count = 0;
    const uint32_t* needs = tenon__instruction_needs(program->coordinates, i, &count);
    out_varying[k] = 0;
    out_reduced[k] = 0;
    for (uint32_t n = 0; n < count; ++n) {
      out_varying[k] |= out_varying[needs[n]];
      out_reduced[k] |= out_reduced[needs[n]];
    }
    if (i->opcode == TENON_OPCODE_INPUT) {
      out_varying[k] =
          tenon__axes_below(program->rank) & ~program->operands[i->immediate.i].broadcast_axes;
    } else if (i->opcode == TENON_OPCODE_INDEX) {
      out_varying[k] = UINT64_C(1) << (uint64_t)i->immediate.i;
    } else if (tenon__opcode_is_reduction(i->opcode)) {
      out_varying[k] &= ~(uint64_t)i->immediate.i;
      out_reduced[k] |= (uint64_t)i->immediate.i;
    }
  }
}
