/* Sequences and optionals: items are copied by the host, so these read and append arguments as they
 * are. */
#include <string.h>

#include "kernels.h"

static const tenon_argument_t* argument(const tenon__work_t* work, uint32_t index) {
  bool there =
      index < work->input_count && work->input_arguments[index].kind != TENON_ARGUMENT_ABSENT;
  return there ? &work->input_arguments[index] : NULL;
}

static tenon_status_t append(const tenon__work_t* work, const tenon_argument_t* item) {
  return work->host->append_output(work->run, 0, item);
}

/* The integer in a tensor of one element. */
static int64_t integer_of(const tenon_argument_t* scalar) {
  return tenon__number_load(scalar->tensor.data, 0, scalar->tensor.dtype, 0).i;
}

/* Place of an item: an input that counts from the end where negative. */
static tenon_status_t position_of(const tenon__work_t* work, uint32_t index, int64_t limit,
                                  int64_t otherwise, int64_t* out_position) {
  const tenon_argument_t* given = argument(work, index);
  int64_t count = work->input_arguments[0].count;
  int64_t position = given == NULL ? otherwise : integer_of(given);
  position += position < 0 ? count : 0;
  if (position < 0 || position >= limit) {
    return tenon__work_fail(work, "position %lld is out of range for %lld items",
                            (long long)position, (long long)count);
  }
  *out_position = position;
  return TENON_OK;
}

static void copy_element(const tenon_tensor_view_t* from, int64_t from_index, void* to,
                         int64_t to_index) {
  size_t bytes = tenon__number_bits(from->dtype) / 8;
  if (bytes > 0) {
    memcpy((char*)to + (size_t)to_index * bytes,
           (const char*)from->data + from_index * (int64_t)bytes, bytes);
  } else {
    tenon__number_store(to, 0, from->dtype, to_index,
                        tenon__number_load(from->data, from->bit_offset, from->dtype, from_index));
  }
}

/* A string element is given a copy of its characters that lives as long as the output. */
static tenon_status_t put_element(const tenon__work_t* work, const tenon_tensor_view_t* from,
                                  int64_t from_index, void* to, int64_t to_index) {
  if (from->dtype != TENON_DTYPE_STRING) {
    copy_element(from, from_index, to, to_index);
    return TENON_OK;
  }
  return work->host->copy_string(work->run, 0, ((const tenon_string_view_t*)from->data)[from_index],
                                 (tenon_string_view_t*)to + to_index);
}

/* Where output 0, of these extents, is written: dense. */
static tenon_status_t make_output(const tenon__work_t* work, uint32_t rank, const int64_t* dims,
                                  void** out_data) {
  const tenon_argument_t* output = &work->output_arguments[0];
  if (output->kind == TENON_ARGUMENT_ALLOCATE) {
    return work->host->allocate_output(work->run, 0, rank, dims, out_data);
  }
  *out_data = output->tensor.data;
  return TENON_OK;
}

static tenon_status_t copy_to_output(const tenon__work_t* work, const tenon_argument_t* item) {
  if (item->kind != TENON_ARGUMENT_TENSOR) {
    for (uint32_t index = 0; index < item->count; ++index) {
      tenon_status_t status = append(work, &item->items[index]);
      if (status != TENON_OK) {
        return status;
      }
    }
    return TENON_OK;
  }
  const tenon_tensor_view_t* view = &item->tensor;
  void* data = NULL;
  if (view->data == NULL) {
    return tenon__work_fail(work, "the item has no elements in memory");
  }
  tenon_status_t status = make_output(work, view->rank, view->dims, &data);
  int64_t count = tenon__dims_product(view->dims, 0, view->rank);
  for (int64_t place = 0; status == TENON_OK && place < count; ++place) {
    status = put_element(work, view, tenon__view_place(view, place), data, place);
  }
  return status;
}

