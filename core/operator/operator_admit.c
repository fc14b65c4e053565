/*
 * Admission: copy the descriptor, check its signature, parse its texts, check their names, digest.
 * Each step reports the first fault it finds, with the operator's name before it.
 */
#include "core/operator/operator_admit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/operator/attribute.h"
#include "core/operator/domain.h"
#include "core/tensor/dtype.h"

/* ---- Copies in full size ---- */

enum { MAX_ITEM_COUNT = 4096, MAX_STRIDE = 65536 };

/* A list of growing structures, and their size here. */
typedef struct array_t {
  const char* what;
  tenon_list_t list;
  size_t full_size;
} array_t;

static tenon_status_t copy_array(tenon__arena_t* arena, const array_t* array,
                                 const tenon_sink_t* sink, const void** out_items) {
  const tenon_list_t* list = &array->list;
  *out_items = NULL;
  if (list->count == 0) {
    return TENON_OK;
  }
  if (list->items == NULL || list->count > MAX_ITEM_COUNT || list->stride < sizeof(size_t) ||
      list->stride > MAX_STRIDE) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "%u %s at %s with a stride of %u bytes: malformed descriptor", list->count,
                       array->what, list->items == NULL ? "NULL" : "an address", list->stride);
  }
  uint8_t* copies = tenon__arena_allocate(arena, list->count, array->full_size);
  TENON_TRY_MEMORY(copies != NULL);
  for (uint32_t i = 0; i < list->count; ++i) {
    const void* item = tenon__list_item(list, i);
    size_t size = 0;
    memcpy(&size, item, sizeof(size));
    if (size == 0 || size > list->stride) {
      size = list->stride;
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

static tenon_status_t copy_control(tenon__arena_t* arena, const tenon_control_t* control,
                                   const tenon_sink_t* sink, const void** out_control) {
  const size_t size = control == NULL || control->size > MAX_STRIDE ? 0 : control->size;
  const array_t array = {
      "control form", {control, control == NULL ? 0 : 1, (uint32_t)size}, sizeof(tenon_control_t)};
  return copy_array(arena, &array, sink, out_control);
}

static tenon_status_t copy_operator(tenon__arena_t* arena, const tenon_operator_t* source,
                                    const tenon_sink_t* sink, tenon__descriptor_t* out_copy) {
  tenon_operator_t op;
  memset(&op, 0, sizeof(op));
  memcpy(&op, source, source->size < sizeof(op) ? source->size : sizeof(op));
  tenon__descriptor_t copy = {.name = op.name,
                              .summary = op.summary,
                              .shape = op.shape,
                              .contents = op.contents,
                              .traits = op.traits,
                              .infer = op.infer,
                              .operations = op.operations};
  const void* items = NULL;
#define COPY_LIST(what, list, count_of_it)                             \
  const array_t array_of_##list = {what, op.list, sizeof(*copy.list)}; \
  TENON_TRY(copy_array(arena, &array_of_##list, sink, &items));        \
  copy.list = items;                                                   \
  copy.count_of_it = items == NULL ? 0 : op.list.count
  COPY_LIST("attributes", attributes, attribute_count);
  COPY_LIST("type variables", types, type_count);
  COPY_LIST("inputs", inputs, input_count);
  COPY_LIST("outputs", outputs, output_count);
  COPY_LIST("checks", checks, check_count);
  COPY_LIST("cases", cases, case_count);
  COPY_LIST("moves", moves, move_count);
  COPY_LIST("decompositions", decompositions, decomposition_count);
#undef COPY_LIST
  TENON_TRY(copy_control(arena, op.control, sink, &items));
  copy.control = items;
  *out_copy = copy;
  return TENON_OK;
}

typedef struct admission_t {
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
  tenon__operator_t* op;
} admission_t;

/* "domain.name/1": letters, digits, '_', dots between words, a number without leading zeros. */
static bool is_identity(const char* name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const char* slash = strrchr(name, '/');
  if (slash == NULL || slash[1] < '1' || slash[1] > '9' ||
      slash[1 + strspn(slash + 1, "0123456789")] != '\0') {
    return false;
  }
  bool has_dot = false;
  const char* at = name;
  while (at < slash) {
    const size_t length = strspn(at, letters);
    if (length == 0) {
      return false;
    }
    at += length;
    if (at < slash && *at++ != '.') {
      return false;
    }
    has_dot = has_dot || at[-1] == '.';
  }
  return has_dot && at == slash && at[-1] != '.';
}

static bool is_name(const char* name) {
  return name != NULL &&
         (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") > 0) &&
         name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ==
             '\0';
}

static tenon_status_t check_types(const admission_t* admission) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  for (uint32_t i = 0; i < op->type_count; ++i) {
    const tenon_type_variable_t* type = &op->types[i];
    if (!is_name(type->name) || type->allowed == NULL ||
        tenon__dtype_allowed(type->allowed, TENON_DTYPE_FLOAT32) < 0) {
      return tenon__fail(
          admission->sink, TENON_ERROR_INVALID_DATA, "type variable %s: '%s' is no list of types",
          type->name == NULL ? "?" : type->name, type->allowed == NULL ? "" : type->allowed);
    }
  }
  return TENON_OK;
}

static bool is_type(const tenon__descriptor_t* op, const char* type) {
  if (type == NULL) {
    return false;
  }
  if (type[0] == '$') {
    const uint32_t index = tenon__operator_attribute(op, type + 1);
    return index != TENON_NONE && op->attributes[index].kind == TENON_ATTRIBUTE_DTYPE;
  }
  return tenon__operator_type(op, type) != TENON_NONE ||
         tenon__dtype_from_name(type) != TENON_DTYPE_UNDEFINED;
}

static tenon_status_t check_domain(const admission_t* admission, const tenon_port_t* port) {
  tenon__domain_t domain;
  const char* fault = NULL;
  if (tenon__domain_parse(&admission->op->descriptor, port->domain, &domain, &fault)) {
    return TENON_OK;
  }
  return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                     "port '%s': its domain, column %zu: '%.40s' is unknown (see plugin.h) or "
                     "repeated",
                     port->name, (size_t)(fault - port->domain) + 1, fault);
}

static tenon_status_t check_ports(const admission_t* admission, const tenon_port_t* ports,
                                  uint32_t count) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  for (uint32_t i = 0; i < count; ++i) {
    const tenon_port_t* port = &ports[i];
    if (!is_name(port->name)) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA, "port %u has no proper name",
                         i);
    }
    const bool twice =
        tenon__operator_port(ports, count, port->name) != i ||
        tenon__operator_attribute(op, port->name) != TENON_NONE ||
        (ports == op->outputs && tenon__operator_input(op, port->name) != TENON_NONE);
    if (twice) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA, "the name '%s' is used twice",
                         port->name);
    }
    if (!is_type(op, port->type)) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                         "port '%s': '%s' is no type, type variable or dtype attribute", port->name,
                         port->type == NULL ? "" : port->type);
    }
    if ((port->flags & TENON_PORT_VARIADIC) != 0 && i + 1 != count) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                         "port '%s' is variadic but not the last", port->name);
    }
    TENON_TRY(check_domain(admission, port));
  }
  return TENON_OK;
}

