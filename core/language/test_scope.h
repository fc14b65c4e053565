/* For tests of this module: a scope made by hand. Extents are written "b s 768": names are symbols
 * (1 and up, "p" from 0). */
#ifndef TENON_CORE_LANGUAGE_TEST_SCOPE_H_
#define TENON_CORE_LANGUAGE_TEST_SCOPE_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/language/scope.h"
#include "core/language/shape_rule.h"

enum { TEST_PORTS = 8, TEST_ITEMS = 4 };

typedef struct test_scope_t {
  tenon__arena_t arena;
  tenon__scope_t scope;
  tenon__scope_port_t inputs[TEST_PORTS];
  tenon__scope_port_t outputs[TEST_PORTS];
  tenon__scope_value_t input_values[TEST_PORTS][TEST_ITEMS];
  tenon__scope_value_t output_values[TEST_PORTS][TEST_ITEMS];
  tenon__scope_attribute_t attributes[TEST_PORTS];
  tenon__scope_type_t types[TEST_PORTS];
  uint32_t arguments;
  bool fine;
} test_scope_t;

static inline bool test_begin(test_scope_t* t, tenon_allocator_t allocator) {
  memset(t, 0, sizeof(*t));
  tenon__arena_initialize(&t->arena, allocator);
  t->fine = tenon__dim_pool_create(allocator, &t->scope.pool) == TENON_OK;
  t->scope.inputs = t->inputs;
  t->scope.outputs = t->outputs;
  t->scope.attributes = t->attributes;
  t->scope.types = t->types;
  return t->fine;
}

static inline void test_end(test_scope_t* t) {
  tenon__dim_pool_destroy(t->scope.pool);
  tenon__arena_deinitialize(&t->arena);
}

static inline tenon_dim_t test_dim(test_scope_t* t, const char* word) {
  if ((word[0] >= '0' && word[0] <= '9') || word[0] == '-') {
    return tenon__dim_constant(t->scope.pool, strtoll(word, NULL, 10));
  }
  const tenon__symbol_t symbol = {.kind = TENON_SYMBOL_INPUT,
                                  .name = word,
                                  .min = word[0] == 'p' ? 0 : 1,
                                  .max = INT64_MAX,
                                  .bound = TENON_DIM_INVALID};
  return tenon__dim_symbol(t->scope.pool, &symbol);
}

/* The extents in `text`, in the arena. */
static inline uint32_t test_dims(test_scope_t* t, const char* text, const tenon_dim_t** out_dims) {
  static const tenon_dim_t none = {0};
  tenon_dim_t* dims = tenon__arena_allocate(&t->arena, 16, sizeof(*dims));
  uint32_t count = 0;
  char word[32];
  while (dims != NULL && *text != '\0' && count < 16) {
    const size_t length = strcspn(text, " ");
    (void)snprintf(word, sizeof(word), "%.*s", (int)length, text);
    if (length > 0) {
      dims[count++] = test_dim(t, word);
    }
    text += length + (text[length] == ' ' ? 1 : 0);
  }
  t->fine = t->fine && dims != NULL && !tenon__dim_pool_failed(t->scope.pool);
  *out_dims = dims == NULL ? &none : dims;
  return count;
}

/* Adds an item to the port of that name, which is made if it is new. dims NULL: absent. */
static inline tenon__scope_value_t* test_input(test_scope_t* t, const char* name,
                                               tenon_dtype_t dtype, const char* dims) {
  uint32_t i = 0;
  while (i < t->scope.input_count && strcmp(t->inputs[i].name, name) != 0) {
    ++i;
  }
  if (i == t->scope.input_count) {
    ++t->scope.input_count;
    t->inputs[i] = (tenon__scope_port_t){.name = name, .type = "T", .values = t->input_values[i]};
  } else {
    t->inputs[i].flags |= TENON_PORT_VARIADIC;
  }
  tenon__scope_value_t* value = &t->input_values[i][t->inputs[i].count++];
  *value = (tenon__scope_value_t){.type = tenon__type_tensor(dtype, 0, NULL),
                                  .argument = t->arguments++};
  if (dims != NULL) {
    value->present = true;
    value->type.rank = test_dims(t, dims, &value->type.dims);
  }
  return value;
}

/* A 1-D (or, for rank 0, scalar) i64 shape operand with these contents. */
static inline void test_contents(test_scope_t* t, const char* name, uint32_t rank,
                                 const char* contents) {
  char count[16];
  tenon__scope_value_t* value = test_input(t, name, TENON_DTYPE_INT64, "");
  value->type.content_count = test_dims(t, contents, &value->type.contents);
  (void)snprintf(count, sizeof(count), "%u", value->type.content_count);
  value->type.rank = rank == 0 ? 0 : test_dims(t, count, &value->type.dims);
}

static inline void test_output(test_scope_t* t, const char* name, tenon_dtype_t dtype,
                               uint32_t count) {
  const uint32_t i = t->scope.output_count++;
  t->outputs[i] = (tenon__scope_port_t){.name = name,
                                        .type = "T",
                                        .flags = count > 1 ? TENON_PORT_VARIADIC : 0,
                                        .count = count,
                                        .values = t->output_values[i]};
  for (uint32_t k = 0; k < count && k < TEST_ITEMS; ++k) {
    t->output_values[i][k] = (tenon__scope_value_t){
        .present = true, .type = tenon__type_tensor(dtype, TENON_NONE, NULL)};
  }
}

static inline tenon__scope_attribute_t* test_attribute(test_scope_t* t, const char* name,
                                                       uint32_t kind) {
  tenon__scope_attribute_t* attribute = &t->attributes[t->scope.attribute_count++];
  *attribute = (tenon__scope_attribute_t){.name = name, .kind = kind, .defined = true};
  return attribute;
}
static inline void test_int(test_scope_t* t, const char* name, int64_t value) {
  test_attribute(t, name, TENON_ATTRIBUTE_INT)->integer = value;
}
static inline void test_float(test_scope_t* t, const char* name, double value) {
  test_attribute(t, name, TENON_ATTRIBUTE_FLOAT)->number = value;
}
static inline void test_string(test_scope_t* t, const char* name, const char* value) {
  test_attribute(t, name, TENON_ATTRIBUTE_STRING)->string = value;
}
static inline void test_dtype(test_scope_t* t, const char* name, tenon_dtype_t value) {
  test_attribute(t, name, TENON_ATTRIBUTE_DTYPE)->integer = (int64_t)value;
}
static inline void test_ints(test_scope_t* t, const char* name, const int64_t* values,
                             size_t count) {
  tenon__scope_attribute_t* attribute = test_attribute(t, name, TENON_ATTRIBUTE_INTS);
  attribute->integers = values;
  attribute->count = count;
}
static inline void test_type(test_scope_t* t, const char* name, tenon_dtype_t value) {
  t->types[t->scope.type_count++] = (tenon__scope_type_t){name, value};
}

/* "b, s, 768" */
static inline const char* test_list_text(test_scope_t* t, const tenon_dim_t* dims, uint32_t count) {
  const char* text = "";
  for (uint32_t i = 0; i < count && text != NULL; ++i) {
    text = tenon__arena_format(&t->arena, "%s%s%s", text, i > 0 ? ", " : "",
                               tenon__dim_text(t->scope.pool, dims[i], &t->arena));
  }
  return text == NULL ? "?" : text;
}

#endif
