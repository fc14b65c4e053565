/* Names and order within graphs and functions, found before anything is built. */
#include <string.h>

#include "program.h"

/* What defines a name within a block. */
typedef struct definition_t {
  size_t node; /* SIZE_MAX: an input or initialiser */
  bool is_input;
} definition_t;

typedef struct resolver_t {
  tenon__onnx_program_t* program;
  tenon__onnx_block_t* block;
  tenon_reader_names_t definitions;
  tenon_reader_names_t captured;
  size_t* dependencies; /* of node i: [begins[i], begins[i + 1]) */
  size_t* begins;
  size_t count;
  size_t capacity;
} resolver_t;

static tenon_status_t resolve_graph(tenon__onnx_program_t* program, const Onnx__GraphProto* graph);

static const char* block_name(const tenon__onnx_block_t* block) {
  return tenon__onnx_text(block->graph != NULL ? block->graph->name : block->function->name);
}

static tenon_status_t define(resolver_t* resolver, const char* name, size_t node, bool is_input) {
  tenon_reader_t* reader = resolver->program->reader;
  const definition_t* old = tenon_reader_names_find(&resolver->definitions, name);
  /* An initialiser may give the default of an input. */
  const bool is_default =
      old != NULL && is_input != old->is_input && node == SIZE_MAX && old->node == SIZE_MAX;
  if (old != NULL && !is_default) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "graph '%s': '%s' is defined twice",
                             block_name(resolver->block), name);
  }
  definition_t* definition = tenon_reader_allocate(reader, 1, sizeof(*definition));
  if (definition == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  definition->node = node;
  definition->is_input = is_input;
  return tenon_reader_names_set(reader, &resolver->definitions, name, definition);
}

static tenon_status_t define_node(resolver_t* resolver, size_t index) {
  const Onnx__NodeProto* node = resolver->block->nodes[index];
  for (size_t k = 0; k < node->n_output; ++k) {
    const char* name = tenon__onnx_text(node->output[k]);
    if (name[0] != '\0') {
      TENON_READER_TRY(define(resolver, name, index, false));
    }
  }
  return TENON_OK;
}

static tenon_status_t define_graph(resolver_t* resolver, const Onnx__GraphProto* graph) {
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    TENON_READER_TRY(
        define(resolver, tenon__onnx_text(graph->initializer[i]->name), SIZE_MAX, false));
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; ++i) {
    const Onnx__TensorProto* values = graph->sparse_initializer[i]->values;
    TENON_READER_TRY(
        define(resolver, tenon__onnx_text(values == NULL ? NULL : values->name), SIZE_MAX, false));
  }
  for (size_t i = 0; i < graph->n_input; ++i) {
    TENON_READER_TRY(define(resolver, tenon__onnx_text(graph->input[i]->name), SIZE_MAX, true));
  }
  return TENON_OK;
}

static tenon_status_t define_all(resolver_t* resolver) {
  const tenon__onnx_block_t* block = resolver->block;
  if (block->graph != NULL) {
    TENON_READER_TRY(define_graph(resolver, block->graph));
  } else {
    for (size_t i = 0; i < block->function->n_input; ++i) {
      TENON_READER_TRY(
          define(resolver, tenon__onnx_text(block->function->input[i]), SIZE_MAX, true));
    }
  }
  for (size_t i = 0; i < block->node_count; ++i) {
    TENON_READER_TRY(define_node(resolver, i));
  }
  return TENON_OK;
}

