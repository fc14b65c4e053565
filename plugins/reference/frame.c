/* The life of a reference kernel: match, prepare, bind, enqueue; the same for every row. */
#include <string.h>

#include "kernels.h"
#include "work.h"

/* What prepare leaves. */
typedef struct instance_t {
  const tenon__kernel_row_t* row;
  const tenon__attribute_t* attributes;
  uint32_t attribute_count;
  uint32_t input_count;
  uint32_t output_count;
} instance_t;

int32_t tenon__work_match(void* state, const tenon_region_t* region,
                          const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__kernel_row_t* row = tenon__kernel_find(table->node_operator(region, 0));
  if (row == NULL) {
    out_refusal->reason = TENON_REFUSAL_OPERATOR;
    return 0;
  }
  for (uint32_t value = 0; value < table->value_count(region); ++value) {
    const tenon_value_info_t* info = table->value(region, value);
    if ((row->flags & TENON_KERNEL_RAW) == 0 && info != NULL &&
        tenon__number_class(info->dtype) == 'c') {
      out_refusal->reason = TENON_REFUSAL_DTYPE;
      out_refusal->detail = "complex numbers";
      return 0;
    }
  }
  return 1;
}

tenon_status_t tenon__work_tactics(void* state, const tenon_region_t* region,
                                   const tenon_region_table_t* table, tenon_emit_t* emit,
                                   tenon_status_t (*add)(tenon_emit_t* emit,
                                                         const tenon_tactic_t* tactic)) {
  (void)state;
  static const tenon_argument_rule_t over_first = {.in_place = 1};
  const tenon__kernel_row_t* row = tenon__kernel_find(table->node_operator(region, 0));
  tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "dense", .launches = 1};
  if (row != NULL && (row->flags & TENON_KERNEL_COUNTED) != 0) {
    tactic.persistent_bytes = sizeof(uint64_t);
  }
  if (row != NULL && (row->flags & TENON_KERNEL_IN_PLACE) != 0) {
    tactic.outputs = &over_first;
  }
  return add(emit, &tactic);
}

/* A copy that lives as long as the instance. */
static const void* keep(const tenon_prepare_t* call, const void* data, size_t size_bytes) {
  void* copy = call->host->allocate(call->preparation, size_bytes == 0 ? 1 : size_bytes);
  if (copy != NULL && size_bytes > 0) {
    memcpy(copy, data, size_bytes);
  }
  return copy;
}

static const char* keep_text(const tenon_prepare_t* call, const char* text) {
  return keep(call, text, strlen(text) + 1);
}

static bool keep_strings(const tenon_prepare_t* call, const char* const* strings,
                         tenon__attribute_t* inout_attribute) {
  const char** copies =
      call->host->allocate(call->preparation, (inout_attribute->count + 1) * sizeof(const char*));
  if (copies != NULL) {
    for (size_t index = 0; index < inout_attribute->count; ++index) {
      copies[index] = keep_text(call, strings[index]);
      if (copies[index] == NULL) {
        return false;
      }
    }
  }
  inout_attribute->strings = copies;
  return copies != NULL;
}

