/* What rows of rows.h have to find out on the host, family by family; members of
 * tenon__closed_row_t. The text of a family says what its numbers are. */
#ifndef PLUGINS_CUDA_CLOSED_FAMILIES_H_
#define PLUGINS_CUDA_CLOSED_FAMILIES_H_

#include "closed.h"

/* known.c: members `knows`. */
bool tenon__closed_knows_axis(const tenon__closed_work_t* work);
bool tenon__closed_knows_transform_axis(const tenon__closed_work_t* work);
bool tenon__closed_knows_scales(const tenon__closed_work_t* work);
bool tenon__closed_knows_batches(const tenon__closed_work_t* work);
bool tenon__closed_knows_lengths(const tenon__closed_work_t* work);
bool tenon__closed_knows_positions(const tenon__closed_work_t* work);
bool tenon__closed_knows_windows(const tenon__closed_work_t* work);
bool tenon__closed_knows_elements(const tenon__closed_work_t* work);
bool tenon__closed_knows_slices(const tenon__closed_work_t* work);

/* indexing.c */
void tenon__closed_bind_scatter(tenon__closed_work_t* work);
void tenon__closed_bind_found(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_found(const tenon__closed_work_t* work);
void tenon__closed_extents_found(const tenon__closed_work_t* work, const int64_t* found,
                                 uint32_t output, tenon__closed_shape_t* out_shape);
void tenon__closed_bind_running(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_running(const tenon__closed_work_t* work);
/* x as slices along the attribute `axis`, or as elements if it is `flat`: number[at], at + 1,
 * at + 2 are the extents around the axis. */
void tenon__closed_set_slices(tenon__closed_work_t* work, uint32_t at);
/* x's extents, with another one along that axis. */
void tenon__closed_set_extents(const tenon__closed_work_t* work, int64_t along,
                               tenon__closed_shape_t* out_shape);

/* sorting.c */
const char* tenon__closed_refuse_top_k(const tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_top_k(const tenon__closed_work_t* work);
void tenon__closed_bind_top_k(tenon__closed_work_t* work);
const char* tenon__closed_refuse_unique(const tenon__closed_work_t* work);
void tenon__closed_bind_unique(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_unique(const tenon__closed_work_t* work);
void tenon__closed_extents_unique(const tenon__closed_work_t* work, const int64_t* found,
                                  uint32_t output, tenon__closed_shape_t* out_shape);

/* elements.c */
void tenon__closed_bind_loss(tenon__closed_work_t* work);
const char* tenon__closed_refuse_bit_cast(const tenon__closed_work_t* work);
void tenon__closed_bind_arange(tenon__closed_work_t* work);
void tenon__closed_extents_arange(const tenon__closed_work_t* work, const int64_t* found,
                                  uint32_t output, tenon__closed_shape_t* out_shape);
void tenon__closed_bind_random(tenon__closed_work_t* work);

/* signal.c */
void tenon__closed_bind_transform(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_transform(const tenon__closed_work_t* work);

/* windows.c */
void tenon__closed_bind_deformable(tenon__closed_work_t* work);
void tenon__closed_bind_convolution_integer(tenon__closed_work_t* work);
void tenon__closed_bind_windows(tenon__closed_work_t* work);
void tenon__closed_bind_transposed(tenon__closed_work_t* work);
const char* tenon__closed_refuse_windows(const tenon__closed_work_t* work);
const char* tenon__closed_refuse_planes(const tenon__closed_work_t* work);
void tenon__closed_bind_unpool(tenon__closed_work_t* work);
void tenon__closed_bind_causal(tenon__closed_work_t* work);

/* sampling.c */
const char* tenon__closed_refuse_suppression(const tenon__closed_work_t* work);
void tenon__closed_bind_resize(tenon__closed_work_t* work);
void tenon__closed_bind_resize_last(tenon__closed_work_t* work);
void tenon__closed_bind_roi_align(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_roi_align(const tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_suppression(const tenon__closed_work_t* work);
void tenon__closed_bind_suppression(tenon__closed_work_t* work);
void tenon__closed_extents_suppression(const tenon__closed_work_t* work, const int64_t* found,
                                       uint32_t output, tenon__closed_shape_t* out_shape);

/* product.c */
void tenon__closed_bind_mat_mul(tenon__closed_work_t* work);
void tenon__closed_bind_mat_mul_integer(tenon__closed_work_t* work);
const char* tenon__closed_refuse_mat_mul(const tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_det(const tenon__closed_work_t* work);
const char* tenon__closed_refuse_einsum(const tenon__closed_work_t* work);
void tenon__closed_bind_einsum(tenon__closed_work_t* work);

/* layers.c */
const char* tenon__closed_refuse_recurrent(const tenon__closed_work_t* work);
void tenon__closed_bind_recurrent(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_recurrent(const tenon__closed_work_t* work);
const char* tenon__closed_refuse_attention(const tenon__closed_work_t* work);
void tenon__closed_bind_attention(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_attention(const tenon__closed_work_t* work);
const char* tenon__closed_refuse_linear(const tenon__closed_work_t* work);
void tenon__closed_bind_linear(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_linear(const tenon__closed_work_t* work);
const char* tenon__closed_refuse_rotary(const tenon__closed_work_t* work);
void tenon__closed_bind_rotary(tenon__closed_work_t* work);
void tenon__closed_bind_rows(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_trees(const tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_pairs(const tenon__closed_work_t* work);

/* detection.c */
void tenon__closed_bind_detection(tenon__closed_work_t* work);
uint64_t tenon__closed_scratch_detection(const tenon__closed_work_t* work);
void tenon__closed_extents_detection(const tenon__closed_work_t* work, const int64_t* found,
                                     uint32_t output, tenon__closed_shape_t* out_shape);

/* What `finding` kernels leave at the beginning of scratch. */
uint64_t tenon__closed_scratch_numbers(const tenon__closed_work_t* work);

#endif
