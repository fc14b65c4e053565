/* Typed access to fields of the tree, with the schema and with marks for fields that were read. */
#include "fields.h"

#include <string.h>

#include "schema.h"

/* Extents are larger than all other numbers. */
static const int64_t extent_limit = (int64_t)1 << 48;
static const int64_t number_limit = (int64_t)1 << 32;

static const tenon__caffe_entry_t* entry_of(const tenon__caffe_node_t* node, const char* name) {
  const tenon__caffe_entry_t* entry = tenon__caffe_schema_find(node->name, name);
  return entry != NULL && entry->type == TENON__CAFFE_TYPE_IGNORED ? NULL : entry;
}

static tenon_status_t fail(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                           const char* wanted) {
  return TENON_READER_FAIL(
      reader, TENON_ERROR_INVALID_DATA, "line %u, column %u: %s is %s, it must be %s", field->line,
      field->column, field->name, tenon__caffe_field_describe(reader, field), wanted);
}

/* The first field of that name; all of that name are marked. */
static tenon__caffe_field_t* find(const tenon__caffe_node_t* node, const char* name,
                                  size_t* out_count) {
  tenon__caffe_field_t* first = tenon__caffe_field_find(node->message->first, name);
  *out_count = 0;
  for (tenon__caffe_field_t* field = first; field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    field->is_read = true;
    ++*out_count;
  }
  return first;
}

static tenon__caffe_field_t* find_last(const tenon__caffe_node_t* node, const char* name) {
  size_t count = 0;
  tenon__caffe_field_t* last = NULL;
  for (tenon__caffe_field_t* field = find(node, name, &count); field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    last = field;
  }
  return last;
}

/* 1, 0, or -1 for what is no truth value. */
static int truth_of(const tenon__caffe_field_t* field) {
  static const char* const words[] = {"false", "true", "False", "True", "f", "t"};
  if (field->kind == TENON__CAFFE_VALUE_NUMBER && field->is_integer) {
    return field->integer == 0 || field->integer == 1 ? (int)field->integer : -1;
  }
  if (field->kind == TENON__CAFFE_VALUE_WORD) {
    for (int i = 0; i < 6; ++i) {
      if (strcmp(field->text, words[i]) == 0) {
        return i % 2;
      }
    }
  }
  return -1;
}

/* ---- Kinds ---- */

typedef enum look_t { LOOK_INT, LOOK_FLOAT, LOOK_TEXT, LOOK_MESSAGE } look_t;

static look_t look_of(const tenon__caffe_field_t* field) {
  switch (field->kind) {
    case TENON__CAFFE_VALUE_NUMBER:
      return field->is_integer ? LOOK_INT : LOOK_FLOAT;
    case TENON__CAFFE_VALUE_WORD:
      return truth_of(field) >= 0 ? LOOK_INT : LOOK_TEXT;
    case TENON__CAFFE_VALUE_MESSAGE:
      return LOOK_MESSAGE;
    default:
      return LOOK_TEXT;
  }
}

/* Ints among floats are floats. */
static look_t look_of_all(const tenon__caffe_field_t* first, const char* name) {
  look_t look = look_of(first);
  for (tenon__caffe_field_t* field = tenon__caffe_field_find(first->next, name); field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    look = look_of(field) > look ? look_of(field) : look;
  }
  return look;
}

static look_t look_of_entry(const tenon__caffe_entry_t* entry) {
  switch (entry->type) {
    case TENON__CAFFE_TYPE_INT:
    case TENON__CAFFE_TYPE_BOOL:
      return LOOK_INT;
    case TENON__CAFFE_TYPE_FLOAT:
      return LOOK_FLOAT;
    case TENON__CAFFE_TYPE_MESSAGE:
      return LOOK_MESSAGE;
    default:
      return LOOK_TEXT;
  }
}

