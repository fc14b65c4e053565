/*
 * Which operators have kernels by hand: ROW(name, text, faults, attributes, ...). What follows the
 * attributes are members of tenon__closed_row_t. `attributes` are all that the kernel understands.
 */
#ifndef PLUGINS_CUDA_CLOSED_ROWS_H_
#define PLUGINS_CUDA_CLOSED_ROWS_H_

#include "families.h"

/* A NULL-terminated list of names. */
#define LIST(...) ((const char* const[]){__VA_ARGS__, NULL})
#define NOTHING ((const char* const[]){NULL})
#define NO_FAULTS NULL
#define KERNELS(...) .kernels = LIST(__VA_ARGS__)
#define WINDOW "strides", "dilations", "pads"
#define POOL "kernel_shape", WINDOW, "auto_pad", "ceil_mode"
#define PLACES LIST("index {value} is out of range")

#define TENON_CLOSED_ROWS(ROW)                                                                     \
  ROW(scatter_elements, scatter, PLACES, LIST("axis", "reduction"),                                \
      KERNELS("copy_first", "scatter"), .bind = tenon__closed_bind_scatter,                        \
      .flags = TENON_CLOSED_IN_PLACE)                                                              \
  ROW(scatter_nd, scatter, PLACES, LIST("reduction"), KERNELS("copy_first", "scatter"),            \
      .bind = tenon__closed_bind_scatter, .flags = TENON_CLOSED_IN_PLACE)                          \
  ROW(tensor_scatter, scatter, PLACES, LIST("axis", "mode"), KERNELS("copy_first", "scatter"),     \
      .bind = tenon__closed_bind_scatter, .flags = TENON_CLOSED_IN_PLACE)                          \
  ROW(top_k, order, NO_FAULTS, LIST("axis", "largest", "sorted"), KERNELS("best", "rank_all"),     \
      .bind = tenon__closed_bind_top_k)                                                            \
  ROW(cumulative_sum, running, LIST("there is no axis {value}"), LIST("exclusive", "reverse"),     \
      KERNELS("running"), .flags = TENON_CLOSED_SUMS)                                              \
  ROW(cumulative_prod, running, LIST("there is no axis {value}"), LIST("exclusive", "reverse"),    \
      KERNELS("running"), .flags = TENON_CLOSED_SUMS)                                              \
  ROW(nonzero, found, NO_FAULTS, NOTHING, KERNELS("count", "add_up", "write"),                     \
      .bind = tenon__closed_bind_found, .scratch = tenon__closed_scratch_found,                    \
      .extents = tenon__closed_extents_found, .finding = 2)                                        \
  ROW(compress, found, LIST("condition {value} is true, where the axis ends before"),              \
      LIST("axis", "flat"), KERNELS("count", "add_up", "write"), .bind = tenon__closed_bind_found, \
      .scratch = tenon__closed_scratch_found, .extents = tenon__closed_extents_found,              \
      .finding = 2)                                                                                \
  ROW(unique, unique, NO_FAULTS, LIST("axis", "flat", "sorted"),                                   \
      KERNELS("find_first", "rank_first", "write"), .bind = tenon__closed_bind_unique,             \
      .scratch = tenon__closed_scratch_unique, .extents = tenon__closed_extents_unique,            \
      .finding = 2)                                                                                \
  ROW(negative_log_likelihood, loss, LIST("target {value} is out of range"),                       \
      LIST("reduction", "ignores", "ignore_index"), KERNELS("loss"),                               \
      .bind = tenon__closed_bind_loss, .flags = TENON_CLOSED_SUMS)                                 \
  ROW(bit_cast, conversion, NO_FAULTS, LIST("to"), KERNELS("convert"),                             \
      .refuse = tenon__closed_refuse_bit_cast, .flags = TENON_CLOSED_PACKED)                       \
  ROW(cast, conversion, NO_FAULTS, LIST("to", "saturate", "round_mode"), KERNELS("convert"),       \
      .flags = TENON_CLOSED_PACKED)                                                                \
  ROW(quantize_linear, conversion, NO_FAULTS, LIST("to", "axis", "block_size", "saturate"),        \
      KERNELS("convert"), .flags = TENON_CLOSED_PACKED)                                            \
  ROW(arange_float, generator, LIST("there is no such range"), NOTHING, KERNELS("count", "write"), \
      .bind = tenon__closed_bind_arange, .scratch = tenon__closed_scratch_numbers,                 \
      .extents = tenon__closed_extents_arange, .finding = 1)                                       \
  ROW(random_uniform, generator, NO_FAULTS, LIST("low", "high", "seed", "to"),                     \
      KERNELS("count_call", "draw"), .bind = tenon__closed_bind_random,                            \
      .flags = TENON_CLOSED_COUNTS_CALLS | TENON_CLOSED_SUMS_OUTPUT)                               \
  ROW(random_normal, generator, NO_FAULTS, LIST("mean", "scale", "seed", "to"),                    \
      KERNELS("count_call", "draw"), .bind = tenon__closed_bind_random,                            \
      .flags = TENON_CLOSED_COUNTS_CALLS | TENON_CLOSED_SUMS_OUTPUT)                               \
  ROW(bernoulli, generator, NO_FAULTS, LIST("seed", "to"), KERNELS("count_call", "draw"),          \
      .bind = tenon__closed_bind_random,                                                           \
      .flags = TENON_CLOSED_COUNTS_CALLS | TENON_CLOSED_SUMS_OUTPUT)                               \
  ROW(multinomial, generator, NO_FAULTS, LIST("sample_size", "seed", "to"),                        \
      KERNELS("count_call", "draw"), .bind = tenon__closed_bind_random,                            \
      .flags = TENON_CLOSED_COUNTS_CALLS | TENON_CLOSED_SUMS_OUTPUT) \
  ROW(resize, resize, NO_FAULTS, \
      LIST("mode", "coordinate_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", \
           "antialias", "extrapolation_value"), \
      KERNELS("resize")) \
  ROW(grid_sample, grid, NO_FAULTS, LIST("mode", "padding_mode", "align_corners"), \
      KERNELS("sample_grid"), .flags = TENON_CLOSED_SUMS) \
  ROW(affine_grid, grid, NO_FAULTS, LIST("align_corners"), KERNELS("affine")) \
  ROW(roi_align, region, LIST("batch index {value} is out of range"), \
      LIST("mode", "output_height", "output_width", "sampling_ratio", "spatial_scale", \
           "coordinate_mode"), KERNELS("pool_regions")) \
  ROW(max_roi_pool, region, LIST("batch index {value} is out of range"), \
      LIST("pooled_shape", "spatial_scale"), KERNELS("pool_regions")) \
  ROW(non_max_suppression, suppression, NO_FAULTS, LIST("center_point_box"), \
      KERNELS("select_boxes", "add_up", "write"), .bind = tenon__closed_bind_suppression, \
      .scratch = tenon__closed_scratch_suppression, .extents = tenon__closed_extents_suppression, \
      .finding = 2) \
  ROW(max_pool, windows, NO_FAULTS, LIST(POOL, "storage_order"), KERNELS("pool"), \
      .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows) \
  ROW(average_pool, windows, NO_FAULTS, LIST(POOL, "count_include_pad"), KERNELS("pool"), \
      .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows, .flags = TENON_CLOSED_SUMS) \
  ROW(lp_pool, windows, NO_FAULTS, LIST(POOL, "p"), KERNELS("pool"), \
      .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows, .flags = TENON_CLOSED_SUMS) \
  ROW(convolution, windows, NO_FAULTS, LIST(WINDOW, "groups", "auto_pad"), KERNELS("convolve"), \
      .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows, .flags = TENON_CLOSED_SUMS) \
  ROW(convolution_integer, windows, NO_FAULTS, LIST(WINDOW, "groups", "auto_pad"), \
      KERNELS("convolve"), .refuse = tenon__closed_refuse_windows, \
      .bind = tenon__closed_bind_windows) \
  ROW(deconvolution, windows, NO_FAULTS, \
      LIST(WINDOW, "groups", "auto_pad", "output_padding", "output_shape"), KERNELS("convolve"), \
      .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_transposed, .flags = TENON_CLOSED_SUMS) \
  ROW(deformable_convolution, windows, NO_FAULTS, LIST(WINDOW, "groups", "offset_groups"), \
      KERNELS("convolve"), .refuse = tenon__closed_refuse_planes, \
      .bind = tenon__closed_bind_windows, .flags = TENON_CLOSED_SUMS) \
  ROW(lrn, neighbours, NO_FAULTS, LIST("window", "alpha", "beta", "bias"), KERNELS("normalise"), \
      .flags = TENON_CLOSED_SUMS) \
  ROW(max_unpool, neighbours, PLACES, LIST("kernel_shape", "strides", "pads"), \
      KERNELS("clear", "unpool"), .bind = tenon__closed_bind_unpool) \
  ROW(col2im, neighbours, LIST("x has other windows than the {value} of the image"), LIST(WINDOW), \
      KERNELS("gather"), .flags = TENON_CLOSED_SUMS) \
  ROW(causal_convolution, neighbours, NO_FAULTS, LIST("activation"), KERNELS("convolve"), \
      .bind = tenon__closed_bind_causal, .flags = TENON_CLOSED_SUMS) \
  ROW(mat_mul, product, NO_FAULTS, NOTHING, KERNELS("multiply"), \
      .refuse = tenon__closed_refuse_mat_mul, .bind = tenon__closed_bind_mat_mul, .flags = TENON_CLOSED_SUMS) \
  ROW(mat_mul_integer, product, NO_FAULTS, NOTHING, KERNELS("multiply"), \
      .refuse = tenon__closed_refuse_mat_mul, .bind = tenon__closed_bind_mat_mul) \
  ROW(einsum, product, NO_FAULTS, LIST("equation"), KERNELS("sum_products"), \
      .refuse = tenon__closed_refuse_einsum, .bind = tenon__closed_bind_einsum, .flags = TENON_CLOSED_SUMS) \
  ROW(det, product, NO_FAULTS, NOTHING, KERNELS("determinant"), \
      .scratch = tenon__closed_scratch_det, .flags = TENON_CLOSED_SUMS)

/* Lines of the manifest. */
#define TENON_CLOSED_OFFER(name, ...) "offers: kernel " #name " standard." #name "/1 cuda\n"
#define TENON_CLOSED_OFFERS TENON_CLOSED_ROWS(TENON_CLOSED_OFFER)

extern const tenon_offering_t tenon__closed_kernels;

#endif
