#include "fake.h"

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

static tenon_status_t host_part(tenon_parse_t* parse, uint32_t index, const char** out_name,
                                const void** out_data, size_t* out_size) {
  static const char* const names[TENON__FAKE_PART_LIMIT] = {"part 0", "part 1"};
  const tenon__fake_t* fake = fake_of(parse);
  if (index >= fake->part_count) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_name = names[index];
  *out_data = fake->parts[index].data;
  *out_size = fake->parts[index].size;
  return TENON_OK;
}

static uint32_t host_part_count(tenon_parse_t* parse) {
  return fake_of(parse)->part_count;
}

static const tenon_converter_t* host_find_converter(tenon_parse_t* parse, const char* domain,
                                                    const char* type, int64_t version,
                                                    void** out_state) {
  (void)parse;
  (void)version;
#define FAMILY_ENTRY(name, count) {tenon__uff_##name##_rows, count},
  static const tenon_make_table_t families[] = {TENON__UFF_FAMILIES(FAMILY_ENTRY)};
  *out_state = NULL;
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
    for (uint32_t k = 0; k < families[i].count; ++k) {
      const tenon_converter_t* row = &families[i].rows[k].converter;
      if (strcmp(row->type, type) == 0 && strcmp(row->domain, domain) == 0) {
        return row;
      }
    }
  }
  return NULL;
}

static void report(void* user, int32_t severity, const char* message) {
  tenon__fake_t* fake = user;
  const size_t used = strlen(fake->messages);
  fake->error_count += severity == TENON_SEVERITY_ERROR ? 1u : 0u;
  (void)snprintf(fake->messages + used, sizeof(fake->messages) - used, "%s\n", message);
}

static void host_report_missing(tenon_parse_t* parse, const char* domain, const char* type,
                                int64_t version, const char* node) {
  char message[256];
  (void)version;
  (void)snprintf(message, sizeof(message), "missing %s:%s for %s", domain, type, node);
  report(parse, TENON_SEVERITY_INFO, message);
}

static tenon_status_t host_input_shape(tenon_parse_t* parse, const char* input, uint32_t* out_rank,
                                       const int64_t** out_dims) {
  (void)parse;
  (void)input;
  (void)out_rank;
  (void)out_dims;
  return TENON_ERROR_NOT_FOUND;
}

static const char* host_setting(tenon_parse_t* parse, const char* name) {
  return strcmp(name, "outputs") == 0 ? fake_of(parse)->outputs : NULL;
}

static const tenon_sink_t* host_sink(tenon_parse_t* parse) {
  return &fake_of(parse)->sink;
}

/* --- The builder -------------------------------------------------------------------------- */

