/* The contract's way to look at a region: tenon_region_table_t. */
#include "core/region/region_table.h"

#include "core/network/node.h"
#include "core/region/node_program.h"
#include "core/region/region.h"

static const tenon__node_t* node_of(const tenon_region_t* region, uint32_t node) {
  return &region->network->graphs[region->graph]->nodes[region->nodes[node]];
}

static uint32_t region_kind(const tenon_region_t* region) {
  return region->kind;
}

static uint32_t node_count(const tenon_region_t* region) {
  return region->node_count;
}

static const char* node_operator(const tenon_region_t* region, uint32_t node) {
  if (node >= region->node_count || node_of(region, node)->op == NULL) {
    return "";
  }
  return node_of(region, node)->op->name;
}

static const char* node_name(const tenon_region_t* region, uint32_t node) {
  return node < region->node_count ? node_of(region, node)->name : "";
}

static uint32_t node_input_count(const tenon_region_t* region, uint32_t node) {
  return node < region->node_count ? node_of(region, node)->input_count : 0;
}

static uint32_t node_output_count(const tenon_region_t* region, uint32_t node) {
  return node < region->node_count ? node_of(region, node)->output_count : 0;
}

static uint32_t node_input(const tenon_region_t* region, uint32_t node, uint32_t index) {
  if (index >= node_input_count(region, node)) {
    return TENON_NONE;
  }
  return tenon__region_value(region, node_of(region, node)->inputs[index]);
}

static uint32_t node_output(const tenon_region_t* region, uint32_t node, uint32_t index) {
  if (index >= node_output_count(region, node)) {
    return TENON_NONE;
  }
  return tenon__region_value(region, node_of(region, node)->outputs[index]);
}

static const tenon__scope_attribute_t* attribute(const tenon_region_t* region, uint32_t node,
                                                 const char* name, uint32_t kind,
                                                 tenon_status_t* out_status) {
  *out_status = TENON_ERROR_NOT_FOUND;
  if (node >= region->node_count) {
    return NULL;
  }
  const tenon__scope_attribute_t* found = tenon__node_attribute(node_of(region, node), name);
  if (found == NULL) {
    return NULL;
  }
  *out_status = found->kind == kind ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT;
  return *out_status == TENON_OK ? found : NULL;
}

static tenon_status_t attribute_int(const tenon_region_t* region, uint32_t node, const char* name,
                                    int64_t* out_value) {
  tenon_status_t status = TENON_OK;
  const tenon__scope_attribute_t* a = attribute(region, node, name, TENON_ATTRIBUTE_INT, &status);
  if (a == NULL) {
    a = attribute(region, node, name, TENON_ATTRIBUTE_DTYPE, &status);
  }
  if (a != NULL) {
    *out_value = a->integer;
  }
  return status;
}

/* Of one kind each. What is not there leaves results alone. */
#define SCALAR_GETTER(function, attribute_kind, type, field)                                    \
  static tenon_status_t function(const tenon_region_t* region, uint32_t node, const char* name, \
                                 type out_value) {                                              \
    tenon_status_t status = TENON_OK;                                                           \
    const tenon__scope_attribute_t* a = attribute(region, node, name, attribute_kind, &status); \
    if (a != NULL) {                                                                            \
      *out_value = a->field;                                                                    \
    }                                                                                           \
    return status;                                                                              \
  }
SCALAR_GETTER(attribute_float, TENON_ATTRIBUTE_FLOAT, double*, number)
SCALAR_GETTER(attribute_string, TENON_ATTRIBUTE_STRING, const char**, string)

#define LIST_GETTER(function, attribute_kind, type, field)                                      \
  static tenon_status_t function(const tenon_region_t* region, uint32_t node, const char* name, \
                                 type out_values, size_t* out_count) {                          \
    tenon_status_t status = TENON_OK;                                                           \
    const tenon__scope_attribute_t* a = attribute(region, node, name, attribute_kind, &status); \
    if (a != NULL) {                                                                            \
      *out_values = a->field;                                                                   \
      *out_count = a->count;                                                                    \
    }                                                                                           \
    return status;                                                                              \
  }
LIST_GETTER(attribute_ints, TENON_ATTRIBUTE_INTS, const int64_t**, integers)
LIST_GETTER(attribute_floats, TENON_ATTRIBUTE_FLOATS, const double**, numbers)
LIST_GETTER(attribute_strings, TENON_ATTRIBUTE_STRINGS, const char* const**, strings)

static uint32_t value_count(const tenon_region_t* region) {
  return region->value_count;
}

static const tenon_value_info_t* value_info(const tenon_region_t* region, uint32_t value) {
  return value < region->value_count ? &region->values[value] : NULL;
}

static uint32_t input_count(const tenon_region_t* region) {
  return region->input_count;
}

static uint32_t output_count(const tenon_region_t* region) {
  return region->output_count;
}

static uint32_t input_value(const tenon_region_t* region, uint32_t index) {
  return index < region->input_count ? region->input_values[index] : TENON_NONE;
}

static uint32_t output_value(const tenon_region_t* region, uint32_t index) {
  return index < region->output_count ? region->output_values[index] : TENON_NONE;
}

static const tenon_program_t* slot_program(const tenon_region_t* region, uint32_t slot) {
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    if (region->slots[k].slot == slot) {
      return &region->slots[k].expression.program;
    }
  }
  return NULL;
}

static const tenon_program_t* region_program(const tenon_region_t* region) {
  return region->expression == NULL ? NULL : &region->expression->program;
}

static const tenon_program_t* program_of_node(const tenon_region_t* region, uint32_t node) {
  return node < region->node_count
             ? tenon__node_program(region->network, region->graph, region->nodes[node])
             : NULL;
}

static const tenon_region_table_t region_table = {
    .size = sizeof(tenon_region_table_t),
    .kind = region_kind,
    .node_count = node_count,
    .node_operator = node_operator,
    .node_name = node_name,
    .node_input_count = node_input_count,
    .node_output_count = node_output_count,
    .node_input = node_input,
    .node_output = node_output,
    .attribute_int = attribute_int,
    .attribute_float = attribute_float,
    .attribute_string = attribute_string,
    .attribute_ints = attribute_ints,
    .attribute_floats = attribute_floats,
    .attribute_strings = attribute_strings,
    .value_count = value_count,
    .value = value_info,
    .input_count = input_count,
    .output_count = output_count,
    .input = input_value,
    .output = output_value,
    .slot_program = slot_program,
    .program = region_program,
    .node_program = program_of_node,
};

const tenon_region_table_t* tenon__region_table(void) {
  return &region_table;
}
