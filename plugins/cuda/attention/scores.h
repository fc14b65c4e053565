/*
 * All arithmetic between q k^T and softmax as one program over the scores, factors of q and k
 * first, and as functions of V neighbouring scores (scores.cuh):
 *   read_uniforms(p, u)            what is the same for all scores
 *   read_operands(p, place, o)     what is not
 *   score(p, place, u, o, sums)    computes in their place
 * A product is a sum in f32, and so is what softmax reads: nothing is rounded in between.
 */
#ifndef PLUGINS_CUDA_ATTENTION_SCORES_H_
#define PLUGINS_CUDA_ATTENTION_SCORES_H_

#include "axes.h"
#include "problem.h"
#include "text.h"

enum { TENON_CUDA_SCORES_ELEMENTS = 4 /* neighbours along the keys */ };

typedef struct tenon__cuda_scores_t {
  tenon__cuda_analysis_t analysis; /* of `program` */
  tenon__cuda_layout_t layout;
  tenon_program_t program;
  tenon_instruction_t instructions[TENON_CUDA_INSTRUCTIONS];
  tenon_operand_t operands[TENON_CUDA_TENSORS]; /* 0: the product */
  tenon_program_output_t output;
  bool is_uniform[TENON_CUDA_TENSORS];
} tenon__cuda_scores_t;

/* NULL, or why there is no such program. `out` stays where it is. */
const char* tenon__cuda_scores_make(const tenon__cuda_attention_t* attention,
                                    tenon__cuda_scores_t* out, uint32_t* out_reason);
/* In front of frame.cuh: WALKS, AXES, INDEXED and V. */
void tenon__cuda_scores_define(const tenon__cuda_scores_t* scores, tenon__cuda_text_t* text);
/* Behind scores.cuh. */
void tenon__cuda_scores_write(const tenon__cuda_scores_t* scores, tenon__cuda_text_t* text);

/* The program's part of a launch's parameters. */
typedef struct tenon__cuda_scores_bound_t {
  const tenon__cuda_scores_t* scores;
  uint8_t* parameters;
  bool wide[TENON_CUDA_WALKS];
} tenon__cuda_scores_bound_t;

/* `extents`: of the scores, but the second to last in tiles, by which the blocks are counted.
 * False: a tensor reaches beyond 2^31 elements. */
bool tenon__cuda_scores_bind(tenon__cuda_scores_bound_t* bound, tenon_binding_t* handle,
                             const tenon_bind_table_t* host, const int64_t* extents, int64_t tiles);
void tenon__cuda_scores_enqueue(const tenon__cuda_scores_bound_t* bound,
                                const tenon_enqueue_t* call);

#endif
