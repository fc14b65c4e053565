#include "maker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "source.h"
#include "types.h"

enum { NAME_SIZE = 64, MESSAGE_SIZE = 512 };

/* --- The row that a node is made by ------------------------------------------------------- */

static const tenon__make_row_t* find_row(const char* domain, const char* type, int64_t version) {
#define FAMILY_ENTRY(name, count) {tenon__make_##name##_rows, count},
  static const struct {
    const tenon__make_row_t* rows;
    uint32_t count;
  } families[] = {TENON__ONNX_FAMILIES(FAMILY_ENTRY)};
#undef FAMILY_ENTRY
  for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
    for (uint32_t k = 0; k < families[i].count; ++k) {
      const tenon_converter_t* row = &families[i].rows[k].converter;
      if (strcmp(row->type, type) == 0 && strcmp(row->domain, domain) == 0 &&
          version >= row->since && (row->until == 0 || version < row->until)) {
        return &families[i].rows[k];
      }
    }
  }
  return NULL;
}

/* The contract says how many parameters. NOLINTNEXTLINE(readability-function-size) */
tenon_status_t tenon__make_convert(void* state, const tenon_source_t* source,
                                   const tenon_source_table_t* table, tenon_builder_t* builder,
                                   const tenon_builder_table_t* build, const tenon_value_t* inputs,
                                   uint32_t input_count, tenon_value_t* outputs,
                                   uint32_t output_count) {
  (void)state;
  tenon__make_t make = {.source = source,
                        .table = table,
                        .builder = builder,
                        .build = build,
                        .inputs = inputs,
                        .input_count = input_count,
                        .outputs = outputs,
                        .output_count = output_count};
  make.row = find_row(table->domain(source), table->type(source), table->version(source));
  if (make.row == NULL) {
    tenon__make_fail(&make, TENON_ERROR_UNSUPPORTED, "no converter takes version %" PRId64,
                     table->version(source));
    return make.status;
  }
  make.row->make(&make);
  if (make.status != TENON_OK && make.is_open) {
    build->cancel(builder);
  }
  return make.status;
}

void tenon__make_same(tenon__make_t* make) {
  tenon__make_begin(make, make->row->op);
  if (make->row->attributes != NULL) {
    tenon__make_pass_all(make, make->row->attributes);
  }
  tenon__make_add_inputs(make, 0);
  tenon__make_end_outputs(make);
}

/* --- Failing ------------------------------------------------------------------------------ */

void tenon__make_fail(tenon__make_t* make, tenon_status_t status, const char* format, ...) {
  if (make->status != TENON_OK) {
    return;
  }
  make->status = status;
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  tenon__onnx_context_t* context = make->source->program->context;
  tenon__onnx_say(context, TENON_SEVERITY_ERROR, "%s: %s",
                  tenon__onnx_node_text(context, make->source->node), message);
}

bool tenon__make_ok(const tenon__make_t* make) {
  return make->status == TENON_OK;
}

/* Keeps the first failure. True when all is well. */
static bool keep(tenon__make_t* make, tenon_status_t status) {
  if (make->status == TENON_OK) {
    make->status = status;
  }
  return make->status == TENON_OK;
}

