/* The list of kernels. plugin.c builds the manifest and the descriptors from it. The file of each
 * descriptor documents the supported nodes and the algorithm at its top. */
#ifndef TENON_CPU_KERNELS_H_
#define TENON_CPU_KERNELS_H_

#include "cpu.h"

/* NAME, operators. The file that implements the kernel defines its descriptor
 * tenon__cpu_NAME_kernel. The manifest contains the descriptor's name and the listed operator
 * identities. A kernel needs one line here and one file. */
#define TENON_CPU_KERNELS(X)                                                                     \
  X(convolution, OFFERS("convolution", "standard.convolution/1"))                                \
  X(winograd, OFFERS("winograd", "standard.convolution/1"))                                      \
  X(deconvolution, OFFERS("deconvolution", "standard.deconvolution/1"))                          \
  X(mat_mul, OFFERS("mat_mul", "standard.mat_mul/1"))                                            \
  X(lstm, OFFERS("lstm", "standard.lstm/1"))                                                     \
  X(gru, OFFERS("gru", "standard.gru/1"))                                                        \
  X(rnn, OFFERS("rnn", "standard.rnn/1"))                                                        \
  X(mat_mul_integer, OFFERS("mat_mul_integer", "standard.mat_mul_integer/1"))                    \
  X(max_pool, OFFERS("max_pool", "standard.max_pool/1"))                                         \
  X(average_pool, OFFERS("average_pool", "standard.average_pool/1"))                             \
  X(expression, OFFERS("expressions", "*expressions"))                                           \
  X(move, OFFERS("moves", "*moves"))                                                             \
  X(resize, OFFERS("resize", "standard.resize/1"))                                               \
  X(top_k, OFFERS("top_k", "standard.top_k/1"))                                                  \
  X(scatter,                                                                                     \
    OFFERS("scatter", "standard.scatter_nd/1") OFFERS("scatter", "standard.scatter_elements/1")) \
  X(cache, OFFERS("cache", "standard.tensor_scatter/1"))                                         \
  X(scan,                                                                                        \
    OFFERS("scan", "standard.cumulative_sum/1") OFFERS("scan", "standard.cumulative_prod/1"))    \
  X(nonzero, OFFERS("nonzero", "standard.nonzero/1"))                                            \
  X(compress, OFFERS("compress", "standard.compress/1"))                                         \
  X(unique, OFFERS("unique", "standard.unique/1"))                                               \
  X(rotary, OFFERS("rotary", "standard.rotary_embedding/1"))                                     \
  X(grid_sample, OFFERS("grid_sample", "standard.grid_sample/1"))                                \
  X(affine_grid, OFFERS("affine_grid", "standard.affine_grid/1"))                                \
  X(roi_align, OFFERS("roi_align", "standard.roi_align/1"))                                      \
  X(suppress, OFFERS("suppress", "standard.non_max_suppression/1"))                              \
  X(col2im, OFFERS("col2im", "standard.col2im/1"))                                               \
  X(lp_pool, OFFERS("lp_pool", "standard.lp_pool/1"))                                            \
  X(lrn, OFFERS("lrn", "standard.lrn/1"))                                                        \
  X(spectrum, OFFERS("spectrum", "standard.dft/1") OFFERS("spectrum", "standard.stft/1"))        \
  X(deformable, OFFERS("deformable", "standard.deformable_convolution/1"))                       \
  X(convolution_integer, OFFERS("convolution_integer", "standard.convolution_integer/1"))        \
  X(dynamic_quantize, OFFERS("dynamic_quantize", "standard.dynamic_quantize_linear/1"))          \
  X(tree, OFFERS("trees", "standard.tree_ensemble/1"))

#define TENON_CPU_DECLARE(name, offers) extern const tenon_kernel_t tenon__cpu_##name##_kernel;
TENON_CPU_KERNELS(TENON_CPU_DECLARE)
#undef TENON_CPU_DECLARE

/* The epilogue slot that matmul and convolution kernels declare. It accepts any elementwise program
 * of up to 16 operands with any broadcast. If epilogue.h does not support a program, `match`
 * refuses it. */
extern const tenon_slot_t tenon__cpu_any_slot[1];

#endif
