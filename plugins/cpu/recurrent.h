/*
 * Internal types of the LSTM, GRU and RNN kernels, shared by the files that prepare and run them.
 * One multiplication computes the input's part of all gates for all times. Then, for each time, a
 * multiplication by the packed recurrent weights adds the state's part, and the cell function
 * updates the state. Each direction is a separate task, which also packs weights that are not
 * constant. An instance is shared and read-only. A bound kernel belongs to one context.
 */
#ifndef TENON_CPU_RECURRENT_H_
#define TENON_CPU_RECURRENT_H_

#include "cpu.h"
#include "product.h"

/* Indices of the node's inputs. */
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

/* The prepared kernel. */
typedef struct tenon__cpu_recurrent_t {
  const tenon__cpu_isa_t* isa;
  tenon__cpu_cell_t cell;
  /* GRU with linear_before_reset: the reset gate scales the product of state and weights, not the
   * state. */
  bool resets_after;
  bool reverse; /* the only direction is reverse */
  size_t directions;
  size_t gates; /* 4, 3 or 1 */
  size_t input;
  size_t hidden;
  const float* w; /* packed, all directions. NULL: each run packs */
  const float* r;
  size_t w_size; /* floats of one direction, as in r_size */
  size_t r_size;
  uint32_t arguments[TENON_CPU_GATES_INPUTS]; /* region input of each node input, or TENON_NONE */
  uint32_t outputs[3];
  size_t split;            /* gates in the first packed part of the recurrent weights */
  size_t direction_floats; /* scratch floats of one direction */
} tenon__cpu_recurrent_t;

/* The bound kernel. */
typedef struct tenon__cpu_bound_recurrent_t {
  size_t times;
  size_t batch;
} tenon__cpu_bound_recurrent_t;

/* Packs the transpose of one direction's [rows][columns] weights. Gates from `split` on form a
 * second packed matrix. */
void tenon__cpu_recurrent_pack(const tenon__cpu_recurrent_t* self, const float* from,
                               size_t columns, size_t split, float* to);

tenon_status_t tenon__cpu_recurrent_enqueue(const tenon_enqueue_t* call);

#endif
