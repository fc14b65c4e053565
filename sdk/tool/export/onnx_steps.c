/* Arithmetic for an ONNX file: a list of typed steps, with casts where two types meet. */
#include "export/onnx_steps.h"

#include <string.h>

#include "text/memory.h"

tool_onnx_term_t tool_onnx_integer(double value) {
  return (tool_onnx_term_t){.kind = TOOL_ONNX_NUMBER, .number = value};
}

tool_onnx_term_t tool_onnx_real(double value) {
  return (tool_onnx_term_t){.kind = TOOL_ONNX_NUMBER, .number = value, .is_float = true};
}

/* Adds a step over operands whose types are settled. */
static tool_onnx_term_t append(tool_onnx_steps_t* steps, const char* type,
                               const tool_onnx_term_t* operands, uint32_t count,
                               tenon_dtype_t dtype) {
  steps->items = tool_grow(steps->items, &steps->capacity, steps->count + 1, sizeof(*steps->items));
  tool_onnx_step_t* step = &steps->items[steps->count];
  *step = (tool_onnx_step_t){.type = type, .count = count, .dtype = dtype};
  memcpy(step->operands, operands, count * sizeof(*operands));
  return (tool_onnx_term_t){
      .kind = TOOL_ONNX_STEP, .index = (uint32_t)steps->count++, .dtype = dtype};
}

tool_onnx_term_t tool_onnx_cast(tool_onnx_steps_t* steps, tool_onnx_term_t term,
                                tenon_dtype_t dtype) {
  if (term.kind == TOOL_ONNX_NUMBER && tool_dtype_class(dtype) == 'f') {
    term.is_float = true;
    term.dtype = dtype;
    return term;
  }
  if (term.dtype == dtype) {
    return term;
  }
  if (term.kind == TOOL_ONNX_NUMBER) {
    term.dtype = term.is_float ? TENON_DTYPE_FLOAT64 : TENON_DTYPE_INT64;
  }
  const tool_onnx_term_t cast = append(steps, "Cast", &term, 1, dtype);
  tool_onnx_add_integer(steps, "to", tool_onnx_dtype(dtype));
  return cast;
}

tool_onnx_term_t tool_onnx_load(tool_onnx_steps_t* steps, uint32_t index) {
  const tenon_dtype_t dtype =
      tool_export_type_of(steps->node->network, steps->node->item->inputs[index]).dtype;
  const tool_onnx_term_t term = {.kind = TOOL_ONNX_INPUT, .index = index, .dtype = dtype};
  const bool is_narrow = tool_dtype_class(dtype) == 'f' && dtype != TENON_DTYPE_FLOAT32 &&
                         dtype != TENON_DTYPE_FLOAT64;
  return is_narrow ? tool_onnx_cast(steps, term, TENON_DTYPE_FLOAT32) : term;
}

/* The type of the first operand that has one; of numbers alone, a usual one. */
static tenon_dtype_t common_type(const tool_onnx_term_t* operands, uint32_t count) {
  bool is_float = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (operands[i].dtype != TENON_DTYPE_UNDEFINED) {
      return operands[i].dtype;
    }
    is_float = is_float || operands[i].is_float;
  }
  return is_float ? TENON_DTYPE_FLOAT32 : TENON_DTYPE_INT64;
}

bool tool_onnx_add(tool_onnx_steps_t* steps, const char* type, const tool_onnx_term_t* operands,
                   uint32_t count, tenon_dtype_t dtype, tool_onnx_term_t* out_term) {
  const uint32_t first = strcmp(type, "Where") == 0 ? 1 : 0; /* its condition is bool */
  const tenon_dtype_t common = common_type(operands + first, count - first);
  tool_onnx_term_t typed[3];
  memcpy(typed, operands, count * sizeof(*operands));
  for (uint32_t i = first; i < count; ++i) {
    if (typed[i].dtype == TENON_DTYPE_UNDEFINED) {
      typed[i].dtype = common;
    }
    if (typed[i].dtype != common) {
      return tool_onnx_refuse(steps->node, "its operands differ in type");
    }
  }
  *out_term = append(steps, type, typed, count, dtype == TENON_DTYPE_UNDEFINED ? common : dtype);
  return true;
}

