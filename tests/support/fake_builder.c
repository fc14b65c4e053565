/* The builder. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/fake.h"

enum { KEPT_LIMIT = 1 << 20 }; /* bytes of a constant that is kept; of others the last is read */

static tenon__fake_t* fake_of(tenon_builder_t* builder) {
  return (tenon__fake_t*)(void*)builder;
}

__attribute__((format(printf, 2, 3))) static void log_line(tenon__fake_t* fake, const char* format,
                                                           ...) {
  va_list arguments;
  va_start(arguments, format);
  char* end = fake->log + fake->log_size;
  (void)vsnprintf(end, sizeof(fake->log) - fake->log_size, format, arguments);
  fake->log_size += strlen(end);
  va_end(arguments);
}

static tenon_status_t new_value(tenon__fake_t* fake, uint32_t kind, tenon_dtype_t dtype,
                                uint32_t rank, const int64_t* dims, tenon_value_t* out_value) {
  if (fake->value_count + 1 >= TENON__FAKE_VALUE_LIMIT ||
      (rank != TENON_NONE && rank > TENON__FAKE_RANK_LIMIT)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__fake_value_t* value = &fake->values[++fake->value_count];
  memset(value, 0, sizeof(*value));
  value->type.kind = kind;
  value->type.dtype = dtype;
  value->type.rank = rank;
  value->type.dims = value->dims;
  for (uint32_t i = 0; rank != TENON_NONE && i < rank; ++i) {
    value->dims[i] = dims[i];
  }
  out_value->id = fake->value_count;
  return TENON_OK;
}

static void log_type(tenon__fake_t* fake, uint32_t id) {
  static const char* const names[] = {
#define NAME(name, mnemonic, bits, kind) mnemonic,
      TENON_DTYPES(NAME)};
  const tenon__fake_value_t* value = &fake->values[id];
  log_line(fake, "%%%u: %s%s", id,
           value->type.kind == TENON_ARGUMENT_SEQUENCE            ? "sequence "
           : value->type.kind == TENON_ARGUMENT_OPTIONAL          ? "optional "
           : value->type.kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE ? "optional sequence "
                                                                  : "",
           names[value->type.dtype]);
  for (uint32_t i = 0; value->type.rank != TENON_NONE && i < value->type.rank; ++i) {
    log_line(fake, "%c%lld", i == 0 ? '[' : ',', (long long)value->dims[i]);
  }
  log_line(fake, "%s\n", value->type.rank != TENON_NONE && value->type.rank > 0 ? "]" : "");
}

static tenon_status_t build_input(tenon_builder_t* builder, const char* name, tenon_dtype_t dtype,
                                  uint32_t rank, const int64_t* dims, const char* const* symbols,
                                  tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  log_line(fake, "input %s", name);
  for (uint32_t i = 0; i < rank; ++i) {
    log_line(fake, "%s%s", symbols[i] == NULL ? "" : " ", symbols[i] == NULL ? "" : symbols[i]);
  }
  const tenon_status_t status =
      new_value(fake, TENON_ARGUMENT_TENSOR, dtype, rank, dims, out_value);
  if (status == TENON_OK) {
    log_line(fake, " ");
    log_type(fake, out_value->id);
  }
  return status;
}

static tenon_status_t build_container(tenon_builder_t* builder, const char* name, uint32_t kind,
                                      tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                                      tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon_status_t status = new_value(fake, kind, dtype, rank, dims, out_value);
  if (status == TENON_OK) {
    log_line(fake, "parameter %s ", name);
    log_type(fake, out_value->id);
  }
  return status;
}

static tenon_status_t build_output(tenon_builder_t* builder, tenon_value_t value,
                                   const char* name) {
  ++fake_of(builder)->output_count;
  log_line(fake_of(builder), "output %s %%%u\n", name, value.id);
  return TENON_OK;
}

static size_t bits_of(tenon_dtype_t dtype) {
#define BITS(name, mnemonic, bits, kind) bits,
  static const uint8_t bits[] = {TENON_DTYPES(BITS)};
#undef BITS
  return bits[dtype];
}

/* A few integers or truth values. */
static void keep_contents(tenon_dtype_t dtype, const uint8_t* data, size_t count,
                          tenon__fake_value_t* value) {
  int32_t narrow = 0;
  if (count > TENON__FAKE_CONTENT_LIMIT ||
      (dtype != TENON_DTYPE_INT64 && dtype != TENON_DTYPE_INT32 && dtype != TENON_DTYPE_BOOL)) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (dtype == TENON_DTYPE_INT64) {
      memcpy(&value->contents[i], data + i * 8, 8);
    } else if (dtype == TENON_DTYPE_INT32) {
      memcpy(&narrow, data + i * 4, 4);
      value->contents[i] = narrow;
    } else {
      value->contents[i] = data[i];
    }
  }
  value->type.has_contents = 1;
  value->content_count = (uint32_t)count;
}