static tenon_status_t parse_default(const admission_t* admission,
                                    const tenon_attribute_descriptor_t* attribute,
                                    tenon__scope_attribute_t* out_value) {
  const tenon__syntax_t* syntax = NULL;
  tenon__scope_attribute_t value = {.name = attribute->name, .kind = attribute->kind};
  TENON_TRY(tenon__text_parse_expression(admission->arena, attribute->default_text, admission->sink,
                                         &syntax));
  const tenon_status_t status =
      tenon__attribute_from_syntax(admission->arena, syntax, attribute->kind, &value);
  TENON_TRY_MEMORY(status != TENON_ERROR_OUT_OF_MEMORY);
  if (status != TENON_OK) {
    return tenon__fail(admission->sink, status,
                       "attribute '%s': its default '%s' is not of kind %s", attribute->name,
                       attribute->default_text, tenon__attribute_kind_name(attribute->kind));
  }
  *out_value = value;
  return TENON_OK;
}

static tenon_status_t check_attribute(const admission_t* admission, uint32_t index,
                                      tenon__scope_attribute_t* out_value) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  const tenon_attribute_descriptor_t* attribute = &op->attributes[index];
  if (!is_name(attribute->name) || tenon__operator_attribute(op, attribute->name) != index) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                       "attribute %u: its name is not proper or is used twice", index);
  }
  *out_value = (tenon__scope_attribute_t){.name = attribute->name, .kind = attribute->kind};
  if (attribute->kind < TENON_ATTRIBUTE_INT || attribute->kind > TENON_ATTRIBUTE_BODY) {
    return tenon__fail(admission->sink, TENON_ERROR_UNSUPPORTED,
                       "attribute '%s' is of kind %u, which this core does not know",
                       attribute->name, attribute->kind);
  }
  const bool is_literal =
      attribute->kind != TENON_ATTRIBUTE_TENSOR && attribute->kind != TENON_ATTRIBUTE_BODY;
  const bool required = (attribute->flags & TENON_ATTRIBUTE_REQUIRED) != 0;
  if (is_literal && !required && attribute->default_text == NULL) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                       "attribute '%s' is not required and has no default", attribute->name);
  }
  if (is_literal && attribute->default_text != NULL) {
    TENON_TRY(parse_default(admission, attribute, out_value));
  }
  const int allowed = tenon__attribute_allowed(attribute->choices, out_value);
  if (allowed < 0 || (allowed == 0 && is_literal && !required)) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                       "attribute '%s': the choices '%s' %s", attribute->name, attribute->choices,
                       allowed < 0 ? "are malformed" : "do not include its default");
  }
  return TENON_OK;
}

