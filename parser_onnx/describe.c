/* Tells the host what the file says of itself, before anything can fail. */
#include "program.h"
#include "types.h"

static void ignore(void* user, int32_t severity, const char* message) {
  (void)user, (void)severity, (void)message;
}

/* What cannot be read is of no type; why, is told when it is needed. */
static void describe(tenon_reader_t* reader, int32_t is_output, const Onnx__ValueInfoProto* value) {
  static const tenon_sink_t mute = {NULL, ignore};
  const tenon_sink_t* sink = reader->sink;
  tenon__onnx_type_t read;
  tenon_value_type_t type = {
      .size = sizeof(type), .kind = TENON_ARGUMENT_TENSOR, .rank = TENON_NONE};
  const char* const* symbols = NULL;
  reader->sink = &mute;
  if (tenon__onnx_type_read(reader, value->type, "a value", &read) == TENON_OK) {
    type.kind = read.kind;
    type.dtype = read.dtype;
    type.rank = read.rank;
    type.dims = read.dims;
    symbols = read.symbols;
  }
  reader->sink = sink;
  reader->host->declare_value(reader->parse, is_output, tenon__onnx_text(value->name), &type,
                              symbols);
}

tenon_status_t tenon__onnx_program_describe(tenon__onnx_program_t* program) {
  tenon_reader_t* reader = program->reader;
  const Onnx__GraphProto* graph = program->model->proto->graph;
  tenon_reader_names_t constants = {0};
  if (!tenon_reader_can_declare(reader)) {
    return TENON_OK;
  }
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    TENON_READER_TRY(tenon_reader_names_set(
        reader, &constants, tenon__onnx_text(graph->initializer[i]->name), program));
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; ++i) {
    const Onnx__TensorProto* values = graph->sparse_initializer[i]->values;
    TENON_READER_TRY(tenon_reader_names_set(
        reader, &constants, tenon__onnx_text(values == NULL ? NULL : values->name), program));
  }
  for (size_t i = 0; i < graph->n_input; ++i) {
    if (tenon_reader_names_find(&constants, tenon__onnx_text(graph->input[i]->name)) == NULL) {
      describe(reader, 0, graph->input[i]);
    }
  }
  for (size_t i = 0; i < graph->n_output; ++i) {
    describe(reader, 1, graph->output[i]);
  }
  return TENON_OK;
}
