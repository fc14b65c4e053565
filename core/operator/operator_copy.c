/*
 * Full-size copies of what a plugin declares. A growing structure says its size; an array of them
 * says its stride. The smaller of both, and of what this core knows, is copied; the rest stays
 * zero.
 */
#include "core/operator/operator_copy.h"

#include <string.h>

#include "core/base/status.h"

enum { MAX_ITEM_COUNT = 4096, MAX_STRIDE = 65536 };

/* One array of growing structures. */
typedef struct array_t {
  const char* what;
  const void* items;
  uint32_t count;
  uint32_t stride;
  size_t full_size;
} array_t;

static tenon_status_t copy_array(tenon__arena_t* arena, const array_t* array,
                                 const tenon_sink_t* sink, const void** out_items) {
  *out_items = NULL;
  if (array->count == 0) {
    return TENON_OK;
  }
  if (array->items == NULL || array->count > MAX_ITEM_COUNT || array->stride < sizeof(size_t) ||
      array->stride > MAX_STRIDE) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "%u %s at %s with a stride of %u bytes: malformed descriptor", array->count,
                       array->what, array->items == NULL ? "NULL" : "an address", array->stride);
  }
  uint8_t* copies = tenon__arena_allocate(arena, array->count, array->full_size);
  TENON_TRY_MEMORY(copies != NULL);
  for (uint32_t i = 0; i < array->count; ++i) {
    const uint8_t* item = (const uint8_t*)array->items + (size_t)i * array->stride;
    size_t size = 0;
    memcpy(&size, item, sizeof(size));
    if (size == 0 || size > array->stride) {
      size = array->stride;
    }
    if (size > array->full_size) {
      size = array->full_size;
    }
    uint8_t* copy = copies + (size_t)i * array->full_size;
    memcpy(copy, item, size);
    memcpy(copy, &array->full_size, sizeof(array->full_size));
  }
  *out_items = copies;
  return TENON_OK;
}

static tenon_status_t copy_control(tenon__arena_t* arena, const tenon_sink_t* sink,
                                   tenon_operator_t* op) {
  if (op->control == NULL) {
    return TENON_OK;
  }
  const array_t array = {"control form", op->control, 1,
                         op->control->size > MAX_STRIDE ? 0 : (uint32_t)op->control->size,
                         sizeof(tenon_control_t)};
  const void* copy = NULL;
  TENON_TRY(copy_array(arena, &array, sink, &copy));
  op->control = copy;
  return TENON_OK;
}

tenon_status_t tenon__operator_copy(tenon__arena_t* arena, const tenon_operator_t* source,
                                    const tenon_sink_t* sink, tenon_operator_t* out_copy) {
  tenon_operator_t op;
  memset(&op, 0, sizeof(op));
  memcpy(&op, source, source->size < sizeof(op) ? source->size : sizeof(op));
  op.size = sizeof(op);
  const array_t arrays[] = {
      {"attributes", op.attributes, op.attribute_count, op.attribute_stride,
       sizeof(tenon_attribute_descriptor_t)},
      {"type variables", op.types, op.type_count, op.type_stride, sizeof(tenon_type_variable_t)},
      {"inputs", op.inputs, op.input_count, op.port_stride, sizeof(tenon_port_t)},
      {"outputs", op.outputs, op.output_count, op.port_stride, sizeof(tenon_port_t)},
      {"checks", op.checks, op.check_count, op.check_stride, sizeof(tenon_check_t)},
      {"cases", op.cases, op.case_count, op.case_stride, sizeof(tenon_case_t)},
      {"moves", op.moves, op.move_count, op.case_stride, sizeof(tenon_case_t)},
      {"decompositions", op.decompositions, op.decomposition_count, op.case_stride,
       sizeof(tenon_case_t)},
  };
  enum { ARRAY_COUNT = sizeof(arrays) / sizeof(arrays[0]) };
  const void* copies[ARRAY_COUNT];
  for (uint32_t i = 0; i < ARRAY_COUNT; ++i) {
    TENON_TRY(copy_array(arena, &arrays[i], sink, &copies[i]));
  }
  op.attributes = copies[0];
  op.types = copies[1];
  op.inputs = copies[2];
  op.outputs = copies[3];
  op.checks = copies[4];
  op.cases = copies[5];
  op.moves = copies[6];
  op.decompositions = copies[7];
  op.attribute_stride = sizeof(tenon_attribute_descriptor_t);
  op.type_stride = sizeof(tenon_type_variable_t);
  op.port_stride = sizeof(tenon_port_t);
  op.check_stride = sizeof(tenon_check_t);
  op.case_stride = sizeof(tenon_case_t);
  TENON_TRY(copy_control(arena, sink, &op));
  *out_copy = op;
  return TENON_OK;
}
