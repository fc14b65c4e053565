/* The kernels on offer: one table entry for each, named in plugin.c. */
#ifndef TENON_CPU_KERNELS_H_
#define TENON_CPU_KERNELS_H_

#include "cpu.h"

extern const tenon_kernel_t tenon__cpu_convolution_kernel;
extern const tenon_kernel_t tenon__cpu_average_pool_kernel;
extern const tenon_kernel_t tenon__cpu_deconvolution_kernel;
extern const tenon_kernel_t tenon__cpu_expression_kernel;
extern const tenon_kernel_t tenon__cpu_max_pool_kernel;
extern const tenon_kernel_t tenon__cpu_gru_kernel;
extern const tenon_kernel_t tenon__cpu_lstm_kernel;
extern const tenon_kernel_t tenon__cpu_mat_mul_kernel;
extern const tenon_kernel_t tenon__cpu_move_kernel;
extern const tenon_kernel_t tenon__cpu_scatter_kernel;
extern const tenon_kernel_t tenon__cpu_tree_kernel;

/* The epilogue slot that products and convolutions declare. */
extern const tenon_slot_t tenon__cpu_any_slot;

#endif
