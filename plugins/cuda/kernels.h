/* The kernels on offer. */
#ifndef PLUGINS_CUDA_KERNELS_H_
#define PLUGINS_CUDA_KERNELS_H_

#include "tenon/plugin.h"

extern const tenon_kernel_t tenon__cuda_expressions_kernel;
extern const tenon_kernel_t tenon__cuda_narrow_expressions_kernel;
extern const tenon_kernel_t tenon__cuda_moves_kernel;
extern const tenon_kernel_t tenon__cuda_convolution_kernel;
extern const tenon_kernel_t tenon__cuda_deconvolution_kernel;
extern const tenon_kernel_t tenon__cuda_mat_mul_kernel;
extern const tenon_kernel_t tenon__cuda_attention_kernel;

#endif
