/*
 * The internal types of the kernel of integer convolutions, shared by its files. Images have their
 * channels last. The sums are products of patches with weights (integer.h). A row of a is the patch
 * of an output pixel, tap by tap, and taps outside of the image hold the zero point of x. Each group
 * is a product. If all groups have one channel and one output, vectors of channels are multiplied
 * instead (depthwise).
 *
 *   convolution_integer.c            match, tactics, prepare, bind
 *   convolution_integer_run.c        enqueue, products of patches
 *   convolution_integer_depthwise.c  depthwise convolutions
 */
#ifndef TENON_CPU_CONVOLUTION_INTEGER_H_
#define TENON_CPU_CONVOLUTION_INTEGER_H_

#include "integer_epilogue.h"
#include "window_lines.h"

/* An instance. */
typedef struct tenon__cpu_convolution_integer_t {
  tenon__cpu_integer_kernel_t common;
  tenon__cpu_window_t window;
  int64_t groups;
  size_t channels; /* of a group */
  size_t outputs;  /* of a group */
  size_t taps;
  size_t depth; /* channels x taps */
  size_t packed_group;
  bool depthwise;
} tenon__cpu_convolution_integer_t;

/* A bound kernel. */
typedef struct tenon__cpu_bound_convolution_integer_t {
  tenon__cpu_integer_bound_t common;
  tenon__cpu_lines_t lines;
  size_t rows; /* pixels of all images of y */
  tenon__cpu_integer_grid_t grid;
  /* Of a depthwise convolution only. */
  int16_t* weights;       /* packed in each run, or less their zero points */
  int32_t* start;         /* of sums: the zero point of x times the sum of a channel's weights */
  uint8_t* outside;       /* a pixel of zero points */
  const uint8_t** places; /* [thread][taps + 1]: the addresses of taps */
} tenon__cpu_bound_convolution_integer_t;

/* One run. */
typedef struct tenon__cpu_convolution_integer_job_t {
  const tenon__cpu_convolution_integer_t* self;
  const tenon__cpu_bound_convolution_integer_t* bound;
  tenon__cpu_integer_call_t call;
  const uint8_t* x;
  bool x_signed;
  int32_t x_zero; /* encoded */
  const void* w;  /* not read if the weights are packed once */
  bool w_signed;
} tenon__cpu_convolution_integer_job_t;

/* ---- Running ---- */

/* Describes the weights of a group, [outputs][channels][taps], without data. */
tenon__cpu_integer_source_t tenon__cpu_convolution_integer_source(
    const tenon__cpu_convolution_integer_t* self, bool is_signed);
tenon_status_t tenon__cpu_convolution_integer_enqueue(const tenon_enqueue_t* call);

/* ---- Depthwise ---- */

/* Packs constant weights. */
tenon_status_t tenon__cpu_depthwise_integer_prepare(const tenon_prepare_t* call,
                                                    tenon__cpu_convolution_integer_t* inout_self);
/* Allocates the depthwise members. Returns false if out of memory. */
bool tenon__cpu_depthwise_integer_bind(const tenon__cpu_convolution_integer_t* self,
                                       tenon_binding_t* binding, const tenon_bind_table_t* host,
                                       tenon__cpu_bound_convolution_integer_t* inout_bound);
/* Computes y. */
void tenon__cpu_depthwise_integer_run(const tenon_enqueue_t* call,
                                      const tenon__cpu_convolution_integer_job_t* job);

#endif
