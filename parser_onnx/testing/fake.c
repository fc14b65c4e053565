#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converters/families.h"
#include "parser.h"

typedef struct block_t {
  struct block_t* next;
  max_align_t data[];
} block_t;

static tenon__fake_t* fake_of(void* handle) {
  return handle;
}

static void append(char* text, size_t capacity, const char* format, va_list arguments) {
  const size_t used = strlen(text);
  (void)vsnprintf(text + used, capacity - used, format, arguments);
}

__attribute__((format(printf, 2, 3))) static void log_line(tenon__fake_t* fake, const char* format,
                                                           ...) {
  va_list arguments;
  va_start(arguments, format);
  append(fake->log, sizeof(fake->log), format, arguments);
  va_end(arguments);
}

/* --- The host ----------------------------------------------------------------------------- */

static void* host_allocate(tenon_parse_t* parse, size_t size_bytes) {
  tenon__fake_t* fake = fake_of(parse);
  if (++fake->allocation_count == fake->fail_at || size_bytes > ((size_t)1 << 30)) {
    return NULL;
  }
  block_t* block = calloc(1, sizeof(block_t) + size_bytes);
  if (block == NULL) {
    return NULL;
  }
  block->next = fake->blocks;
  fake->blocks = block;
  return block->data;
}

static tenon_status_t host_open_file(tenon_parse_t* parse, const char* path, const void** out_data,
                                     size_t* out_size) {
  const tenon__fake_t* fake = fake_of(parse);
  if (path[0] == '/' || strstr(path, "..") != NULL) {
    return TENON_ERROR_DENIED;
  }
  if (fake->file_path == NULL || strcmp(fake->file_path, path) != 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_data = fake->file_data;
  *out_size = fake->file_size;
  return TENON_OK;
}

static tenon_status_t host_part(tenon_parse_t* parse, uint32_t index, const char** out_name,
                                const void** out_data, size_t* out_size) {
  const tenon__fake_t* fake = fake_of(parse);
  if (index != 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_name = "model.onnx";
  *out_data = fake->model;
  *out_size = fake->model_size;
  return TENON_OK;
}

static uint32_t host_part_count(tenon_parse_t* parse) {
  (void)parse;
  return 1;
}

static const tenon_converter_t* host_find_converter(tenon_parse_t* parse, const char* domain,
                                                    const char* type, int64_t version,
                                                    void** out_state) {
  (void)parse;
#define FAMILY_ENTRY(name, count) {tenon__onnx_##name##_rows, count},
  static const struct {
    const tenon_make_row_t* rows;
    uint32_t count;
  } families[] = {TENON__ONNX_FAMILIES(FAMILY_ENTRY)};
  *out_state = NULL;
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
    for (uint32_t k = 0; k < families[i].count; ++k) {
      const tenon_converter_t* row = &families[i].rows[k].converter;
      if (strcmp(row->type, type) == 0 && strcmp(row->domain, domain) == 0 &&
          version >= row->since && (row->until == 0 || version < row->until)) {
        return row;
      }
    }
  }
  return NULL;
}

static void host_report_missing(tenon_parse_t* parse, const char* domain, const char* type,
                                int64_t version, const char* node) {
  tenon__fake_t* fake = fake_of(parse);
  const size_t used = strlen(fake->missing);
  ++fake->missing_count;
  (void)snprintf(fake->missing + used, sizeof(fake->missing) - used, "%s:%s:%lld:%s\n", domain,
                 type, (long long)version, node);
}

static void host_declare_value(tenon_parse_t* parse, int32_t is_output, const char* name,
                               const tenon_value_type_t* type, const char* const* symbols) {
  tenon__fake_t* fake = fake_of(parse);
  char dims[128] = "";
  for (uint32_t i = 0; type->rank != TENON_NONE && i < type->rank; ++i) {
    const size_t used = strlen(dims);
    (void)snprintf(dims + used, sizeof(dims) - used, " %lld%s%s", (long long)type->dims[i],
                   symbols[i] == NULL ? "" : "=", symbols[i] == NULL ? "" : symbols[i]);
  }
  const size_t used = strlen(fake->declared);
  (void)snprintf(fake->declared + used, sizeof(fake->declared) - used, "%s %s %u:%u%s%s\n",
                 is_output != 0 ? "output" : "input", name, type->kind, type->dtype,
                 type->rank == TENON_NONE ? " ?" : "", dims);
}

static void host_declare_node(tenon_parse_t* parse, const char* domain, const char* type,
                              int64_t version, const char* node) {
  tenon__fake_t* fake = fake_of(parse);
  const size_t used = strlen(fake->declared);
  (void)snprintf(fake->declared + used, sizeof(fake->declared) - used, "%s:%s:%lld:%s\n", domain,
                 type, (long long)version, node);
}

static tenon_status_t host_input_shape(tenon_parse_t* parse, const char* input, uint32_t* out_rank,
                                       const int64_t** out_dims) {
  const tenon__fake_t* fake = fake_of(parse);
  if (fake->shape_input == NULL || strcmp(fake->shape_input, input) != 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_rank = fake->shape_rank;
  *out_dims = fake->shape_dims;
  return TENON_OK;
}

static const tenon_sink_t* host_sink(tenon_parse_t* parse) {
  return &fake_of(parse)->sink;
}

static void pass_on(void* user, int32_t severity, const char* message) {
  const tenon__fake_t* fake = user;
  fake->next_sink->report(fake->next_sink->user, severity, message);
}

static void report(void* user, int32_t severity, const char* message) {
  tenon__fake_t* fake = user;
  const size_t used = strlen(fake->messages);
  fake->error_count += severity == TENON_SEVERITY_ERROR ? 1u : 0u;
  (void)snprintf(fake->messages + used, sizeof(fake->messages) - used, "%s\n", message);
}

/* --- The builder -------------------------------------------------------------------------- */

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
           value->type.kind == TENON_ARGUMENT_SEQUENCE   ? "sequence "
           : value->type.kind == TENON_ARGUMENT_OPTIONAL ? "optional "
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
  log_line(fake_of(builder), "output %s %%%u\n", name, value.id);
  return TENON_OK;
}

static size_t size_of(const tenon_tensor_view_t* view) {
  static const uint8_t bits[] = {
#define BITS(name, mnemonic, bits, kind) bits,
      TENON_DTYPES(BITS)};
  size_t count = 1;
  for (uint32_t i = 0; i < view->rank; ++i) {
    count *= (size_t)view->dims[i];
  }
  return (count * bits[view->dtype] + 7) / 8;
}

static tenon_status_t build_constant(tenon_builder_t* builder, const char* name,
                                     const tenon_tensor_view_t* view, int32_t borrow,
                                     tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon_status_t status =
      new_value(fake, TENON_ARGUMENT_TENSOR, view->dtype, view->rank, view->dims, out_value);
  if (status != TENON_OK) {
    return status;
  }
  /* Touches every byte, so that sanitizers see it. */
  const size_t size = size_of(view);
  void* copy = host_allocate((tenon_parse_t*)builder, size + 1);
  if (copy == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (size > 0) {
    memcpy(copy, view->data, size);
  }
  tenon__fake_value_t* value = &fake->values[out_value->id];
  value->data = copy;
  value->type.constant_data = copy;
  value->type.has_contents = view->dtype == TENON_DTYPE_INT64;
  log_line(fake, "constant %s%s ", name, borrow != 0 ? " borrowed" : "");
  log_type(fake, out_value->id);
  return TENON_OK;
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
  const tenon__fake_value_t like = fake->values[fake->first_input];
  const bool is_known = fake->first_input != 0;
  fake->first_input = 0;
  log_line(fake, " ->");
  for (uint32_t i = 0; i < capacity; ++i) {
    const tenon_status_t status =
        is_known
            ? new_value(fake, like.type.kind, like.type.dtype, like.type.rank, like.dims,
                        &out_values[i])
            : new_value(fake, TENON_ARGUMENT_TENSOR, TENON_DTYPE_FLOAT32, 0, NULL, &out_values[i]);
    if (status != TENON_OK) {
      return status;
    }
    log_line(fake, " %%%u", out_values[i].id);
  }
  log_line(fake, "\n");
  return TENON_OK;
}

static void build_cancel(tenon_builder_t* builder) {
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
  note_input(fake, inputs[0]);
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
  return TENON_OK;
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

static tenon_status_t fail_body(tenon_builder_t* builder, tenon_status_t status, const char* words,
                                uint32_t* out_body) {
  tenon__fake_t* fake = fake_of(builder);
  --fake->open_bodies;
  *out_body = ++fake->body_count;
  log_line(fake, "fail body%u %d: %s\n", *out_body, status, words);
  return TENON_OK;
}

static tenon_status_t value_type(tenon_builder_t* builder, tenon_value_t value,
                                 tenon_value_type_t* out_type) {
  tenon__fake_t* fake = fake_of(builder);
  if (value.id == 0 || value.id > fake->value_count) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_type = fake->values[value.id].type;
  return TENON_OK;
}

static int32_t content(tenon_builder_t* builder, tenon_value_t value, uint32_t index,
                       int64_t* out_value) {
  const tenon__fake_value_t* found = &fake_of(builder)->values[value.id];
  if (found->type.has_contents == 0) {
    return 0;
  }
  memcpy(out_value, (const uint8_t*)found->data + (size_t)index * 8, 8);
  return 1;
}

static tenon_status_t set_name(tenon_builder_t* builder, tenon_value_t value, const char* name) {
  log_line(fake_of(builder), "name %%%u %s\n", value.id, name);
  return TENON_OK;
}

static const tenon_sink_t* build_sink(tenon_builder_t* builder) {
  return &fake_of(builder)->sink;
}

void tenon__fake_initialize(tenon__fake_t* out_fake, const void* model, size_t model_size) {
  memset(out_fake, 0, sizeof(*out_fake));
  out_fake->model = model;
  out_fake->model_size = model_size;
  out_fake->sink = (tenon_sink_t){out_fake, pass_on};
  out_fake->last_sink = (tenon_sink_t){out_fake, report};
  out_fake->next_sink = &out_fake->last_sink;
  out_fake->host = (tenon_parse_table_t){.size = sizeof(tenon_parse_table_t),
                                         .open_file = host_open_file,
                                         .part = host_part,
                                         .part_count = host_part_count,
                                         .find_converter = host_find_converter,
                                         .allocate = host_allocate,
                                         .report_missing = host_report_missing,
                                         .input_shape = host_input_shape,
                                         .sink = host_sink,
                                         .declare_value = host_declare_value,
                                         .declare_node = host_declare_node};
  out_fake->build = (tenon_builder_table_t){.size = sizeof(tenon_builder_table_t),
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
                                            .content = content,
                                            .set_name = set_name,
                                            .sink = build_sink,
                                            .divert = divert,
                                            .fail_body = fail_body};
}

void tenon__fake_deinitialize(tenon__fake_t* fake) {
  block_t* block = fake->blocks;
  while (block != NULL) {
    block_t* next = block->next;
    free(block);
    block = next;
  }
  fake->blocks = NULL;
}

tenon_parse_t* tenon__fake_handle(tenon__fake_t* fake) {
  return (tenon_parse_t*)fake;
}

tenon_status_t tenon__fake_parse(tenon__fake_t* fake) {
  return tenon__onnx_parser_parse(NULL, (tenon_parse_t*)fake, &fake->host, (tenon_builder_t*)fake,
                                  &fake->build);
}
