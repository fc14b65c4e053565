/*
 * Attention, found among the operators of a graph: softmax(f(q k^T)) v, where f is any arithmetic
 * on the scores, element by element. Walked back from the product with v, in a whole graph as in a
 * region that is nothing else:
 *
 *   y = mat_mul(p, v)
 *   p: conversions; where(is_nan(p), 0, p); softmax or masked_softmax along the last axis
 *   s: nodes with a program (table->node_program) of the scores' shape, each on a way from
 *   mat_mul(q, kt)
 *   q, kt: multiplied or divided by what has one element
 */
#ifndef PLUGINS_CUDA_ATTENTION_PROBLEM_H_
#define PLUGINS_CUDA_ATTENTION_PROBLEM_H_

#include <stdbool.h>

#include "tenon/plugin.h"

enum {
  TENON_CUDA_ATTENTION_NODES = 40, /* the most of one attention */
  TENON_CUDA_ATTENTION_FACTORS = 4,
  TENON_CUDA_ATTENTION_FEATURES = 128
};

/* What a row of probabilities is that has no finite score. */
typedef enum tenon__cuda_hopeless_t {
  TENON_CUDA_HOPELESS_NAN,      /* 0 / 0, as softmax has it */
  TENON_CUDA_HOPELESS_ZERO,     /* all -inf: zeros, as masked_softmax has it; NaN stays */
  TENON_CUDA_HOPELESS_REPLACED, /* whatever is not a number: zeros */
} tenon__cuda_hopeless_t;

/* A factor or divisor of q or kt: instruction `part` of the node's program, of one element. */
typedef struct tenon__cuda_factor_t {
  uint32_t node;
  uint32_t part;
  bool divides;
} tenon__cuda_factor_t;

typedef struct tenon__cuda_attention_t {
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  uint32_t node_count; /* that belong to it; the product with v first */
  uint32_t nodes[TENON_CUDA_ATTENTION_NODES];
  uint32_t inner_count; /* of them on the scores */
  uint32_t inner[TENON_CUDA_ATTENTION_NODES];
  uint32_t factor_count;
  tenon__cuda_factor_t factors[TENON_CUDA_ATTENTION_FACTORS];
  uint32_t raw;    /* the value that is q k^T */
  uint32_t scores; /* the value that softmax reads */
  const tenon_value_info_t* q;
  const tenon_value_info_t* kt; /* features, then keys */
  const tenon_value_info_t* v;
  const tenon_value_info_t* y;
  tenon__cuda_hopeless_t hopeless;
  uint32_t rank;     /* of y and of the scores */
  uint32_t features; /* of q and k */
  uint32_t results;  /* features of v */
} tenon__cuda_attention_t;

/* The attention whose product with v is `seed`. False, and why not. */
bool tenon__cuda_attention_read(const tenon_region_t* region, const tenon_region_table_t* table,
                                uint32_t seed, tenon__cuda_attention_t* out_attention,
                                tenon_refusal_t* out_refusal);
/* The node that makes a value; TENON_NONE: it comes from outside. `before`: a node behind it. */
uint32_t tenon__cuda_attention_maker(const tenon__cuda_attention_t* attention, uint32_t value,
                                     uint32_t before);

#endif
