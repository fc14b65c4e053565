/* The nodes after an If as a body: their free names become parameters, the outputs of their block
 * become results. */
#include "rest.h"

#include "scope.h"

/* Lists on their way. */
typedef struct listing_t {
  const tenon_source_t* source;
  tenon_reader_names_t seen;
  tenon__onnx_rest_t* rest;
  uint32_t capacity; /* of each list */
} listing_t;

static size_t count_reads(const tenon__onnx_program_t* program, const Onnx__NodeProto* node) {
  size_t count = node->n_input;
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__GraphProto* graph = node->attribute[k]->g;
    count += graph == NULL ? 0 : tenon__onnx_program_block(program, graph)->capture_count;
  }
  return count;
}

/* A name that is read: of what is there already, and not absent. */
static tenon_status_t list_name(listing_t* listing, const char* name) {
  tenon__onnx_program_t* program = listing->source->program;
  const tenon__onnx_scope_t* scope = listing->source->scope;
  const tenon__onnx_binding_t* binding = tenon__onnx_scope_binding(scope, name);
  tenon__onnx_rest_t* rest = listing->rest;
  const bool is_absent = binding != NULL && binding->is_built && binding->value.id == 0;
  if (binding == NULL || is_absent || tenon_reader_names_find(&listing->seen, name) != NULL) {
    return TENON_OK;
  }
  tenon_value_t value = {0};
  TENON_READER_TRY(tenon_reader_names_set(program->reader, &listing->seen, name, program));
  /* Literals are built here, once for all bodies. */
  TENON_READER_TRY(tenon__onnx_scope_find(program, listing->source->scope, name, &value));
  if (binding->is_literal) {
    rest->literals[rest->literal_count++] = name;
  } else {
    rest->captures.names[rest->captures.count] = name;
    rest->captures.values[rest->captures.count++] = value;
  }
  return TENON_OK;
}

static tenon_status_t list_reads(listing_t* listing, const Onnx__NodeProto* node) {
  const tenon__onnx_program_t* program = listing->source->program;
  for (size_t k = 0; k < node->n_input; ++k) {
    TENON_READER_TRY(list_name(listing, tenon__onnx_text(node->input[k])));
  }
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__GraphProto* graph = node->attribute[k]->g;
    const tenon__onnx_block_t* inner =
        graph == NULL ? NULL : tenon__onnx_program_block(program, graph);
    const size_t count = inner == NULL ? 0 : inner->capture_count;
    for (size_t i = 0; i < count; ++i) {
      TENON_READER_TRY(list_name(listing, inner->captures[i].name));
    }
  }
  return TENON_OK;
}

/* The block's outputs that are not there yet. */
static tenon_status_t list_results(listing_t* listing) {
  tenon_reader_t* reader = listing->source->program->reader;
  const tenon__onnx_scope_t* scope = listing->source->scope;
  const tenon__onnx_block_t* block = scope->block;
  const size_t count = block->graph != NULL ? block->graph->n_output : block->function->n_output;
  tenon__onnx_rest_t* rest = listing->rest;
  rest->results = tenon_reader_allocate(reader, count, sizeof(char*));
  if (rest->results == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < count; ++i) {
    const char* name = tenon__onnx_text(block->graph != NULL ? block->graph->output[i]->name
                                                             : block->function->output[i]);
    if (tenon__onnx_scope_binding(scope, name) == NULL &&
        tenon_reader_names_find(&listing->seen, name) == NULL) {
      TENON_READER_TRY(tenon_reader_names_set(reader, &listing->seen, name, rest));
      rest->results[rest->result_count++] = name;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_list_rest(const tenon_source_t* source, tenon__onnx_rest_t* out_rest) {
  tenon__onnx_program_t* program = source->program;
  const tenon__onnx_scope_t* scope = source->scope;
  const tenon__onnx_block_t* block = scope->block;
  listing_t listing = {.source = source, .rest = out_rest};
  size_t limit = 0;
  for (size_t i = scope->position + 1; i < block->node_count; ++i) {
    limit += count_reads(program, block->nodes[block->order[i]]);
  }
  *out_rest = (tenon__onnx_rest_t){0};
  out_rest->captures.names = tenon_reader_allocate(program->reader, limit, sizeof(char*));
  out_rest->captures.values = tenon_reader_allocate(program->reader, limit, sizeof(tenon_value_t));
  out_rest->literals = tenon_reader_allocate(program->reader, limit, sizeof(char*));
  if (out_rest->captures.names == NULL || out_rest->captures.values == NULL ||
      out_rest->literals == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  for (size_t i = scope->position + 1; i < block->node_count; ++i) {
    TENON_READER_TRY(list_reads(&listing, block->nodes[block->order[i]]));
  }
  return list_results(&listing);
}

static tenon_status_t bind_named(tenon__onnx_program_t* program, tenon__onnx_scope_t* scope,
                                 const char* name, tenon_value_t value) {
  TENON_READER_TRY(tenon__onnx_scope_mark_named(program, scope, value));
  return tenon__onnx_scope_bind(program, scope, name, value);
}

tenon_status_t tenon__onnx_convert_rest(const tenon_source_t* source,
                                        const tenon__onnx_rest_t* rest,
                                        const tenon_value_t* captured, const tenon_value_t* outputs,
                                        uint32_t output_count, tenon_value_t* out_results) {
  tenon__onnx_program_t* program = source->program;
  tenon__onnx_scope_t* scope = tenon_reader_allocate(program->reader, 1, sizeof(*scope));
  tenon__onnx_target_t* target = tenon_reader_allocate(program->reader, 1, sizeof(*target));
  if (scope == NULL || target == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  scope->outer = source->scope;
  scope->frame = source->scope->frame;
  scope->target = target;
  scope->block = source->scope->block;
  for (uint32_t i = 0; i < rest->captures.count; ++i) {
    TENON_READER_TRY(bind_named(program, scope, rest->captures.names[i], captured[i]));
  }
  for (uint32_t i = 0; i < rest->literal_count; ++i) {
    TENON_READER_TRY(tenon_reader_names_set(
        program->reader, &scope->bindings, rest->literals[i],
        tenon_reader_names_find(&source->scope->bindings, rest->literals[i])));
  }
  for (uint32_t i = 0; i < output_count && i < source->node->n_output; ++i) {
    const char* name = tenon__onnx_text(source->node->output[i]);
    if (name[0] != '\0') {
      TENON_READER_TRY(bind_named(program, scope, name, outputs[i]));
    }
  }
  TENON_READER_TRY(tenon__onnx_convert_nodes_from(program, scope, source->scope->position + 1));
  for (uint32_t i = 0; i < rest->result_count; ++i) {
    TENON_READER_TRY(tenon__onnx_scope_find(program, scope, rest->results[i], &out_results[i]));
  }
  return TENON_OK;
}
