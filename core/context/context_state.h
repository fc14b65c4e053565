/* The insides of a context, for its module alone. */
#ifndef TENON_CORE_CONTEXT_CONTEXT_STATE_H_
#define TENON_CORE_CONTEXT_CONTEXT_STATE_H_

#include "core/frame/frame_state.h"

/* What the application lends in the device's memory: lent.h. */
typedef struct tenon__lent_t {
  void* data;           /* NULL: nothing */
  uint32_t crossing;    /* the main graph's step that copies it there or back; TENON_NONE */
  bool is_read_on_host; /* inputs: by something besides */
  bool is_replaceable;  /* outputs: the crossing's source can lie in the application's memory */
  bool is_found;        /* outputs: the run finds the extents, and the source is at its bound */
} tenon__lent_t;

/* The application's side of a context. Arrays lie in the run's arena. Per input: inputs,
 * input_is_set, input_strides, lent_inputs; per output: outputs, lent_outputs, results and their
 * dims and strides. */
typedef struct tenon__context_t {
  tenon__run_state_t run;
  uint32_t generation;  /* of the engine's weights that the frames know */
  bool zeroed_is_dirty; /* a run failed: what its kernels left there, nobody knows */
  bool has_begun;       /* steps of the run were asked for */
  bool is_lost;         /* a device that it needs says that it works no more */
  bool is_steady;       /* the last run was one replay, and nothing was set since: lent.h */
  bool shapes_changed;
  tenon_argument_t* inputs; /* as set; kind ABSENT until then */
  bool* input_is_set;
  int64_t (*input_strides)[TENON_RANK_LIMIT];
  tenon__lent_t* lent_inputs;
  tenon__lent_t* lent_outputs;
  tenon_tensor_view_t* outputs;             /* the application's memory; data NULL: ours */
  int64_t (*output_dims)[TENON_RANK_LIMIT]; /* and how much it holds */
  int64_t (*output_strides)[TENON_RANK_LIMIT];
  tenon_argument_t* results;
  int64_t (*result_dims)[TENON_RANK_LIMIT];
  int64_t (*result_strides)[TENON_RANK_LIMIT];
  uint32_t state_place_count;
  uint32_t* state_places; /* of the main graph: those that lie in the memory of states */
} tenon__context_t;

#endif