uint32_t tenon__caffe_fields_kind(const tenon__caffe_node_t* node, const char* name) {
  static const uint32_t kinds[][2] = {[LOOK_INT] = {TENON_FIELD_INT, TENON_FIELD_INTS},
                                      [LOOK_FLOAT] = {TENON_FIELD_FLOAT, TENON_FIELD_FLOATS},
                                      [LOOK_TEXT] = {TENON_FIELD_STRING, TENON_FIELD_STRINGS},
                                      [LOOK_MESSAGE] = {TENON_FIELD_TREE, TENON_FIELD_TREES}};
  const tenon__caffe_entry_t* entry = entry_of(node, name);
  size_t count = 0;
  const tenon__caffe_field_t* first = find(node, name, &count);
  if (first == NULL) {
    return TENON_FIELD_NONE;
  }
  const bool is_list = entry != NULL ? entry->is_repeated : count > 1;
  return kinds[entry != NULL ? look_of_entry(entry) : look_of_all(first, name)][is_list];
}

/* ---- Single values ---- */

static tenon_status_t int_of(tenon_reader_t* reader, const tenon__caffe_entry_t* entry,
                             const tenon__caffe_field_t* field, int64_t* out_value) {
  const bool is_extent = strcmp(field->name, "dim") == 0 || strcmp(field->name, "input_dim") == 0;
  const int64_t limit = is_extent ? extent_limit : number_limit;
  const bool is_truth = entry != NULL ? entry->type == TENON__CAFFE_TYPE_BOOL
                                      : field->kind == TENON__CAFFE_VALUE_WORD;
  if (is_truth) {
    *out_value = truth_of(field);
    return *out_value >= 0 ? TENON_OK : fail(reader, field, "true or false");
  }
  if (field->kind != TENON__CAFFE_VALUE_NUMBER || !field->is_integer) {
    return fail(reader, field, "a whole number");
  }
  if (field->integer <= -limit || field->integer >= limit) {
    return fail(reader, field, is_extent ? "of less than 49 bits" : "of less than 33 bits");
  }
  *out_value = field->integer;
  return TENON_OK;
}

static tenon_status_t float_of(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                               double* out_value) {
  *out_value = field->number;
  return field->kind == TENON__CAFFE_VALUE_NUMBER ? TENON_OK : fail(reader, field, "a number");
}

/* A number of an enumeration becomes its name. */
static tenon_status_t text_of(tenon_reader_t* reader, const tenon__caffe_entry_t* entry,
                              const tenon__caffe_field_t* field, const char** out_value) {
  const bool is_enum = entry != NULL && entry->type == TENON__CAFFE_TYPE_ENUM;
  const bool is_string = field->kind == TENON__CAFFE_VALUE_STRING;
  if (is_enum && field->kind == TENON__CAFFE_VALUE_NUMBER && field->is_integer) {
    size_t length = 0;
    const char* name = tenon__caffe_enum_name(entry, field->integer, &length);
    if (name == NULL) {
      return fail(reader, field, entry->values);
    }
    *out_value = tenon_reader_format(reader, "%.*s", (int)length, name);
    return *out_value == NULL ? tenon_reader_fail_memory(reader) : TENON_OK;
  }
  *out_value = field->text;
  return is_string || (field->kind == TENON__CAFFE_VALUE_WORD && (entry == NULL || is_enum))
             ? TENON_OK
             : fail(reader, field, is_enum ? "one of its words" : "a text in quotes");
}

