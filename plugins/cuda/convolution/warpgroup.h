/*
 * Chooses windows of one pixel that warpgroups compute (warpgroup.cuh): in f16 and bf16, not
 * transposed, if a tile of all channels fits the shared memory of a cluster. For sm_90 only.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_WARPGROUP_H_
#define PLUGINS_CUDA_CONVOLUTION_WARPGROUP_H_

#include "tiles.h"

enum { TENON_CUDA_WARPGROUP_TACTICS = 4 };

/* Returns whether the choice is a valid one for the problem. */
bool tenon__cuda_warpgroup_knows(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice);
/* Writes at most TENON_CUDA_WARPGROUP_TACTICS choices with their estimates, the fastest first, and
 * returns their number. */
uint32_t tenon__cuda_warpgroup_choose(const tenon__cuda_problem_t* problem, uint8_t product,
                                      tenon__cuda_choice_t* out_choices, double* out_seconds);

#endif