/* Reads the attribute `name` of whatever kind it is. */
static bool read_attribute(const tenon_prepare_t* call, tenon__attribute_t* inout_attribute) {
  const char* name = inout_attribute->name;
  tenon__attribute_t* to = inout_attribute;
  const char* string = NULL;
  const int64_t* integers = NULL;
  const double* numbers = NULL;
  const char* const* strings = NULL;
  if (call->table->attribute_int(call->region, 0, name, &to->integer) == TENON_OK) {
    to->kind = TENON_ATTRIBUTE_INT;
  } else if (call->table->attribute_float(call->region, 0, name, &to->number) == TENON_OK) {
    to->kind = TENON_ATTRIBUTE_FLOAT;
  } else if (call->table->attribute_string(call->region, 0, name, &string) == TENON_OK) {
    to->kind = TENON_ATTRIBUTE_STRING;
    to->string = keep_text(call, string);
    return to->string != NULL;
  } else if (call->table->attribute_ints(call->region, 0, name, &integers, &to->count) ==
             TENON_OK) {
    to->kind = TENON_ATTRIBUTE_INTS;
    to->integers = keep(call, integers, to->count * sizeof(int64_t));
    return to->integers != NULL;
  } else if (call->table->attribute_floats(call->region, 0, name, &numbers, &to->count) ==
             TENON_OK) {
    to->kind = TENON_ATTRIBUTE_FLOATS;
    to->numbers = keep(call, numbers, to->count * sizeof(double));
    return to->numbers != NULL;
  } else if (call->table->attribute_strings(call->region, 0, name, &strings, &to->count) ==
             TENON_OK) {
    to->kind = TENON_ATTRIBUTE_STRINGS;
    return keep_strings(call, strings, to);
  }
  return true;
}

tenon_status_t tenon__work_prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__kernel_row_t* row = tenon__kernel_find(call->table->node_operator(call->region, 0));
  if (row == NULL) {
    return TENON_ERROR_INTERNAL;
  }
  uint32_t count = 0;
  while (row->attributes[count] != NULL) {
    ++count;
  }
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  tenon__attribute_t* attributes =
      call->host->allocate(call->preparation, (count + 1) * sizeof(*attributes));
  if (instance == NULL || attributes == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t index = 0; index < count; ++index) {
    attributes[index].name = row->attributes[index];
    if (!read_attribute(call, &attributes[index])) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  *instance = (instance_t){.row = row,
                           .attributes = attributes,
                           .attribute_count = count,
                           .input_count = call->table->input_count(call->region),
                           .output_count = call->table->output_count(call->region)};
  *out_instance = instance;
  return TENON_OK;
}

/* Shapes an array after its argument and gives it memory. */
static bool make_array(tenon_binding_t* binding, const tenon_bind_table_t* host,
                       const tenon_argument_t* argument, uint32_t flags,
                       tenon__array_t* out_array) {
  out_array->kind = argument == NULL ? TENON_ARGUMENT_ABSENT : argument->kind;
  if (argument == NULL || out_array->kind == TENON_ARGUMENT_ABSENT) {
    return true;
  }
  const tenon_tensor_view_t* view = &argument->tensor;
  out_array->dtype = view->dtype;
  if (out_array->kind != TENON_ARGUMENT_TENSOR || (flags & TENON_KERNEL_RAW) != 0) {
    return true;
  }
  out_array->rank = view->rank;
  int64_t* dims = host->allocate(binding, (view->rank + 1) * sizeof(int64_t));
  if (dims == NULL) {
    return false;
  }
  for (uint32_t axis = 0; axis < view->rank; ++axis) {
    dims[axis] = view->dims[axis];
  }
  out_array->dims = dims;
  out_array->count = tenon__dims_product(dims, 0, view->rank);
  out_array->at = host->allocate(binding, ((size_t)out_array->count + 1) * sizeof(tenon__number_t));
  return out_array->at != NULL;
}

