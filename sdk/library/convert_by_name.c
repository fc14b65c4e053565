/*
 * A node type without a converter may be an operator all the same: "domain.Type/major", or the
 * same with the type in lower case, of the highest major that is not above the version of the
 * domain's operator set that the file imports (the lowest is 1). Then its fields are the operator's
 * attributes by name, and its inputs and outputs the operator's, in order.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/operator/attribute.h"
#include "core/tensor/dtype.h"
#include "sdk/library/parse.h"

enum { NAME_SIZE = 512, MOST_MAJORS = 64 };

static const char* field_kind_name(uint32_t kind) {
  static const char* const names[] = {"nothing",  "an integer", "a float", "a string", "a tensor",
                                      "integers", "floats",     "strings", "a tree",   "trees",
                                      "a graph",  "a type",     "tensors"};
  return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "of an unknown kind";
}

/* What is needed to give one node's fields to the builder. */
typedef struct giving_t {
  const tenon__operator_t* op;
  const tenon_source_t* source;
  const tenon_source_table_t* table;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
} giving_t;

static const char* copy_view(const giving_t* g, tenon_string_view_t view) {
  return tenon__arena_copy_text(g->arena, view.data == NULL ? "" : view.data, view.size);
}

static tenon_status_t give_text(const giving_t* g, const char* name, bool is_dtype) {
  tenon_string_view_t view;
  TENON_TRY(g->table->get_string(g->source, name, &view));
  const char* text = copy_view(g, view);
  if (text == NULL) {
    return tenon__fail_memory(g->sink);
  }
  if (!is_dtype) {
    return g->build->attribute_string(g->builder, name, text);
  }
  const tenon_dtype_t dtype = tenon__dtype_from_name(text);
  return dtype != TENON_DTYPE_UNDEFINED
             ? g->build->attribute_dtype(g->builder, name, dtype)
             : tenon__fail(g->sink, TENON_ERROR_INVALID_DATA,
                           "attribute '%s' is '%s', which is no element type (f32, i64, ...)", name,
                           text);
}

static tenon_status_t give_texts(const giving_t* g, const char* name) {
  const tenon_string_view_t* views = NULL;
  size_t count = 0;
  TENON_TRY(g->table->get_strings(g->source, name, &views, &count));
  const char** texts = tenon__arena_allocate(g->arena, count + 1, sizeof(*texts));
  bool good = texts != NULL;
  for (size_t i = 0; good && i < count; ++i) {
    texts[i] = copy_view(g, views[i]);
    good = texts[i] != NULL;
  }
  return good ? g->build->attribute_strings(g->builder, name, texts, count)
              : tenon__fail_memory(g->sink);
}

static tenon_status_t give_numbers(const giving_t* g, const char* name, uint32_t field_kind) {
  int64_t integer = 0;
  double number = 0;
  const int64_t* integers = NULL;
  const double* numbers = NULL;
  size_t count = 0;
  switch (field_kind) {
    case TENON_FIELD_INT:
      TENON_TRY(g->table->get_int(g->source, name, &integer));
      return g->build->attribute_int(g->builder, name, integer);
    case TENON_FIELD_FLOAT:
      TENON_TRY(g->table->get_float(g->source, name, &number));
      return g->build->attribute_float(g->builder, name, number);
    case TENON_FIELD_INTS:
      TENON_TRY(g->table->get_ints(g->source, name, &integers, &count));
      return g->build->attribute_ints(g->builder, name, integers, count);
    default:
      TENON_TRY(g->table->get_floats(g->source, name, &numbers, &count));
      return g->build->attribute_floats(g->builder, name, numbers, count);
  }
}

/* The kinds of fields that an attribute may come from: whole numbers may stand for floats. */
static bool fits(uint32_t attribute_kind, uint32_t field_kind) {
  switch (attribute_kind) {
    case TENON_ATTRIBUTE_INT:
      return field_kind == TENON_FIELD_INT;
    case TENON_ATTRIBUTE_FLOAT:
      return field_kind == TENON_FIELD_FLOAT || field_kind == TENON_FIELD_INT;
    case TENON_ATTRIBUTE_STRING:
    case TENON_ATTRIBUTE_DTYPE:
      return field_kind == TENON_FIELD_STRING;
    case TENON_ATTRIBUTE_INTS:
      return field_kind == TENON_FIELD_INTS;
    case TENON_ATTRIBUTE_FLOATS:
      return field_kind == TENON_FIELD_FLOATS || field_kind == TENON_FIELD_INTS;
    case TENON_ATTRIBUTE_STRINGS:
      return field_kind == TENON_FIELD_STRINGS;
    default:
      return false;
  }
}

