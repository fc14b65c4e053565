/* What is compiled at run time: the .cuh files of this folder as texts, embedded by the build. */
#ifndef PLUGINS_CUDA_TEXTS_H_
#define PLUGINS_CUDA_TEXTS_H_

/* Types, conversions and the opcodes' functions: in front of every generated expression. */
extern const char tenon__cuda_arithmetic_text[];
/* Parameters, places, reading and writing, rows: behind it. */
extern const char tenon__cuda_frame_text[];
/* How a dependent launch begins: in front of all but the convolutions. */
extern const char tenon__cuda_launch_text[];
/* Kernels that move boxes: whole, as they are. */
extern const char tenon__cuda_moves_text[];

/* Convolutions (convolution/): in front of the frame; behind it; around a slot's functions. */
extern const char tenon__cuda_matrix_text[];
extern const char tenon__cuda_shape_text[];
extern const char tenon__cuda_slot_text[];
extern const char tenon__cuda_tile_text[];
extern const char tenon__cuda_pixel_text[];
extern const char tenon__cuda_direct_text[];
extern const char tenon__cuda_warpgroup_matrix_text[];
extern const char tenon__cuda_single_text[];
extern const char tenon__cuda_window_text[];
extern const char tenon__cuda_outputs_text[];
extern const char tenon__cuda_warpgroup_text[];
extern const char tenon__cuda_repeated_text[];
extern const char tenon__cuda_linear_text[];
extern const char tenon__cuda_stream_text[];
extern const char tenon__cuda_patch_text[];
extern const char tenon__cuda_depthwise_text[];
/* Attention (attention/): in front of the frame; behind it; behind the scores' functions. */
extern const char tenon__cuda_attention_shape_text[];
extern const char tenon__cuda_attention_scores_text[];
extern const char tenon__cuda_attention_elements_text[];
extern const char tenon__cuda_attention_warp_text[];
extern const char tenon__cuda_attention_results_text[];
extern const char tenon__cuda_attention_attend_text[];
extern const char tenon__cuda_attention_exchanged_text[];
/* Expressions of elements below a byte. */
extern const char tenon__cuda_closed_narrow_text[];
/* Operators by hand, closed/NAME.cuh. */
#define TENON_CLOSED_TEXTS(X) \
  X(frame)                    \
  X(collective)               \
  X(matrices)                 \
  X(scatter)                  \
  X(order)                    \
  X(running)                  \
  X(loss)                     \
  X(found)                    \
  X(unique)                   \
  X(conversion)               \
  X(generator)                \
  X(resize)                   \
  X(grid)                     \
  X(region)                   \
  X(suppression)              \
  X(windows)                  \
  X(pool)                     \
  X(neighbours)               \
  X(product)                  \
  X(integer)                  \
  X(signal)                   \
  X(attention)                \
  X(recurrent)                \
  X(classical)                \
  X(detection)
#define TENON_CLOSED_TEXT(name) extern const char tenon__cuda_closed_##name##_text[];
TENON_CLOSED_TEXTS(TENON_CLOSED_TEXT)
#undef TENON_CLOSED_TEXT

#endif