static tenon_status_t new_value(tenon__fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                                const int64_t* dims, tenon_value_t* out_value) {
  if (fake->value_count + 1 >= TENON__FAKE_VALUE_LIMIT || rank > TENON__FAKE_RANK_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__fake_value_t* value = &fake->values[++fake->value_count];
  memset(value, 0, sizeof(*value));
  value->type = (tenon_value_type_t){
      .kind = TENON_ARGUMENT_TENSOR, .dtype = dtype, .rank = rank, .dims = value->dims};
  if (rank > 0) {
    memcpy(value->dims, dims, rank * sizeof(*dims));
  }
  out_value->id = fake->value_count;
  return TENON_OK;
}

static tenon_status_t build_input(tenon_builder_t* builder, const char* name, tenon_dtype_t dtype,
                                  uint32_t rank, const int64_t* dims, const char* const* symbols,
                                  tenon_value_t* out_value) {
  (void)name;
  (void)symbols;
  return new_value(fake_of(builder), dtype, rank, dims, out_value);
}

static tenon_status_t build_output(tenon_builder_t* builder, tenon_value_t value,
                                   const char* name) {
  (void)value;
  (void)name;
  ++fake_of(builder)->output_count;
  return TENON_OK;
}

/* Integers of at most 64 elements, or booleans, are known. */
static void keep_contents(tenon__fake_value_t* value, const tenon_tensor_view_t* view,
                          size_t count) {
  const bool is_wide = view->dtype == TENON_DTYPE_INT64;
  const bool is_narrow = view->dtype == TENON_DTYPE_INT32;
  const bool is_bool = view->dtype == TENON_DTYPE_BOOL;
  if (count > TENON__FAKE_CONTENT_LIMIT || !(is_wide || is_narrow || is_bool)) {
    return;
  }
  value->type.has_contents = 1;
  for (size_t i = 0; i < count; ++i) {
    int32_t narrow = 0;
    if (is_wide) {
      memcpy(&value->contents[i], (const uint8_t*)view->data + 8 * i, 8);
    } else if (is_narrow) {
      memcpy(&narrow, (const uint8_t*)view->data + 4 * i, 4);
      value->contents[i] = narrow;
    } else {
      value->contents[i] = ((const uint8_t*)view->data)[i];
    }
  }
}

/* Reads every byte, so that sanitizers see it. */
static tenon_status_t build_constant(tenon_builder_t* builder, const char* name,
                                     const tenon_tensor_view_t* view, int32_t borrow,
                                     tenon_value_t* out_value) {
#define TYPE_BITS(name, mnemonic, bits, kind) bits,
  static const uint8_t bits[] = {TENON_DTYPES(TYPE_BITS)};
#undef TYPE_BITS
  size_t count = 1;
  unsigned sum = 0;
  (void)name;
  (void)borrow;
  for (uint32_t i = 0; i < view->rank; ++i) {
    count *= (size_t)view->dims[i];
  }
  for (size_t i = 0; i < count * (bits[view->dtype] / 8u); ++i) {
    sum += ((const uint8_t*)view->data)[i];
  }
  fake_of(builder)->first_input = sum == UINT32_MAX ? 1 : 0;
  const tenon_status_t status =
      new_value(fake_of(builder), view->dtype, view->rank, view->dims, out_value);
  if (status == TENON_OK) {
    keep_contents(&fake_of(builder)->values[out_value->id], view, count);
  }
  return status;
}

static int32_t value_content(tenon_builder_t* builder, tenon_value_t value, uint32_t index,
                             int64_t* out_value) {
  const tenon__fake_value_t* known = &fake_of(builder)->values[value.id];
  if (known->type.has_contents == 0 || index >= TENON__FAKE_CONTENT_LIMIT) {
    return 0;
  }
  *out_value = known->contents[index];
  return 1;
}

static tenon_status_t build_begin(tenon_builder_t* builder, const char* op, const char* name) {
  (void)op;
  (void)name;
  fake_of(builder)->first_input = 0;
  return TENON_OK;
}

static tenon_status_t set_int(tenon_builder_t* builder, const char* name, int64_t value) {
  (void)builder;
  (void)name;
  (void)value;
  return TENON_OK;
}

static tenon_status_t set_float(tenon_builder_t* builder, const char* name, double value) {
  (void)builder;
  (void)name;
  (void)value;
  return TENON_OK;
}

static tenon_status_t set_string(tenon_builder_t* builder, const char* name, const char* value) {
  (void)builder;
  (void)name;
  return strlen(value) < ((size_t)1 << 30) ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
}

static tenon_status_t set_ints(tenon_builder_t* builder, const char* name, const int64_t* values,
                               size_t count) {
  (void)builder;
  (void)name;
  return count == 0 || values[count - 1] >= INT64_MIN ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
}

static tenon_status_t set_floats(tenon_builder_t* builder, const char* name, const double* values,
                                 size_t count) {
  (void)builder;
  (void)name;
  (void)values;
  (void)count;
  return TENON_OK;
}

static tenon_status_t set_dtype(tenon_builder_t* builder, const char* name, tenon_dtype_t value) {
  (void)builder;
  (void)name;
  (void)value;
  return TENON_OK;
}

static tenon_status_t add_input(tenon_builder_t* builder, tenon_value_t value) {
  tenon__fake_t* fake = fake_of(builder);
  fake->first_input = fake->first_input == 0 ? value.id : fake->first_input;
  return value.id <= fake->value_count ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
}

static tenon_status_t add_number(tenon_builder_t* builder, uint32_t number) {
  (void)builder;
  (void)number;
  return TENON_OK;
}

static tenon_status_t build_end(tenon_builder_t* builder, tenon_value_t* out_values,
                                uint32_t capacity) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon__fake_value_t like = fake->values[fake->first_input];
  ++fake->node_count;
  fake->first_input = 0;
  for (uint32_t i = 0; i < capacity; ++i) {
    const tenon_status_t status =
        new_value(fake, like.type.dtype, like.type.rank, like.dims, &out_values[i]);
    if (status != TENON_OK) {
      return status;
    }
    tenon__fake_value_t* value = &fake->values[out_values[i].id];
    value->type.has_contents = like.type.has_contents;
    memcpy(value->contents, like.contents, sizeof(value->contents));
  }
  return TENON_OK;
}

static void build_cancel(tenon_builder_t* builder) {
  fake_of(builder)->first_input = 0;
}

