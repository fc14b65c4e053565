/* The memory that plans of blocks need for their values. */
#include "block_plan.h"

bool tenon__cpu_block_is_buffered(const tenon__cpu_block_t* block) {
  for (uint32_t s = 0; s < block->step_count; s++) {
    const step_t* step = &block->steps[s];
    const bool by_columns =
        step->kind == STEP_WRITE || (block->varies[step->result] & TENON_CPU_COLUMNS) != 0;
    if (by_columns && (step->kind == STEP_WRITE || step->buffer != TENON_NONE)) {
      return true;
    }
  }
  return false;
}

size_t tenon__cpu_block_scratch(const tenon__cpu_block_t* block) {
  const size_t places = block->program->source.instruction_count * sizeof(place_t);
  const size_t temporaries = 2 * tenon__cpu_buffer_bytes(block->shape.capacity, 8);
  return tenon__cpu_round_up(places) + temporaries +
         block->buffer_count *
             tenon__cpu_buffer_bytes(block->shape.capacity, block->program->element_bytes);
}

size_t tenon__cpu_block_scratch_limit(const tenon_program_t* program, size_t capacity) {
  size_t bytes = 4;
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    const size_t own = tenon__cpu_element_bytes(program->instructions[i].dtype);
    bytes = own > bytes ? own : bytes;
  }
  return tenon__cpu_round_up(program->instruction_count * sizeof(place_t)) +
         2 * tenon__cpu_buffer_bytes(capacity, 8) +
         tenon__cpu_program_buffers(program) * tenon__cpu_buffer_bytes(capacity, bytes);
}
