/*
 * A convolution's weights in the order in which a warp multiplies them: for each tile of outputs
 * and each step of the sum the 16 bytes of each lane, one after the other, in the product's type,
 * f32 rounded to tf32. Behind them the bias, in f32. Both up to whole tiles, with zeros.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_WEIGHTS_H_
#define PLUGINS_CUDA_CONVOLUTION_WEIGHTS_H_

#include "tiles.h"

/* Of the packed weights alone, and with the bias. */
size_t tenon__cuda_weights_bytes(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice);
size_t tenon__cuda_packed_bytes(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice);
/* The constants' bytes are there. `out_packed` is zero. */
void tenon__cuda_weights_pack(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                              void* out_packed);

/* An element of f32, f16 or bf16. */
float tenon__cuda_float_of(const void* data, tenon_dtype_t dtype, size_t index);

#endif