static tenon_status_t build_expression(tenon_builder_t* builder, const char* text,
                                       const char* const* names, const tenon_value_t* inputs,
                                       uint32_t input_count, const char* node_name,
                                       tenon_value_t* out_value) {
  (void)text;
  (void)names;
  (void)node_name;
  fake_of(builder)->first_input = input_count > 0 ? inputs[0].id : 0;
  return build_end(builder, out_value, 1);
}

static tenon_status_t begin_body(tenon_builder_t* builder, const char* name) {
  (void)builder;
  (void)name;
  return TENON_OK;
}

static tenon_status_t body_parameter(tenon_builder_t* builder, const char* name, uint32_t kind,
                                     tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                                     tenon_value_t* out_value) {
  (void)name;
  (void)kind;
  return new_value(fake_of(builder), dtype, rank, dims, out_value);
}

static tenon_status_t body_parameter_like(tenon_builder_t* builder, const char* name,
                                          tenon_value_t like, tenon_value_t* out_value) {
  tenon__fake_t* fake = fake_of(builder);
  const tenon__fake_value_t value = fake->values[like.id];
  (void)name;
  return new_value(fake, value.type.dtype, value.type.rank, value.dims, out_value);
}

static tenon_status_t body_result(tenon_builder_t* builder, tenon_value_t value) {
  return add_input(builder, value);
}

static tenon_status_t end_body(tenon_builder_t* builder, uint32_t* out_body) {
  (void)builder;
  *out_body = 1;
  return TENON_OK;
}

static tenon_status_t value_type(tenon_builder_t* builder, tenon_value_t value,
                                 tenon_value_type_t* out_type) {
  const tenon__fake_t* fake = fake_of(builder);
  if (value.id == 0 || value.id > fake->value_count) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  *out_type = fake->values[value.id].type;
  return TENON_OK;
}

static tenon_status_t set_name(tenon_builder_t* builder, tenon_value_t value, const char* name) {
  return name[0] == '\0' ? TENON_ERROR_INVALID_ARGUMENT : add_input(builder, value);
}

static const tenon_sink_t* build_sink(tenon_builder_t* builder) {
  return &fake_of(builder)->sink;
}

void tenon__fake_initialize(tenon__fake_t* out_fake) {
  memset(out_fake, 0, sizeof(*out_fake));
  out_fake->sink = (tenon_sink_t){out_fake, report};
  out_fake->host = (tenon_parse_table_t){.size = sizeof(tenon_parse_table_t),
                                         .part = host_part,
                                         .part_count = host_part_count,
                                         .find_converter = host_find_converter,
                                         .allocate = host_allocate,
                                         .report_missing = host_report_missing,
                                         .input_shape = host_input_shape,
                                         .sink = host_sink,
                                         .setting = host_setting};
  out_fake->build = (tenon_builder_table_t){.size = sizeof(tenon_builder_table_t),
                                            .input = build_input,
                                            .output = build_output,
                                            .constant = build_constant,
                                            .begin = build_begin,
                                            .attribute_int = set_int,
                                            .attribute_float = set_float,
                                            .attribute_string = set_string,
                                            .attribute_ints = set_ints,
                                            .attribute_floats = set_floats,
                                            .attribute_dtype = set_dtype,
                                            .add_input = add_input,
                                            .add_body = add_number,
                                            .output_count = add_number,
                                            .end = build_end,
                                            .cancel = build_cancel,
                                            .expression = build_expression,
                                            .begin_body = begin_body,
                                            .body_parameter = body_parameter,
                                            .body_parameter_like = body_parameter_like,
                                            .body_result = body_result,
                                            .end_body = end_body,
                                            .cancel_body = build_cancel,
                                            .type = value_type,
                                            .content = value_content,
                                            .set_name = set_name,
                                            .sink = build_sink};
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

void tenon__fake_add_part(tenon__fake_t* fake, const void* data, size_t size) {
  fake->parts[fake->part_count].data = data;
  fake->parts[fake->part_count].size = size;
  ++fake->part_count;
}

void tenon__fake_context(tenon__fake_t* fake, tenon_reader_t* out_context) {
  tenon_reader_initialize(out_context, (tenon_parse_t*)fake, &fake->host, (tenon_builder_t*)fake,
                          &fake->build);
}

tenon_status_t tenon__fake_parse(tenon__fake_t* fake) {
  return tenon__uff_parser_parse(NULL, (tenon_parse_t*)fake, &fake->host, (tenon_builder_t*)fake,
                                 &fake->build);
}

void tenon__fake_parse_alone(const uint8_t* data, size_t size) {
  static tenon__fake_t fake;
  tenon__fake_initialize(&fake);
  tenon__fake_add_part(&fake, data, size);
  (void)tenon__fake_parse(&fake);
  tenon__fake_deinitialize(&fake);
}