/* Where element `index`, in row-major order, lies. */
static size_t place_of(const tenon_tensor_view_t* view, size_t index) {
  size_t place = view->strides == NULL ? index : 0;
  for (uint32_t axis = view->rank; view->strides != NULL && axis > 0; --axis) {
    const size_t extent = (size_t)view->dims[axis - 1];
    place += index % extent * (size_t)view->strides[axis - 1];
    index /= extent;
  }
  return place;
}

/* Touches every element, so that sanitizers see it. */
static void copy_elements(const tenon_tensor_view_t* view, size_t count, uint8_t* out_data) {
  const size_t bits = bits_of(view->dtype);
  const uint8_t* data = view->data;
  for (size_t i = 0; bits >= 8 && i < count; ++i) {
    memcpy(out_data + i * (bits / 8), data + place_of(view, i) * (bits / 8), bits / 8);
  }
  for (size_t i = 0; bits < 8 && i < (count * bits + 7) / 8; ++i) { /* packed: dense */
    out_data[i] = data[i];
  }
}

static tenon_status_t keep_elements(tenon__fake_t* fake, const tenon_tensor_view_t* view,
                                    tenon__fake_value_t* value) {
  size_t count = 1;
  for (uint32_t i = 0; i < view->rank; ++i) {
    count *= (size_t)view->dims[i];
  }
  const size_t size = (count * bits_of(view->dtype) + 7) / 8;
  if (size > KEPT_LIMIT) {
    const size_t end = (place_of(view, count - 1) + 1) * bits_of(view->dtype);
    fake->last_byte = ((const uint8_t*)view->data)[(end + 7) / 8 - 1];
    return TENON_OK;
  }
  uint8_t* copy = tenon__fake_allocate(fake, size + 1);
  if (copy == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  copy_elements(view, count, copy);
  value->type.constant_data = copy;
  keep_contents(view->dtype, copy, count, value);
  return TENON_OK;
}

static tenon_status_t build_constant(tenon_builder_t* builder, const char* name,
                                     const tenon_tensor_view_t* view, int32_t borrow,
                                     tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  tenon_status_t status =
      new_value(fake, TENON_ARGUMENT_TENSOR, view->dtype, view->rank, view->dims, out_value);
  if (status == TENON_OK) {
    status = keep_elements(fake, view, &fake->values[out_value->id]);
  }
  if (status == TENON_OK) {
    log_line(fake, "constant %s%s ", name, borrow != 0 ? " borrowed" : "");
    log_type(fake, out_value->id);
  }
  return status;
}

static tenon_status_t build_begin(tenon_builder_t* builder, const char* op, const char* name) {
  tenon__fake_t* fake = fake_of(builder);
  fake->first_input = 0;
  log_line(fake, "node %s '%s'", op, name);
  return TENON_OK;
}

static tenon_status_t set_int(tenon_builder_t* builder, const char* name, int64_t value) {
  log_line(fake_of(builder), " %s=%lld", name, (long long)value);
  return TENON_OK;
}

static tenon_status_t set_float(tenon_builder_t* builder, const char* name, double value) {
  log_line(fake_of(builder), " %s=%.9g", name, value);
  return TENON_OK;
}

static tenon_status_t set_string(tenon_builder_t* builder, const char* name, const char* value) {
  log_line(fake_of(builder), " %s='%s'", name, value);
  return TENON_OK;
}

static tenon_status_t set_ints(tenon_builder_t* builder, const char* name, const int64_t* values,
                               size_t count) {
  log_line(fake_of(builder), " %s=", name);
  for (size_t i = 0; i < count; ++i) {
    log_line(fake_of(builder), "%c%lld", i == 0 ? '[' : ',', (long long)values[i]);
  }
  log_line(fake_of(builder), "%s]", count == 0 ? "[" : "");
  return TENON_OK;
}

static tenon_status_t set_floats(tenon_builder_t* builder, const char* name, const double* values,
                                 size_t count) {
  for (size_t i = 0; i < count; ++i) {
    log_line(fake_of(builder), " %s=%.9g", name, values[i]);
  }
  return TENON_OK;
}

static tenon_status_t set_strings(tenon_builder_t* builder, const char* name,
                                  const char* const* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    log_line(fake_of(builder), " %s='%s'", name, values[i]);
  }
  return TENON_OK;
}

