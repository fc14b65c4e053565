/*
 * Operators in a plan: identity and contract, and what the runtime asks of an operator whose plugin
 * may be absent when the plan is loaded: its ports and its control form.
 */
#include "core/plan_file/operator_file.h"

#include <string.h>

#include "core/base/status.h"
#include "core/plan_file/network_file.h"

static void write_ports(const tenon_port_t* ports, uint32_t count, tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, count);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__write_string(writer, ports[i].name);
    tenon__write_u32(writer, ports[i].flags);
  }
}

void tenon__operator_write(const tenon__operator_t* op, tenon__byte_writer_t* writer) {
  const tenon_control_t* control = op->descriptor.control;
  tenon__write_string(writer, op->name);
  tenon__write_bytes(writer, op->contract.bytes, sizeof(op->contract.bytes));
  write_ports(op->descriptor.inputs, op->descriptor.input_count, writer);
  write_ports(op->descriptor.outputs, op->descriptor.output_count, writer);
  tenon__write_u8(writer, control != NULL ? 1 : 0);
  if (control != NULL) {
    tenon__write_u32(writer, control->form);
    tenon__write_u32(writer, control->passes_iteration);
    tenon__write_string(writer, control->carried_attribute);
    tenon__write_string(writer, control->scanned_attribute);
    tenon__write_string(writer, control->axes_attribute);
    tenon__write_string(writer, control->directions_attribute);
  }
}

static bool read_ports(tenon__file_reading_t* reading, uint32_t* out_count,
                       const tenon_port_t** out_ports) {
  const uint32_t count = tenon__read_count(reading->reader, 9);
  tenon_port_t* ports = tenon__arena_allocate(&reading->network->arena, count + 1u, sizeof(*ports));
  if (ports == NULL) {
    reading->out_of_memory = true;
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    ports[i].size = sizeof(ports[i]);
    ports[i].type = "any";
    if (!tenon__text_read(reading, &ports[i].name)) {
      return false;
    }
    ports[i].flags = tenon__read_u32(reading->reader);
  }
  *out_count = count;
  *out_ports = ports;
  return !reading->reader->failed;
}

/* "" stands for none. */
static bool read_optional(tenon__file_reading_t* reading, const char** out_text) {
  if (!tenon__text_read(reading, out_text)) {
    return false;
  }
  if ((*out_text)[0] == '\0') {
    *out_text = NULL;
  }
  return true;
}

static bool read_control(tenon__file_reading_t* reading, const tenon_control_t** out_control) {
  *out_control = NULL;
  if (tenon__read_u8(reading->reader) == 0) {
    return !reading->reader->failed;
  }
  tenon_control_t* control = tenon__arena_allocate(&reading->network->arena, 1, sizeof(*control));
  if (control == NULL) {
    reading->out_of_memory = true;
    return false;
  }
  control->size = sizeof(*control);
  control->form = tenon__read_u32(reading->reader);
  control->passes_iteration = tenon__read_u32(reading->reader);
  *out_control = control;
  return control->form >= TENON_CONTROL_CHOOSE && control->form <= TENON_CONTROL_MAP &&
         read_optional(reading, &control->carried_attribute) &&
         read_optional(reading, &control->scanned_attribute) &&
         read_optional(reading, &control->axes_attribute) &&
         read_optional(reading, &control->directions_attribute);
}

bool tenon__operator_read(tenon__file_reading_t* reading, tenon__find_operator_t find,
                          void* find_user, const tenon__operator_t** out_operator) {
  tenon__operator_t* op = tenon__arena_allocate(&reading->network->arena, 1, sizeof(*op));
  reading->out_of_memory = reading->out_of_memory || op == NULL;
  if (op == NULL || !tenon__text_read(reading, &op->name)) {
    return false;
  }
  const void* contract = tenon__read_view(reading->reader, sizeof(op->contract.bytes));
  if (contract == NULL) {
    return false;
  }
  memcpy(op->contract.bytes, contract, sizeof(op->contract.bytes));
  op->plugin = "";
  op->is_missing = true;
  op->traits.linear_bias = TENON_NONE;
  op->traits.not_foldable = true;
  op->descriptor.name = op->name;
  if (!read_ports(reading, &op->descriptor.input_count, &op->descriptor.inputs) ||
      !read_ports(reading, &op->descriptor.output_count, &op->descriptor.outputs) ||
      !read_control(reading, &op->descriptor.control)) {
    return false;
  }
  *out_operator = op;
  const tenon__operator_t* found = find == NULL ? NULL : find(find_user, op->name);
  if (found != NULL && memcmp(&found->contract, &op->contract, sizeof(op->contract)) == 0) {
    *out_operator = found;
  } else if (found != NULL) {
    tenon__report(reading->sink, TENON_SEVERITY_WARNING,
                  "operator %s of %s means something else than when the plan was built", op->name,
                  found->plugin);
  }
  return true;
}
