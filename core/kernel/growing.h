/*
 * Memory of tensors and sequences whose size only the run knows. It grows and is kept: once a
 * context has seen its largest shapes, nothing is allocated any more. One thread at a time.
 */
#ifndef TENON_CORE_KERNEL_GROWING_H_
#define TENON_CORE_KERNEL_GROWING_H_

#include "core/base/arena.h"
#include "tenon/plugin.h"

/* A tensor (or sequence) that the kernel sizes. All zeros but allocator and dtype: nothing yet. */
typedef struct tenon__growing_t {
  tenon_allocator_t allocator;
  tenon_dtype_t dtype;
  void* data; /* moves when it grows: views of it are made anew after each resize */
  size_t capacity_bytes;
  uint32_t rank;
  uint32_t dims_capacity;
  int64_t* dims;
  int64_t* strides;
  bool was_set; /* since it was cleared: an output that a kernel forgot is an error */
  /* Sequences and optionals. */
  uint32_t item_count;
  uint32_t item_capacity;
  tenon_argument_t* items; /* views of item_storage */
  struct tenon__growing_t* item_storage;
  /* Copies of strings. */
  tenon__arena_t strings;
  bool strings_ready;
} tenon__growing_t;

void tenon__growing_initialize(tenon__growing_t* out_growing, tenon_allocator_t allocator,
                               tenon_dtype_t dtype);
void tenon__growing_deinitialize(tenon__growing_t* growing);
/* Makes room for these extents, dense row-major. What was in it may be lost. OUT_OF_MEMORY leaves
 * it as it was; INVALID_DATA for extents that are negative or cannot be counted. */
tenon_status_t tenon__growing_resize(tenon__growing_t* growing, tenon_dtype_t dtype, uint32_t rank,
                                     const int64_t* dims);
/* A deep copy of an item at the end of a sequence. */
tenon_status_t tenon__growing_append(tenon__growing_t* growing, const tenon_argument_t* item);
/* Of elements that are views of texts elsewhere: copies these, until it is cleared. */
tenon_status_t tenon__growing_own_texts(tenon__growing_t* growing, uint64_t first, uint64_t count);
/* Nothing is set any more; capacity stays, but for texts. */
void tenon__growing_clear(tenon__growing_t* growing);
/* A deep copy of a tensor or a sequence into `growing`. A view without strides is dense. */
tenon_status_t tenon__growing_assign(tenon__growing_t* growing, const tenon_argument_t* argument);

#endif