tenon_status_t tenon__caffe_fields_int(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                       const char* name, int64_t* out_value) {
  const tenon__caffe_field_t* field = find_last(node, name);
  int64_t value = 0;
  if (field == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  TENON_READER_TRY(int_of(reader, entry_of(node, name), field, &value));
  *out_value = value;
  return TENON_OK;
}

tenon_status_t tenon__caffe_fields_float(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                         const char* name, double* out_value) {
  const tenon__caffe_field_t* field = find_last(node, name);
  return field == NULL ? TENON_ERROR_NOT_FOUND : float_of(reader, field, out_value);
}

tenon_status_t tenon__caffe_fields_string(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          const char* name, const char** out_value) {
  const tenon__caffe_field_t* field = find_last(node, name);
  return field == NULL ? TENON_ERROR_NOT_FOUND
                       : text_of(reader, entry_of(node, name), field, out_value);
}

/* ---- Lists ---- */

/* Fields of one name, and where their values are collected. */
typedef struct list_t {
  tenon__caffe_field_t* first;
  void* values;
  size_t count;
} list_t;

/* NOT_FOUND, or the first field and memory for all. */
static tenon_status_t begin_list(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                 const char* name, size_t size_bytes, list_t* out_list) {
  out_list->first = find(node, name, &out_list->count);
  if (out_list->first == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  out_list->values = tenon_reader_allocate(reader, out_list->count, size_bytes);
  return out_list->values == NULL ? tenon_reader_fail_memory(reader) : TENON_OK;
}

tenon_status_t tenon__caffe_fields_ints(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                        const char* name, const int64_t** out_values,
                                        size_t* out_count) {
  const tenon__caffe_entry_t* entry = entry_of(node, name);
  list_t list = {0};
  TENON_READER_TRY(begin_list(reader, node, name, sizeof(int64_t), &list));
  int64_t* values = list.values;
  size_t i = 0;
  for (tenon__caffe_field_t* field = list.first; field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    TENON_READER_TRY(int_of(reader, entry, field, &values[i++]));
  }
  *out_values = values;
  *out_count = list.count;
  return TENON_OK;
}

tenon_status_t tenon__caffe_fields_floats(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          const char* name, const double** out_values,
                                          size_t* out_count) {
  list_t list = {0};
  TENON_READER_TRY(begin_list(reader, node, name, sizeof(double), &list));
  double* values = list.values;
  size_t i = 0;
  for (tenon__caffe_field_t* field = list.first; field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    TENON_READER_TRY(float_of(reader, field, &values[i++]));
  }
  *out_values = values;
  *out_count = list.count;
  return TENON_OK;
}

tenon_status_t tenon__caffe_fields_strings(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                           const char* name, const tenon_string_view_t** out_values,
                                           size_t* out_count) {
  const tenon__caffe_entry_t* entry = entry_of(node, name);
  list_t list = {0};
  TENON_READER_TRY(begin_list(reader, node, name, sizeof(tenon_string_view_t), &list));
  tenon_string_view_t* values = list.values;
  size_t i = 0;
  for (tenon__caffe_field_t* field = list.first; field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    const char* text = NULL;
    TENON_READER_TRY(text_of(reader, entry, field, &text));
    values[i++] = (tenon_string_view_t){text, strlen(text)};
  }
  *out_values = values;
  *out_count = list.count;
  return TENON_OK;
}

/* ---- Messages ---- */

tenon_status_t tenon__caffe_field_node(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                                       tenon__caffe_node_t* out_node) {
  if (field->kind != TENON__CAFFE_VALUE_MESSAGE) {
    return fail(reader, field, "a message: { ... }");
  }
  *out_node = (tenon__caffe_node_t){field->name, field->message};
  return TENON_OK;
}

uint32_t tenon__caffe_fields_count(const tenon__caffe_node_t* node, const char* name) {
  size_t count = 0;
  (void)find(node, name, &count);
  return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

tenon_status_t tenon__caffe_fields_node(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                        const char* name, uint32_t index,
                                        tenon__caffe_node_t* out_node) {
  size_t count = 0;
  tenon__caffe_field_t* field = find(node, name, &count);
  for (; field != NULL && index > 0; --index) {
    field = tenon__caffe_field_find(field->next, name);
  }
  return field == NULL ? TENON_ERROR_NOT_FOUND : tenon__caffe_field_node(reader, field, out_node);
}