static tenon_status_t add_capture(resolver_t* resolver, const char* name,
                                  const Onnx__NodeProto* node) {
  tenon_reader_t* reader = resolver->program->reader;
  tenon__onnx_block_t* block = resolver->block;
  if (tenon_reader_names_find(&resolver->captured, name) != NULL) {
    return TENON_OK;
  }
  if (block->capture_count == block->capture_capacity) {
    const size_t capacity = block->capture_capacity == 0 ? 8 : block->capture_capacity * 2;
    tenon__onnx_capture_t* larger = tenon_reader_allocate(reader, capacity, sizeof(*larger));
    if (larger == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    if (block->capture_count > 0) {
      memcpy(larger, block->captures, block->capture_count * sizeof(*larger));
    }
    block->captures = larger;
    block->capture_capacity = capacity;
  }
  block->captures[block->capture_count++] = (tenon__onnx_capture_t){name, node};
  return tenon_reader_names_set(reader, &resolver->captured, name, resolver);
}

static tenon_status_t add_dependency(resolver_t* resolver, size_t node) {
  if (resolver->count == resolver->capacity) {
    const size_t capacity = resolver->capacity == 0 ? 64 : resolver->capacity * 2;
    size_t* larger = tenon_reader_allocate(resolver->program->reader, capacity, sizeof(size_t));
    if (larger == NULL) {
      return tenon_reader_fail_memory(resolver->program->reader);
    }
    if (resolver->count > 0) {
      memcpy(larger, resolver->dependencies, resolver->count * sizeof(size_t));
    }
    resolver->dependencies = larger;
    resolver->capacity = capacity;
  }
  resolver->dependencies[resolver->count++] = node;
  return TENON_OK;
}

/* `node` (NULL: the block itself) reads `name`. */
static tenon_status_t use(resolver_t* resolver, const char* name, const Onnx__NodeProto* node) {
  if (name[0] == '\0') {
    return TENON_OK;
  }
  TENON_READER_TRY(tenon_reader_names_set(resolver->program->reader, &resolver->block->used, name,
                                          resolver->block));
  const definition_t* definition = tenon_reader_names_find(&resolver->definitions, name);
  if (definition == NULL) {
    return add_capture(resolver, name, node);
  }
  return node == NULL || definition->node == SIZE_MAX ? TENON_OK
                                                      : add_dependency(resolver, definition->node);
}

static tenon_status_t use_graph(resolver_t* resolver, const Onnx__GraphProto* graph) {
  TENON_READER_TRY(resolve_graph(resolver->program, graph));
  const tenon__onnx_block_t* inner = tenon__onnx_program_block(resolver->program, graph);
  for (size_t i = 0; i < inner->capture_count; ++i) {
    const tenon__onnx_capture_t* capture = &inner->captures[i];
    static const Onnx__NodeProto output_of_body = ONNX__NODE_PROTO__INIT;
    TENON_READER_TRY(
        use(resolver, capture->name, capture->node == NULL ? &output_of_body : capture->node));
  }
  return TENON_OK;
}

static tenon_status_t use_node(resolver_t* resolver, const Onnx__NodeProto* node) {
  for (size_t k = 0; k < node->n_input; ++k) {
    TENON_READER_TRY(use(resolver, tenon__onnx_text(node->input[k]), node));
  }
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__AttributeProto* attribute = node->attribute[k];
    if (attribute->g != NULL) {
      TENON_READER_TRY(use_graph(resolver, attribute->g));
    }
    for (size_t m = 0; m < attribute->n_graphs; ++m) {
      TENON_READER_TRY(use_graph(resolver, attribute->graphs[m]));
    }
  }
  return TENON_OK;
}

static tenon_status_t use_all(resolver_t* resolver) {
  const tenon__onnx_block_t* block = resolver->block;
  for (size_t i = 0; i < block->node_count; ++i) {
    resolver->begins[i] = resolver->count;
    TENON_READER_TRY(use_node(resolver, block->nodes[i]));
  }
  resolver->begins[block->node_count] = resolver->count;
  if (block->graph != NULL) {
    for (size_t i = 0; i < block->graph->n_output; ++i) {
      TENON_READER_TRY(use(resolver, tenon__onnx_text(block->graph->output[i]->name), NULL));
    }
  } else {
    for (size_t i = 0; i < block->function->n_output; ++i) {
      TENON_READER_TRY(use(resolver, tenon__onnx_text(block->function->output[i]), NULL));
    }
  }
  return TENON_OK;
}

/* Visits `first` and what it needs, depth first. position[i]: next dependency of node i to look at.
 */
static tenon_status_t visit(resolver_t* resolver, size_t first, uint8_t* states, size_t* position,
                            size_t* stack, size_t* inout_count) {
  tenon__onnx_block_t* block = resolver->block;
  size_t depth = 0;
  stack[depth++] = first;
  states[first] = 1;
  while (depth > 0) {
    const size_t node = stack[depth - 1];
    if (resolver->begins[node] + position[node] == resolver->begins[node + 1]) {
      states[node] = 2;
      block->order[(*inout_count)++] = node;
      --depth;
      continue;
    }
    const size_t next = resolver->dependencies[resolver->begins[node] + position[node]++];
    if (states[next] == 1) {
      return TENON_READER_FAIL(
          resolver->program->reader, TENON_ERROR_INVALID_DATA,
          "graph '%s': %s needs its own output", block_name(block),
          tenon__onnx_node_text(resolver->program->reader, block->nodes[next]));
    }
    if (states[next] == 0) {
      states[next] = 1;
      stack[depth++] = next;
    }
  }
  return TENON_OK;
}

/* The file's order where it is one, as ONNX demands; else the next to it. */
static tenon_status_t order_nodes(resolver_t* resolver) {
  tenon_reader_t* reader = resolver->program->reader;
  const size_t count = resolver->block->node_count;
  uint8_t* states = tenon_reader_allocate(reader, count, 1);
  size_t* position = tenon_reader_allocate(reader, count, sizeof(size_t));
  size_t* stack = tenon_reader_allocate(reader, count, sizeof(size_t));
  resolver->block->order = tenon_reader_allocate(reader, count, sizeof(size_t));
  if (states == NULL || position == NULL || stack == NULL || resolver->block->order == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    if (states[i] == 0) {
      TENON_READER_TRY(visit(resolver, i, states, position, stack, &done));
    }
  }
  return TENON_OK;
}

