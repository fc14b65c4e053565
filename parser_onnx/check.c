/*
 * Looks at every node before anything is built, so that all that is missing is told at once. First
 * it is found which blocks lack a converter, then the nodes are told that do. Of an If one branch
 * may lack some: it becomes one that cannot run, where only a run knows the condition, and where it
 * is the one that is taken, it is told when it is converted.
 */
#include "attempt.h"

typedef struct checker_t {
  tenon__onnx_program_t* program;
  const Onnx__FunctionProto* function; /* whose nodes are looked at; NULL: the model's */
  uint32_t depth;                      /* of calls */
} checker_t;

static tenon_status_t weigh_nodes(checker_t* checker, tenon__onnx_block_t* block);

static tenon_status_t weigh_function(checker_t* checker, tenon__onnx_block_t* function,
                                     const Onnx__NodeProto* call) {
  tenon_reader_t* reader = checker->program->reader;
  if (function->state == 1) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: function '%s' calls itself",
                             tenon__onnx_node_text(reader, call),
                             tenon__onnx_text(function->function->name));
  }
  if (function->state == 2) {
    return TENON_OK;
  }
  if (checker->depth >= TENON__ONNX_CALL_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: functions are nested more than %d deep",
                             tenon__onnx_node_text(reader, call), TENON__ONNX_CALL_LIMIT);
  }
  const Onnx__FunctionProto* caller = checker->function;
  function->state = 1;
  checker->function = function->function;
  ++checker->depth;
  TENON_READER_TRY(weigh_nodes(checker, function));
  --checker->depth;
  checker->function = caller;
  function->state = 2;
  return TENON_OK;
}

typedef void (*tell_t)(tenon_parse_t* parse, const char* domain, const char* type, int64_t version,
                       const char* node);

/* Tells of a node, if there is something to tell it with; false when no converter takes it. */
static bool look_at_operator(const checker_t* checker, const Onnx__NodeProto* node, tell_t tell,
                             tell_t tell_missing) {
  const tenon_reader_t* reader = checker->program->reader;
  const tenon_parse_table_t* host = reader->host;
  const char* domain = tenon__onnx_domain(node->domain);
  const char* type = tenon__onnx_text(node->op_type);
  const int64_t version = tenon__onnx_program_version(checker->program, checker->function, domain);
  const char* name = tenon__onnx_text(node->name);
  void* state = NULL;
  if (name[0] == '\0' && node->n_output > 0) {
    name = tenon__onnx_text(node->output[0]); /* what nodes without a name are known by */
  }
  if (tell != NULL) {
    tell(reader->parse, domain, type, version, name);
  }
  const bool is_there = host->find_converter(reader->parse, domain, type, version, &state) != NULL;
  if (!is_there && tell_missing != NULL) {
    tell_missing(reader->parse, domain, type, version, name);
  }
  return is_there;
}

/* The node's subgraph of that name, NULL if it has none. */
static tenon__onnx_block_t* subgraph(const checker_t* checker, const Onnx__NodeProto* node,
                                     const char* name) {
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__AttributeProto* attribute = node->attribute[k];
    if (attribute->g != NULL && strcmp(tenon__onnx_text(attribute->name), name) == 0) {
      return tenon__onnx_program_block(checker->program, attribute->g);
    }
  }
  return NULL;
}

static bool is_if(const Onnx__NodeProto* node) {
  return strcmp(tenon__onnx_text(node->op_type), "If") == 0 &&
         tenon__onnx_domain(node->domain)[0] == '\0';
}

/* Of an If one of whose branches lacks something and the other nothing: what it lacks. */
static const tenon__onnx_block_t* spared_branch(const checker_t* checker,
                                                const Onnx__NodeProto* node) {
  const tenon__onnx_block_t* a = is_if(node) ? subgraph(checker, node, "then_branch") : NULL;
  const tenon__onnx_block_t* b = is_if(node) ? subgraph(checker, node, "else_branch") : NULL;
  if (a == NULL || b == NULL || !tenon__onnx_can_attempt(checker->program)) {
    return NULL;
  }
  return a->lacks == b->lacks ? NULL : a->lacks ? a : b;
}

/* ---- Who lacks something ---- */

static void add_count(tenon__onnx_block_t* inout_block, size_t count) {
  const size_t sum = inout_block->expanded_count + count;
  inout_block->expanded_count = sum < TENON__ONNX_NODE_LIMIT ? sum : TENON__ONNX_NODE_LIMIT + 1;
}

