/* The parser: sections become nodes, each by the converter of its type. */
#include <string.h>

#include "darknet.h"

TENON_PLUGIN_MANIFEST("darknet", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: parser darknet\n"
                      "offers: converter *\n");

/* The parse of one network; values[k] is the output of section k, and values[0] the picture. */
typedef struct network_t {
  tenon_reader_t* reader;
  tenon_source_t** sections;
  uint32_t count;
  tenon_value_t* values;
  const tenon_converter_t** converters;
  void** states;
  darknet_weights_t weights;
} network_t;

static bool is_type(const tenon_source_t* section, const char* type) {
  return strcmp(section->type, type) == 0;
}

static bool is_detector(const tenon_source_t* section) {
  return is_type(section, "yolo") || is_type(section, "region");
}

static tenon_status_t read_part(network_t* network, uint32_t index) {
  tenon_reader_t* reader = network->reader;
  const char* name = NULL;
  const void* data = NULL;
  size_t size = 0;
  TENON_READER_TRY(reader->host->part(reader->parse, index, &name, &data, &size));
  if (darknet_is_weights(data, size)) {
    return network->weights.data == NULL
               ? darknet_open_weights(reader, name, data, size, &network->weights)
               : TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                   "%s: %s has the weights already: give one .weights file", name,
                                   network->weights.name);
  }
  if (network->sections != NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s is no .weights file: give a .cfg and its .weights", name);
  }
  return darknet_read_sections(reader, data, size, &network->sections, &network->count);
}

/* All parts: a text, and perhaps weights. */
static tenon_status_t read_parts(network_t* network) {
  tenon_reader_t* reader = network->reader;
  const uint32_t count = reader->host->part_count(reader->parse);
  for (uint32_t k = 0; k < count; ++k) {
    TENON_READER_TRY(read_part(network, k));
  }
  if (network->count == 0 ||
      (!is_type(network->sections[0], "net") && !is_type(network->sections[0], "network"))) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "the first section is not [net]: give a .cfg file");
  }
  if (network->count < 2) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "the network has no layers: give a whole .cfg file");
  }
  return TENON_OK;
}

/* Reports all layers without a converter at once. */
static tenon_status_t find_converters(network_t* network) {
  tenon_reader_t* reader = network->reader;
  const tenon_parse_table_t* host = reader->host;
  bool is_complete = true;
  for (uint32_t k = 1; k < network->count; ++k) {
    const tenon_source_t* section = network->sections[k];
    network->converters[k] =
        host->find_converter(reader->parse, "", section->type, 1, &network->states[k]);
    if (tenon_reader_can_declare(reader)) {
      host->declare_node(reader->parse, "", section->type, 1, section->name);
    }
    if (network->converters[k] == NULL) {
      host->report_missing(reader->parse, "", section->type, 1, section->name);
      is_complete = false;
    }
  }
  return is_complete ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}

/* The output of layer k, as an index of values, that `number` in its section means: a negative
 * number counts from the layer itself. Below 1 or from k on: there is none. */
static int64_t find_layer(uint32_t k, int64_t number) {
  return number < 0 ? (int64_t)k + number : number + 1;
}

/* The pixels of the picture, in one direction, for each pixel of layer k. Options are checked
 * later, by the converters. */
static int64_t find_stride(const network_t* network, const int64_t* strides, uint32_t k) {
  const tenon_source_t* section = network->sections[k];
  int64_t from = k - 1;
  if (is_type(section, "route")) {
    from = find_layer(k, darknet_peek(section, "layers", -1));
  }
  const int64_t before = from >= 0 && from < k ? strides[from] : 1;
  const int64_t stride = darknet_peek(section, "stride", is_type(section, "upsample") ? 2 : 1);
  if (stride < 1 || stride > DARKNET_MAX_NUMBER) {
    return before;
  }
  if (is_type(section, "upsample")) {
    return before > stride ? before / stride : 1;
  }
  const bool is_smaller =
      is_type(section, "convolutional") || is_type(section, "maxpool") || is_type(section, "reorg");
  const int64_t after = is_smaller ? before * stride : before;
  return after < DARKNET_MAX_NUMBER ? after : DARKNET_MAX_NUMBER;
}

/* Each head of a detector divides the picture into cells. If the largest stride does not divide the
 * picture, the cells of two heads do not align. *out_cell is that stride, or 1 of a classifier. */
