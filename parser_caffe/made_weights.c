/* Weights for a network without a caffemodel: good enough to measure with. */
#include <math.h>

#include "source.h"

/* SplitMix64: each call gives the next number of the sequence. */
static uint64_t next(uint64_t* inout_state) {
  uint64_t value = *inout_state += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

static uint64_t first_state(uint64_t seed, const char* name, uint32_t index) {
  uint64_t hash = 14695981039346656037u;
  for (; *name != '\0'; ++name) {
    hash = (hash ^ (uint8_t)*name) * 1099511628211u;
  }
  return (hash ^ seed) + index;
}

/* Zeros stand for what is missing, so that all layers that lack something are found; only so many.
 */
static tenon_status_t note_lacking(tenon__caffe_program_t* program,
                                   const tenon__caffe_layer_t* layer, int64_t count) {
  static const uint32_t named = 20;
  static const int64_t limit = (int64_t)64 * 1024 * 1024;
  if (program->last_lacking != layer) {
    program->last_lacking = layer;
    if (program->lacking_count++ < named) {
      const bool is_first = program->lacking_count == 1;
      program->lacking =
          tenon_reader_format(program->reader, "%s%s'%s'", is_first ? "" : program->lacking,
                              is_first ? "" : ", ", layer->name);
    }
  }
  if (program->lacking == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  program->lacking_elements += count < limit ? count : limit;
  program->left_off = program->lacking_elements >= limit;
  return program->left_off ? tenon__caffe_program_tell_lacking(program) : TENON_OK;
}

/* The product of extents; 0 when one of them is 0, whatever the others are. */
static int64_t product(uint32_t rank, const int64_t* dims) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) {
      return 0;
    }
  }
  for (uint32_t i = 0; i < rank; ++i) {
    count *= dims[i];
  }
  return count;
}

/* Uniform. Products keep the variance of what goes in; vectors (scales, variances, biases) are near
 * 1 and positive. */
tenon_status_t tenon__caffe_source_make_blob(const tenon_source_t* source, uint32_t index,
                                             uint32_t rank, const int64_t* dims,
                                             float* out_values) {
  tenon__caffe_program_t* program = source->program;
  if (source->layer->blobs != NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  const int64_t count = product(rank, dims);
  if (!program->makes_weights) {
    return note_lacking(program, source->layer, count);
  }
  const bool is_matrix = rank >= 2 && count > 0;
  const double span = is_matrix ? 2 * sqrt(3.0 * (double)dims[0] / (double)count) : 1;
  const double low = is_matrix ? -span / 2 : 0.5;
  uint64_t state = first_state(program->seed, source->layer->name, index);
  for (int64_t i = 0; i < count; ++i) {
    out_values[i] = (float)(low + span * ((double)(next(&state) >> 11) * 0x1p-53));
  }
  return TENON_OK;
}
