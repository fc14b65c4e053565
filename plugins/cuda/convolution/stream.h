/*
 * Which windows of one pixel are computed as a stream (stream.cuh): of stride 1 without padding,
 * few channels, outputs in pieces of 8, and a slot whose operands have the result's extents or are
 * the same for all pixels. Then a pixel's number says where everything of it lies.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_STREAM_H_
#define PLUGINS_CUDA_CONVOLUTION_STREAM_H_

#include "tiles.h"

enum { TENON_CUDA_STREAM_TACTICS = 3 };

bool tenon__cuda_stream_takes(const tenon__cuda_problem_t* problem, uint8_t product);
/* Is it one that might be chosen for the problem? */
bool tenon__cuda_stream_knows(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice);
/* At most TENON_CUDA_STREAM_TACTICS, where it is taken and pixels are many at the optimum, with
 * estimates; 0: none. */
uint32_t tenon__cuda_stream_choose(const tenon__cuda_problem_t* problem, uint8_t product,
                                   tenon__cuda_choice_t* out_choices, double* out_seconds);
/* How many warps share the tiles of pixels that have the same outputs: as evenly as it can be. */
int64_t tenon__cuda_stream_warps(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                                 int64_t pixels, int64_t multiprocessors);

#endif
