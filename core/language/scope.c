/* Looking up the names of a scope. */
#include "core/language/scope.h"

#include <string.h>

#include "core/tensor/dtype.h"

const tenon__scope_port_t* tenon__scope_ports(tenon__arena_t* arena, const tenon_port_t* ports,
                                              uint32_t count, const tenon__scope_value_t* values,
                                              uint32_t value_count) {
  tenon__scope_port_t* made = tenon__arena_allocate(arena, count + 1u, sizeof(*made));
  const uint32_t made_count = made == NULL ? 0 : count;
  for (uint32_t p = 0; p < made_count; ++p) {
    const bool is_variadic = (ports[p].flags & TENON_PORT_VARIADIC) != 0;
    const uint32_t rest = value_count > p ? value_count - p : 0;
    made[p] = (tenon__scope_port_t){.name = ports[p].name,
                                    .flags = ports[p].flags,
                                    .type = ports[p].type,
                                    .count = is_variadic ? rest : 1,
                                    .values = values + p};
  }
  return made;
}

static const tenon__scope_port_t* find_port(const tenon__scope_port_t* ports, uint32_t count,
                                            const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(ports[i].name, name) == 0) {
      return &ports[i];
    }
  }
  return NULL;
}

const tenon__scope_port_t* tenon__scope_port(const tenon__scope_t* scope, const char* name,
                                             bool* out_is_output) {
  const tenon__scope_port_t* input = find_port(scope->inputs, scope->input_count, name);
  *out_is_output = input == NULL;
  return input != NULL ? input : find_port(scope->outputs, scope->output_count, name);
}

const tenon__scope_port_t* tenon__scope_input(const tenon__scope_t* scope, const char* name) {
  return find_port(scope->inputs, scope->input_count, name);
}

const tenon__scope_attribute_t* tenon__scope_attribute(const tenon__scope_t* scope,
                                                       const char* name) {
  for (uint32_t i = 0; i < scope->attribute_count; ++i) {
    if (strcmp(scope->attributes[i].name, name) == 0) {
      return &scope->attributes[i];
    }
  }
  return NULL;
}

int64_t tenon__scope_integer(const tenon__scope_t* scope, const char* name, int64_t otherwise) {
  const tenon__scope_attribute_t* attribute = tenon__scope_attribute(scope, name);
  return attribute != NULL && attribute->kind == TENON_ATTRIBUTE_INT ? attribute->integer
                                                                     : otherwise;
}

tenon_dtype_t tenon__scope_dtype(const tenon__scope_t* scope, const char* name) {
  for (uint32_t i = 0; i < scope->type_count; ++i) {
    if (strcmp(scope->types[i].name, name) == 0) {
      return scope->types[i].dtype;
    }
  }
  const tenon__scope_attribute_t* attribute = tenon__scope_attribute(scope, name);
  return attribute != NULL && attribute->kind == TENON_ATTRIBUTE_DTYPE
             ? (tenon_dtype_t)attribute->integer
             : tenon__dtype_from_name(name);
}

const tenon__scope_port_t* tenon__scope_output(const tenon__scope_t* scope, uint32_t output,
                                               uint32_t* out_item) {
  uint32_t item = output;
  for (uint32_t i = 0; i < scope->output_count; ++i) {
    if (item < scope->outputs[i].count) {
      *out_item = item;
      return &scope->outputs[i];
    }
    item -= scope->outputs[i].count;
  }
  return NULL;
}

uint32_t tenon__scope_output_number(const tenon__scope_t* scope, const tenon__scope_port_t* port,
                                    uint32_t item) {
  uint32_t number = item;
  for (const tenon__scope_port_t* other = scope->outputs; other < port; ++other) {
    number += other->count;
  }
  return number;
}
