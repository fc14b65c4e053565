/*
 * All closed operators, one row each: KERNEL(name, scratch, flags, attributes). Row `name` computes
 * standard.name/1 by tenon__compute_name; `scratch` says how many numbers it wants for given shapes
 * (NULL: none); `attributes` are those that prepare copies, and all that the function can ask for.
 * Expressions and moves have kernels of their own, see interpreter.h.
 */
#ifndef PLUGINS_REFERENCE_KERNELS_H_
#define PLUGINS_REFERENCE_KERNELS_H_

#include "work.h"

/* A NULL-terminated list of names. */
#define LIST(...) ((const char* const[]){__VA_ARGS__, NULL})
/* An empty one. */
#define NOTHING ((const char* const[]){NULL})
/* Attributes that rows share; windows.h reads WINDOW and auto_pad, recurrent.c and detection.c
 * theirs. */
#define WINDOW "strides", "dilations", "pads"
#define POOL "kernel_shape", WINDOW, "auto_pad", "ceil_mode"
#define RECURRENT \
  "direction", "activations", "activation_alpha", "activation_beta", "clip", "layout"
#define PROPOSAL "anchors", "stride", "pre_top", "post_top", "iou_threshold", "min_size"
/* Flags, see work.h. */
#define RAW TENON_KERNEL_RAW
#define COUNTED TENON_KERNEL_COUNTED
#define IN_PLACE TENON_KERNEL_IN_PLACE

/* Grouped as the families of plugins/standard are. What computes on elements alone is no row
 * here: it is an expression. Rows marked RAW serve types that numbers do not hold, or sequences. */