void* tenon__make_memory(tenon__make_t* make, size_t count, size_t size_bytes) {
  void* memory = tenon__onnx_allocate(make->source->program->context, count, size_bytes);
  if (memory == NULL) {
    tenon__make_fail(make, TENON_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  return memory;
}

/* --- Reading the node --------------------------------------------------------------------- */

tenon_value_t tenon__make_input(const tenon__make_t* make, uint32_t index) {
  return index < make->input_count ? make->inputs[index] : (tenon_value_t){0};
}

bool tenon__make_has_input(const tenon__make_t* make, uint32_t index) {
  return tenon__make_present(tenon__make_input(make, index));
}

int64_t tenon__make_version(const tenon__make_t* make) {
  return make->table->version(make->source);
}

bool tenon__make_has(const tenon__make_t* make, const char* name) {
  return make->table->field_kind(make->source, name) != TENON_FIELD_NONE;
}

/* Absent is no failure. */
static bool found(tenon__make_t* make, tenon_status_t status) {
  return status != TENON_ERROR_NOT_FOUND && keep(make, status);
}

int64_t tenon__make_get_int(tenon__make_t* make, const char* name, int64_t otherwise) {
  int64_t value = 0;
  return found(make, make->table->get_int(make->source, name, &value)) ? value : otherwise;
}

double tenon__make_get_float(tenon__make_t* make, const char* name, double otherwise) {
  double value = 0;
  return found(make, make->table->get_float(make->source, name, &value)) ? value : otherwise;
}

static const char* copy_text(tenon__make_t* make, tenon_string_view_t text) {
  char* copy = tenon__make_memory(make, text.size + 1, 1);
  if (copy == NULL) {
    return "";
  }
  if (text.size > 0) {
    memcpy(copy, text.data, text.size);
  }
  return copy;
}

const char* tenon__make_get_string(tenon__make_t* make, const char* name, const char* otherwise) {
  tenon_string_view_t text = {0};
  return found(make, make->table->get_string(make->source, name, &text)) ? copy_text(make, text)
                                                                         : otherwise;
}

bool tenon__make_get_ints(tenon__make_t* make, const char* name, const int64_t** out_values,
                          size_t* out_count) {
  *out_values = NULL;
  *out_count = 0;
  return found(make, make->table->get_ints(make->source, name, out_values, out_count));
}

tenon_dtype_t tenon__make_get_dtype(tenon__make_t* make, const char* name,
                                    tenon_dtype_t otherwise) {
  if (!tenon__make_has(make, name)) {
    return otherwise;
  }
  const int64_t number = tenon__make_get_int(make, name, 0);
  const tenon_dtype_t dtype = tenon__onnx_dtype(number);
  if (dtype == TENON_DTYPE_UNDEFINED) {
    tenon__make_fail(make, TENON_ERROR_INVALID_DATA, "%s is %" PRId64 ", which is no element type",
                     name, number);
  }
  return dtype;
}

bool tenon__make_wants(const tenon__make_t* make, uint32_t index) {
  return index < make->output_count && make->table->output_name(make->source, index)[0] != '\0';
}

void tenon__make_output(tenon__make_t* make, uint32_t index, tenon_value_t value) {
  if (index < make->output_count && make->status == TENON_OK) {
    make->outputs[index] = value;
  }
}

/* --- Nodes -------------------------------------------------------------------------------- */

void tenon__make_begin(tenon__make_t* make, const char* op) {
  char identity[NAME_SIZE];
  if (make->status == TENON_OK) {
    (void)snprintf(identity, sizeof(identity), "standard.%s/1", op);
    (void)keep(make, make->build->begin(make->builder, identity, make->table->name(make->source)));
  }
}

void tenon__make_set_int(tenon__make_t* make, const char* name, int64_t value) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->attribute_int(make->builder, name, value));
  }
}

void tenon__make_set_float(tenon__make_t* make, const char* name, double value) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->attribute_float(make->builder, name, value));
  }
}

void tenon__make_set_string(tenon__make_t* make, const char* name, const char* value) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->attribute_string(make->builder, name, value));
  }
}

void tenon__make_set_ints(tenon__make_t* make, const char* name, const int64_t* values,
                          size_t count) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->attribute_ints(make->builder, name, values, count));
  }
}

void tenon__make_set_dtype(tenon__make_t* make, const char* name, tenon_dtype_t value) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->attribute_dtype(make->builder, name, value));
  }
}

static void pass_strings(tenon__make_t* make, const char* name, const char* target) {
  const tenon_string_view_t* texts = NULL;
  size_t count = 0;
  if (!found(make, make->table->get_strings(make->source, name, &texts, &count))) {
    return;
  }
  const char** copies = tenon__make_memory(make, count, sizeof(char*));
  for (size_t i = 0; copies != NULL && i < count; ++i) {
    copies[i] = copy_text(make, texts[i]);
  }
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->attribute_strings(make->builder, target, copies, count));
  }
}

static void pass_floats(tenon__make_t* make, const char* name, const char* target) {
  const double* values = NULL;
  size_t count = 0;
  if (found(make, make->table->get_floats(make->source, name, &values, &count))) {
    (void)keep(make, make->build->attribute_floats(make->builder, target, values, count));
  }
}

