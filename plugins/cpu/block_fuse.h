/* Functions of block_fuse.c and block_fuse_elements.c, which fuse steps, and of block_find.c. A list
 * of steps is [begin, end). */
#ifndef TENON_CPU_BLOCK_FUSE_H_
#define TENON_CPU_BLOCK_FUSE_H_

#include "block_plan.h"

static inline const tenon_instruction_t* instruction_at(const tenon__cpu_block_t* block,
                                                        uint32_t i) {
  return &block->program->source.instructions[i];
}

static inline bool is_row(const tenon__cpu_block_t* block, uint32_t i) {
  return (block->varies[i] & TENON_CPU_COLUMNS) != 0;
}

/* block_find.c. find_maker returns the step of the list that computes the value, or TENON_NONE. */
uint32_t tenon__cpu_block_find_maker(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                                     uint32_t instruction);
/* Returns true if a step other than `but` and `or_but` reads the value. If one block covers all
 * phases, the steps of later phases count too. */
bool tenon__cpu_block_is_read(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                              uint32_t instruction, uint32_t but, uint32_t or_but);
/* Returns the step of the list that computes a value which only step `reader` reads, or
 * TENON_NONE. */
uint32_t tenon__cpu_block_find_own(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                                   uint32_t instruction, uint32_t reader);

/* block_fuse_elements.c. GELU goes first, before its factors become part of other steps. */
void tenon__cpu_block_fuse_gelu(tenon__cpu_block_t* block, uint32_t begin, uint32_t end);
void tenon__cpu_block_fuse_elements(tenon__cpu_block_t* block, uint32_t begin, uint32_t end);

#endif