static tenon_status_t check_attributes(const admission_t* admission) {
  const uint32_t count = admission->op->descriptor.attribute_count;
  tenon__scope_attribute_t* defaults =
      tenon__arena_allocate(admission->arena, count + 1u, sizeof(*defaults));
  TENON_TRY_MEMORY(defaults != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    if (admission->op->descriptor.attributes[i].name == NULL) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA, "attribute %u has no name", i);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(check_attribute(admission, i, &defaults[i]));
  }
  admission->op->defaults = defaults;
  return TENON_OK;
}

static bool names_int_attribute(const tenon__descriptor_t* op, const char* name, uint32_t kind) {
  const uint32_t index = name == NULL ? TENON_NONE : tenon__operator_attribute(op, name);
  return name == NULL || (index != TENON_NONE && op->attributes[index].kind == kind);
}

static tenon_status_t check_control(const admission_t* admission) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  const tenon_control_t* control = op->control;
  if (control == NULL) {
    return TENON_OK;
  }
  if (control->form < TENON_CONTROL_CHOOSE || control->form > TENON_CONTROL_MAP) {
    return tenon__fail(admission->sink, TENON_ERROR_UNSUPPORTED,
                       "control form %u is not known to this core", control->form);
  }
  if (!names_int_attribute(op, control->carried_attribute, TENON_ATTRIBUTE_INT) ||
      !names_int_attribute(op, control->scanned_attribute, TENON_ATTRIBUTE_INT) ||
      !names_int_attribute(op, control->axes_attribute, TENON_ATTRIBUTE_INTS) ||
      !names_int_attribute(op, control->directions_attribute, TENON_ATTRIBUTE_INTS)) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                       "the control form names an attribute that is not there or of another kind");
  }
  const uint32_t fixed = control->form == TENON_CONTROL_CHOOSE   ? 1
                         : control->form == TENON_CONTROL_REPEAT ? 2
                                                                 : 0;
  if (op->input_count < fixed) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                       "the control form needs %u inputs, %u are declared", fixed, op->input_count);
  }
  return TENON_OK;
}