tenon_status_t tenon__work_bind(void* instance, tenon_binding_t* binding,
                                const tenon_bind_table_t* host, void** out_bound) {
  const instance_t* from = instance;
  tenon__work_t* work = host->allocate(binding, sizeof(*work));
  tenon__array_t* inputs =
      host->allocate(binding, (from->input_count + 1) * sizeof(tenon__array_t));
  tenon__array_t* outputs =
      host->allocate(binding, (from->output_count + 1) * sizeof(tenon__array_t));
  bool made = work != NULL && inputs != NULL && outputs != NULL;
  for (uint32_t index = 0; made && index < from->input_count; ++index) {
    made = make_array(binding, host, host->input(binding, index), from->row->flags, &inputs[index]);
  }
  for (uint32_t index = 0; made && index < from->output_count; ++index) {
    made =
        make_array(binding, host, host->output(binding, index), from->row->flags, &outputs[index]);
  }
  if (!made) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *work = (tenon__work_t){.row = from->row,
                          .attributes = from->attributes,
                          .attribute_count = from->attribute_count,
                          .input_count = from->input_count,
                          .output_count = from->output_count,
                          .inputs = inputs,
                          .outputs = outputs};
  if (from->row->scratch_count != NULL) {
    size_t count = (size_t)from->row->scratch_count(work);
    work->scratch = host->allocate(binding, (count + 1) * sizeof(tenon__number_t));
    if (work->scratch == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  *out_bound = work;
  return TENON_OK;
}

static bool is_dense(const tenon_tensor_view_t* view) {
  int64_t expected = 1;
  for (uint32_t axis = view->rank; axis-- > 0;) {
    if (view->dims[axis] != 1 && view->strides[axis] != expected) {
      return false;
    }
    expected *= view->dims[axis];
  }
  return true;
}

/* Reading and writing large tensors takes long, too. */
static bool asks_and_is_cancelled(int64_t place, tenon_run_t* run, const tenon_run_table_t* host) {
  return place % 65536 == 0 && tenon__is_cancelled(run, host);
}

void tenon__tensor_read(const tenon_tensor_view_t* view, tenon_run_t* run,
                        const tenon_run_table_t* host, tenon__number_t* out_numbers) {
  int64_t count = tenon__dims_product(view->dims, 0, view->rank);
  bool dense = is_dense(view);
  for (int64_t place = 0; place < count && !asks_and_is_cancelled(place, run, host); ++place) {
    int64_t offset = dense ? place : tenon__view_place(view, place);
    out_numbers[place] = tenon__number_load(view->data, view->bit_offset, view->dtype, offset);
  }
}

tenon_status_t tenon__tensor_write(const tenon_tensor_view_t* view, const tenon__number_t* numbers,
                                   tenon_run_t* run, const tenon_run_table_t* host,
                                   uint32_t output) {
  int64_t count = tenon__dims_product(view->dims, 0, view->rank);
  bool dense = is_dense(view);
  for (int64_t place = 0; place < count && !asks_and_is_cancelled(place, run, host); ++place) {
    int64_t offset = dense ? place : tenon__view_place(view, place);
    tenon__number_t number = numbers[place];
    tenon_string_view_t copy;
    if (view->dtype == TENON_DTYPE_STRING) {
      const tenon_string_view_t* text = number.s;
      tenon_status_t status = host->copy_string(run, output, *text, &copy);
      if (status != TENON_OK) {
        return status;
      }
      number.s = &copy;
    }
    tenon__number_store(view->data, view->bit_offset, view->dtype, offset, number);
  }
  return TENON_OK;
}

tenon_status_t tenon__work_enqueue(const tenon_enqueue_t* call) {
  tenon__work_t* work = call->bound;
  work->run = call->run;
  work->host = call->host;
  work->input_arguments = call->inputs;
  work->output_arguments = call->outputs;
  for (uint32_t index = 0; index < call->input_count && index < work->input_count; ++index) {
    if (work->inputs[index].at != NULL) {
      tenon__tensor_read(&call->inputs[index].tensor, call->run, call->host,
                         work->inputs[index].at);
    }
  }
  if (tenon__is_cancelled(call->run, call->host)) {
    return TENON_ERROR_CANCELLED; /* what was read is not all there */
  }
  tenon_status_t status = work->row->compute(work);
  for (uint32_t index = 0; status == TENON_OK && index < call->output_count; ++index) {
    const tenon__array_t* array = &work->outputs[index];
    if (array->at != NULL && array->data == NULL) {
      status = tenon__tensor_write(&call->outputs[index].tensor, array->at, call->run, call->host,
                                   index);
    }
  }
  return status;
}