/* Adds the node to the block: whether a converter is missing, and how many nodes it becomes. */
static tenon_status_t weigh_node(checker_t* checker, const Onnx__NodeProto* node,
                                 tenon__onnx_block_t* inout_block) {
  const tenon_reader_t* reader = checker->program->reader;
  bool* inout_lacks = &inout_block->lacks;
  tenon__onnx_block_t* function = tenon__onnx_program_function(checker->program, node);
  const tell_t declare = tenon_reader_can_declare(reader) ? reader->host->declare_node : NULL;
  if (function != NULL) {
    TENON_READER_TRY(weigh_function(checker, function, node));
    *inout_lacks = *inout_lacks || function->lacks;
    add_count(inout_block, function->expanded_count);
  } else if (!tenon__onnx_node_is_constant(node)) {
    const bool is_there = look_at_operator(checker, node, declare, NULL);
    *inout_lacks = *inout_lacks || !is_there;
  }
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__GraphProto* graph = node->attribute[k]->g;
    if (graph != NULL) {
      tenon__onnx_block_t* block = tenon__onnx_program_block(checker->program, graph);
      TENON_READER_TRY(weigh_nodes(checker, block));
      add_count(inout_block, is_if(node) ? 0 : block->expanded_count);
    }
  }
  add_count(inout_block, 1);
  const tenon__onnx_block_t* spared = spared_branch(checker, node);
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__GraphProto* graph = node->attribute[k]->g;
    const tenon__onnx_block_t* block =
        graph == NULL ? NULL : tenon__onnx_program_block(checker->program, graph);
    *inout_lacks = *inout_lacks || (block != NULL && block != spared && block->lacks);
  }
  return TENON_OK;
}

static tenon_status_t weigh_nodes(checker_t* checker, tenon__onnx_block_t* block) {
  for (size_t i = 0; i < block->node_count; ++i) {
    TENON_READER_TRY(weigh_node(checker, block->nodes[i], block));
  }
  return TENON_OK;
}

/* ---- Telling ---- */

static void tell_nodes(checker_t* checker, const tenon__onnx_block_t* block);

/* Once for each function. */
static void tell_function(checker_t* checker, tenon__onnx_block_t* function) {
  const Onnx__FunctionProto* caller = checker->function;
  if (!function->is_told) {
    function->is_told = true;
    checker->function = function->function;
    tell_nodes(checker, function);
    checker->function = caller;
  }
}

static void tell_node(checker_t* checker, const Onnx__NodeProto* node) {
  tenon__onnx_block_t* function = tenon__onnx_program_function(checker->program, node);
  const tenon__onnx_block_t* spared = spared_branch(checker, node);
  if (function != NULL) {
    tell_function(checker, function);
  } else if (!tenon__onnx_node_is_constant(node)) {
    (void)look_at_operator(checker, node, NULL, checker->program->reader->host->report_missing);
  }
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__GraphProto* graph = node->attribute[k]->g;
    const tenon__onnx_block_t* block =
        graph == NULL ? NULL : tenon__onnx_program_block(checker->program, graph);
    if (block != NULL && block != spared) {
      tell_nodes(checker, block);
    }
  }
}

static void tell_nodes(checker_t* checker, const tenon__onnx_block_t* block) {
  if (block->lacks) {
    for (size_t i = 0; i < block->node_count; ++i) {
      tell_node(checker, block->nodes[i]);
    }
  }
}

tenon_status_t tenon__onnx_program_check(tenon__onnx_program_t* program) {
  checker_t checker = {.program = program};
  tenon__onnx_block_t* main = tenon__onnx_program_block(program, program->model->proto->graph);
  TENON_READER_TRY(weigh_nodes(&checker, main));
  tell_nodes(&checker, main);
  return !main->lacks ? tenon__onnx_program_limit(program, main->expanded_count)
                      : TENON_ERROR_UNSUPPORTED;
}

tenon_status_t tenon__onnx_program_limit(const tenon__onnx_program_t* program, size_t node_count) {
  return node_count <= TENON__ONNX_NODE_LIMIT
             ? TENON_OK
             : TENON_READER_FAIL(program->reader, TENON_ERROR_UNSUPPORTED,
                                 "the model has more than %d nodes, its functions expanded",
                                 TENON__ONNX_NODE_LIMIT);
}