static tenon_status_t check_signature(const admission_t* admission) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  TENON_TRY(check_attributes(admission));
  TENON_TRY(check_types(admission));
  for (uint32_t i = 0; i < op->input_count + op->output_count; ++i) {
    const bool is_input = i < op->input_count;
    const tenon_port_t* port = is_input ? &op->inputs[i] : &op->outputs[i - op->input_count];
    if (port->name == NULL) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA, "a port has no name");
    }
  }
  TENON_TRY(check_ports(admission, op->inputs, op->input_count));
  TENON_TRY(check_ports(admission, op->outputs, op->output_count));
  TENON_TRY(check_control(admission));
  if (op->output_count == 0) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA, "it has no outputs");
  }
  if (op->case_count > 0 && op->move_count > 0) {
    return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                       "it declares both cases and moves");
  }
  return TENON_OK;
}

/* Without any of these nobody could tell the outputs' shapes. */
static tenon_status_t check_shape_source(const admission_t* admission) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  const uint32_t open = TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL_TYPE | TENON_PORT_UNBOUNDED;
  if (op->shape != NULL || op->contents != NULL || op->infer != NULL || op->control != NULL ||
      op->case_count > 0) {
    return TENON_OK;
  }
  for (uint32_t i = 0; i < op->output_count; ++i) {
    if ((op->outputs[i].flags & open) == 0) {
      return tenon__fail(admission->sink, TENON_ERROR_INVALID_DATA,
                         "nothing tells the shape of output '%s'", op->outputs[i].name);
    }
  }
  return TENON_OK;
}

static tenon_status_t parse_optional(const admission_t* admission, const char* source,
                                     const char* what, const tenon__text_t** out_text) {
  *out_text = NULL;
  if (source == NULL) {
    return TENON_OK;
  }
  tenon__text_t* text = tenon__arena_allocate(admission->arena, 1, sizeof(*text));
  TENON_TRY_MEMORY(text != NULL);
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, admission->sink, what);
  TENON_TRY(tenon__text_parse(admission->arena, source, &prefixed.sink, text));
  *out_text = text;
  return TENON_OK;
}

static tenon_status_t parse_case(tenon__arena_t* arena, const tenon_case_t* declared, bool is_calls,
                                 const tenon_sink_t* sink, tenon__operator_case_t* out_case) {
  if (declared->when != NULL) {
    TENON_TRY(tenon__text_parse_expression(arena, declared->when, sink, &out_case->when));
  }
  return is_calls ? tenon__calls_parse(arena, declared->text, sink, &out_case->calls)
                  : tenon__text_parse(arena, declared->text, sink, &out_case->text);
}

static tenon_status_t parse_cases(const admission_t* admission, const tenon_case_t* cases,
                                  uint32_t count, const char* what,
                                  const tenon__operator_case_t** out_cases) {
  tenon__operator_case_t* parsed =
      tenon__arena_allocate(admission->arena, count + 1u, sizeof(*parsed));
  TENON_TRY_MEMORY(parsed != NULL);
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, admission->sink, what);
  for (uint32_t i = 0; i < count; ++i) {
    if (cases[i].text == NULL) {
      return tenon__fail(&prefixed.sink, TENON_ERROR_INVALID_DATA, "number %u has no text", i);
    }
    const bool is_calls = cases == admission->op->descriptor.decompositions;
    TENON_TRY(parse_case(admission->arena, &cases[i], is_calls, &prefixed.sink, &parsed[i]));
  }
  *out_cases = parsed;
  return TENON_OK;
}

