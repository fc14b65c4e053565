/*
 * Which operators have kernels by hand: ROW(name, text, faults, attributes, ...). What follows the
 * attributes are members of tenon__closed_row_t. `attributes` are all that the kernel understands.
 * KNOWN: the same, and a kernel NAME_known without faults, see tenon__closed_row_t.knows.
 * LAST: the same, for what a library or a decomposition does better: taken where nobody else can.
 */
#ifndef PLUGINS_CUDA_CLOSED_ROWS_H_
#define PLUGINS_CUDA_CLOSED_ROWS_H_

#include "families.h"
#include "resize.h"

/* A NULL-terminated list of names. */
#define LIST(...) ((const char* const[]){__VA_ARGS__, NULL})
#define NOTHING ((const char* const[]){NULL})
#define NO_FAULTS NULL
#define KERNELS(...) .kernels = LIST(__VA_ARGS__)
#define WINDOW "strides", "dilations", "pads"
#define POOL "kernel_shape", WINDOW, "auto_pad", "ceil_mode"
#define RECURRENT \
  "direction", "activations", "activation_alpha", "activation_beta", "clip", "layout"
#define RECURRENT_LIFE                                                            \
  .refuse = tenon__closed_refuse_recurrent, .bind = tenon__closed_bind_recurrent, \
  .scratch = tenon__closed_scratch_recurrent, .flags = TENON_CLOSED_SUMS | TENON_CLOSED_SHARED
#define TRANSFORM_LIFE                                                              \
  .bind = tenon__closed_bind_transform, .scratch = tenon__closed_scratch_transform, \
  .flags = TENON_CLOSED_SUMS | TENON_CLOSED_SCRATCH_IF_BOUNDED
#define LENGTHS LIST("length {value} is out of range")
#define PROPOSAL "anchors", "stride", "pre_top", "post_top", "iou_threshold", "min_size"
#define DETECTION_LIFE \
  .bind = tenon__closed_bind_detection, .scratch = tenon__closed_scratch_detection
/* Texts in front of the row's own. */
#define COLLECTIVE .building_blocks = tenon__cuda_closed_collective_text
#define MATRICES .building_blocks = tenon__cuda_closed_matrices_text
#define RESIZE                                                                                \
  "mode", "coordinate_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", "antialias", \
      "extrapolation_value"
#define RESIZE_FAULTS LIST("the scale of axis {value} does not fit its extents")
#define PLACES LIST("index {value} is out of range")

