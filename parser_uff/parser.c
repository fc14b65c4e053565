#include "parser.h"

#include <string.h>

#include "program.h"
#include "wire.h"

typedef enum content_t {
  CONTENT_NONE,
  CONTENT_UFF,
  CONTENT_UFF_TEXT,
  CONTENT_GRAPH,
  CONTENT_GRAPH_TEXT
} content_t;

/* ---- What a file is ---- */

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

/* Over white space and comments. */
static const char* skip(const char* at, const char* end) {
  while (at < end && (is_blank(*at) || *at == '#')) {
    const bool is_comment = *at == '#';
    while (is_comment && at < end && *at != '\n') {
      ++at;
    }
    at += at < end ? 1 : 0;
  }
  return at;
}

/* Whether the first field of the text is `name`. */
static bool begins_with(const char* data, size_t size_bytes, const char* name) {
  const char* end = data + size_bytes;
  const size_t length = strlen(name);
  const bool is_marked = size_bytes >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0;
  const char* at = skip(data + (is_marked ? 3 : 0), end);
  if ((size_t)(end - at) <= length || memcmp(at, name, length) != 0) {
    return false;
  }
  at = skip(at + length, end);
  return at < end && (*at == ':' || *at == '{' || *at == '<');
}

/* The fields of a NodeDef in `record`, as far as they are there: a name, an operator. */
static bool is_node_def(const tenon__uff_record_t* record, const uint8_t* end) {
  const uint8_t* at = record->data;
  const uint8_t* stop = record->size < (size_t)(end - at) ? at + record->size : end;
  tenon__uff_record_t field;
  uint32_t expected = 1;
  while (expected <= 2 && tenon__uff_read_record(&at, stop, &field)) {
    if (field.number != expected || field.wire != TENON__UFF_WIRE_LENGTH || field.size == 0) {
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
  tenon__uff_record_t record;
  uint32_t varints = 0;
  for (uint32_t i = 0; i < 4 && tenon__uff_read_record(&at, end, &record); ++i) {
    const bool is_length = record.wire == TENON__UFF_WIRE_LENGTH;
    if (record.wire == TENON__UFF_WIRE_VARINT && record.number <= 2 && record.value < 1000) {
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
  if (at < end && tenon__uff_read_varint(&at, end, &tag) &&
      tenon__uff_read_varint(&at, end, &length)) {
    record = (tenon__uff_record_t){.data = at, .size = (size_t)(end - at)};
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
  if (begins_with(data, size_bytes, "node") || begins_with(data, size_bytes, "versions")) {
    return CONTENT_GRAPH_TEXT;
  }
  for (size_t i = 0; i < sizeof(uff_fields) / sizeof(*uff_fields); ++i) {
    if (begins_with(data, size_bytes, uff_fields[i])) {
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

static tenon_status_t read_graph(tenon__uff_context_t* context, tenon__uff_graph_t* out_graph) {
  const char* name = NULL;
  const void* data = NULL;
  size_t size = 0;
  tenon__uff_message_t* message = NULL;
  if (context->host->part_count(context->parse) != 1) {
    return UFF_FAIL(context, TENON_ERROR_INVALID_ARGUMENT,
                    "a UFF file or frozen graph is one file: give no parts and no weights");
  }
  UFF_TRY(context->host->part(context->parse, 0, &name, &data, &size));
  const content_t content = content_of(data, size);
  const bool is_graph = content == CONTENT_GRAPH || content == CONTENT_GRAPH_TEXT;
  context->is_text = content == CONTENT_UFF_TEXT || content == CONTENT_GRAPH_TEXT;
  if (content == CONTENT_NONE) {
    return UFF_FAIL(context, TENON_ERROR_INVALID_DATA,
                    "it is no UFF file and no frozen graph of TensorFlow (a saved_model.pb must be "
                    "frozen first)");
  }
  const tenon__uff_schema_t* schema = is_graph ? &tenon__uff_graph_def : &tenon__uff_meta_graph;
  UFF_TRY(context->is_text ? tenon__uff_text_read(context, schema, data, size, &message)
                           : tenon__uff_binary_read(context, schema, data, size, &message));
  return is_graph ? tenon__uff_graph_read_tensorflow(context, message, out_graph)
                  : tenon__uff_graph_read_uff(context, message, out_graph);
}

tenon_status_t tenon__uff_parser_parse(void* state, tenon_parse_t* parse,
                                       const tenon_parse_table_t* host, tenon_builder_t* builder,
                                       const tenon_builder_table_t* build) {
  (void)state;
  tenon__uff_context_t context;
  tenon__uff_program_t program = {.context = &context};
  tenon__uff_context_initialize(&context, parse, host, builder, build);
  const char* outputs = tenon__uff_setting(&context, "outputs");
  UFF_TRY(read_graph(&context, &program.graph));
  UFF_TRY(tenon__uff_graph_link(&context, &program.graph, outputs));
  UFF_TRY(tenon__uff_program_check(&program));
  return tenon__uff_program_convert(&program);
}
