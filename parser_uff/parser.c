/* The format of a file from its first bytes, and its conversion. */
#include "parser.h"

#include <string.h>

#include "program.h"

typedef enum content_t {
  CONTENT_NONE,
  CONTENT_UFF,
  CONTENT_UFF_TEXT,
  CONTENT_GRAPH,
  CONTENT_GRAPH_TEXT
} content_t;

/* ---- What a file is ---- */

/* The fields of a NodeDef in `record`, as far as they are there: a name, an operator. */
static bool is_node_def(const tenon_reader_record_t* record, const uint8_t* end) {
  const uint8_t* at = record->data;
  const uint8_t* stop = record->size < (size_t)(end - at) ? at + record->size : end;
  tenon_reader_record_t field;
  uint32_t expected = 1;
  while (expected <= 2 && tenon_reader_read_record(&at, stop, &field)) {
    if (field.number != expected || field.wire != TENON_READER_WIRE_LENGTH || field.size == 0) {
      return false;
    }
    ++expected;
  }
  return expected == 3;
}

/* MetaGraph: two varints, then descriptors. GraphDef: nodes. */
static content_t binary_content(const uint8_t* data, size_t size_bytes) {
  const uint8_t* at = data;
  const uint8_t* end = data + size_bytes;
  tenon_reader_record_t record;
  uint32_t varints = 0;
  for (uint32_t i = 0; i < 4 && tenon_reader_read_record(&at, end, &record); ++i) {
    const bool is_length = record.wire == TENON_READER_WIRE_LENGTH;
    if (record.wire == TENON_READER_WIRE_VARINT && record.number <= 2 && record.value < 1000) {
      ++varints;
    } else if (is_length && (record.number == 3 || record.number == 4) && varints == 2) {
      return CONTENT_UFF;
    } else if (is_length && record.number == 1 && is_node_def(&record, end)) {
      return CONTENT_GRAPH;
    } else if (!is_length || record.number != 4) {
      return CONTENT_NONE;
    }
  }
  /* A first node, or a first graph, that is longer than what is here. */
  uint64_t tag = 0;
  uint64_t length = 0;
  if (at < end && tenon_reader_read_varint(&at, end, &tag) &&
      tenon_reader_read_varint(&at, end, &length)) {
    record = (tenon_reader_record_t){.data = at, .size = (size_t)(end - at)};
    return tag == (4 << 3 | 2) && varints == 2                ? CONTENT_UFF
           : tag == (1 << 3 | 2) && is_node_def(&record, end) ? CONTENT_GRAPH
                                                              : CONTENT_NONE;
  }
  return CONTENT_NONE;
}

static content_t content_of(const void* data, size_t size_bytes) {
  static const char* const uff_fields[] = {"version", "descriptor_core_version", "descriptors",
                                           "graphs", "referenced_data"};
  if (size_bytes == 0) {
    return CONTENT_NONE;
  }
  if (tenon_reader_text_begins_with(data, size_bytes, "node") ||
      tenon_reader_text_begins_with(data, size_bytes, "versions")) {
    return CONTENT_GRAPH_TEXT;
  }
  for (size_t i = 0; i < sizeof(uff_fields) / sizeof(*uff_fields); ++i) {
    if (tenon_reader_text_begins_with(data, size_bytes, uff_fields[i])) {
      return CONTENT_UFF_TEXT;
    }
  }
  return binary_content(data, size_bytes);
}

int32_t tenon__uff_parser_sniff(void* state, const void* data, size_t size_bytes,
                                const char* file_name) {
  (void)state;
  const char* ending = file_name == NULL ? NULL : strrchr(file_name, '.');
  const bool is_named = ending != NULL && strcmp(ending, ".uff") == 0;
  switch (content_of(data, size_bytes)) {
    case CONTENT_UFF:
    case CONTENT_GRAPH:
      return is_named ? 100 : 90;
    case CONTENT_UFF_TEXT:
    case CONTENT_GRAPH_TEXT:
      return is_named ? 90 : 70;
    default:
      return is_named ? 40 : 0;
  }
}

/* ---- Parsing ---- */

static tenon_status_t read_graph(tenon_reader_t* reader, tenon__uff_graph_t* out_graph) {
  const char* name = NULL;
  const void* data = NULL;
  size_t size = 0;
  tenon__uff_message_t* message = NULL;
  if (reader->host->part_count(reader->parse) != 1) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_INVALID_ARGUMENT,
        "a UFF file or frozen graph is one file: give no parts and no weights");
  }
  TENON_READER_TRY(reader->host->part(reader->parse, 0, &name, &data, &size));
  const content_t content = content_of(data, size);
  const bool is_graph = content == CONTENT_GRAPH || content == CONTENT_GRAPH_TEXT;
  const bool is_text = content == CONTENT_UFF_TEXT || content == CONTENT_GRAPH_TEXT;
  if (content == CONTENT_NONE) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_INVALID_DATA,
        "it is no UFF file and no frozen graph of TensorFlow (a saved_model.pb must be "
        "frozen first)");
  }
  const tenon__uff_schema_t* schema = is_graph ? &tenon__uff_graph_def : &tenon__uff_meta_graph;
  TENON_READER_TRY(is_text ? tenon__uff_text_read(reader, schema, data, size, &message)
                           : tenon__uff_binary_read(reader, schema, data, size, &message));
  return is_graph ? tenon__uff_graph_read_tensorflow(reader, message, out_graph)
                  : tenon__uff_graph_read_uff(reader, message, out_graph);
}

tenon_status_t tenon__uff_parser_parse(void* state, tenon_parse_t* parse,
                                       const tenon_parse_table_t* host, tenon_builder_t* builder,
                                       const tenon_builder_table_t* build) {
  (void)state;
  tenon_reader_t reader;
  tenon__uff_program_t program = {.reader = &reader};
  tenon_reader_initialize(&reader, parse, host, builder, build);
  const char* outputs = tenon_reader_setting(&reader, "outputs");
  TENON_READER_TRY(read_graph(&reader, &program.graph));
  TENON_READER_TRY(tenon__uff_graph_link(&reader, &program.graph, outputs));
  TENON_READER_TRY(tenon__uff_program_check(&program));
  return tenon__uff_program_convert(&program);
}
