/*
 * The insides of the kernel for recurrent layers.
 *
 *   recurrent.c          match, tactics, prepare
 *   recurrent_weights.c  the weight space: packed when the plan is built, compared when bound
 *   recurrent_run.c      bind: descriptors; enqueue
 *
 * An instance is shared by contexts and not written; what bind makes is one context's.
 */
#ifndef PLUGINS_CUDNN_RECURRENT_H_
#define PLUGINS_CUDNN_RECURRENT_H_

#include "region.h"

/* A tactic's configuration. */
typedef struct tenon__cudnn_recurrent_choice_t {
  /* What a region in f32 is read and written as; UNDEFINED: everything in its own type. */
  tenon_dtype_t narrow;
  uint32_t exact; /* f32 as it is; else tensor cores */
} tenon__cudnn_recurrent_choice_t;

/* Operands of the node. */
enum {
  TENON_CUDNN_LAYER_X,
  TENON_CUDNN_LAYER_W,
  TENON_CUDNN_LAYER_R,
  TENON_CUDNN_LAYER_BIAS,
  TENON_CUDNN_LAYER_LENGTHS,
  TENON_CUDNN_LAYER_H,
  TENON_CUDNN_LAYER_C,
  TENON_CUDNN_LAYER_PEEPHOLES,
  TENON_CUDNN_LAYER_INPUTS,
  TENON_CUDNN_LAYER_OUTPUTS = 3 /* y, then the states */
};

/* What the node says of itself, and the extents that its weights have. */
typedef struct tenon__cudnn_layer_t {
  cudnnRNNMode_t mode;
  bool batch_first;
  int64_t gates;
  int64_t directions;
  int64_t features;
  int64_t hidden;
} tenon__cudnn_layer_t;

typedef struct tenon__cudnn_recurrent_t {
  tenon__cudnn_state_t* state;
  tenon__cudnn_device_t* device;
  tenon__cudnn_layer_t layer;
  tenon__cudnn_recurrent_choice_t choice;
  cudnnDataType_t type;
  uint64_t scratch_bytes;
  /* Where a call finds them among its arguments; TENON_NONE: absent. */
  uint32_t inputs[TENON_CUDNN_LAYER_INPUTS];
  uint32_t outputs[TENON_CUDNN_LAYER_OUTPUTS];
} tenon__cudnn_recurrent_t;

/* Of y, where nobody reads it: cuDNN writes it all the same. It lies first in scratch. */
uint64_t tenon__cudnn_unread_bytes(const tenon__cudnn_layer_t* layer, int64_t rows,
                                   size_t element_bytes);

/* In bytes, of elements in the tactic's type. */
size_t tenon__cudnn_weights_size(const tenon__cudnn_layer_t* layer, size_t element_bytes);
tenon_status_t tenon__cudnn_weights_pack(const tenon_prepare_t* call,
                                         const tenon__cudnn_recurrent_t* recurrent);
/* Does cuDNN look for everything where `pack` has put it? Says so on the sink if not. */
tenon_status_t tenon__cudnn_weights_check(const tenon__cudnn_recurrent_t* recurrent,
                                          cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor,
                                          const void* weights, const tenon_sink_t* sink);

tenon_status_t tenon__cudnn_recurrent_bind(void* instance, tenon_binding_t* binding,
                                           const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cudnn_recurrent_enqueue(const tenon_enqueue_t* call);
void tenon__cudnn_recurrent_unbind(void* instance, void* bound);

#endif
