/* Lookup of ports, attributes and types of an operator by name. */
#include "core/operator/operator.h"

#include <string.h>

uint32_t tenon__operator_port(const tenon_port_t* ports, uint32_t count, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(ports[i].name, name) == 0) {
      return i;
    }
  }
  return TENON_NONE;
}

uint32_t tenon__operator_input(const tenon__descriptor_t* op, const char* name) {
  return tenon__operator_port(op->inputs, op->input_count, name);
}

uint32_t tenon__operator_output(const tenon__descriptor_t* op, const char* name) {
  return tenon__operator_port(op->outputs, op->output_count, name);
}

uint32_t tenon__operator_attribute(const tenon__descriptor_t* op, const char* name) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    if (strcmp(op->attributes[i].name, name) == 0) {
      return i;
    }
  }
  return TENON_NONE;
}

uint32_t tenon__operator_type(const tenon__descriptor_t* op, const char* name) {
  for (uint32_t i = 0; i < op->type_count; ++i) {
    if (strcmp(op->types[i].name, name) == 0) {
      return i;
    }
  }
  return TENON_NONE;
}
