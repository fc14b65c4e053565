/*
 * The insides of the two convolution kernels, the plain and the transposed one.
 *
 *   convolution.c       match, tactics, prepare
 *   constants.c         weights and biases as the tactic wants them
 *   convolution_run.c   bind: the graph and its plan; enqueue
 *
 * An instance is shared by contexts and not written; what bind makes is one context's.
 */
#ifndef PLUGINS_CUDNN_CONVOLUTION_H_
#define PLUGINS_CUDNN_CONVOLUTION_H_

#include "slot.h"

/* What of the step is written into the graph. */
typedef enum tenon__cudnn_form_t {
  TENON_CUDNN_FORM_ALONE, /* the convolution, which has no bias */
  TENON_CUDNN_FORM_ADDED, /* the convolution; its bias is added to the result in place */
  TENON_CUDNN_FORM_KNOWN, /* slot.h */
  TENON_CUDNN_FORM_CHAIN,
} tenon__cudnn_form_t;

/* A tactic's configuration. */
typedef struct tenon__cudnn_choice_t {
  uint8_t form;
  uint8_t channels_last;
  uint8_t exact; /* f32 as it is; else tensor cores */
  uint8_t index; /* of the heuristic's proposals that can be used */
  /* What of a region in f32 is read and written as; UNDEFINED: everything in its own type. */
  tenon_dtype_t narrow;
} tenon__cudnn_choice_t;

/* The most workspace of a plan; each tactic asks for it as scratch. */
enum { TENON_CUDNN_WORKSPACE = 32 << 20, TENON_CUDNN_INPUTS = 24 };

typedef struct tenon__cudnn_convolution_t {
  tenon__cudnn_state_t* state;
  tenon__cudnn_device_t* device;
  tenon__cudnn_region_t region;
  const tenon_program_t* program; /* NULL: the slot is empty */
  tenon__cudnn_choice_t choice;
  bool transposed;
  bool fixed; /* the profile has one set of extents */
  /* Weights that are no constants are turned in each run, to have their channels innermost as the
   * image has. */
  bool turns;
  cudnnDataType_t type;
  uint32_t packs[TENON_CUDNN_INPUTS]; /* by input: which of the packed ones; TENON_NONE: as it is */
  uint32_t x;
  uint32_t w;
  uint32_t bias; /* TENON_NONE: none */
  tenon__cudnn_window_t window;
  tenon__cudnn_known_t known;
} tenon__cudnn_convolution_t;

/* Of all arguments, in bytes. */
int64_t tenon__cudnn_alignment_of(tenon__cudnn_choice_t choice);
/* Weights of one tap are the same memory in both orders. */
bool tenon__cudnn_has_taps(tenon__cudnn_region_t region);

tenon_status_t tenon__cudnn_convolution_bind(void* instance, tenon_binding_t* binding,
                                             const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cudnn_convolution_enqueue(const tenon_enqueue_t* call);
void tenon__cudnn_convolution_unbind(void* instance, void* bound);

#endif
