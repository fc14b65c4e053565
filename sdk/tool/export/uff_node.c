/* The begin of an operation of a UFF file, and lists of integers as constants. */
#include "export/uff_node.h"

#include "text/memory.h"

tool_wire_writer_t* tool_uff_begin(const tool_export_node_t* node, const char* operation,
                                   uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (tool_export_source(node->network, node->item, i) == NULL) {
      return NULL;
    }
  }
  tool_wire_writer_t* writer = tool_uff_node(
      node->network->file, tool_export_target(node->network, node->item, 0), operation);
  for (uint32_t i = 0; i < count; ++i) {
    tool_uff_input(writer, tool_export_source(node->network, node->item, i));
  }
  return writer;
}

char* tool_uff_write_list(const tool_export_node_t* node, const char* what, uint32_t rank,
                          const int64_t* dims, const int64_t* values) {
  int32_t narrow[2 * TENON_RANK_LIMIT];
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    count *= (uint32_t)dims[i];
  }
  for (uint32_t i = 0; i < count; ++i) {
    narrow[i] = values[i] > INT32_MAX   ? INT32_MAX
                : values[i] < INT32_MIN ? INT32_MIN
                                        : (int32_t)values[i];
  }
  char* name = tool_export_aside(node->network, node->item, what);
  const tenon_value_type_t type = {.kind = TENON_ARGUMENT_TENSOR,
                                   .dtype = TENON_DTYPE_INT32,
                                   .rank = rank,
                                   .dims = dims,
                                   .constant_data = narrow};
  tool_uff_const(node->network->file, name, &type, count * sizeof(*narrow));
  return name;
}
