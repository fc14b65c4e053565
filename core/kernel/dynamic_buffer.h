/*
 * Memory of tensors and sequences of data-dependent size. It grows and is kept, so a context that
 * has seen its largest shapes allocates no more. One thread at a time.
 */
#ifndef TENON_CORE_KERNEL_DYNAMIC_BUFFER_H_
#define TENON_CORE_KERNEL_DYNAMIC_BUFFER_H_

#include "core/base/arena.h"
#include "core/device/memory.h"
#include "tenon/plugin.h"

/* A value whose size the kernel sets. All zeros except memory, kind and dtype: empty. `data` is in
 * `memory`, everything else is in the host's; containers are in the host's memory only.
 * capacity_bytes, dims_capacity and item_capacity are allocated sizes. rank, dims and strides
 * describe the contents, which are always row-major and contiguous. item_storage has item_capacity
 * initialised buffers. */
typedef struct tenon__dynamic_buffer_t {
  tenon__memory_t memory;
  uint32_t kind; /* TENON_ARGUMENT_TENSOR, _SEQUENCE ... */
  tenon_dtype_t dtype;
  void* data; /* moves when it grows: update views of it after each resize */
  size_t capacity_bytes;
  void* borrowed; /* external memory with the tensor; NULL: `data` has it */
  uint32_t rank;
  uint32_t dims_capacity;
  int64_t* dims;
  int64_t* strides;
  bool was_set; /* since it was cleared: an output that a kernel did not set is an error */
  /* Sequences and optionals. */
  uint32_t item_count;
  uint32_t item_capacity;
  tenon_argument_t* items; /* views of item_storage */
  struct tenon__dynamic_buffer_t* item_storage;
  /* Copies of strings. */
  tenon__arena_t strings;
  bool strings_ready;
} tenon__dynamic_buffer_t;

/* Initialising allocates nothing. Deinitialising frees everything, including items and strings, and
 * leaves an empty buffer. */
void tenon__dynamic_buffer_initialize(tenon__dynamic_buffer_t* out_buffer, tenon__memory_t memory,
                                      uint32_t kind, tenon_dtype_t dtype);
void tenon__dynamic_buffer_deinitialize(tenon__dynamic_buffer_t* buffer);
/* Resizes to these extents, contiguous and row-major. The previous contents may be lost. It
 * allocates 25 % more than requested, so that a tensor that grows step by step does not move each
 * time. Returns OUT_OF_MEMORY, which leaves the buffer unchanged, or INVALID_DATA for extents that
 * are negative or overflow. */
tenon_status_t tenon__dynamic_buffer_resize(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype,
                                            uint32_t rank, const int64_t* dims);
/* Sets the buffer's tensor to memory of the caller, `data`, with these extents, contiguous and
 * row-major, until the buffer is resized. OUT_OF_MEMORY leaves the buffer unchanged. */
tenon_status_t tenon__dynamic_buffer_borrow(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype,
                                            uint32_t rank, const int64_t* dims, void* data);
/* Returns the address of the tensor. */
void* tenon__dynamic_buffer_data(const tenon__dynamic_buffer_t* buffer);
/* Appends a deep copy of an item to a container. Returns UNSUPPORTED for items of another kind. */
tenon_status_t tenon__dynamic_buffer_append(tenon__dynamic_buffer_t* buffer,
                                            const tenon_argument_t* item);
/* Copies the strings of elements that are views of other memory. The copies live until the buffer
 * is cleared. */
tenon_status_t tenon__dynamic_buffer_own_texts(tenon__dynamic_buffer_t* buffer, uint64_t first,
                                               uint64_t count);
/* Returns the contents as an argument for kernels: a tensor, or a container of its items. Valid
 * until the buffer changes. */
tenon_argument_t tenon__dynamic_buffer_argument(const tenon__dynamic_buffer_t* buffer);
/* Clears the contents and frees strings; other capacity stays. */
void tenon__dynamic_buffer_clear(tenon__dynamic_buffer_t* buffer);
/* Copies a value deeply into the buffer, which takes its kind. A view without strides is
 * contiguous. Returns UNSUPPORTED for elements smaller than a byte that are not row-major. */
tenon_status_t tenon__dynamic_buffer_assign(tenon__dynamic_buffer_t* buffer,
                                            const tenon_argument_t* argument);

#endif