void tool_onnx_add_list(tool_onnx_steps_t* steps, const int64_t* values, uint32_t count) {
  tool_onnx_step_t* step = &steps->items[steps->count - 1];
  step->list = tool_allocate(count + 1u, sizeof(*values));
  memcpy(step->list, values, count * sizeof(*values));
  step->list_count = count;
}

void tool_onnx_add_integer(tool_onnx_steps_t* steps, const char* attribute, int64_t value) {
  steps->items[steps->count - 1].attribute = attribute;
  steps->items[steps->count - 1].value = value;
}

/* ---- Writing ---- */

/* The operand's name, freed by tool_free; NULL when it is lacking. */
static char* name_of(const tool_onnx_steps_t* steps, const tool_onnx_term_t* term,
                     char* const* results) {
  if (term->kind == TOOL_ONNX_NUMBER) {
    return tool_onnx_number(steps->node, term->dtype, term->number);
  }
  const char* name = term->kind == TOOL_ONNX_STEP ? results[term->index]
                                                  : tool_onnx_source(steps->node, term->index);
  return name == NULL ? NULL : tool_copy_text(name);
}

static bool write_step(const tool_onnx_steps_t* steps, size_t index, char* const* results) {
  const tool_onnx_step_t* step = &steps->items[index];
  char* names[4] = {NULL};
  bool are_there = true;
  for (uint32_t i = 0; i < step->count; ++i) {
    names[i] = name_of(steps, &step->operands[i], results);
    are_there = are_there && names[i] != NULL;
  }
  if (step->list != NULL) {
    names[step->count] = tool_onnx_int64s(steps->node, "list", step->list, step->list_count);
  }
  if (are_there) {
    tool_wire_writer_t* writer = tool_onnx_node(steps->node->file, step->type, 0);
    for (uint32_t i = 0; i < 4 && names[i] != NULL; ++i) {
      tool_onnx_input(writer, names[i]);
    }
    tool_onnx_output(writer, results[index]);
    if (step->attribute != NULL) {
      tool_onnx_int(writer, step->attribute, step->value);
    }
  }
  for (uint32_t i = 0; i < 4; ++i) {
    tool_free(names[i]);
  }
  return are_there;
}

bool tool_onnx_write_steps(tool_onnx_steps_t* steps, tool_onnx_term_t result) {
  const tool_onnx_node_t* node = steps->node;
  const tenon_dtype_t dtype = tool_export_type_of(node->network, node->item->outputs[0]).dtype;
  if (result.kind == TOOL_ONNX_NUMBER) {
    return tool_onnx_refuse(steps->node, "it is a number alone");
  }
  result = tool_onnx_cast(steps, result, dtype);
  if (result.kind == TOOL_ONNX_INPUT) {
    result = append(steps, "Identity", &result, 1, dtype);
  }
  char** results = tool_allocate(steps->count, sizeof(*results));
  bool is_done = true;
  for (size_t i = 0; i < steps->count && is_done; ++i) {
    results[i] = i == result.index
                     ? tool_copy_text(tool_export_target(node->network, node->item, 0))
                     : tool_export_aside(node->network, node->item, steps->items[i].type);
    is_done = write_step(steps, i, results);
  }
  for (size_t i = 0; i < steps->count; ++i) {
    tool_free(results[i]);
  }
  tool_free(results);
  return is_done;
}

void tool_onnx_free_steps(tool_onnx_steps_t* steps) {
  for (size_t i = 0; i < steps->count; ++i) {
    tool_free(steps->items[i].list);
  }
  tool_free(steps->items);
  *steps = (tool_onnx_steps_t){0};
}
