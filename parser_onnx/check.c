/* Looks at every node before anything is built, so that all that is missing is told at once. */
#include "program.h"

typedef struct checker_t {
  tenon__onnx_program_t* program;
  const Onnx__FunctionProto* function; /* whose nodes are looked at; NULL: the model's */
  uint32_t depth;                      /* of calls */
  size_t missing_count;
} checker_t;

static tenon_status_t check_nodes(checker_t* checker, const tenon__onnx_block_t* block);

static tenon_status_t check_function(checker_t* checker, tenon__onnx_block_t* function,
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
  TENON_READER_TRY(check_nodes(checker, function));
  --checker->depth;
  checker->function = caller;
  function->state = 2;
  return TENON_OK;
}

static void check_operator(checker_t* checker, const Onnx__NodeProto* node) {
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
  if (tenon_reader_can_declare(reader)) {
    host->declare_node(reader->parse, domain, type, version, name);
  }
  if (host->find_converter(reader->parse, domain, type, version, &state) == NULL) {
    host->report_missing(reader->parse, domain, type, version, name);
    ++checker->missing_count;
  }
}

static tenon_status_t check_node(checker_t* checker, const Onnx__NodeProto* node) {
  tenon__onnx_block_t* function = tenon__onnx_program_function(checker->program, node);
  if (function != NULL) {
    TENON_READER_TRY(check_function(checker, function, node));
  } else if (!tenon__onnx_node_is_constant(node)) {
    check_operator(checker, node);
  }
  for (size_t k = 0; k < node->n_attribute; ++k) {
    const Onnx__AttributeProto* attribute = node->attribute[k];
    if (attribute->g != NULL) {
      TENON_READER_TRY(
          check_nodes(checker, tenon__onnx_program_block(checker->program, attribute->g)));
    }
  }
  return TENON_OK;
}

static tenon_status_t check_nodes(checker_t* checker, const tenon__onnx_block_t* block) {
  for (size_t i = 0; i < block->node_count; ++i) {
    TENON_READER_TRY(check_node(checker, block->nodes[i]));
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_program_check(tenon__onnx_program_t* program) {
  checker_t checker = {.program = program};
  TENON_READER_TRY(
      check_nodes(&checker, tenon__onnx_program_block(program, program->model->proto->graph)));
  return checker.missing_count == 0 ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}