void tenon__make_pass(tenon__make_t* make, const char* name, const char* target) {
  const int64_t* values = NULL;
  size_t count = 0;
  if (make->status != TENON_OK) {
    return;
  }
  switch (make->table->field_kind(make->source, name)) {
    case TENON_FIELD_NONE:
      break;
    case TENON_FIELD_INT:
      tenon__make_set_int(make, target, tenon__make_get_int(make, name, 0));
      break;
    case TENON_FIELD_FLOAT:
      tenon__make_set_float(make, target, tenon__make_get_float(make, name, 0));
      break;
    case TENON_FIELD_STRING:
      tenon__make_set_string(make, target, tenon__make_get_string(make, name, ""));
      break;
    case TENON_FIELD_INTS:
      (void)tenon__make_get_ints(make, name, &values, &count);
      tenon__make_set_ints(make, target, values, count);
      break;
    case TENON_FIELD_FLOATS:
      pass_floats(make, name, target);
      break;
    case TENON_FIELD_STRINGS:
      pass_strings(make, name, target);
      break;
    default:
      tenon__make_fail(make, TENON_ERROR_INVALID_DATA, "attribute '%s' has a wrong kind", name);
      break;
  }
}

/* Copies what stands before one of `stops`, and steps over it. */
static void take_word(const char** inout_text, const char* stops, char* out_word) {
  const size_t length = strcspn(*inout_text, stops);
  const size_t kept = length < NAME_SIZE ? length : NAME_SIZE - 1;
  memcpy(out_word, *inout_text, kept);
  out_word[kept] = '\0';
  *inout_text += length;
}

/* A float has a point, an integer has none, everything else is a text. */
static void set_default(tenon__make_t* make, const char* target, const char* value) {
  char* end = NULL;
  const double number = strtod(value, &end);
  if (*end != '\0') {
    tenon__make_set_string(make, target, value);
  } else if (strchr(value, '.') != NULL) {
    tenon__make_set_float(make, target, number);
  } else {
    tenon__make_set_int(make, target, (int64_t)number);
  }
}

void tenon__make_pass_all(tenon__make_t* make, const char* attributes) {
  const char* text = attributes;
  while (*text != '\0') {
    char name[NAME_SIZE];
    char target[NAME_SIZE];
    char value[NAME_SIZE];
    take_word(&text, " >=", name);
    memcpy(target, name, sizeof(target));
    if (*text == '>') {
      ++text;
      take_word(&text, " =", target);
    }
    const bool has_default = *text == '=';
    if (has_default) {
      ++text;
      take_word(&text, " ", value);
    }
    if (has_default && !tenon__make_has(make, name)) {
      set_default(make, target, value);
    } else {
      tenon__make_pass(make, name, target);
    }
    text += strspn(text, " ");
  }
}

void tenon__make_add(tenon__make_t* make, tenon_value_t value) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->add_input(make->builder, value));
  }
}

void tenon__make_add_inputs(tenon__make_t* make, uint32_t first) {
  for (uint32_t i = first; i < make->input_count; ++i) {
    tenon__make_add(make, make->inputs[i]);
  }
}

void tenon__make_set_output_count(tenon__make_t* make, uint32_t count) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->output_count(make->builder, count));
  }
}

void tenon__make_add_body(tenon__make_t* make, uint32_t body) {
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->add_body(make->builder, body));
  }
}

void tenon__make_end_many(tenon__make_t* make, tenon_value_t* out_values, uint32_t count) {
  memset(out_values, 0, count * sizeof(*out_values));
  if (make->status == TENON_OK) {
    make->is_open = false;
    (void)keep(make, make->build->end(make->builder, out_values, count));
  }
}

tenon_value_t tenon__make_end(tenon__make_t* make) {
  tenon_value_t value = {0};
  tenon__make_end_many(make, &value, 1);
  return value;
}

void tenon__make_end_outputs(tenon__make_t* make) {
  tenon__make_end_many(make, make->outputs, make->output_count);
}

tenon_value_t tenon__make_math(tenon__make_t* make, const char* text, uint32_t count,
                               const tenon_value_t* inputs) {
  static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  tenon_value_t value = {0};
  if (make->status == TENON_OK) {
    (void)keep(make, make->build->expression(make->builder, text, names, inputs, count,
                                             make->table->name(make->source), &value));
  }
  return value;
}
