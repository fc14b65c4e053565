/* Tensors and sequences whose size only the run knows: memory that grows and is kept. */
#include "core/kernel/dynamic_buffer.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"
#include "core/tensor/type.h"

void tenon__dynamic_buffer_initialize(tenon__dynamic_buffer_t* out_buffer, tenon__memory_t memory,
                                      uint32_t kind, tenon_dtype_t dtype) {
  *out_buffer = (tenon__dynamic_buffer_t){.memory = memory, .kind = kind, .dtype = dtype};
}

void tenon__dynamic_buffer_deinitialize(tenon__dynamic_buffer_t* buffer) {
  const tenon__memory_t memory = buffer->memory;
  const tenon_allocator_t a = memory.allocator;
  tenon__memory_free(&memory, buffer->data, buffer->capacity_bytes);
  tenon__free(a, buffer->dims, buffer->dims_capacity * sizeof(int64_t));
  tenon__free(a, buffer->strides, buffer->dims_capacity * sizeof(int64_t));
  for (uint32_t k = 0; k < buffer->item_capacity; ++k) {
    tenon__dynamic_buffer_deinitialize(&buffer->item_storage[k]);
  }
  tenon__free(a, buffer->item_storage, buffer->item_capacity * sizeof *buffer->item_storage);
  tenon__free(a, buffer->items, buffer->item_capacity * sizeof *buffer->items);
  if (buffer->strings_ready) {
    tenon__arena_deinitialize(&buffer->strings);
  }
  tenon__dynamic_buffer_initialize(buffer, memory, buffer->kind, buffer->dtype);
}

void tenon__dynamic_buffer_clear(tenon__dynamic_buffer_t* buffer) {
  buffer->was_set = false;
  buffer->item_count = 0;
  if (buffer->strings_ready) {
    tenon__arena_deinitialize(&buffer->strings);
    buffer->strings_ready = false;
  }
}

