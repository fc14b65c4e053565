/*
 * The insides of the LSTM, GRU and RNN kernels, shared by the files that prepare and run them. The
 * input's part of all gates is one product over all times; then time after time the state's part, a
 * product with the packed recurrent weights, and the cell. Each direction is a task of its own,
 * which also packs those weights that are no constants. An instance is shared and not written; a
 * bound one is one context's.
 */
#ifndef TENON_CPU_RECURRENT_H_
#define TENON_CPU_RECURRENT_H_

#include "cpu.h"
#include "product.h"

/* The node's inputs, by number. */
enum {
  TENON_CPU_GATES_X = 0,
  TENON_CPU_GATES_W = 1,
  TENON_CPU_GATES_R = 2,
  TENON_CPU_GATES_B = 3,
  TENON_CPU_GATES_INITIAL_H = 5,
  TENON_CPU_GATES_INITIAL_C = 6,
  TENON_CPU_GATES_INPUTS = 7
};

typedef enum tenon__cpu_cell_t {
  TENON_CPU_CELL_RNN,
  TENON_CPU_CELL_GRU,
  TENON_CPU_CELL_LSTM
} tenon__cpu_cell_t;

/* What prepare makes. */
typedef struct tenon__cpu_recurrent_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_cell_t cell;
  /* GRU, linear_before_reset: the reset gate scales the product, not the state. */
  bool resets_after;
  bool reverse; /* of a single direction */
  size_t directions;
  size_t gates; /* 4, 3 or 1 */
  size_t input;
  size_t hidden;
  const float* w; /* packed, one direction after the other; NULL: in each run */
  const float* r;
  size_t w_size; /* floats of a direction; so is r_size */
  size_t r_size;
  uint32_t arguments[TENON_CPU_GATES_INPUTS]; /* region inputs of the node's inputs; TENON_NONE */
  uint32_t outputs[3];
  size_t split;            /* gates of the recurrent weights that are packed first */
  size_t direction_floats; /* of scratch */
} tenon__cpu_recurrent_t;

/* What bind makes. */
typedef struct tenon__cpu_bound_recurrent_t {
  size_t times;
  size_t batch;
} tenon__cpu_bound_recurrent_t;

/* Packs the transpose of one direction's [rows][columns]; gates from `split` on apart. */
void tenon__cpu_recurrent_pack(const tenon__cpu_recurrent_t* self, const float* from,
                               size_t columns, size_t split, float* to);

tenon_status_t tenon__cpu_recurrent_enqueue(const tenon_enqueue_t* call);

#endif
