/* The code of tenon/maker.h: nodes and their attributes. */
#ifndef TENON_MAKER_NODES_H_
#define TENON_MAKER_NODES_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/maker.h"
#include "tenon/maker/read.h"

static inline void tenon_make_begin(tenon_make_t* make, const char* op) {
  char identity[TENON_MAKE_NAME_SIZE + sizeof("standard./1")];
  const bool is_whole = strchr(op, '/') != NULL;
  if (make->status == TENON_OK) {
    (void)snprintf(identity, sizeof(identity), "standard.%s/1", op);
    make->is_open =
        tenon_make_keep(make, make->build->begin(make->builder, is_whole ? op : identity,
                                                 make->table->name(make->source)));
  }
}

static inline void tenon_make_set_int(tenon_make_t* make, const char* name, int64_t value) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->attribute_int(make->builder, name, value));
  }
}

static inline void tenon_make_set_float(tenon_make_t* make, const char* name, double value) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->attribute_float(make->builder, name, value));
  }
}

static inline void tenon_make_set_string(tenon_make_t* make, const char* name, const char* value) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->attribute_string(make->builder, name, value));
  }
}

static inline void tenon_make_set_ints(tenon_make_t* make, const char* name, const int64_t* values,
                                       size_t count) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->attribute_ints(make->builder, name, values, count));
  }
}

static inline void tenon_make_set_floats(tenon_make_t* make, const char* name, const double* values,
                                         size_t count) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->attribute_floats(make->builder, name, values, count));
  }
}

static inline void tenon_make_set_dtype(tenon_make_t* make, const char* name, tenon_dtype_t value) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->attribute_dtype(make->builder, name, value));
  }
}

static inline void tenon_make_pass_strings(tenon_make_t* make, const tenon_source_t* source,
                                           const char* name, const char* target) {
  const tenon_string_view_t* texts = NULL;
  size_t count = 0;
  if (!tenon_make_found(make, make->table->get_strings(source, name, &texts, &count))) {
    return;
  }
  const char** copies = (const char**)tenon_make_memory(make, count, sizeof(char*));
  if (copies != NULL) {
    for (size_t i = 0; i < count; ++i) {
      copies[i] = tenon_make_copy_text(make, texts[i]);
    }
  }
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make,
                          make->build->attribute_strings(make->builder, target, copies, count));
  }
}

static inline void tenon_make_pass(tenon_make_t* make, const char* name, const char* target) {
  const int64_t* ints = NULL;
  const double* floats = NULL;
  size_t count = 0;
  const char* leaf = NULL;
  const tenon_source_t* source =
      make->status == TENON_OK ? tenon_make_follow(make, name, &leaf) : NULL;
  switch (source == NULL ? (uint32_t)TENON_FIELD_NONE : make->table->field_kind(source, leaf)) {
    case TENON_FIELD_NONE:
      break;
    case TENON_FIELD_INT:
      tenon_make_set_int(make, target, tenon_make_get_int(make, name, 0));
      break;
    case TENON_FIELD_FLOAT:
      tenon_make_set_float(make, target, tenon_make_get_float(make, name, 0));
      break;
    case TENON_FIELD_STRING:
      tenon_make_set_string(make, target, tenon_make_get_string(make, name, ""));
      break;
    case TENON_FIELD_INTS:
      (void)tenon_make_get_ints(make, name, &ints, &count);
      tenon_make_set_ints(make, target, ints, count);
      break;
    case TENON_FIELD_FLOATS:
      (void)tenon_make_get_floats(make, name, &floats, &count);
      tenon_make_set_floats(make, target, floats, count);
      break;
    case TENON_FIELD_STRINGS:
      tenon_make_pass_strings(make, source, leaf, target);
      break;
    default:
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "field '%s' has a wrong kind", name);
      break;
  }
}

/* Copies what stands before one of `stops`, and steps over it. */
static inline void tenon_make_take_word(const char** inout_text, const char* stops,
                                        char* out_word) {
  const size_t length = strcspn(*inout_text, stops);
  const size_t kept = length < TENON_MAKE_NAME_SIZE ? length : TENON_MAKE_NAME_SIZE - 1;
  memcpy(out_word, *inout_text, kept);
  out_word[kept] = '\0';
  *inout_text += length;
}