static tenon_status_t reserve_dims(tenon__dynamic_buffer_t* buffer, uint32_t rank) {
  if (rank <= buffer->dims_capacity && buffer->dims != NULL) {
    return TENON_OK;
  }
  const uint32_t wanted = rank < 8 ? 8 : rank;
  int64_t* dims = tenon__allocate(buffer->memory.allocator, wanted, sizeof *dims);
  int64_t* strides = tenon__allocate(buffer->memory.allocator, wanted, sizeof *strides);
  if (dims == NULL || strides == NULL) {
    tenon__free(buffer->memory.allocator, dims, wanted * sizeof *dims);
    tenon__free(buffer->memory.allocator, strides, wanted * sizeof *strides);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__free(buffer->memory.allocator, buffer->dims, buffer->dims_capacity * sizeof(int64_t));
  tenon__free(buffer->memory.allocator, buffer->strides, buffer->dims_capacity * sizeof(int64_t));
  buffer->dims = dims;
  buffer->strides = strides;
  buffer->dims_capacity = wanted;
  return TENON_OK;
}

static tenon_status_t describe(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype, uint32_t rank,
                               const int64_t* dims) {
  TENON_TRY(reserve_dims(buffer, rank));
  if (rank > 0) {
    memcpy(buffer->dims, dims, rank * sizeof *dims);
  }
  (void)tenon__strides_row_major(rank, buffer->dims, buffer->strides);
  buffer->rank = rank;
  buffer->dtype = dtype;
  buffer->was_set = true;
  return TENON_OK;
}

tenon_status_t tenon__dynamic_buffer_borrow(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype,
                                            uint32_t rank, const int64_t* dims, void* data) {
  TENON_TRY(describe(buffer, dtype, rank, dims));
  buffer->borrowed = data;
  return TENON_OK;
}

void* tenon__dynamic_buffer_data(const tenon__dynamic_buffer_t* buffer) {
  return buffer->borrowed != NULL ? buffer->borrowed : buffer->data;
}

tenon_status_t tenon__dynamic_buffer_resize(tenon__dynamic_buffer_t* buffer, tenon_dtype_t dtype,
                                            uint32_t rank, const int64_t* dims) {
  uint64_t count = 0;
  size_t bytes = 0;
  if (!tenon__element_count(rank, dims, &count) || !tenon__dtype_bytes(dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  TENON_TRY(reserve_dims(buffer, rank));
  if (bytes > buffer->capacity_bytes || buffer->data == NULL) {
    const size_t wanted = bytes + bytes / 4 + 64;
    void* data = NULL;
    TENON_TRY(tenon__memory_allocate(&buffer->memory, wanted, &data));
    tenon__memory_free(&buffer->memory, buffer->data, buffer->capacity_bytes);
    buffer->data = data;
    buffer->capacity_bytes = wanted;
  }
  buffer->borrowed = NULL;
  return describe(buffer, dtype, rank, dims);
}

tenon_argument_t tenon__dynamic_buffer_argument(const tenon__dynamic_buffer_t* buffer) {
  if (buffer->kind != TENON_ARGUMENT_TENSOR) {
    return (tenon_argument_t){
        .kind = buffer->kind, .count = buffer->item_count, .items = buffer->items};
  }
  return (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR,
      .tensor = {.data = tenon__dynamic_buffer_data(buffer),
                 .dims = buffer->dims,
                 .strides = buffer->strides,
                 .rank = buffer->rank,
                 .dtype = buffer->dtype,
                 .layout = TENON_NONE},
  };
}

/* Copies elements of any strides (none: dense ones) to dense row-major. */
static tenon_status_t copy_elements(tenon__dynamic_buffer_t* buffer,
                                    const tenon_tensor_view_t* view) {
  const uint32_t bits = tenon__dtype_bits(view->dtype);
  uint64_t count = 0;
  size_t bytes = 0;
  (void)tenon__element_count(view->rank, view->dims, &count);
  (void)tenon__dtype_bytes(view->dtype, count, &bytes);
  if (count == 0) {
    return TENON_OK;
  }
  if (view->strides == NULL ||
      tenon__strides_are_row_major(view->rank, view->dims, view->strides)) {
    memcpy(buffer->data, view->data, bytes);
    return TENON_OK;
  }
  if (bits < 8) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon_argument_t target = tenon__dynamic_buffer_argument(buffer);
  tenon__strided_copy(view, &target.tensor);
  return TENON_OK;
}

tenon_status_t tenon__dynamic_buffer_own_texts(tenon__dynamic_buffer_t* buffer, uint64_t first,
                                               uint64_t count) {
  if (buffer->dtype != TENON_DTYPE_STRING) {
    return TENON_OK;
  }
  if (!buffer->strings_ready) {
    tenon__arena_initialize(&buffer->strings, buffer->memory.allocator);
    buffer->strings_ready = true;
  }
  tenon_string_view_t* strings = buffer->data;
  for (uint64_t i = first; i < first + count; ++i) {
    char* copy = tenon__arena_copy_text(&buffer->strings, strings[i].data, strings[i].size);
    TENON_TRY_MEMORY(copy != NULL);
    strings[i].data = copy;
  }
  return TENON_OK;
}

static tenon_status_t reserve_items(tenon__dynamic_buffer_t* buffer, uint32_t needed) {
  if (needed <= buffer->item_capacity) {
    return TENON_OK;
  }
  const uint32_t wanted = needed < 8 ? 8 : needed * 2;
  tenon_argument_t* items = tenon__allocate(buffer->memory.allocator, wanted, sizeof *items);
  tenon__dynamic_buffer_t* storage =
      tenon__allocate(buffer->memory.allocator, wanted, sizeof *storage);
  if (items == NULL || storage == NULL) {
    tenon__free(buffer->memory.allocator, items, wanted * sizeof *items);
    tenon__free(buffer->memory.allocator, storage, wanted * sizeof *storage);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < wanted; ++k) {
    tenon__dynamic_buffer_initialize(&storage[k], buffer->memory,
                                     tenon__type_item_kind(buffer->kind), buffer->dtype);
  }
  if (buffer->item_capacity > 0) {
    memcpy(storage, buffer->item_storage, buffer->item_capacity * sizeof *storage);
    memcpy(items, buffer->items, buffer->item_count * sizeof *items);
  }
  tenon__free(buffer->memory.allocator, buffer->items, buffer->item_capacity * sizeof *items);
  tenon__free(buffer->memory.allocator, buffer->item_storage,
              buffer->item_capacity * sizeof *storage);
  buffer->items = items;
  buffer->item_storage = storage;
  buffer->item_capacity = wanted;
  return TENON_OK;
}

tenon_status_t tenon__dynamic_buffer_append(tenon__dynamic_buffer_t* buffer,
                                            const tenon_argument_t* item) {
  if (item->kind != tenon__type_item_kind(buffer->kind)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(reserve_items(buffer, buffer->item_count + 1));
  tenon__dynamic_buffer_t* slot = &buffer->item_storage[buffer->item_count];
  TENON_TRY(tenon__dynamic_buffer_assign(slot, item));
  buffer->items[buffer->item_count] = tenon__dynamic_buffer_argument(slot);
  buffer->item_count += 1;
  buffer->was_set = true;
  return TENON_OK;
}

tenon_status_t tenon__dynamic_buffer_assign(tenon__dynamic_buffer_t* buffer,
                                            const tenon_argument_t* argument) {
  tenon__dynamic_buffer_clear(buffer);
  buffer->kind = argument->kind;
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    const tenon_tensor_view_t* view = &argument->tensor;
    TENON_TRY(tenon__dynamic_buffer_resize(buffer, view->dtype, view->rank, view->dims));
    TENON_TRY(copy_elements(buffer, view));
    uint64_t count = 0;
    (void)tenon__element_count(buffer->rank, buffer->dims, &count);
    return tenon__dynamic_buffer_own_texts(buffer, 0, count);
  }
  for (uint32_t k = 0; k < argument->count; ++k) {
    TENON_TRY(tenon__dynamic_buffer_append(buffer, &argument->items[k]));
  }
  buffer->was_set = true;
  return TENON_OK;
}
