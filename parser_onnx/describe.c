/* Tells the host what the file says of itself, before anything can fail. */
#include "program.h"
#include "types.h"

static void ignore(void* user, int32_t severity, const char* message) {
  (void)user, (void)severity, (void)message;
}

/* What cannot be read is of no type; why, is told when it is needed. */
static void describe(tenon__onnx_context_t* context, int32_t is_output,
                     const Onnx__ValueInfoProto* value) {
  static const tenon_sink_t mute = {NULL, ignore};
  const tenon_sink_t* sink = context->sink;
  tenon__onnx_type_t read;
  tenon_value_type_t type = {.kind = TENON_ARGUMENT_TENSOR, .rank = TENON_NONE};
  const char* const* symbols = NULL;
  context->sink = &mute;
  if (tenon__onnx_type_read(context, value->type, "a value", &read) == TENON_OK) {
    type.kind = read.kind;
    type.dtype = read.dtype;
    type.rank = read.rank;
    type.dims = read.dims;
    symbols = read.symbols;
  }
  context->sink = sink;
  context->host->declare_value(context->parse, is_output, tenon__onnx_text(value->name), &type,
                               symbols);
}

tenon_status_t tenon__onnx_program_describe(tenon__onnx_program_t* program) {
  tenon__onnx_context_t* context = program->context;
  const Onnx__GraphProto* graph = program->model->proto->graph;
  tenon__onnx_names_t constants = {0};
  if (!TENON_HAS(context->host, tenon_parse_table_t, declare_node)) {
    return TENON_OK;
  }
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    ONNX_TRY(tenon__onnx_names_set(context, &constants,
                                   tenon__onnx_text(graph->initializer[i]->name), program));
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; ++i) {
    const Onnx__TensorProto* values = graph->sparse_initializer[i]->values;
    ONNX_TRY(tenon__onnx_names_set(
        context, &constants, tenon__onnx_text(values == NULL ? NULL : values->name), program));
  }
  for (size_t i = 0; i < graph->n_input; ++i) {
    if (tenon__onnx_names_find(&constants, tenon__onnx_text(graph->input[i]->name)) == NULL) {
      describe(context, 0, graph->input[i]);
    }
  }
  for (size_t i = 0; i < graph->n_output; ++i) {
    describe(context, 1, graph->output[i]);
  }
  return TENON_OK;
}
