/*
 * What a program is, for whoever writes it down as a kernel: what walks along its space, which of
 * its values are the same along a row, what a reduction waits for.
 *
 * A row is all points that the program's reductions, which must all be over the same axes, bring
 * together; without reductions there are none, and every point is by itself. Levels: a value of
 * level n depends on reductions of level n - 1 and lower, so everything of one level can be done in
 * one pass over the row.
 */
#ifndef PLUGINS_CUDA_ANALYSIS_H_
#define PLUGINS_CUDA_ANALYSIS_H_

#include <stdbool.h>

#include "tenon/plugin.h"

enum {
  TENON_CUDA_INSTRUCTIONS = 512,
  TENON_CUDA_TENSORS = 32, /* operands and outputs */
  TENON_CUDA_AXES = 8,
  TENON_CUDA_WALKS = TENON_CUDA_TENSORS + TENON_CUDA_AXES
};

typedef struct tenon__cuda_analysis_t {
  const tenon_program_t* program;
  /* Walks: first the operands that are not indexed, then the outputs, then coordinates. */
  uint32_t walk_count;
  uint32_t operand_walks[TENON_CUDA_TENSORS]; /* TENON_NONE: it is indexed */
  uint32_t output_walks[TENON_CUDA_TENSORS];
  uint32_t axis_walks[TENON_CUDA_AXES]; /* TENON_NONE: nobody asks for it */
  uint32_t indexed[TENON_CUDA_TENSORS]; /* an operand's number among the indexed ones */
  uint32_t indexed_count;
  bool reduces;
  bool loads;
  uint64_t reduced_axes; /* of the rows */
  uint32_t levels;       /* of reductions: 1 where all can be made in one pass */
  uint8_t level[TENON_CUDA_INSTRUCTIONS];
  bool uniform[TENON_CUDA_INSTRUCTIONS]; /* along a row; false without rows */
  bool poisons[TENON_CUDA_INSTRUCTIONS]; /* may come from a LOAD outside of its operand */
  bool fits[TENON_CUDA_INSTRUCTIONS];    /* an i64 value that fits 32 bits, see below */
} tenon__cuda_analysis_t;

/* NULL, or why no kernel can be written: static words, and the refusal's reason. Allocates nothing;
 * the program is borrowed. */
const char* tenon__cuda_analyse(const tenon_program_t* program, tenon__cuda_analysis_t* out,
                                uint32_t* out_reason);

/* The largest extent for which coordinates are computed in 32 bits. */
enum { TENON_CUDA_SHORT_EXTENT = 1 << 24 };
/* Sets `fits` for each i64 value that fits 32 bits and whose i64 operands fit 32 bits as well. Call
 * this only if no extent exceeds TENON_CUDA_SHORT_EXTENT. Before the call, `fits` is false for all
 * values. */
void tenon__cuda_find_ranges(tenon__cuda_analysis_t* analysis);

/* An operand or an output has elements below a byte: closed/narrow.c is for those. */
bool tenon__cuda_is_narrow(const tenon_program_t* program);

/* How many instructions an instruction reads, LOAD's coordinates apart. */
uint32_t tenon__cuda_operand_count(uint16_t opcode);
bool tenon__cuda_is_reduction(uint16_t opcode);
/* The type of its value: bool for comparisons and tests. */
tenon_dtype_t tenon__cuda_result_type(const tenon_instruction_t* instruction);
/* A program's operand that walks, one that is read at the same place by a whole row. */
bool tenon__cuda_operand_is_uniform(const tenon__cuda_analysis_t* analysis, uint32_t operand);
/* Mnemonic, class and bits of a type. */
const char* tenon__cuda_mnemonic(tenon_dtype_t dtype);
int tenon__cuda_class(tenon_dtype_t dtype);
uint32_t tenon__cuda_bits(tenon_dtype_t dtype);
uint32_t tenon__cuda_bytes(tenon_dtype_t dtype);

#endif