static tenon_status_t fail_unknown(const giving_t* g, const char* name) {
  const tenon__descriptor_t* d = &g->op->descriptor;
  const char* known = "";
  for (uint32_t i = 0; i < d->attribute_count && known != NULL; ++i) {
    known =
        tenon__arena_format(g->arena, "%s%s%s", known, i == 0 ? "" : ", ", d->attributes[i].name);
  }
  return tenon__fail(
      g->sink, TENON_ERROR_INVALID_DATA, "operator %s of plugin %s has no attribute '%s'; %s%s",
      g->op->name, g->op->plugin, name,
      d->attribute_count == 0 ? "it has none" : "there are: ", known == NULL ? "" : known);
}

static tenon_status_t give_field(const giving_t* g, const char* name) {
  const tenon__descriptor_t* d = &g->op->descriptor;
  const uint32_t field_kind = g->table->field_kind(g->source, name);
  uint32_t index = 0;
  while (index < d->attribute_count && strcmp(d->attributes[index].name, name) != 0) {
    ++index;
  }
  if (index == d->attribute_count) {
    return fail_unknown(g, name);
  }
  const uint32_t kind = d->attributes[index].kind;
  if (!fits(kind, field_kind)) {
    return tenon__fail(g->sink, TENON_ERROR_INVALID_DATA,
                       "attribute '%s' of operator %s is of kind %s; the file gives %s", name,
                       g->op->name, tenon__attribute_kind_name(kind), field_kind_name(field_kind));
  }
  switch (kind) {
    case TENON_ATTRIBUTE_STRING:
    case TENON_ATTRIBUTE_DTYPE:
      return give_text(g, name, kind == TENON_ATTRIBUTE_DTYPE);
    case TENON_ATTRIBUTE_STRINGS:
      return give_texts(g, name);
    default:
      return give_numbers(g, name, field_kind);
  }
}

static bool has_many_outputs(const tenon__descriptor_t* d) {
  return d->output_count > 0 && (d->outputs[d->output_count - 1].flags & TENON_PORT_VARIADIC) != 0;
}

static tenon_status_t give_all(const giving_t* g, const tenon_value_t* inputs, uint32_t input_count,
                               uint32_t output_count) {
  const tenon__descriptor_t* d = &g->op->descriptor;
  for (uint32_t i = 0; i < g->table->field_count(g->source); ++i) {
    TENON_TRY(give_field(g, g->table->field_name(g->source, i)));
  }
  for (uint32_t i = 0; i < input_count; ++i) {
    TENON_TRY(g->build->add_input(g->builder, inputs[i]));
  }
  if (has_many_outputs(d)) {
    return g->build->output_count(g->builder, output_count);
  }
  return output_count <= d->output_count
             ? TENON_OK
             : tenon__fail(g->sink, TENON_ERROR_INVALID_DATA, "operator %s has %u output%s, not %u",
                           g->op->name, d->output_count, d->output_count == 1 ? "" : "s",
                           output_count);
}

tenon_status_t tenon__parse_convert_by_name(tenon_parse_t* parse, const tenon__operator_t* op,
                                            const tenon_conversion_t* given) {
  const giving_t giving = {.op = op,
                           .source = given->source,
                           .table = given->table,
                           .builder = given->builder,
                           .build = given->build,
                           .arena = &parse->arena,
                           .sink = given->build->sink(given->builder)};
  TENON_TRY(
      given->build->begin(given->builder, giving.op->name, given->table->name(given->source)));
  const tenon_status_t status =
      give_all(&giving, given->inputs, given->input_count, given->output_count);
  if (status != TENON_OK) {
    given->build->cancel(given->builder);
    return status;
  }
  return given->build->end(given->builder, given->outputs, given->output_count);
}

/* ---- Finding it ---- */

static const tenon__operator_t* find_major(tenon_parse_t* parse, const char* domain,
                                           const char* word, int64_t version) {
  char name[NAME_SIZE];
  const int64_t highest = version > MOST_MAJORS ? MOST_MAJORS : version < 1 ? 1 : version;
  const tenon__operator_t* op = NULL;
  for (int64_t major = highest; major > 0 && op == NULL; --major) {
    const int length = snprintf(name, sizeof(name), "%s.%s/%lld", domain, word, (long long)major);
    if (length < 0 || (size_t)length >= sizeof(name)) {
      return NULL;
    }
    op = tenon__library_find_operator(parse->network->registry, name);
  }
  return op;
}

const tenon__operator_t* tenon__parse_find_operator(tenon_parse_t* parse, const char* domain,
                                                    const char* type, int64_t version) {
  char lower[NAME_SIZE];
  size_t length = 0;
  if (domain[0] == '\0') {
    return NULL; /* the format's own */
  }
  const tenon__operator_t* op = find_major(parse, domain, type, version);
  for (; type[length] != '\0' && length < sizeof(lower) - 1; ++length) {
    const bool is_capital = type[length] >= 'A' && type[length] <= 'Z';
    lower[length] = (char)(is_capital ? type[length] - 'A' + 'a' : type[length]);
  }
  lower[length] = '\0';
  return op != NULL || strcmp(lower, type) == 0 ? op : find_major(parse, domain, lower, version);
}
