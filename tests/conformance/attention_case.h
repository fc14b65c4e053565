/*
 * A case of attention: q, k and v, what is done to the scores, and what comes of it in f64. The
 * region is of several nodes, whose programs the kernel puts together.
 */
#ifndef TESTS_CONFORMANCE_ATTENTION_CASE_H_
#define TESTS_CONFORMANCE_ATTENTION_CASE_H_

#include "kernel_case.h"

enum { ATTENTION_STEPS = 5, ATTENTION_NODES = 20 };
/* Inputs of the region; q's, k^T's and v's numbers. */
enum { ATTENTION_Q, ATTENTION_KT, ATTENTION_V };

/* What is done to scores x. */
typedef enum attention_step_kind_t {
  ATTENTION_ADD,    /* x + operand, of any floats */
  ATTENTION_SCALE,  /* x * operand of one element */
  ATTENTION_HIDE,   /* operand (bool) ? x : -inf */
  ATTENTION_CAP,    /* 3 * tanh(x / 3), in three nodes */
  ATTENTION_CAUSAL, /* key > query ? -inf : x, by coordinates */
  ATTENTION_BEND,   /* x / (1 + |x|) * 4: of somebody's own operator */
  ATTENTION_GATE,   /* x * sigmoid(x), in two nodes that both read x */
  ATTENTION_KINDS,
  /* Asked for by name, not drawn. */
  ATTENTION_CONVERT = ATTENTION_KINDS, /* x, in f32 from here */
  ATTENTION_HALVE,                     /* x / 2, by a number of the program's */
  ATTENTION_ROOT,                      /* x / sqrt(keys), by its extent */
} attention_step_kind_t;

typedef enum attention_form_t {
  ATTENTION_PLAIN,
  ATTENTION_MASKED,   /* masked_softmax */
  ATTENTION_REPLACED, /* where(is_nan(p), 0, p) */
  ATTENTION_FORMS
} attention_form_t;

typedef struct attention_step_t {
  attention_step_kind_t kind;
  uint32_t operand;   /* input of the region; TENON_NONE: it has none */
  uint32_t rank;      /* of the operand */
  uint64_t broadcast; /* of its axes */
  tenon_dtype_t dtype;
} attention_step_t;

typedef struct attention_t {
  tenon_dtype_t dtype;
  uint32_t rank;
  int64_t outer[FAKE_RANK];
  uint64_t shared[3];  /* outer axes of q, k, v that are broadcast */
  uint32_t missing[3]; /* outer axes that they do not have */
  int64_t queries;
  int64_t keys;
  int64_t features;
  int64_t results;
  attention_form_t form;
  uint32_t step_count;
  attention_step_t steps[ATTENTION_STEPS];
  bool scales_q; /* q * operand, k / operand, each of one element */
  bool scales_k;
  bool is_plain; /* everything dense, keys with their features innermost */
  bool by_heads; /* the result with the rows of all heads side by side */
  bool is_known; /* factors and SCALE's operands are constants above 0 */
  /* Tensors begin at words of 16 bytes, none runs backwards, and the result has no gaps. */
  bool is_aligned;
  uint32_t seed;
} attention_t;

typedef struct attention_case_t {
  kernel_case_t c;
  fake_node_t nodes[ATTENTION_NODES];
  tenon_program_t programs[ATTENTION_NODES];
  tenon_program_output_t outputs[ATTENTION_NODES];
  tenon_instruction_t instructions[ATTENTION_NODES][8];
  tenon_operand_t operands[ATTENTION_NODES][2];
  uint32_t node_count;
  uint32_t factors[2]; /* inputs: of q and of k */
} attention_case_t;

uint32_t attention_draw(attention_t* a, uint32_t below);
/* The region, its tensors and, where the case is not bare, what comes of it. `a`: operands' numbers
 * are filled in. */
void attention_make(attention_t* a, attention_case_t* out_case, bool bare);
/* The same as what kernels are asked about: a region of operators, its values complete. */
void attention_make_region(attention_t* a, attention_case_t* out_case);
/* And among others of a graph, where the main node is the last, and one in front of it a stranger.
 * Returns how many are its own, which is the main one's number. */
uint32_t attention_make_graph(attention_t* a, attention_case_t* out_case);
/* What comes of it, into the result's elements in the host's memory. */
void attention_expect(const attention_t* a, const attention_case_t* ac);

#endif