#define TENON_CLOSED_ROWS(ROW, KNOWN, LAST)                                                        \
  KNOWN(scatter_elements, scatter, PLACES, LIST("axis", "reduction"),                              \
        KERNELS("copy_first", "scatter"), .knows = tenon__closed_knows_elements,                   \
        .bind = tenon__closed_bind_scatter, .flags = TENON_CLOSED_IN_PLACE)                        \
  KNOWN(scatter_nd, scatter, PLACES, LIST("reduction"), KERNELS("copy_first", "scatter"),          \
        .knows = tenon__closed_knows_slices, .bind = tenon__closed_bind_scatter,                   \
        .flags = TENON_CLOSED_IN_PLACE)                                                            \
  ROW(tensor_scatter, scatter, PLACES, LIST("axis", "mode"), KERNELS("copy_first", "scatter"),     \
      .bind = tenon__closed_bind_scatter, .flags = TENON_CLOSED_IN_PLACE)                          \
  ROW(top_k, order, NO_FAULTS, LIST("axis", "largest", "sorted"),                                  \
      KERNELS("select_short", "select_line", "select_part", "select_of_parts", "count_pass",       \
              "move_pass", "show_sorted"),                                                         \
      .refuse = tenon__closed_refuse_top_k, .bind = tenon__closed_bind_top_k,                      \
      .scratch = tenon__closed_scratch_top_k, COLLECTIVE)                                          \
  KNOWN(cumulative_sum, running, LIST("there is no axis {value}"), LIST("exclusive", "reverse"),   \
        KERNELS("sum_parts", "running"), COLLECTIVE, .knows = tenon__closed_knows_axis,            \
        .bind = tenon__closed_bind_running, .scratch = tenon__closed_scratch_running,              \
        .flags = TENON_CLOSED_SUMS | TENON_CLOSED_SCRATCH_IS_FIXED)                                \
  KNOWN(cumulative_prod, running, LIST("there is no axis {value}"), LIST("exclusive", "reverse"),  \
        KERNELS("sum_parts", "running"), COLLECTIVE, .knows = tenon__closed_knows_axis,            \
        .bind = tenon__closed_bind_running, .scratch = tenon__closed_scratch_running,              \
        .flags = TENON_CLOSED_SUMS | TENON_CLOSED_SCRATCH_IS_FIXED)                                \
  ROW(nonzero, found, NO_FAULTS, NOTHING, KERNELS("count", "add_up", "write"), COLLECTIVE,         \
      .bind = tenon__closed_bind_found, .scratch = tenon__closed_scratch_found,                    \
      .extents = tenon__closed_extents_found, .finding = 2)                                        \
  ROW(compress, found, LIST("condition {value} is true, where the axis ends before"),              \
      LIST("axis", "flat"), KERNELS("count", "add_up", "write", "copy"), COLLECTIVE,               \
      .bind = tenon__closed_bind_found, .scratch = tenon__closed_scratch_found,                    \
      .extents = tenon__closed_extents_found, .finding = 2)                                        \
  ROW(unique, unique, NO_FAULTS, LIST("axis", "flat", "sorted"),                                   \
      KERNELS("count_pass", "move_pass", "merge_pass", "count_groups", "add_up", "label",          \
              "count_firsts", "number_firsts", "write"),                                           \
      COLLECTIVE, .refuse = tenon__closed_refuse_unique, .bind = tenon__closed_bind_unique,        \
      .scratch = tenon__closed_scratch_unique, .extents = tenon__closed_extents_unique)            \
  ROW(negative_log_likelihood, loss, LIST("target {value} is out of range"),                       \
      LIST("reduction", "ignores", "ignore_index"), KERNELS("loss"),                               \
      .bind = tenon__closed_bind_loss, .flags = TENON_CLOSED_SUMS)                                 \
  ROW(bit_cast, conversion, NO_FAULTS, LIST("to"), KERNELS("convert"),                             \
      .refuse = tenon__closed_refuse_bit_cast, .flags = TENON_CLOSED_PACKED)                       \
  ROW(cast, conversion, NO_FAULTS, LIST("to", "saturate", "round_mode"), KERNELS("convert"),       \
      .flags = TENON_CLOSED_PACKED)                                                                \
  LAST(quantize_linear, conversion, NO_FAULTS, LIST("to", "axis", "block_size", "saturate"),       \
       KERNELS("convert"), .flags = TENON_CLOSED_PACKED)                                           \
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
      .flags = TENON_CLOSED_COUNTS_CALLS | TENON_CLOSED_SUMS_OUTPUT)                               \
  KNOWN(resize, resize, RESIZE_FAULTS, LIST(RESIZE), KERNELS("resize"),                            \
        .building_blocks = RESIZE_DEFINITIONS, .knows = tenon__closed_knows_scales,                \
        .bind = tenon__closed_bind_resize)                                                         \
  ROW(grid_sample, grid, NO_FAULTS, LIST("mode", "padding_mode", "align_corners"),                 \
      KERNELS("sample_grid"), .flags = TENON_CLOSED_SUMS)                                          \
  ROW(affine_grid, grid, NO_FAULTS, LIST("align_corners"), KERNELS("affine"))                      \
  KNOWN(roi_align, region, LIST("batch index {value} is out of range"),                            \
        LIST("mode", "output_height", "output_width", "sampling_ratio", "spatial_scale",           \
             "coordinate_mode"),                                                                   \
        KERNELS("turn_planes", "pool_regions"), .knows = tenon__closed_knows_batches,              \
        .bind = tenon__closed_bind_roi_align, .scratch = tenon__closed_scratch_roi_align,          \
        .flags = TENON_CLOSED_SCRATCH_IF_BOUNDED)                                                  \
  ROW(max_roi_pool, region, LIST("batch index {value} is out of range"),                           \
      LIST("pooled_shape", "spatial_scale"), KERNELS("pool_regions"))                              \
  ROW(non_max_suppression, suppression, NO_FAULTS, LIST("center_point_box"),                       \
      KERNELS("select_boxes", "add_up", "write"), COLLECTIVE,                                      \
      .refuse = tenon__closed_refuse_suppression, .bind = tenon__closed_bind_suppression,          \
      .scratch = tenon__closed_scratch_suppression, .extents = tenon__closed_extents_suppression,  \
      .finding = 2)                                                                                \
  LAST(max_pool, windows, NO_FAULTS, LIST(POOL, "storage_order"), KERNELS("pool"),                 \
       .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows)                 \
  LAST(average_pool, windows, NO_FAULTS, LIST(POOL, "count_include_pad"), KERNELS("pool"),         \
       .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows,                 \
       .flags = TENON_CLOSED_SUMS)                                                                 \
  ROW(lp_pool, windows, NO_FAULTS, LIST(POOL, "p"), KERNELS("pool"),                               \
      .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows,                  \
      .flags = TENON_CLOSED_SUMS)                                                                  \
  LAST(convolution, windows, NO_FAULTS, LIST(WINDOW, "groups", "auto_pad"), KERNELS("convolve"),   \
       .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_windows,                 \
       .flags = TENON_CLOSED_SUMS)                                                                 \
  ROW(convolution_integer, integer, NO_FAULTS, LIST(WINDOW, "groups", "auto_pad"),                 \
      KERNELS("convolve"), .refuse = tenon__closed_refuse_windows,                                 \
      .bind = tenon__closed_bind_convolution_integer)                                              \
  LAST(deconvolution, windows, NO_FAULTS,                                                          \
       LIST(WINDOW, "groups", "auto_pad", "output_padding", "output_shape"), KERNELS("convolve"),  \
       .refuse = tenon__closed_refuse_windows, .bind = tenon__closed_bind_transposed,              \
       .flags = TENON_CLOSED_SUMS)                                                                 \
  ROW(deformable_convolution, windows, NO_FAULTS, LIST(WINDOW, "groups", "offset_groups"),         \
      KERNELS("convolve"), .refuse = tenon__closed_refuse_planes,                                  \
      .bind = tenon__closed_bind_deformable, .flags = TENON_CLOSED_SUMS)                           \
  ROW(lrn, neighbours, NO_FAULTS, LIST("window", "alpha", "beta", "bias"), KERNELS("normalise"),   \
      .flags = TENON_CLOSED_SUMS)                                                                  \
  ROW(max_unpool, neighbours, PLACES, LIST("kernel_shape", "strides", "pads"),                     \
      KERNELS("clear", "unpool"), .bind = tenon__closed_bind_unpool)                               \
  KNOWN(col2im, neighbours, LIST("x has other windows than the {value} of the image"),             \
        LIST(WINDOW), KERNELS("gather"), .knows = tenon__closed_knows_windows,                     \
        .flags = TENON_CLOSED_SUMS)                                                                \
  ROW(causal_convolution, neighbours, NO_FAULTS, LIST("activation"), KERNELS("convolve"),          \
      .bind = tenon__closed_bind_causal, .flags = TENON_CLOSED_SUMS)                               \
  LAST(mat_mul, product, NO_FAULTS, NOTHING, KERNELS("multiply"), MATRICES,                        \
       .refuse = tenon__closed_refuse_mat_mul, .bind = tenon__closed_bind_mat_mul,                 \
       .flags = TENON_CLOSED_SUMS)                                                                 \
  ROW(mat_mul_integer, integer, NO_FAULTS, NOTHING, KERNELS("multiply"), MATRICES,                 \
      .refuse = tenon__closed_refuse_mat_mul, .bind = tenon__closed_bind_mat_mul_integer)          \
  ROW(einsum, product, NO_FAULTS, LIST("equation"), KERNELS("sum_products"),                       \
      .refuse = tenon__closed_refuse_einsum, .bind = tenon__closed_bind_einsum,                    \
      .flags = TENON_CLOSED_SUMS)                                                                  \
  ROW(det, product, NO_FAULTS, NOTHING, KERNELS("determinant"),                                    \
      .scratch = tenon__closed_scratch_det, .flags = TENON_CLOSED_SUMS)                            \
  KNOWN(dft, signal, LIST("there is no axis {value}"), LIST("fixed_axis", "inverse", "onesided"),  \
        KERNELS("transform_all"), .knows = tenon__closed_knows_transform_axis, TRANSFORM_LIFE)     \
  ROW(stft, signal, NO_FAULTS, LIST("onesided"), KERNELS("transform_all"), TRANSFORM_LIFE)         \
  ROW(mel_weight_matrix, signal, NO_FAULTS, LIST("to"), KERNELS("weigh"))                          \
  LAST(attention, attention, NO_FAULTS,                                                            \
       LIST("is_causal", "q_num_heads", "kv_num_heads", "scale", "softcap", "qk_mode",             \
            "softmax_precision", "left_window", "right_window"),                                   \
       KERNELS("attend", "keep"), .refuse = tenon__closed_refuse_attention,                        \
       .bind = tenon__closed_bind_attention, .scratch = tenon__closed_scratch_attention,           \
       .flags = TENON_CLOSED_SUMS)                                                                 \
  ROW(linear_attention, attention, NO_FAULTS,                                                      \
      LIST("q_num_heads", "kv_num_heads", "scale", "update_rule", "chunk_size"), KERNELS("recur"), \
      .refuse = tenon__closed_refuse_linear, .bind = tenon__closed_bind_linear,                    \
      .scratch = tenon__closed_scratch_linear, .flags = TENON_CLOSED_SUMS)                         \
  KNOWN(rotary_embedding, attention, LIST("position {value} is out of range"),                     \
        LIST("interleaved", "num_heads", "rotary_dim"), KERNELS("turn"),                           \
        .knows = tenon__closed_knows_positions, .refuse = tenon__closed_refuse_rotary,             \
        .bind = tenon__closed_bind_rotary, .flags = TENON_CLOSED_SUMS)                             \
  KNOWN(lstm, recurrent, LENGTHS, LIST(RECURRENT, "input_forget"),                                 \
        KERNELS("multiply_inputs", "walk_time"), .knows = tenon__closed_knows_lengths,             \
        RECURRENT_LIFE)                                                                            \
  KNOWN(gru, recurrent, LENGTHS, LIST(RECURRENT, "linear_before_reset"),                           \
        KERNELS("multiply_inputs", "walk_time"), .knows = tenon__closed_knows_lengths,             \
        RECURRENT_LIFE)                                                                            \
  KNOWN(rnn, recurrent, LENGTHS, LIST(RECURRENT), KERNELS("multiply_inputs", "walk_time"),         \
        .knows = tenon__closed_knows_lengths, RECURRENT_LIFE)                                      \
  ROW(tree_ensemble, classical, LIST("tree {value} leads out of its nodes"),                       \
      LIST("aggregate", "target_count"), KERNELS("score"), .bind = tenon__closed_bind_rows,        \
      .scratch = tenon__closed_scratch_trees, .flags = TENON_CLOSED_SUMS)                          \
  ROW(couple_pairs, classical, NO_FAULTS, LIST("class_count"), KERNELS("couple"),                  \
      .bind = tenon__closed_bind_rows, .scratch = tenon__closed_scratch_pairs,                     \
      .flags = TENON_CLOSED_SUMS)                                                                  \
  ROW(tfidf_vectorizer, classical, NO_FAULTS,                                                      \
      LIST("mode", "min_gram_length", "max_gram_length", "max_skip_count", "ngram_counts",         \
           "ngram_indexes", "pool_int64s", "pool_strings", "weights"),                             \
      KERNELS("count_grams"))                                                                      \
  ROW(detection_output, detection, NO_FAULTS,                                                      \
      LIST("classes", "share_location", "background", "code", "variance_in_target",                \
           "nms_threshold", "eta", "top_k", "keep_top_k", "score_threshold"),                      \
      KERNELS("decode", "sort", "suppress", "cut", "add_up", "write"), DETECTION_LIFE,             \
      .extents = tenon__closed_extents_detection, .finding = 5)                                    \
  ROW(propose_regions, detection, NO_FAULTS, LIST(PROPOSAL),                                       \
      KERNELS("decode", "sort", "suppress", "add_up", "write"), DETECTION_LIFE,                    \
      .extents = tenon__closed_extents_detection, .finding = 4)                                    \
  ROW(propose_regions_padded, detection, NO_FAULTS, LIST(PROPOSAL),                                \
      KERNELS("decode", "sort", "suppress", "add_up", "write"), DETECTION_LIFE)

/* Lines of the manifest. */
#define TENON_CLOSED_LINE(kernel, op) "offers: kernel " #kernel " standard." #op "/1 cuda\n"
#define TENON_CLOSED_OFFER(name, ...) TENON_CLOSED_LINE(name, name)
#define TENON_CLOSED_OFFER_KNOWN(name, ...) \
  TENON_CLOSED_LINE(name, name) TENON_CLOSED_LINE(name##_known, name)
#define TENON_CLOSED_OFFERS \
  TENON_CLOSED_ROWS(TENON_CLOSED_OFFER, TENON_CLOSED_OFFER_KNOWN, TENON_CLOSED_OFFER)

extern const tenon_offering_t tenon__closed_kernels;

#endif