static tenon_status_t find_cell(const network_t* network, int64_t* out_cell) {
  int64_t* strides = tenon_reader_allocate(network->reader, network->count, sizeof(*strides));
  int64_t largest = 1;
  bool has_detector = false;
  if (strides == NULL) {
    return tenon_reader_fail_memory(network->reader);
  }
  strides[0] = 1;
  for (uint32_t k = 1; k < network->count; ++k) {
    strides[k] = find_stride(network, strides, k);
    largest = strides[k] > largest ? strides[k] : largest;
    has_detector = has_detector || is_detector(network->sections[k]);
  }
  *out_cell = has_detector ? largest : 1;
  return TENON_OK;
}

/* Channels, height and width. */
static tenon_status_t get_extents(const network_t* network, int64_t* out_dims) {
  static const char* const names[] = {"channels", "height", "width"};
  const tenon_source_t* net = network->sections[0];
  int64_t cell = 1;
  TENON_READER_TRY(find_cell(network, &cell));
  for (int k = 0; k < 3; ++k) {
    TENON_READER_TRY(darknet_get_count(net, names[k], k == 0 ? 3 : 0, 1, &out_dims[k]));
    if (k > 0 && out_dims[k] % cell != 0) {
      int64_t line = 0;
      (void)darknet_source_table.get_int(net, k == 1 ? "@height" : "@width", &line);
      return DARKNET_FAIL(net,
                          "line %lld: %s=%lld is no multiple of %lld, the stride of the network: "
                          "use %lld",
                          (long long)line, names[k], (long long)out_dims[k], (long long)cell,
                          (long long)(out_dims[k] / cell + 1) * cell);
    }
  }
  return TENON_OK;
}

static tenon_status_t add_picture(network_t* network) {
  static const char* const symbols[] = {"batch", NULL, NULL, NULL};
  const tenon_reader_t* reader = network->reader;
  int64_t dims[] = {-1, 0, 0, 0};
  TENON_READER_TRY(get_extents(network, dims + 1));
  /* The batch that the caller wants; without one it stays dynamic. */
  uint32_t rank = 0;
  const int64_t* wanted = NULL;
  if (reader->host->input_shape(reader->parse, "data", &rank, &wanted) == TENON_OK && rank == 4) {
    dims[0] = wanted[0];
  }
  if (tenon_reader_can_declare(reader)) {
    const tenon_value_type_t type = {.size = sizeof(type),
                                     .kind = TENON_ARGUMENT_TENSOR,
                                     .dtype = TENON_DTYPE_FLOAT32,
                                     .rank = 4,
                                     .dims = dims};
    reader->host->declare_value(reader->parse, 0, "data", &type, symbols);
  }
  return reader->build->input(reader->builder, "data", TENON_DTYPE_FLOAT32, 4, dims, symbols,
                              &network->values[0]);
}

/* The outputs that layer k takes: the layer before it, and those that it names. values[0] is the
 * picture, so layer n has values[n + 1]. */
static tenon_status_t find_inputs(network_t* network, uint32_t k, tenon_value_t* out_inputs) {
  tenon_source_t* section = network->sections[k];
  const bool is_route = is_type(section, "route");
  const char* key = is_route ? "layers" : "from";
  const int64_t* from = NULL;
  int64_t line = 0;
  size_t count = 0;
  if (!is_route) {
    out_inputs[section->input_count++] = network->values[k - 1];
  }
  if (!is_route && !is_type(section, "shortcut")) {
    return TENON_OK;
  }
  (void)darknet_source_table.get_int(section, is_route ? "@layers" : "@from", &line);
  const tenon_status_t status = darknet_source_table.get_ints(section, key, &from, &count);
  if (status == TENON_ERROR_NOT_FOUND) {
    return DARKNET_FAIL(section, "line %lld: [%s] needs the option %s", (long long)line,
                        section->type, key);
  }
  TENON_READER_TRY(status);
  if (count >= DARKNET_MAX_INPUTS) {
    return DARKNET_FAIL(section, "line %lld: [%s] names %zu layers: name at most %d",
                        (long long)line, section->type, count, DARKNET_MAX_INPUTS - 1);
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t at = find_layer(k, from[i]);
    if (at < 1 || at >= (int64_t)k) {
      return DARKNET_FAIL(section,
                          "line %lld: [%s] names layer %lld: name one before it, from 0 on, or "
                          "from -1 backwards",
                          (long long)line, section->type, (long long)from[i]);
    }
    out_inputs[section->input_count++] = network->values[at];
  }
  return TENON_OK;
}

