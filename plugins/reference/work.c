/* What kernels look up while they compute: operands, attributes, places, outputs. */
#include "work.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool tenon__is_cancelled(tenon_run_t* run, const tenon_run_table_t* host) {
  return TENON_HAS(host, tenon_run_table_t, cancelled) && host->cancelled != NULL &&
         host->cancelled(run) != 0;
}

bool tenon__work_is_cancelled(const tenon__work_t* work) {
  return tenon__is_cancelled(work->run, work->host);
}

const tenon__array_t* tenon__work_input(const tenon__work_t* work, uint32_t index) {
  bool there = index < work->input_count && work->inputs[index].kind != TENON_ARGUMENT_ABSENT;
  return there ? &work->inputs[index] : NULL;
}

tenon__array_t* tenon__work_output(tenon__work_t* work, uint32_t index) {
  bool there = index < work->output_count && work->outputs[index].kind != TENON_ARGUMENT_ABSENT;
  return there ? &work->outputs[index] : NULL;
}

double tenon__work_scalar(const tenon__work_t* work, uint32_t index, double otherwise) {
  const tenon__array_t* array = tenon__work_input(work, index);
  return array == NULL || array->count == 0 ? otherwise
                                            : tenon__number_value(array->dtype, array->at[0]);
}

int64_t tenon__work_integer(const tenon__work_t* work, uint32_t index, int64_t otherwise) {
  const tenon__array_t* array = tenon__work_input(work, index);
  if (array == NULL || array->count == 0) {
    return otherwise;
  }
  return tenon__number_cast(array->at[0], array->dtype, TENON_DTYPE_INT64).i;
}

const tenon__attribute_t* tenon__work_attribute(const tenon__work_t* work, const char* name) {
  static const tenon__attribute_t none = {.name = ""};
  for (uint32_t index = 0; index < work->attribute_count; ++index) {
    if (strcmp(work->attributes[index].name, name) == 0) {
      return &work->attributes[index];
    }
  }
  return &none;
}

int64_t tenon__work_int(const tenon__work_t* work, const char* name) {
  return tenon__work_attribute(work, name)->integer;
}

double tenon__work_float(const tenon__work_t* work, const char* name) {
  return tenon__work_attribute(work, name)->number;
}

bool tenon__work_is(const tenon__work_t* work, const char* name, const char* value) {
  const char* string = tenon__work_attribute(work, name)->string;
  return string != NULL && strcmp(string, value) == 0;
}

tenon__integers_t tenon__work_ints(const tenon__work_t* work, const char* name) {
  const tenon__attribute_t* attribute = tenon__work_attribute(work, name);
  return (tenon__integers_t){attribute->integers,
                             attribute->kind == TENON_ATTRIBUTE_INTS ? attribute->count : 0};
}

int64_t tenon__integers_at(tenon__integers_t integers, size_t index, int64_t otherwise) {
  return index < integers.count ? integers.values[index] : otherwise;
}

tenon_status_t tenon__work_fail(const tenon__work_t* work, const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  /* A false alarm of clang's. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  (void)work->host->fail(work->run, TENON_ERROR_INVALID_DATA, message);
  return TENON_ERROR_INVALID_DATA;
}

/* An output of at most the bounds in the view: says what it became. */
static tenon_status_t set_extents(const tenon__work_t* work, const tenon_tensor_view_t* view,
                                  uint32_t rank, const int64_t* dims) {
  for (uint32_t axis = 0; axis < rank; ++axis) {
    bool fits = rank == view->rank && dims[axis] <= view->dims[axis];
    if (!fits || (dims[axis] != view->dims[axis] && view->device_extents == NULL)) {
      return tenon__work_fail(work, "extent %lld of axis %u does not fit its bound",
                              (long long)dims[axis], axis);
    }
    if (view->device_extents != NULL) {
      view->device_extents[axis] = dims[axis];
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__work_allocate(tenon__work_t* work, uint32_t index, uint32_t rank,
                                    const int64_t* dims) {
  const tenon_argument_t* argument = &work->output_arguments[index];
  tenon__array_t* array = &work->outputs[index];
  array->rank = rank;
  array->dims = dims;
  array->count = tenon__dims_product(dims, 0, rank);
  if (argument->kind == TENON_ARGUMENT_ALLOCATE) {
    array->strides = NULL;
    return work->host->allocate_output(work->run, index, rank, dims, &array->data);
  }
  array->data = argument->tensor.data;
  array->strides = argument->tensor.strides;
  return set_extents(work, &argument->tensor, rank, dims);
}

static int64_t strided_place(const tenon__array_t* array, int64_t place) {
  int64_t offset = 0;
  for (uint32_t axis = array->rank; axis-- > 0;) {
    offset += place % array->dims[axis] * array->strides[axis];
    place /= array->dims[axis];
  }
  return offset;
}

tenon_status_t tenon__work_put(tenon__work_t* work, uint32_t index, int64_t place,
                               tenon__number_t number) {
  const tenon__array_t* array = &work->outputs[index];
  tenon_string_view_t copy;
  if (array->dtype == TENON_DTYPE_STRING) {
    const tenon_string_view_t* text = number.s;
    tenon_status_t status = work->host->copy_string(work->run, index, *text, &copy);
    if (status != TENON_OK) {
      return status;
    }
    number.s = &copy;
  }
  int64_t offset = array->strides == NULL ? place : strided_place(array, place);
  tenon__number_store(array->data, 0, array->dtype, offset, number);
  return TENON_OK;
}

int64_t tenon__view_place(const tenon_tensor_view_t* view, int64_t place) {
  int64_t offset = 0;
  for (uint32_t axis = view->rank; axis-- > 0;) {
    offset += place % view->dims[axis] * view->strides[axis];
    place /= view->dims[axis];
  }
  return offset;
}

int64_t tenon__dims_product(const int64_t* dims, uint32_t begin, uint32_t end) {
  int64_t product = 1;
  for (uint32_t axis = begin; axis < end; ++axis) {
    product *= dims[axis];
  }
  return product;
}

bool tenon__point_next(int64_t* point, const int64_t* dims, uint32_t rank) {
  for (uint32_t axis = rank; axis-- > 0;) {
    if (++point[axis] < dims[axis]) {
      return true;
    }
    point[axis] = 0;
  }
  return false;
}

int64_t tenon__point_place(const int64_t* point, const int64_t* dims, uint32_t rank) {
  int64_t place = 0;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    place = place * dims[axis] + point[axis];
  }
  return place;
}

uint32_t tenon__axis_wrap(int64_t axis, uint32_t rank) {
  return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

tenon__axis_view_t tenon__axis_view(const tenon__array_t* array, uint32_t axis) {
  return (tenon__axis_view_t){
      .outer = tenon__dims_product(array->dims, 0, axis),
      .extent = array->dims[axis],
      .inner = tenon__dims_product(array->dims, axis + 1, array->rank),
  };
}
