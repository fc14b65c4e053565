/*
 * Memory of tensors and sequences whose size only the run knows. It grows and is kept: once a
 * context has seen its largest shapes, nothing is allocated any more. One thread at a time.
 */
#ifndef TENON_CORE_KERNEL_DYNAMIC_BUFFER_H_
#define TENON_CORE_KERNEL_DYNAMIC_BUFFER_H_

#include "core/base/arena.h"
#include "core/device/memory.h"
#include "tenon/plugin.h"

/* A value that the kernel sizes. All zeros but memory, kind and dtype: nothing yet. `data` lies in
 * `memory`, all else is the host's; containers are the host's alone.
 * capacity_bytes, dims_capacity and item_capacity are of what is allocated; rank, dims, strides say
 * what is in it, always dense rows. item_storage has item_capacity buffers, each made. */
typedef struct tenon__dynamic_buffer_t {
  tenon__memory_t memory;
  uint32_t kind; /* TENON_ARGUMENT_TENSOR, _SEQUENCE ... */
  tenon_dtype_t dtype;
  void* data; /* moves when it grows: views of it are made anew after each resize */
  size_t capacity_bytes;
  void* borrowed; /* another's memory with the tensor; NULL: `data` has it */
  uint32_t rank;
  uint32_t dims_capacity;
  int64_t* dims;
  int64_t* strides;
  bool was_set; /* since it was cleared: an output that a kernel forgot is an error */
  /* Sequences and optionals. */
  uint32_t item_count;
  uint32_t item_capacity;
  tenon_argument_t* items; /* views of item_storage */
  struct tenon__dynamic_buffer_t* item_storage;
  /* Copies of strings. */
  tenon__arena_t strings;
  bool strings_ready;
} tenon__dynamic_buffer_t;

/* Allocates nothing. Ending frees everything, items and texts too, and leaves an empty buffer. */
void tenon__dynamic_buffer_initialize(tenon__dynamic_buffer_t* out_buffer, tenon__memory_t memory,
                                      uint32_t kind, tenon_dtype_t dtype);
void tenon__dynamic_buffer_deinitialize(tenon__dynamic_buffer_t* buffer);
/* Makes room for these extents, dense row-major. What was in it may be lost. OUT_OF_MEMORY leaves
 * it as it was; INVALID_DATA for extents that are negative or cannot be counted. A quarter more
 * than is asked for is allocated, so that a tensor that grows step by step does not move each time.
 */
tenon_status_t tenon__dynamic_buffer_resize(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype,
                                            uint32_t rank, const int64_t* dims);
/* The buffer's tensor gets these extents, dense row-major, and is stored at `data`, which stays the
 * caller's, until the buffer is resized. OUT_OF_MEMORY leaves it as it was. */
tenon_status_t tenon__dynamic_buffer_borrow(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype,
                                            uint32_t rank, const int64_t* dims, void* data);
/* Where the tensor is stored. */
void* tenon__dynamic_buffer_data(const tenon__dynamic_buffer_t* buffer);
/* A deep copy of an item at the end of a container. UNSUPPORTED for items of another kind than it
 * holds. */
tenon_status_t tenon__dynamic_buffer_append(tenon__dynamic_buffer_t* buffer,
                                            const tenon_argument_t* item);
/* Of elements that are views of texts elsewhere: copies these, until it is cleared. */
tenon_status_t tenon__dynamic_buffer_own_texts(tenon__dynamic_buffer_t* buffer, uint64_t first,
                                               uint64_t count);
/* What is in it as kernels see it: a tensor, or a container of its items. It holds until the buffer
 * changes. */
tenon_argument_t tenon__dynamic_buffer_argument(const tenon__dynamic_buffer_t* buffer);
/* Nothing is set any more; capacity stays, but for texts. */
void tenon__dynamic_buffer_clear(tenon__dynamic_buffer_t* buffer);
/* A deep copy of a value into the buffer, which becomes one of its kind. A view without strides is
 * dense. UNSUPPORTED for elements within a byte that do not lie in rows. */
tenon_status_t tenon__dynamic_buffer_assign(tenon__dynamic_buffer_t* buffer,
                                            const tenon_argument_t* argument);

#endif
