/* A constant's bytes from a view with any strides. */
#include "core/network/dense.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/tensor/layout.h"

/* Weights of so many bytes are not looked at before the network is built. */
enum { LARGE = 64 * 1024 };

typedef struct gather_t {
  tenon__interrupt_t* interrupt;
  const tenon_tensor_view_t* view;
  const int64_t* strides;
  uint32_t bits;
  uint8_t* target;
  uint64_t next; /* element of the target */
  bool is_over;
} gather_t;

enum { ELEMENTS_BETWEEN = 1 << 16 }; /* two questions whether somebody wants the end */

/* The elements along `axis` and all after it, from element `index` of the view on. Leaves off when
 * somebody wants the end of the build: what it was for is thrown away then. */
static void gather(gather_t* state, uint32_t axis, int64_t index) {
  if (state->is_over) {
    return;
  }
  if (axis < state->view->rank) {
    for (int64_t i = 0; i < state->view->dims[axis]; ++i) {
      gather(state, axis + 1, index + i * state->strides[axis]);
    }
    return;
  }
  if (state->bits >= 8) {
    const size_t bytes = state->bits / 8;
    memcpy(state->target + state->next * bytes,
           (const uint8_t*)state->view->data + index * (int64_t)bytes, bytes);
  } else {
    const uint64_t first = state->view->bit_offset / state->bits;
    const tenon__scalar_t scalar = tenon__element_load(state->view->data, state->view->dtype,
                                                       (uint64_t)((int64_t)first + index));
    tenon__element_store(state->target, state->view->dtype, state->next, scalar,
                         tenon__dtype_arithmetic(state->view->dtype));
  }
  ++state->next;
  state->is_over =
      state->next % ELEMENTS_BETWEEN == 0 && tenon__interrupt_is_wanted(state->interrupt);
}

static bool copy_strings(tenon__network_t* network, uint8_t* data, uint64_t count) {
  tenon_string_view_t* strings = (tenon_string_view_t*)(void*)data;
  for (uint64_t i = 0; i < count; ++i) {
    const char* copy =
        tenon__arena_copy_text(&network->arena, strings[i].data == NULL ? "" : strings[i].data,
                               strings[i].data == NULL ? 0 : strings[i].size);
    if (copy == NULL) {
      return false;
    }
    strings[i].data = copy;
  }
  return true;
}

/* A dense copy in the network's memory; NULL when memory is out. */
static uint8_t* dense_copy(tenon__network_t* network, const tenon_tensor_view_t* view,
                           const int64_t* strides, uint64_t count, size_t bytes) {
  uint8_t* data = tenon__allocate(network->allocator, bytes, 1);
  if (data == NULL) {
    return NULL;
  }
  gather_t state = {.interrupt = network->interrupt,
                    .view = view,
                    .strides = strides,
                    .bits = tenon__dtype_bits(view->dtype),
                    .target = data};
  const bool is_dense =
      tenon__strides_are_row_major(view->rank, view->dims, strides) && view->bit_offset == 0;
  if (is_dense && bytes > 0 && view->data != NULL) {
    memcpy(data, view->data, bytes);
  } else if (count > 0) {
    gather(&state, 0, 0);
  }
  if (view->dtype == TENON_DTYPE_STRING && !copy_strings(network, data, count)) {
    tenon__free(network->allocator, data, bytes);
    return NULL;
  }
  return data;
}

/* Elements of 16 bytes are pairs. */
bool tenon__weights_are_aligned(tenon_dtype_t dtype, const void* data) {
  const uint32_t bytes = tenon__dtype_bits(dtype) / 8;
  return bytes <= 1 || (uintptr_t)data % (bytes > 8 ? 8 : bytes) == 0;
}

tenon_status_t tenon__weights_align(tenon__network_t* network, tenon__weights_t* weights) {
  uint8_t* data = tenon__allocate(network->allocator, weights->size_bytes, 1);
  TENON_TRY_MEMORY(data != NULL);
  memcpy(data, weights->data, weights->size_bytes);
  weights->data = data;
  weights->owned = true;
  return TENON_OK;
}

tenon_status_t tenon__weights_from_view(tenon__network_t* network, const char* name,
                                        const tenon_tensor_view_t* view, bool borrow,
                                        const tenon_sink_t* sink, uint32_t* out_weights) {
  int64_t row_major[TENON_RANK_LIMIT];
  uint64_t count = 0;
  size_t bytes = 0;
  const bool good = tenon__dtype_bits(view->dtype) != 0 && view->rank <= TENON_RANK_LIMIT &&
                    (view->rank == 0 || view->dims != NULL) &&
                    tenon__element_count(view->rank, view->dims, &count) &&
                    tenon__dtype_bytes(view->dtype, count, &bytes) &&
                    tenon__strides_row_major(view->rank, view->dims, row_major) &&
                    (view->data != NULL || count == 0);
  if (!good) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "constant '%s': its type, extents and data do not make a tensor",
                       name == NULL ? "" : name);
  }
  const int64_t* strides = view->strides == NULL ? row_major : view->strides;
  const bool is_dense =
      count == 0 ||
      (view->bit_offset == 0 && tenon__strides_are_row_major(view->rank, view->dims, strides));
  const bool may_lie = bytes >= LARGE || tenon__weights_are_aligned(view->dtype, view->data);
  const bool is_borrowed = borrow && is_dense && may_lie && view->dtype != TENON_DTYPE_STRING;
  const void* data = view->data == NULL ? (const void*)"" : view->data;
  if (!is_borrowed) {
    data = dense_copy(network, view, strides, count, bytes);
    TENON_TRY_MEMORY(data != NULL);
  }
  const tenon__weights_t weights = {.name = name,
                                    .dtype = view->dtype,
                                    .rank = view->rank,
                                    .dims = view->dims,
                                    .data = data,
                                    .size_bytes = bytes,
                                    .owned = !is_borrowed};
  return tenon__network_add_weights(network, &weights, out_weights);
}