static tenon_status_t set_dtype(tenon_builder_t* builder, const char* name, tenon_dtype_t value) {
  log_line(fake_of(builder), " %s=dtype %u", name, value);
  return TENON_OK;
}

static void note_input(tenon__fake_t* fake, tenon_value_t value) {
  fake->first_input = fake->first_input == 0 ? value.id : fake->first_input;
}

static tenon_status_t add_input(tenon_builder_t* builder, tenon_value_t value) {
  tenon__fake_t* fake = fake_of(builder);
  log_line(fake, " %%%u", value.id);
  note_input(fake, value);
  return value.id <= fake->value_count ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
}

static tenon_status_t add_body(tenon_builder_t* builder, uint32_t body) {
  log_line(fake_of(builder), " body%u", body);
  return TENON_OK;
}

static tenon_status_t set_output_count(tenon_builder_t* builder, uint32_t count) {
  (void)builder;
  (void)count;
  return TENON_OK;
}

static tenon_status_t build_end(tenon_builder_t* builder, tenon_value_t* out_values,
                                uint32_t capacity) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon__fake_value_t none = {
      .type = {.kind = TENON_ARGUMENT_TENSOR, .dtype = TENON_DTYPE_FLOAT32}};
  const tenon__fake_value_t like = fake->first_input == 0 ? none : fake->values[fake->first_input];
  ++fake->node_count;
  fake->first_input = 0;
  log_line(fake, " ->");
  for (uint32_t i = 0; i < capacity; ++i) {
    const tenon_status_t status =
        new_value(fake, like.type.kind, like.type.dtype, like.type.rank, like.dims, &out_values[i]);
    if (status != TENON_OK) {
      return status;
    }
    log_line(fake, " %%%u", out_values[i].id);
  }
  log_line(fake, "\n");
  return TENON_OK;
}

static void build_cancel(tenon_builder_t* builder) {
  fake_of(builder)->first_input = 0;
  log_line(fake_of(builder), " cancelled\n");
}

static tenon_status_t build_expression(tenon_builder_t* builder, const char* text,
                                       const char* const* names, const tenon_value_t* inputs,
                                       uint32_t input_count, const char* node_name,
                                       tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  log_line(fake, "expression '%s' {%s}", node_name, text);
  for (uint32_t i = 0; i < input_count; ++i) {
    log_line(fake, " %s=%%%u", names[i], inputs[i].id);
  }
  fake->first_input = input_count > 0 ? inputs[0].id : 0;
  return build_end(builder, out_value, 1);
}

static tenon_status_t begin_body(tenon_builder_t* builder, const char* name) {
  tenon__fake_t* fake = fake_of(builder);
  ++fake->open_bodies;
  log_line(fake, "begin %s\n", name);
  return TENON_OK;
}