#define TENON__KERNELS(KERNEL)                                                                 \
  KERNEL(convolution, NULL, 0, LIST(WINDOW, "groups", "auto_pad"))                             \
  KERNEL(convolution_integer, NULL, 0, LIST(WINDOW, "groups", "auto_pad"))                     \
  KERNEL(deconvolution, NULL, 0,                                                               \
         LIST(WINDOW, "groups", "auto_pad", "output_padding", "output_shape"))                 \
  KERNEL(deformable_convolution, NULL, 0, LIST(WINDOW, "groups", "offset_groups"))             \
  KERNEL(causal_convolution, NULL, 0, LIST("activation"))                                      \
  KERNEL(col2im, NULL, 0, LIST(WINDOW))                                                        \
  KERNEL(mat_mul, NULL, 0, NOTHING)                                                            \
  KERNEL(mat_mul_integer, NULL, 0, NOTHING)                                                    \
  KERNEL(einsum, NULL, 0, LIST("equation"))                                                    \
  KERNEL(det, tenon__scratch_det, 0, NOTHING)                                                  \
  KERNEL(max_pool, NULL, 0, LIST(POOL, "storage_order"))                                       \
  KERNEL(average_pool, NULL, 0, LIST(POOL, "count_include_pad"))                               \
  KERNEL(lp_pool, NULL, 0, LIST(POOL, "p"))                                                    \
  KERNEL(max_unpool, NULL, 0, LIST("kernel_shape", "strides", "pads"))                         \
  KERNEL(lrn, NULL, 0, LIST("window", "alpha", "beta", "bias"))                                \
  KERNEL(resize, tenon__scratch_resize, 0,                                                     \
         LIST("mode", "coordinate_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside",   \
              "antialias", "extrapolation_value"))                                             \
  KERNEL(grid_sample, NULL, 0, LIST("mode", "padding_mode", "align_corners"))                  \
  KERNEL(affine_grid, NULL, 0, LIST("align_corners"))                                          \
  KERNEL(roi_align, NULL, 0,                                                                   \
         LIST("mode", "output_height", "output_width", "sampling_ratio", "spatial_scale",      \
              "coordinate_mode"))                                                              \
  KERNEL(max_roi_pool, NULL, 0, LIST("pooled_shape", "spatial_scale"))                         \
  KERNEL(non_max_suppression, tenon__scratch_non_max_suppression, 0, LIST("center_point_box")) \
  KERNEL(detection_output, tenon__scratch_detection_output, 0,                                 \
         LIST("classes", "share_location", "background", "code", "variance_in_target",         \
              "nms_threshold", "eta", "top_k", "keep_top_k", "score_threshold"))               \
  KERNEL(propose_regions, tenon__scratch_propose_regions, 0, LIST(PROPOSAL))                   \
  KERNEL(propose_regions_padded, tenon__scratch_propose_regions, 0, LIST(PROPOSAL))            \
  KERNEL(lstm, tenon__scratch_recurrent, 0, LIST(RECURRENT, "input_forget"))                   \
  KERNEL(gru, tenon__scratch_recurrent, 0, LIST(RECURRENT, "linear_before_reset"))             \
  KERNEL(rnn, tenon__scratch_recurrent, 0, LIST(RECURRENT))                                    \
  KERNEL(top_k, tenon__scratch_top_k, 0, LIST("axis", "largest", "sorted"))                    \
  KERNEL(cumulative_sum, NULL, 0, LIST("exclusive", "reverse"))                                \
  KERNEL(cumulative_prod, NULL, 0, LIST("exclusive", "reverse"))                               \
  KERNEL(scatter_elements, NULL, IN_PLACE, LIST("axis", "reduction"))                          \
  KERNEL(scatter_nd, NULL, IN_PLACE, LIST("reduction"))                                        \
  KERNEL(tensor_scatter, NULL, IN_PLACE, LIST("axis", "mode"))                                 \
  KERNEL(nonzero, NULL, 0, NOTHING)                                                            \
  KERNEL(unique, tenon__scratch_unique, 0, LIST("axis", "flat", "sorted"))                     \
  KERNEL(compress, tenon__scratch_compress, 0, LIST("axis", "flat"))                           \
  KERNEL(dft, NULL, 0, LIST("fixed_axis", "inverse", "onesided"))                              \
  KERNEL(stft, NULL, 0, LIST("onesided"))                                                      \
  KERNEL(mel_weight_matrix, NULL, 0, LIST("to"))                                               \
  KERNEL(attention, tenon__scratch_attention, 0,                                               \
         LIST("is_causal", "q_num_heads", "kv_num_heads", "scale", "softcap", "qk_mode",       \
              "softmax_precision", "left_window", "right_window"))                             \
  KERNEL(linear_attention, tenon__scratch_linear_attention, 0,                                 \
         LIST("q_num_heads", "kv_num_heads", "scale", "update_rule", "chunk_size"))            \
  KERNEL(rotary_embedding, NULL, 0, LIST("interleaved", "num_heads", "rotary_dim"))            \
  KERNEL(negative_log_likelihood, NULL, 0, LIST("reduction", "ignores", "ignore_index"))       \
  KERNEL(random_uniform, NULL, COUNTED, LIST("low", "high", "seed", "to"))                     \
  KERNEL(random_normal, NULL, COUNTED, LIST("mean", "scale", "seed", "to"))                    \
  KERNEL(bernoulli, NULL, COUNTED, LIST("seed", "to"))                                         \
  KERNEL(multinomial, NULL, COUNTED, LIST("sample_size", "seed", "to"))                        \
  KERNEL(arange_float, NULL, 0, NOTHING)                                                       \
  KERNEL(bit_cast, NULL, RAW, LIST("to"))                                                      \
  KERNEL(cast, NULL, RAW, LIST("to", "saturate", "round_mode"))                                \
  KERNEL(quantize_linear, NULL, RAW, LIST("to", "axis", "block_size", "saturate"))             \
  KERNEL(tfidf_vectorizer, NULL, 0,                                                            \
         LIST("mode", "min_gram_length", "max_gram_length", "max_skip_count", "ngram_counts",  \
              "ngram_indexes", "pool_int64s", "pool_strings", "weights"))                      \
  KERNEL(tree_ensemble, tenon__scratch_tree_ensemble, 0, LIST("aggregate", "target_count"))    \
  KERNEL(couple_pairs, tenon__scratch_couple_pairs, 0, LIST("class_count"))                    \
  KERNEL(equal, NULL, RAW, NOTHING)                                                            \
  KERNEL(where, NULL, RAW, NOTHING)                                                            \
  KERNEL(string_concat, tenon__scratch_strings, 0, NOTHING)                                    \
  KERNEL(string_split, tenon__scratch_string_split, 0, LIST("delimiter", "max_split"))         \
  KERNEL(string_normalizer, NULL, 0, LIST("case_change", "case_sensitive", "stopwords"))       \
  KERNEL(text_to_number, NULL, 0, LIST("to"))                                                  \
  KERNEL(number_to_text, tenon__scratch_strings, 0, NOTHING)                                   \
  KERNEL(sequence_make, NULL, RAW, NOTHING)                                                    \
  KERNEL(sequence_empty, NULL, RAW, LIST("to"))                                                \
  KERNEL(sequence_at, NULL, RAW, NOTHING)                                                      \
  KERNEL(sequence_length, NULL, RAW, NOTHING)                                                  \
  KERNEL(sequence_insert, NULL, RAW, NOTHING)                                                  \
  KERNEL(sequence_erase, NULL, RAW, NOTHING)                                                   \
  KERNEL(split_to_sequence, NULL, RAW, LIST("axis", "keepdims"))                               \
  KERNEL(concat_from_sequence, NULL, RAW, LIST("axis", "new_axis"))                            \
  KERNEL(optional_make, NULL, RAW, LIST("to"))                                                 \
  KERNEL(optional_get, NULL, RAW, NOTHING)                                                     \
  KERNEL(optional_has, NULL, RAW, NOTHING)                                                     \
  KERNEL(optional_make_sequence, NULL, RAW, LIST("to"))                                        \
  KERNEL(optional_get_sequence, NULL, RAW, NOTHING)                                            \
  KERNEL(optional_has_sequence, NULL, RAW, NOTHING)

