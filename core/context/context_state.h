/* The internal state of a context, for its module only. */
#ifndef TENON_CORE_CONTEXT_CONTEXT_STATE_H_
#define TENON_CORE_CONTEXT_CONTEXT_STATE_H_

#include "core/frame/frame_state.h"

/* External memory of the application on the device: lent.h. */
typedef struct tenon__lent_t {
  void* data;           /* NULL: nothing */
  uint32_t crossing;    /* step of the main graph that copies it; or TENON_NONE */
  bool is_read_on_host; /* inputs: by another step */
  bool is_replaceable;  /* outputs: the copy's source can be in the application's memory */
  bool is_found;        /* outputs: data-dependent extents, and the source is at its bound */
} tenon__lent_t;

/* The application's side of a context. Arrays are in the run's arena. Per input: inputs,
 * input_is_set, input_strides, lent_inputs; per output: outputs, lent_outputs, results and their
 * dims and strides. */
typedef struct tenon__context_t {
  tenon__run_state_t run;
  uint32_t generation;  /* of the engine's weights that the frames use */
  bool zeroed_is_dirty; /* a run has failed: the contents are unknown */
  bool has_begun;       /* steps of the run were enqueued */
  bool is_lost;         /* a device that it needs is lost */
  bool is_steady;       /* the last run was one replay, and nothing was set since then: lent.h */
  bool shapes_changed;
  tenon_argument_t* inputs; /* as set; kind ABSENT until then */
  bool* input_is_set;
  int64_t (*input_strides)[TENON_RANK_LIMIT];
  tenon__lent_t* lent_inputs;
  tenon__lent_t* lent_outputs;
  tenon_tensor_view_t* outputs;             /* the application's memory; data NULL: ours */
  int64_t (*output_dims)[TENON_RANK_LIMIT]; /* and its capacity */
  int64_t (*output_strides)[TENON_RANK_LIMIT];
  tenon_argument_t* results;
  int64_t (*result_dims)[TENON_RANK_LIMIT];
  int64_t (*result_strides)[TENON_RANK_LIMIT];
  uint32_t state_place_count;
  uint32_t* state_places; /* of the main graph: places in the memory of states */
} tenon__context_t;

#endif