static tenon_status_t take_weights(network_t* network, uint32_t k) {
  const tenon_reader_t* reader = network->reader;
  tenon_source_t* section = network->sections[k];
  tenon_value_type_t type = {.size = sizeof(type)};
  if (network->weights.data == NULL) {
    return DARKNET_FAIL(section,
                        "line %u: [%s] needs weights, and there are no weights: add --weights "
                        "FILE.weights",
                        section->line, section->type);
  }
  TENON_READER_TRY(reader->build->type(reader->builder, network->values[k - 1], &type));
  if (type.rank != 4) {
    return DARKNET_FAIL(section, "line %u: the input of [%s] has %u axes, not 4", section->line,
                        section->type, type.rank);
  }
  return darknet_take_weights(section, type.dims[1], &network->weights);
}

static tenon_status_t add_layer(network_t* network, uint32_t k) {
  const tenon_reader_t* reader = network->reader;
  tenon_source_t* section = network->sections[k];
  tenon_value_t inputs[DARKNET_MAX_INPUTS];
  TENON_READER_TRY(find_inputs(network, k, inputs));
  if (is_type(section, "convolutional")) {
    TENON_READER_TRY(take_weights(network, k));
  }
  const tenon_conversion_t call = {.size = sizeof(call),
                                   .state = network->states[k],
                                   .source = section,
                                   .table = &darknet_source_table,
                                   .builder = reader->builder,
                                   .build = reader->build,
                                   .inputs = inputs,
                                   .outputs = &network->values[k],
                                   .input_count = section->input_count,
                                   .output_count = 1};
  TENON_READER_TRY(network->converters[k]->convert(&call));
  const bool is_output = is_detector(section) || k + 1 == network->count;
  return is_output ? reader->build->output(reader->builder, network->values[k], section->name)
                   : TENON_OK;
}

static tenon_status_t parse(void* state, tenon_parse_t* parse, const tenon_parse_table_t* host,
                            tenon_builder_t* builder, const tenon_builder_table_t* build) {
  tenon_reader_t reader;
  network_t network = {.reader = &reader};
  (void)state;
  tenon_reader_initialize(&reader, parse, host, builder, build);
  TENON_READER_TRY(read_parts(&network));
  network.values = tenon_reader_allocate(&reader, network.count, sizeof(*network.values));
  network.converters = tenon_reader_allocate(&reader, network.count, sizeof(tenon_converter_t*));
  network.states = tenon_reader_allocate(&reader, network.count, sizeof(void*));
  if (network.values == NULL || network.converters == NULL || network.states == NULL) {
    return tenon_reader_fail_memory(&reader);
  }
  TENON_READER_TRY(find_converters(&network));
  TENON_READER_TRY(add_picture(&network));
  for (uint32_t k = 1; k < network.count; ++k) {
    TENON_READER_TRY(add_layer(&network, k));
  }
  return darknet_close_weights(&reader, &network.weights);
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A text whose first section is [net]; comments may precede it. */
static int32_t sniff(void* state, const void* data, size_t size, const char* file_name) {
  const char* text = data;
  size_t k = 0;
  (void)state;
  (void)file_name;
  while (k < size && (text[k] == '#' || text[k] == ';' || is_blank(text[k]))) {
    if (text[k] == '#' || text[k] == ';') {
      const char* end = memchr(text + k, '\n', size - k);
      k = end != NULL ? (size_t)(end - text) : size - 1;
    }
    ++k;
  }
  const bool is_net = (size - k >= 5 && memcmp(text + k, "[net]", 5) == 0) ||
                      (size - k >= 9 && memcmp(text + k, "[network]", 9) == 0);
  return is_net ? 95 : 0;
}

static const tenon_parser_t parsers[] = {{.size = sizeof(parsers[0]),
                                          .format = "darknet",
                                          .summary = "Darknet networks: a .cfg and its .weights",
                                          .extensions = ".cfg;.weights",
                                          .sniff = sniff,
                                          .parse = parse}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("parser/1", parsers),
                                                    &darknet_layers};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "darknet", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