static tenon_status_t parse_checks(const admission_t* admission) {
  const tenon__descriptor_t* op = &admission->op->descriptor;
  const tenon__syntax_t** checks =
      tenon__arena_allocate(admission->arena, op->check_count + 1u, sizeof(tenon__syntax_t*));
  TENON_TRY_MEMORY(checks != NULL);
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, admission->sink, "check: ");
  for (uint32_t i = 0; i < op->check_count; ++i) {
    if (op->checks[i].condition == NULL || op->checks[i].message == NULL) {
      return tenon__fail(&prefixed.sink, TENON_ERROR_INVALID_DATA,
                         "number %u lacks its condition or message", i);
    }
    TENON_TRY(tenon__text_parse_expression(admission->arena, op->checks[i].condition,
                                           &prefixed.sink, &checks[i]));
  }
  admission->op->checks = checks;
  return TENON_OK;
}

static tenon_status_t parse_operations(const admission_t* admission) {
  const char* text = admission->op->descriptor.operations;
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, admission->sink, "operations: ");
  return text == NULL ? TENON_OK
                      : tenon__text_parse_expression(admission->arena, text, &prefixed.sink,
                                                     &admission->op->operations);
}

static tenon_status_t parse_texts(const admission_t* admission) {
  tenon__operator_t* op = admission->op;
  const tenon__descriptor_t* descriptor = &op->descriptor;
  TENON_TRY(parse_optional(admission, descriptor->shape, "shape: ", &op->shape));
  TENON_TRY(parse_optional(admission, descriptor->contents, "contents: ", &op->contents));
  TENON_TRY(
      parse_cases(admission, descriptor->cases, descriptor->case_count, "case: ", &op->cases));
  TENON_TRY(
      parse_cases(admission, descriptor->moves, descriptor->move_count, "move: ", &op->moves));
  TENON_TRY(parse_cases(admission, descriptor->decompositions, descriptor->decomposition_count,
                        "decomposition: ", &op->decompositions));
  TENON_TRY(parse_operations(admission));
  return parse_checks(admission);
}

static tenon_status_t admit(const admission_t* admission, const tenon_operator_t* descriptor) {
  tenon__operator_t* op = admission->op;
  TENON_TRY(copy_operator(admission->arena, descriptor, admission->sink, &op->descriptor));
  TENON_TRY(check_signature(admission));
  TENON_TRY(tenon__operator_traits_parse(&op->descriptor, admission->sink, &op->traits));
  TENON_TRY(parse_texts(admission));
  TENON_TRY(check_shape_source(admission));
  TENON_TRY(tenon__operator_check_names(op, admission->sink));
  return tenon__operator_contract(admission->arena->allocator, op, &op->contract);
}

tenon_status_t tenon__operator_admit(tenon__arena_t* arena, const tenon_operator_t* descriptor,
                                     const char* plugin, void* state, const tenon_sink_t* sink,
                                     const tenon__operator_t** out_operator) {
  if (descriptor->size < offsetof(tenon_operator_t, summary) || descriptor->name == NULL ||
      !is_identity(descriptor->name)) {
    return tenon__fail(
        sink, TENON_ERROR_INVALID_DATA, "%s: '%s' is no operator's identity (domain.name/1)",
        plugin,
        descriptor->size < offsetof(tenon_operator_t, summary) || descriptor->name == NULL
            ? ""
            : descriptor->name);
  }
  tenon__operator_t* op = tenon__arena_allocate(arena, 1, sizeof(*op));
  TENON_TRY_MEMORY(op != NULL);
  op->name = descriptor->name;
  op->plugin = plugin;
  op->state = state;
  char prefix[256];
  (void)snprintf(prefix, sizeof(prefix), "operator %s of %s: ", op->name, plugin);
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, sink, prefix);
  const admission_t admission = {arena, &prefixed.sink, op};
  TENON_TRY(admit(&admission, descriptor));
  *out_operator = op;
  return TENON_OK;
}
