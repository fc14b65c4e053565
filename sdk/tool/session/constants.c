/* See constants.h. */
#include "session/constants.h"

#include <string.h>

#include "data/value_file.h"
#include "text/console.h"
#include "text/memory.h"

static tenon_status_t add_one(const char* text, tool_constants_t* constants) {
  const char* equals = strrchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0') {
    return tool_misuse("--input-constant %s: it must be NAME=FILE, such as axes=axes.npy", text);
  }
  tool_constant_t constant = {.input = tool_copy_bytes(text, (size_t)(equals - text)),
                              .path = tool_copy_text(equals + 1)};
  tenon_status_t status = TENON_OK;
  if (tool_constants_find(constants, constant.input) != NULL) {
    status =
        tool_misuse("--input-constant %s: input '%s' has a value already", text, constant.input);
  }
  if (status == TENON_OK) {
    status = tool_value_read(constant.path, TENON_ARGUMENT_TENSOR, &constant.value);
  }
  if (status != TENON_OK) {
    tool_free(constant.input);
    tool_free(constant.path);
    return status;
  }
  constants->items = tool_grow(constants->items, &constants->capacity, constants->count + 1,
                               sizeof(*constants->items));
  constants->items[constants->count++] = constant;
  return TENON_OK;
}

tenon_status_t tool_constants_add(const tool_list_t* texts, tool_constants_t* constants) {
  for (size_t i = 0; i < texts->count; ++i) {
    TOOL_TRY(add_one(texts->items[i], constants));
  }
  return TENON_OK;
}

void tool_constants_free(tool_constants_t* constants) {
  for (size_t i = 0; i < constants->count; ++i) {
    tool_free(constants->items[i].input);
    tool_free(constants->items[i].path);
    tool_value_free(&constants->items[i].value);
  }
  tool_free(constants->items);
  *constants = (tool_constants_t){0};
}

const tool_constant_t* tool_constants_find(const tool_constants_t* constants, const char* input) {
  for (size_t i = 0; i < constants->count; ++i) {
    if (strcmp(constants->items[i].input, input) == 0) {
      return &constants->items[i];
    }
  }
  return NULL;
}

void tool_constant_table_make(const tool_constants_t* constants, tool_constant_table_t* out_table) {
  tool_constant_table_t table = {.count = (uint32_t)constants->count};
  table.values = tool_allocate(constants->count, sizeof(*table.values));
  table.arguments = tool_allocate(constants->count, sizeof(*table.arguments));
  for (size_t i = 0; i < constants->count; ++i) {
    tool_argument_make(&constants->items[i].value, &table.arguments[i]);
    table.values[i] = (tenon_input_value_t){.name = constants->items[i].input,
                                            .view = &table.arguments[i].tensor};
  }
  *out_table = table;
}

void tool_constant_table_free(tool_constant_table_t* table) {
  for (uint32_t i = 0; i < table->count; ++i) {
    tool_argument_free(&table->arguments[i]);
  }
  tool_free(table->arguments);
  tool_free(table->values);
  *table = (tool_constant_table_t){0};
}