tenon_status_t tenon__compute_sequence_make(tenon__work_t* work) {
  for (uint32_t index = 0; index < work->input_count; ++index) {
    tenon_status_t status = append(work, &work->input_arguments[index]);
    if (status != TENON_OK) {
      return status;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_sequence_empty(tenon__work_t* work) {
  (void)work;
  return TENON_OK;
}

tenon_status_t tenon__compute_sequence_at(tenon__work_t* work) {
  const tenon_argument_t* sequence = argument(work, 0);
  int64_t position = 0;
  tenon_status_t status = position_of(work, 1, sequence->count, 0, &position);
  return status != TENON_OK ? status : copy_to_output(work, &sequence->items[position]);
}

tenon_status_t tenon__compute_sequence_length(tenon__work_t* work) {
  tenon__number_t length = {.i = argument(work, 0)->count};
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  tenon__number_store(y->data, 0, y->dtype, 0, length);
  return TENON_OK;
}

tenon_status_t tenon__compute_sequence_insert(tenon__work_t* work) {
  const tenon_argument_t* sequence = argument(work, 0);
  int64_t position = 0;
  tenon_status_t status =
      position_of(work, 2, (int64_t)sequence->count + 1, sequence->count, &position);
  for (int64_t index = 0; status == TENON_OK && index <= (int64_t)sequence->count; ++index) {
    if (index == position) {
      status = append(work, argument(work, 1));
    }
    if (status == TENON_OK && index < (int64_t)sequence->count) {
      status = append(work, &sequence->items[index]);
    }
  }
  return status;
}

tenon_status_t tenon__compute_sequence_erase(tenon__work_t* work) {
  const tenon_argument_t* sequence = argument(work, 0);
  int64_t position = 0;
  tenon_status_t status =
      position_of(work, 1, sequence->count, (int64_t)sequence->count - 1, &position);
  for (int64_t index = 0; status == TENON_OK && index < (int64_t)sequence->count; ++index) {
    if (index != position) {
      status = append(work, &sequence->items[index]);
    }
  }
  return status;
}

/* Elements [first, first + extent) of x along an axis, as an item; without the axis unless `keeps`.
 */
static tenon_status_t append_piece(const tenon__work_t* work, const tenon_tensor_view_t* x,
                                   uint32_t axis, int64_t first, int64_t extent, bool keeps) {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  uint32_t rank = 0;
  for (uint32_t from = 0; from < x->rank; ++from) {
    if (from != axis || keeps) {
      dims[rank] = from == axis ? extent : x->dims[from];
      strides[rank++] = x->strides[from];
    }
  }
  tenon_argument_t item = {.kind = TENON_ARGUMENT_TENSOR, .tensor = *x};
  uint32_t bits = tenon__number_bits(x->dtype);
  int64_t offset = first * x->strides[axis] * bits + x->bit_offset;
  item.tensor.data = (char*)x->data + offset / 8;
  item.tensor.bit_offset = (uint32_t)(offset % 8);
  item.tensor.rank = rank;
  item.tensor.dims = dims;
  item.tensor.strides = strides;
  return append(work, &item);
}

tenon_status_t tenon__compute_split_to_sequence(tenon__work_t* work) {
  const tenon_tensor_view_t* x = &argument(work, 0)->tensor;
  const tenon_argument_t* sizes = argument(work, 1);
  if (x->rank == 0 || x->rank > TENON_RANK_LIMIT) {
    return tenon__work_fail(work, "x has rank %u", x->rank);
  }
  uint32_t axis = tenon__axis_wrap(tenon__work_int(work, "axis"), x->rank);
  bool keeps = sizes != NULL || tenon__work_int(work, "keepdims") != 0;
  bool one_size = sizes == NULL || sizes->tensor.rank == 0;
  int64_t size = sizes == NULL ? 1 : one_size ? integer_of(sizes) : 0;
  tenon_status_t status = TENON_OK;
  int64_t first = 0;
  if (one_size && size <= 0) {
    return tenon__work_fail(work, "pieces of %lld", (long long)size);
  }
  int64_t rest = x->dims[axis];
  int64_t pieces = one_size ? (rest + size - 1) / size : sizes->tensor.dims[0];
  for (int64_t index = 0; status == TENON_OK && index < pieces; ++index) {
    int64_t extent =
        one_size ? size : tenon__number_load(sizes->tensor.data, 0, sizes->tensor.dtype, index).i;
    extent = one_size && extent > rest ? rest : extent;
    if (extent < 0 || extent > rest) {
      break;
    }
    status = append_piece(work, x, axis, first, extent, keeps);
    first += extent;
    rest -= extent;
  }
  if (status == TENON_OK && rest != 0) {
    return tenon__work_fail(work, "sizes do not add up to %lld", (long long)x->dims[axis]);
  }
  return status;
}

/* Extents of all items one after the other along the axis, or along a new one. */
static tenon_status_t joined_dims(const tenon__work_t* work, const tenon_argument_t* sequence,
                                  uint32_t axis, bool is_new, int64_t* out_dims) {
  const tenon_tensor_view_t* first = &sequence->items[0].tensor;
  uint32_t rank = first->rank + (is_new ? 1 : 0);
  for (uint32_t to = 0; to < rank; ++to) {
    out_dims[to] = is_new && to == axis ? 0 : first->dims[is_new && to > axis ? to - 1 : to];
  }
  out_dims[axis] = 0;
  for (uint32_t index = 0; index < sequence->count; ++index) {
    const tenon_tensor_view_t* view = &sequence->items[index].tensor;
    if (view->rank != first->rank) {
      return tenon__work_fail(work, "item %u has rank %u, item 0 has %u", index, view->rank,
                              first->rank);
    }
    out_dims[axis] += is_new ? 1 : view->dims[axis];
    for (uint32_t from = 0; from < view->rank; ++from) {
      if (view->dims[from] != first->dims[from] && (is_new || from != axis)) {
        return tenon__work_fail(work, "items 0 and %u differ along axis %u", index, from);
      }
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_concat_from_sequence(tenon__work_t* work) {
  const tenon_argument_t* sequence = argument(work, 0);
  bool is_new = tenon__work_int(work, "new_axis") != 0;
  if (sequence->count == 0 || sequence->items[0].tensor.rank >= TENON_RANK_LIMIT) {
    return tenon__work_fail(work, "the sequence is empty");
  }
  uint32_t rank = sequence->items[0].tensor.rank + (is_new ? 1 : 0);
  uint32_t axis = tenon__axis_wrap(tenon__work_int(work, "axis"), rank);
  int64_t dims[TENON_RANK_LIMIT];
  void* data = NULL;
  if (axis >= rank) {
    return tenon__work_fail(work, "the axis is out of range for rank %u", rank);
  }
  tenon_status_t status = joined_dims(work, sequence, axis, is_new, dims);
  if (status == TENON_OK) {
    status = make_output(work, rank, dims, &data);
  }
  int64_t inner = tenon__dims_product(dims, axis + 1, rank);
  int64_t before = 0;
  for (uint32_t index = 0; status == TENON_OK && index < sequence->count; ++index) {
    const tenon_tensor_view_t* view = &sequence->items[index].tensor;
    int64_t extent = is_new ? 1 : view->dims[axis];
    int64_t count = tenon__dims_product(view->dims, 0, view->rank);
    for (int64_t place = 0; status == TENON_OK && place < count; ++place) {
      int64_t outer = place / inner / extent;
      int64_t target =
          (outer * dims[axis] + before + place / inner % extent) * inner + place % inner;
      status = put_element(work, view, tenon__view_place(view, place), data, target);
    }
    before += extent;
  }
  return status;
}

tenon_status_t tenon__compute_optional_make(tenon__work_t* work) {
  const tenon_argument_t* item = argument(work, 0);
  return item == NULL ? TENON_OK : append(work, item);
}

tenon_status_t tenon__compute_optional_get(tenon__work_t* work) {
  const tenon_argument_t* optional = argument(work, 0);
  return optional->count == 0 ? tenon__work_fail(work, "the optional is empty")
                              : copy_to_output(work, &optional->items[0]);
}

tenon_status_t tenon__compute_optional_has(tenon__work_t* work) {
  const tenon_argument_t* optional = argument(work, 0);
  tenon__number_t result = {.i = optional != NULL && optional->count > 0 ? 1 : 0};
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  tenon__number_store(y->data, 0, y->dtype, 0, result);
  return TENON_OK;
}

/* What an optional holds makes no difference to these. */
tenon_status_t tenon__compute_optional_make_sequence(tenon__work_t* work) {
  return tenon__compute_optional_make(work);
}

tenon_status_t tenon__compute_optional_get_sequence(tenon__work_t* work) {
  return tenon__compute_optional_get(work);
}

tenon_status_t tenon__compute_optional_has_sequence(tenon__work_t* work) {
  return tenon__compute_optional_has(work);
}
