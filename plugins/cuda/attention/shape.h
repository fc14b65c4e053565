/* What a launch of attention is given: shape.cuh's structure, for the host. */
#ifndef PLUGINS_CUDA_ATTENTION_SHAPE_H_
#define PLUGINS_CUDA_ATTENTION_SHAPE_H_

#include <stdint.h>

enum { TENON_CUDA_ATTENTION_AXES = 8 };

/* Elements from one to the next: outer axes, then rows (queries or keys), then features. */
typedef struct tenon__cuda_lines_t {
  int64_t outer[TENON_CUDA_ATTENTION_AXES];
  int64_t row;
  int64_t feature;
} tenon__cuda_lines_t;

typedef struct tenon__cuda_attention_shape_t {
  const void* q;
  const void* k;
  const void* v;
  void* y;
  tenon__cuda_lines_t lines[4]; /* of q, k, v, y */
  int32_t queries;
  int32_t keys;
  int32_t wide_y;
  int32_t releases_early;
} tenon__cuda_attention_shape_t;

#endif
