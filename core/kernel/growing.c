/* Tensors and sequences whose size only the run knows: memory that grows and is kept. */
#include "core/kernel/growing.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"

void tenon__growing_initialize(tenon__growing_t* out_growing, tenon_allocator_t allocator,
                               tenon_dtype_t dtype) {
  *out_growing = (tenon__growing_t){.allocator = allocator, .dtype = dtype};
}

void tenon__growing_deinitialize(tenon__growing_t* growing) {
  const tenon_allocator_t a = growing->allocator;
  tenon__free(a, growing->data, growing->capacity_bytes);
  tenon__free(a, growing->dims, growing->dims_capacity * sizeof(int64_t));
  tenon__free(a, growing->strides, growing->dims_capacity * sizeof(int64_t));
  for (uint32_t k = 0; k < growing->item_capacity; ++k) {
    tenon__growing_deinitialize(&growing->item_storage[k]);
  }
  tenon__free(a, growing->item_storage, growing->item_capacity * sizeof *growing->item_storage);
  tenon__free(a, growing->items, growing->item_capacity * sizeof *growing->items);
  if (growing->strings_ready) {
    tenon__arena_deinitialize(&growing->strings);
  }
  *growing = (tenon__growing_t){.allocator = a, .dtype = growing->dtype};
}

void tenon__growing_clear(tenon__growing_t* growing) {
  growing->was_set = false;
  growing->item_count = 0;
  if (growing->strings_ready) {
    tenon__arena_deinitialize(&growing->strings);
    growing->strings_ready = false;
  }
}

static tenon_status_t reserve_dims(tenon__growing_t* growing, uint32_t rank) {
  if (rank <= growing->dims_capacity && growing->dims != NULL) {
    return TENON_OK;
  }
  const uint32_t wanted = rank < 8 ? 8 : rank;
  int64_t* dims = tenon__allocate(growing->allocator, wanted, sizeof *dims);
  int64_t* strides = tenon__allocate(growing->allocator, wanted, sizeof *strides);
  if (dims == NULL || strides == NULL) {
    tenon__free(growing->allocator, dims, wanted * sizeof *dims);
    tenon__free(growing->allocator, strides, wanted * sizeof *strides);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__free(growing->allocator, growing->dims, growing->dims_capacity * sizeof(int64_t));
  tenon__free(growing->allocator, growing->strides, growing->dims_capacity * sizeof(int64_t));
  growing->dims = dims;
  growing->strides = strides;
  growing->dims_capacity = wanted;
  return TENON_OK;
}

tenon_status_t tenon__growing_resize(tenon__growing_t* growing, tenon_dtype_t dtype, uint32_t rank,
                                     const int64_t* dims) {
  uint64_t count = 0;
  size_t bytes = 0;
  if (!tenon__element_count(rank, dims, &count) || !tenon__dtype_bytes(dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  TENON_TRY(reserve_dims(growing, rank));
  if (bytes > growing->capacity_bytes || growing->data == NULL) {
    const size_t wanted = bytes + bytes / 4 + 64;
    void* data = tenon__allocate(growing->allocator, wanted, 1);
    if (data == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    tenon__free(growing->allocator, growing->data, growing->capacity_bytes);
    growing->data = data;
    growing->capacity_bytes = wanted;
  }
  if (rank > 0) {
    memcpy(growing->dims, dims, rank * sizeof *dims);
  }
  (void)tenon__strides_row_major(rank, growing->dims, growing->strides);
  growing->rank = rank;
  growing->dtype = dtype;
  growing->was_set = true;
  return TENON_OK;
}

static tenon_argument_t growing_as_argument(const tenon__growing_t* growing) {
  return (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR,
      .tensor = {.data = growing->data,
                 .dims = growing->dims,
                 .strides = growing->strides,
                 .rank = growing->rank,
                 .dtype = growing->dtype,
                 .layout = TENON_NONE},
  };
}

/* Copies elements of any strides (none: dense ones) to dense row-major. */
static tenon_status_t copy_elements(tenon__growing_t* growing, const tenon_tensor_view_t* view) {
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
    memcpy(growing->data, view->data, bytes);
    return TENON_OK;
  }
  if (bits < 8) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon_argument_t target = growing_as_argument(growing);
  tenon__strided_copy(view, &target.tensor);
  return TENON_OK;
}

tenon_status_t tenon__growing_own_texts(tenon__growing_t* growing, uint64_t first, uint64_t count) {
  if (growing->dtype != TENON_DTYPE_STRING) {
    return TENON_OK;
  }
  if (!growing->strings_ready) {
    tenon__arena_initialize(&growing->strings, growing->allocator);
    growing->strings_ready = true;
  }
  tenon_string_view_t* strings = growing->data;
  for (uint64_t i = first; i < first + count; ++i) {
    char* copy = tenon__arena_copy_text(&growing->strings, strings[i].data, strings[i].size);
    if (copy == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    strings[i].data = copy;
  }
  return TENON_OK;
}

static tenon_status_t reserve_items(tenon__growing_t* growing, uint32_t needed) {
  if (needed <= growing->item_capacity) {
    return TENON_OK;
  }
  const uint32_t wanted = needed < 8 ? 8 : needed * 2;
  tenon_argument_t* items = tenon__allocate(growing->allocator, wanted, sizeof *items);
  tenon__growing_t* storage = tenon__allocate(growing->allocator, wanted, sizeof *storage);
  if (items == NULL || storage == NULL) {
    tenon__free(growing->allocator, items, wanted * sizeof *items);
    tenon__free(growing->allocator, storage, wanted * sizeof *storage);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < wanted; ++k) {
    tenon__growing_initialize(&storage[k], growing->allocator, growing->dtype);
  }
  if (growing->item_capacity > 0) {
    memcpy(storage, growing->item_storage, growing->item_capacity * sizeof *storage);
    memcpy(items, growing->items, growing->item_count * sizeof *items);
  }
  tenon__free(growing->allocator, growing->items, growing->item_capacity * sizeof *items);
  tenon__free(growing->allocator, growing->item_storage, growing->item_capacity * sizeof *storage);
  growing->items = items;
  growing->item_storage = storage;
  growing->item_capacity = wanted;
  return TENON_OK;
}

tenon_status_t tenon__growing_append(tenon__growing_t* growing, const tenon_argument_t* item) {
  if (item->kind != TENON_ARGUMENT_TENSOR) {
    return TENON_ERROR_UNSUPPORTED; /* items are tensors */
  }
  TENON_TRY(reserve_items(growing, growing->item_count + 1));
  tenon__growing_t* slot = &growing->item_storage[growing->item_count];
  TENON_TRY(tenon__growing_assign(slot, item));
  growing->items[growing->item_count] = growing_as_argument(slot);
  growing->item_count += 1;
  growing->was_set = true;
  return TENON_OK;
}

tenon_status_t tenon__growing_assign(tenon__growing_t* growing, const tenon_argument_t* argument) {
  tenon__growing_clear(growing);
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    const tenon_tensor_view_t* view = &argument->tensor;
    TENON_TRY(tenon__growing_resize(growing, view->dtype, view->rank, view->dims));
    TENON_TRY(copy_elements(growing, view));
    uint64_t count = 0;
    (void)tenon__element_count(growing->rank, growing->dims, &count);
    return tenon__growing_own_texts(growing, 0, count);
  }
  for (uint32_t k = 0; k < argument->count; ++k) {
    TENON_TRY(tenon__growing_append(growing, &argument->items[k]));
  }
  growing->was_set = true;
  return TENON_OK;
}
