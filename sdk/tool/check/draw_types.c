/* See draw_types.h. */
#include "check/draw_types.h"

#include <string.h>

static bool word_allows(const char* word, size_t length, tenon_dtype_t dtype) {
  static const char* const classes[][2] = {{"float", "f"},  {"int", "iu"},      {"uint", "u"},
                                           {"signed", "i"}, {"numeric", "iuf"}, {"any", "biuf"}};
  for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i) {
    if (strlen(classes[i][0]) == length && memcmp(classes[i][0], word, length) == 0) {
      return strchr(classes[i][1], tool_dtype_class(dtype)) != NULL;
    }
  }
  const char* name = tool_dtype_name(dtype);
  return strlen(name) == length && memcmp(name, word, length) == 0;
}

static bool is_allowed(const char* list, tenon_dtype_t dtype) {
  while (*list != '\0') {
    const size_t length = strcspn(list, " ");
    if (length > 0 && word_allows(list, length, dtype)) {
      return true;
    }
    list += length + strspn(list + length, " ");
  }
  return false;
}

tenon_dtype_t check_draw_type(check_random_t* random, const char* allowed) {
  static const tenon_dtype_t types[] = {
      TENON_DTYPE_FLOAT32,  TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
      TENON_DTYPE_BFLOAT16, TENON_DTYPE_FLOAT64, TENON_DTYPE_INT64,   TENON_DTYPE_INT32,
      TENON_DTYPE_INT8,     TENON_DTYPE_UINT8,   TENON_DTYPE_BOOL,    TENON_DTYPE_INT16,
      TENON_DTYPE_UINT16,   TENON_DTYPE_UINT32,  TENON_DTYPE_UINT64};
  enum { COUNT = sizeof(types) / sizeof(types[0]) };
  const uint32_t first = check_random_pick(random, COUNT);
  for (uint32_t i = 0; i < COUNT; ++i) {
    const tenon_dtype_t dtype = types[(first + i) % COUNT];
    if (is_allowed(allowed, dtype)) {
      return dtype;
    }
  }
  for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (dtype != TENON_DTYPE_STRING && is_allowed(allowed, dtype)) {
      return dtype;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

tenon_dtype_t check_draw_port_type(check_drawing_t* d, const tenon_port_t* port) {
  if (port->type[0] == '$') {
    for (uint32_t i = 0; i < d->c->attribute_count; ++i) {
      if (strcmp(d->c->attributes[i].name, port->type + 1) == 0) {
        return (tenon_dtype_t)d->c->attributes[i].integer;
      }
    }
    return TENON_DTYPE_UNDEFINED;
  }
  for (uint32_t i = 0; i < d->type_count; ++i) {
    if (strcmp(d->type_names[i], port->type) == 0) {
      return d->types[i];
    }
  }
  const char* allowed = port->type; /* a mnemonic */
  for (uint32_t i = 0; i < d->c->op->types.count; ++i) {
    const tenon_type_variable_t* variable = check_list_item(&d->c->op->types, i);
    allowed = strcmp(variable->name, port->type) == 0 ? variable->allowed : allowed;
  }
  const tenon_dtype_t dtype = check_draw_type(d->random, allowed);
  if (d->type_count < CHECK_MOST_TYPES && (port->flags & TENON_PORT_HETEROGENEOUS) == 0) {
    d->type_names[d->type_count] = port->type;
    d->types[d->type_count++] = dtype;
  }
  return dtype;
}