static tenon_status_t resolve_block(tenon__onnx_program_t* program, tenon__onnx_block_t* block) {
  size_t no_dependencies = 0; /* never read: there are none */
  resolver_t resolver = {.program = program, .block = block, .dependencies = &no_dependencies};
  resolver.begins = tenon_reader_allocate(program->reader, block->node_count + 1, sizeof(size_t));
  if (resolver.begins == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  TENON_READER_TRY(define_all(&resolver));
  TENON_READER_TRY(use_all(&resolver));
  return order_nodes(&resolver);
}

static tenon_status_t resolve_graph(tenon__onnx_program_t* program, const Onnx__GraphProto* graph) {
  tenon__onnx_block_t* block = tenon_reader_allocate(program->reader, 1, sizeof(*block));
  if (block == NULL) {
    return tenon_reader_fail_memory(program->reader);
  }
  block->graph = graph;
  block->nodes = graph->node;
  block->node_count = graph->n_node;
  TENON_READER_TRY(tenon_reader_addresses_set(program->reader, &program->blocks, graph, block));
  return resolve_block(program, block);
}

/* The outermost block may capture nothing. */
static tenon_status_t refuse_captures(const tenon__onnx_program_t* program,
                                      const tenon__onnx_block_t* block) {
  if (block->capture_count == 0) {
    return TENON_OK;
  }
  const tenon__onnx_capture_t* capture = &block->captures[0];
  if (capture->node == NULL || capture->node->op_type == NULL) {
    return TENON_READER_FAIL(program->reader, TENON_ERROR_INVALID_DATA,
                             "graph '%s': its output '%s' is produced by no node, input or "
                             "initialiser",
                             block_name(block), capture->name);
  }
  return TENON_READER_FAIL(program->reader, TENON_ERROR_INVALID_DATA,
                           "%s reads '%s', which no node, input or initialiser of '%s' produces",
                           tenon__onnx_node_text(program->reader, capture->node), capture->name,
                           block_name(block));
}

static const char* function_key(tenon_reader_t* reader, const char* domain, const char* name,
                                const char* overload) {
  return tenon_reader_format(reader, "%s:%s:%s", tenon__onnx_domain(domain), tenon__onnx_text(name),
                             tenon__onnx_text(overload));
}

tenon_status_t tenon__onnx_program_resolve(tenon__onnx_program_t* program) {
  const Onnx__ModelProto* proto = program->model->proto;
  for (size_t i = 0; i < proto->n_functions; ++i) {
    const Onnx__FunctionProto* function = proto->functions[i];
    const char* key =
        function_key(program->reader, function->domain, function->name, function->overload);
    tenon__onnx_block_t* block = tenon_reader_allocate(program->reader, 1, sizeof(*block));
    if (key == NULL || block == NULL) {
      return tenon_reader_fail_memory(program->reader);
    }
    if (tenon_reader_names_find(&program->functions, key) != NULL) {
      return TENON_READER_FAIL(program->reader, TENON_ERROR_INVALID_DATA,
                               "function '%s' of domain '%s' is defined twice",
                               tenon__onnx_text(function->name),
                               tenon__onnx_text(function->domain));
    }
    block->function = function;
    block->nodes = function->node;
    block->node_count = function->n_node;
    TENON_READER_TRY(tenon_reader_names_set(program->reader, &program->functions, key, block));
    TENON_READER_TRY(resolve_block(program, block));
    TENON_READER_TRY(refuse_captures(program, block));
  }
  TENON_READER_TRY(resolve_graph(program, proto->graph));
  return refuse_captures(program, tenon__onnx_program_block(program, proto->graph));
}

tenon__onnx_block_t* tenon__onnx_program_function(const tenon__onnx_program_t* program,
                                                  const Onnx__NodeProto* node) {
  if (program->functions.count == 0) {
    return NULL;
  }
  const char* key = function_key(program->reader, node->domain, node->op_type, node->overload);
  return key == NULL ? NULL : tenon_reader_names_find(&program->functions, key);
}

tenon__onnx_block_t* tenon__onnx_program_block(const tenon__onnx_program_t* program,
                                               const Onnx__GraphProto* graph) {
  return tenon_reader_addresses_find(&program->blocks, graph);
}

int64_t tenon__onnx_program_version(const tenon__onnx_program_t* program,
                                    const Onnx__FunctionProto* function, const char* domain) {
  if (function != NULL && function->n_opset_import > 0) {
    return tenon__onnx_version(function->opset_import, function->n_opset_import, domain);
  }
  const Onnx__ModelProto* proto = program->model->proto;
  return tenon__onnx_version(proto->opset_import, proto->n_opset_import, domain);
}

bool tenon__onnx_node_is_constant(const Onnx__NodeProto* node) {
  return strcmp(tenon__onnx_text(node->op_type), "Constant") == 0 &&
         tenon__onnx_domain(node->domain)[0] == '\0';
}

const char* tenon__onnx_node_text(tenon_reader_t* reader, const Onnx__NodeProto* node) {
  const char* name = tenon__onnx_text(node->name);
  const char* type = tenon__onnx_text(node->op_type);
  const char* output = node->n_output > 0 ? tenon__onnx_text(node->output[0]) : "";
  const char* text = name[0] != '\0'
                         ? tenon_reader_format(reader, "%s '%s'", type, name)
                         : tenon_reader_format(reader, "%s (output '%s')", type, output);
  return text == NULL ? type : text;
}
