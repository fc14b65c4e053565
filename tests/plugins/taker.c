/* Takes names that are others': the standard relu with another meaning, ONNX's Relu, the format;
 * and is surer of every file than anybody may be. What its parser is asked to read fails without a
 * word, but where it is told to miscount: then its node has fewer inputs than its table says. A
 * converter of its own makes a choice of a subgraph of ONNX.
 */
#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST("taker", "1.0.0",
                      "offers: operator standard.relu/1\noffers: operator standard.taken/1\n"
                      "offers: converter onnx::Relu\noffers: converter onnx:taker:Fails\n"
                      "offers: converter onnx:taker:Speaks\n"
                      "offers: converter onnx:taker:Perhaps\n"
                      "offers: converter greedy::Node\n"
                      "offers: parser onnx\noffers: parser greedy\n");

static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "any"}};
static const tenon_port_t inputs[] = {{sizeof(*inputs), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{sizeof(*outputs), .name = "y", .type = "T"}};
static const tenon_case_t cases[] = {{sizeof(*cases), .text = "y = x + x"}};

#define OPERATOR(identity)                                                                  \
  {                                                                                         \
    sizeof(tenon_operator_t), .name = (identity), .types = TENON_LIST(types),               \
                              .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs), \
                              .cases = TENON_LIST(cases)                                    \
  }
static const tenon_operator_t operators[] = {OPERATOR("standard.relu/1"),
                                             OPERATOR("standard.taken/1")};

static tenon_status_t fail_silently(const tenon_conversion_t* call) {
  (void)call;
  return TENON_ERROR_INVALID_DATA;
}

/* Says what is wrong, and leaves it to the host where. */
static tenon_status_t fail_speaking(const tenon_conversion_t* call) {
  const tenon_sink_t* sink = call->build->sink(call->builder);
  sink->report(sink->user, TENON_SEVERITY_ERROR, "beta must be positive");
  return fail_silently(call);
}

/* y = c ? body() : body(), of what the body captures. */
static void perhaps(tenon_make_t* make) {
  const tenon_converted_body_t bodies[2] = {tenon_make_body(make, "body", NULL, 0),
                                            tenon_make_body(make, "body", NULL, 0)};
  tenon_make_begin(make, "branch");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add_captured(make, &bodies[0]);
  tenon_make_add_body(make, bodies[0].body);
  tenon_make_add_body(make, bodies[1].body);
  tenon_make_set_output_count(make, 1);
  tenon_make_end_outputs(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "onnx", "taker", "Perhaps", 1, 0, perhaps, NULL, NULL)};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_converter_t converters[] = {
    {sizeof(*converters), .format = "greedy", .type = "Node", .since = 1, .convert = fail_silently},

    {sizeof(*converters), .format = "onnx", .type = "Relu", .since = 1, .convert = fail_silently},
    {sizeof(*converters), .format = "onnx", .domain = "taker", .type = "Fails", .since = 1,
     .convert = fail_silently},
    {sizeof(*converters), .format = "onnx", .domain = "taker", .type = "Speaks", .since = 1,
     .convert = fail_speaking}};

static int32_t sniff(void* state, const void* data, size_t size_bytes, const char* file_name) {
  (void)state;
  (void)data;
  (void)size_bytes;
  (void)file_name;
  return 1000;
}

static const char* node_type(const tenon_source_t* source) {
  (void)source;
  return "Node";
}

static const char* node_domain(const tenon_source_t* source) {
  (void)source;
  return "";
}

static int64_t node_version(const tenon_source_t* source) {
  (void)source;
  return 1;
}

static uint32_t node_input_count(const tenon_source_t* source) {
  (void)source;
  return 2;
}

static uint32_t node_output_count(const tenon_source_t* source) {
  (void)source;
  return 1;
}

/* One node, which gives one input and has two. */
static tenon_status_t miscount(tenon_parse_t* parsing, const tenon_parse_table_t* host,
                               tenon_builder_t* builder, const tenon_builder_table_t* build) {
  const tenon_source_table_t table = {.size = sizeof(table),
                                      .type = node_type,
                                      .domain = node_domain,
                                      .name = node_domain,
                                      .version = node_version,
                                      .input_count = node_input_count,
                                      .output_count = node_output_count};
  tenon_value_t values[2] = {{0}, {0}};
  tenon_conversion_t call = {.size = sizeof(call),
                             .table = &table,
                             .builder = builder,
                             .build = build,
                             .inputs = &values[0],
                             .outputs = &values[1],
                             .input_count = 1,
                             .output_count = 1};
  const tenon_converter_t* converter = host->find_converter(parsing, "", "Node", 1, &call.state);
  return converter != NULL ? converter->convert(&call) : TENON_ERROR_INVALID_DATA;
}

static tenon_status_t parse(void* state, tenon_parse_t* parsing, const tenon_parse_table_t* host,
                            tenon_builder_t* builder, const tenon_builder_table_t* build) {
  (void)state;
  return host->setting(parsing, "miscount") != NULL ? miscount(parsing, host, builder, build)
                                                    : TENON_ERROR_INVALID_DATA;
}

static const tenon_parser_t parsers[] = {
    {sizeof(*parsers), .format = "onnx", .sniff = sniff, .parse = parse},
    {sizeof(*parsers), .format = "greedy", .sniff = sniff, .parse = parse}};

static const tenon_offering_t* const offerings[] = {
    TENON_OFFERING("operator/1", operators), TENON_OFFERING("converter/1", converters),
    TENON_OFFERING("converter/1", rows), TENON_OFFERING("parser/1", parsers)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "taker", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