/* A float has a point, an integer has none, everything else is a text. */
static inline void tenon_make_set_default(tenon_make_t* make, const char* target,
                                          const char* value) {
  char* end = NULL;
  const double number = strtod(value, &end);
  if (*end != '\0') {
    tenon_make_set_string(make, target, value);
  } else if (strchr(value, '.') != NULL) {
    tenon_make_set_float(make, target, number);
  } else {
    tenon_make_set_int(make, target, (int64_t)number);
  }
}

static inline void tenon_make_pass_all(tenon_make_t* make, const char* attributes) {
  const char* text = attributes;
  while (*text != '\0') {
    char name[TENON_MAKE_NAME_SIZE];
    char target[TENON_MAKE_NAME_SIZE];
    char value[TENON_MAKE_NAME_SIZE];
    tenon_make_take_word(&text, " >=", name);
    memcpy(target, name, sizeof(target));
    if (*text == '>') {
      ++text;
      tenon_make_take_word(&text, " =", target);
    }
    const bool has_default = *text == '=';
    if (has_default) {
      ++text;
      tenon_make_take_word(&text, " ", value);
    }
    if (has_default && !tenon_make_has(make, name)) {
      tenon_make_set_default(make, target, value);
    } else {
      tenon_make_pass(make, name, target);
    }
    text += strspn(text, " ");
  }
}

static inline void tenon_make_add(tenon_make_t* make, tenon_value_t value) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->add_input(make->builder, value));
  }
}

static inline void tenon_make_add_inputs(tenon_make_t* make, uint32_t first) {
  for (uint32_t i = first; i < make->input_count; ++i) {
    tenon_make_add(make, make->inputs[i]);
  }
}

static inline void tenon_make_set_output_count(tenon_make_t* make, uint32_t count) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->output_count(make->builder, count));
  }
}

static inline void tenon_make_add_body(tenon_make_t* make, uint32_t body) {
  if (make->status == TENON_OK) {
    (void)tenon_make_keep(make, make->build->add_body(make->builder, body));
  }
}

static inline tenon_converted_body_t tenon_make_body(tenon_make_t* make, const char* name,
                                                     const tenon_value_t* types, uint32_t count) {
  tenon_converted_body_t body = {TENON_NONE, 0, NULL};
  if (make->status == TENON_OK) {
    const tenon_status_t status =
        make->table->convert_body(make->source, name, types, count, &body);
    if (status == TENON_ERROR_NOT_FOUND) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has no graph '%s'", name);
    } else {
      (void)tenon_make_keep(make, status);
    }
  }
  return body;
}

static inline void tenon_make_add_captured(tenon_make_t* make, const tenon_converted_body_t* body) {
  for (uint32_t i = 0; i < body->captured_count; ++i) {
    tenon_make_add(make, body->captured[i]);
  }
}

static inline void tenon_make_end_many(tenon_make_t* make, tenon_value_t* out_values,
                                       uint32_t count) {
  memset(out_values, 0, count * sizeof(*out_values));
  if (make->status == TENON_OK) {
    make->is_open = false;
    (void)tenon_make_keep(make, make->build->end(make->builder, out_values, count));
  }
}

static inline tenon_value_t tenon_make_end(tenon_make_t* make) {
  tenon_value_t value = {0};
  tenon_make_end_many(make, &value, 1);
  return value;
}

static inline void tenon_make_end_outputs(tenon_make_t* make) {
  tenon_make_end_many(make, make->outputs, make->output_count);
}

static inline tenon_value_t tenon_make_math(tenon_make_t* make, const char* text, uint32_t count,
                                            const tenon_value_t* inputs) {
  static const char* const names[TENON_MAKE_MATH_LIMIT] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  tenon_value_t value = {0};
  if (make->status == TENON_OK && count <= TENON_MAKE_MATH_LIMIT) {
    (void)tenon_make_keep(make, make->build->expression(make->builder, text, names, inputs, count,
                                                        make->table->name(make->source), &value));
  }
  return value;
}

#endif /* TENON_MAKER_NODES_H_ */
