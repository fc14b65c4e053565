/* Maps from names to values and literals, one for each block, searched from inner to outer
 * blocks. */
#include "scope.h"

#include "literal.h"

static tenon_status_t add(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                          const char* name, tenon__onnx_binding_t** out_binding) {
  tenon__onnx_binding_t* binding = tenon_reader_allocate(program->reader, 1, sizeof(*binding));
  if (binding == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  TENON_READER_TRY(tenon_reader_names_set(program->reader, &scope->bindings, name, binding));
  *out_binding = binding;
  return TENON_OK;
}

tenon_status_t tenon__onnx_scope_bind(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                      const char* name, tenon_value_t value) {
  tenon__onnx_binding_t* binding = NULL;
  TENON_READER_TRY(add(program, scope, name, &binding));
  binding->value = value;
  binding->is_built = true;
  return TENON_OK;
}

tenon_status_t tenon__onnx_scope_bind_literal(tenon__onnx_program_t* program,
                                              tenon__onnx_scope_t* scope, const char* name,
                                              const tenon__onnx_literal_t* literal) {
  tenon__onnx_binding_t* binding = NULL;
  TENON_READER_TRY(add(program, scope, name, &binding));
  binding->is_literal = true;
  binding->literal = *literal;
  return TENON_OK;
}

tenon__onnx_binding_t* tenon__onnx_scope_binding(const tenon__onnx_scope_t* scope,
                                                 const char* name) {
  for (; scope != NULL; scope = scope->outer) {
    tenon__onnx_binding_t* binding = tenon_reader_names_find(&scope->bindings, name);
    if (binding != NULL) {
      return binding;
    }
  }
  return NULL;
}

tenon_status_t tenon__onnx_scope_find(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                      const char* name, tenon_value_t* out_value) {
  tenon__onnx_binding_t* binding = tenon_reader_names_find(&scope->bindings, name);
  if (binding == NULL) {
    const tenon__onnx_binding_t* outer = tenon__onnx_scope_binding(scope->outer, name);
    const bool is_absent = outer != NULL && outer->is_built && outer->value.id == 0;
    if (is_absent) { /* an optional input of a function */
      *out_value = outer->value;
      return TENON_OK;
    }
    if (outer == NULL || !outer->is_literal) {
      return TENON_READER_FAIL(program->reader, TENON_ERROR_INVALID_DATA,
                               "'%s' is read before it has a value", name);
    }
    const tenon__onnx_literal_t literal = outer->literal;
    TENON_READER_TRY(tenon__onnx_scope_bind_literal(program, scope, name, &literal));
    binding = tenon_reader_names_find(&scope->bindings, name);
  }
  if (!binding->is_built) {
    const char* full = tenon_reader_format(program->reader, "%s%s", scope->frame->prefix, name);
    if (full == NULL) {
      return tenon_reader_fail_memory(program->reader);
    }
    TENON_READER_TRY(tenon__onnx_literal_build(program->reader, program->model, &binding->literal,
                                               full, &binding->value));
    TENON_READER_TRY(tenon__onnx_scope_mark_named(program, scope, binding->value));
    binding->is_built = true;
  }
  *out_value = binding->value;
  return TENON_OK;
}

tenon_status_t tenon__onnx_scope_bind_initialisers(tenon__onnx_program_t* program,
                                                   tenon__onnx_scope_t* scope) {
  const Onnx__GraphProto* graph = scope->block->graph;
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    const tenon__onnx_literal_t literal = {.tensor = graph->initializer[i]};
    TENON_READER_TRY(tenon__onnx_scope_bind_literal(
        program, scope, tenon__onnx_text(graph->initializer[i]->name), &literal));
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; ++i) {
    const tenon__onnx_literal_t literal = {.sparse = graph->sparse_initializer[i]};
    const Onnx__TensorProto* values = graph->sparse_initializer[i]->values;
    TENON_READER_TRY(tenon__onnx_scope_bind_literal(
        program, scope, tenon__onnx_text(values == NULL ? NULL : values->name), &literal));
  }
  return TENON_OK;
}

static bool is_named(const tenon__onnx_target_t* target, tenon_value_t value) {
  return value.id < target->capacity && target->named[value.id] != 0;
}

tenon_status_t tenon__onnx_scope_mark_named(tenon__onnx_program_t* program,
                                            const tenon__onnx_scope_t* scope, tenon_value_t value) {
  tenon__onnx_target_t* target = scope->target;
  if (value.id >= target->capacity) {
    const size_t capacity = ((size_t)value.id + 64) * 2;
    uint8_t* larger = tenon_reader_allocate(program->reader, capacity, 1);
    if (larger == NULL) {
      return tenon_reader_fail_memory(program->reader);
    }
    if (target->capacity > 0) {
      memcpy(larger, target->named, target->capacity);
    }
    target->named = larger;
    target->capacity = capacity;
  }
  target->named[value.id] = 1;
  return TENON_OK;
}

tenon_status_t tenon__onnx_scope_name(tenon__onnx_program_t* program,
                                      const tenon__onnx_scope_t* scope, tenon_value_t value,
                                      const char* name) {
  tenon_reader_t* reader = program->reader;
  if (is_named(scope->target, value)) {
    return TENON_OK;
  }
  TENON_READER_TRY(tenon__onnx_scope_mark_named(program, scope, value));
  const char* full = tenon_reader_format(reader, "%s%s", scope->frame->prefix, name);
  return full == NULL ? tenon_reader_fail_memory(reader)
                      : reader->build->set_name(reader->builder, value, full);
}