static tenon_status_t body_parameter_like(tenon_builder_t* builder, const char* name,
                                          tenon_value_t like, tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon__fake_value_t value = fake->values[like.id];
  return build_container(builder, name, value.type.kind, value.type.dtype, value.type.rank,
                         value.dims, out_value);
}

static tenon_status_t body_result(tenon_builder_t* builder, tenon_value_t value) {
  log_line(fake_of(builder), "result %%%u\n", value.id);
  return value.id <= fake_of(builder)->value_count ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
}

static tenon_status_t end_body(tenon_builder_t* builder, uint32_t* out_body) {
  tenon__fake_t* fake = fake_of(builder);
  --fake->open_bodies;
  *out_body = ++fake->body_count;
  log_line(fake, "end body%u\n", *out_body);
  return TENON_OK;
}

static void cancel_body(tenon_builder_t* builder) {
  --fake_of(builder)->open_bodies;
  log_line(fake_of(builder), "cancel body\n");
}

static const tenon_sink_t* divert(tenon_builder_t* builder, const tenon_sink_t* sink) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon_sink_t* before = fake->next_sink;
  fake->next_sink = sink;
  return before;
}

static tenon_status_t fail_body(tenon_builder_t* builder, tenon_status_t status,
                                const char* message, uint32_t* out_body) {
  tenon__fake_t* fake = fake_of(builder);
  --fake->open_bodies;
  *out_body = ++fake->body_count;
  log_line(fake, "fail body%u %d: %s\n", *out_body, status, message);
  return TENON_OK;
}

static tenon_status_t value_type(tenon_builder_t* builder, tenon_value_t value,
                                 tenon_value_type_t* out_type) {
  tenon__fake_t* fake = fake_of(builder);
  if (value.id == 0 || value.id > fake->value_count) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const size_t size = out_type->size;
  if (size != sizeof(*out_type)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_type = fake->values[value.id].type;
  out_type->size = size;
  return TENON_OK;
}

static int32_t value_content(tenon_builder_t* builder, tenon_value_t value, uint32_t index,
                             int64_t* out_value) {
  const tenon__fake_value_t* found = &fake_of(builder)->values[value.id];
  if (found->type.has_contents == 0 || index >= found->content_count) {
    return 0;
  }
  *out_value = found->contents[index];
  return 1;
}

static tenon_status_t set_name(tenon_builder_t* builder, tenon_value_t value, const char* name) {
  const bool is_good = name[0] != '\0' && value.id <= fake_of(builder)->value_count;
  log_line(fake_of(builder), "name %%%u %s\n", value.id, name);
  return is_good ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
}

static const tenon_sink_t* build_sink(tenon_builder_t* builder) {
  return &fake_of(builder)->sink;
}

void tenon__fake_initialize_builder(tenon__fake_t* fake) {
  fake->build = (tenon_builder_table_t){.size = sizeof(tenon_builder_table_t),
                                        .input = build_input,
                                        .input_container = build_container,
                                        .output = build_output,
                                        .constant = build_constant,
                                        .begin = build_begin,
                                        .attribute_int = set_int,
                                        .attribute_float = set_float,
                                        .attribute_string = set_string,
                                        .attribute_ints = set_ints,
                                        .attribute_floats = set_floats,
                                        .attribute_strings = set_strings,
                                        .attribute_dtype = set_dtype,
                                        .add_input = add_input,
                                        .add_body = add_body,
                                        .output_count = set_output_count,
                                        .end = build_end,
                                        .cancel = build_cancel,
                                        .expression = build_expression,
                                        .begin_body = begin_body,
                                        .body_parameter = build_container,
                                        .body_parameter_like = body_parameter_like,
                                        .body_result = body_result,
                                        .end_body = end_body,
                                        .cancel_body = cancel_body,
                                        .type = value_type,
                                        .content = value_content,
                                        .set_name = set_name,
                                        .sink = build_sink,
                                        .divert = divert,
                                        .fail_body = fail_body};
}