/* On entry inputs are read; on return the frame writes outputs whose extents were known. A
 * failure has told the host why (tenon__work_fail). */
#define TENON__COMPUTE_DECLARATION(name, scratch, flags, attributes) \
  tenon_status_t tenon__compute_##name(tenon__work_t* work);
TENON__KERNELS(TENON__COMPUTE_DECLARATION)
#undef TENON__COMPUTE_DECLARATION

/* How many numbers of scratch, from the arrays' extents alone: asked when shapes are bound,
 * before there is data. */
int64_t tenon__scratch_det(const tenon__work_t* work);
int64_t tenon__scratch_resize(const tenon__work_t* work);
int64_t tenon__scratch_non_max_suppression(const tenon__work_t* work);
int64_t tenon__scratch_detection_output(const tenon__work_t* work);
int64_t tenon__scratch_propose_regions(const tenon__work_t* work);
int64_t tenon__scratch_recurrent(const tenon__work_t* work);
int64_t tenon__scratch_top_k(const tenon__work_t* work);
int64_t tenon__scratch_unique(const tenon__work_t* work);
int64_t tenon__scratch_compress(const tenon__work_t* work);
int64_t tenon__scratch_attention(const tenon__work_t* work);
int64_t tenon__scratch_linear_attention(const tenon__work_t* work);
int64_t tenon__scratch_tree_ensemble(const tenon__work_t* work);
int64_t tenon__scratch_couple_pairs(const tenon__work_t* work);
int64_t tenon__scratch_string_split(const tenon__work_t* work);
/* Views of all strings of output 0: who makes strings keeps them here until the frame copies
 * them. */
int64_t tenon__scratch_strings(const tenon__work_t* work);

/* The row for an operator's identity, "standard.det/1", NULL if there is none, and for NULL. */
const tenon__kernel_row_t* tenon__kernel_find(const char* op);

#endif
