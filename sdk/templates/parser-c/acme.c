/* A parser of a small text format. The first line of a file has the format's name and version. Each
 * other line adds an input, a layer or an output to the network:
 *
 *   acme 1
 *   input x 2 3          # x is an input, float32, with the extents 2 and 3
 *   scale h x 2.5        # h = x * 2.5
 *   shift s h -1         # s = h - 1
 *   relu y s             # y = max(s, 0)
 *   output y             # y is an output
 *
 * A value is defined before it is used. A comment begins with # and ends with its line. Files are
 * not trusted: the parser checks each word before it uses it, and an error names the line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/reader.h"

TENON_PLUGIN_MANIFEST("acme", "1.0.0",
                      "licence: your licence\n"
                      "offers: parser acme\n");

enum { MAX_WORDS = 16, MAX_EXTENT = 1 << 20 };

/* A type of layer. */
typedef struct layer_t {
  const char* type;
  const char* expression; /* of the input a and the number b */
  bool has_number;
} layer_t;

static const layer_t layers[] = {
    {"scale", "y = a * b", true},
    {"shift", "y = a + b", true},
    {"relu", "y = max(a, 0)", false},
    {"tanh", "y = tanh(a)", false},
};

typedef struct parser_t {
  tenon_reader_t reader;
  tenon_reader_names_t values; /* from names to tenon_value_t */
  uint32_t line;               /* from 1 */
  char* words[MAX_WORDS];      /* of the line */
  uint32_t count;
} parser_t;

TENON_READER_PRINTF(2, 3)
static tenon_status_t fail(const parser_t* parser, const char* format, ...) {
  char message[256]; /* longer ones are cut */
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return TENON_READER_FAIL(&parser->reader, TENON_ERROR_INVALID_DATA, "line %u: %s", parser->line,
                           message);
}

static tenon_status_t set_value(parser_t* parser, const char* name, tenon_value_t value) {
  if (tenon_reader_names_find(&parser->values, name) != NULL) {
    return fail(parser, "'%s' is defined twice: choose another name", name);
  }
  tenon_value_t* kept = tenon_reader_allocate(&parser->reader, 1, sizeof(*kept));
  if (kept == NULL) {
    return tenon_reader_fail_memory(&parser->reader);
  }
  *kept = value;
  return tenon_reader_names_set(&parser->reader, &parser->values, name, kept);
}

static tenon_status_t find_value(parser_t* parser, const char* name, tenon_value_t* out_value) {
  const tenon_value_t* value = tenon_reader_names_find(&parser->values, name);
  if (value == NULL) {
    return fail(parser, "there is no value '%s': define it in a line before this one", name);
  }
  *out_value = *value;
  return TENON_OK;
}

/* A decimal number. strtod alone takes hexadecimal numbers, inf and nan too. */
static tenon_status_t read_number(const parser_t* parser, const char* word, double* out_number) {
  static const double max = 1e30;
  char* end = NULL;
  *out_number = strtod(word, &end);
  if (end == word || word[strspn(word, "+-.0123456789eE")] != '\0' || *end != '\0' ||
      *out_number < -max || *out_number > max) {
    return fail(parser, "'%s' is no number: write a decimal number from %g to %g", word, -max, max);
  }
  return TENON_OK;
}

static tenon_status_t read_extent(const parser_t* parser, const char* word, int64_t* out_extent) {
  char* end = NULL;
  *out_extent = strtoll(word, &end, 10);
  if (end == word || *end != '\0' || *out_extent < 1 || *out_extent > MAX_EXTENT) {
    return fail(parser, "'%s' is no whole number: write an extent from 1 to %d", word, MAX_EXTENT);
  }
  return TENON_OK;
}

static tenon_status_t read_input(parser_t* parser) {
  int64_t dims[MAX_WORDS];
  const uint32_t rank = parser->count - 2;
  tenon_value_t value;
  for (uint32_t k = 0; k < rank; ++k) {
    TENON_READER_TRY(read_extent(parser, parser->words[k + 2], &dims[k]));
  }
  TENON_READER_TRY(parser->reader.build->input(parser->reader.builder, parser->words[1],
                                               TENON_DTYPE_FLOAT32, rank, dims, NULL, &value));
  return set_value(parser, parser->words[1], value);
}

static tenon_status_t read_layer(parser_t* parser, const layer_t* layer) {
  static const char* const names[] = {"a", "b"};
  const tenon_builder_table_t* build = parser->reader.build;
  tenon_builder_t* builder = parser->reader.builder;
  tenon_value_t inputs[2];
  tenon_value_t value;
  if (parser->count != (layer->has_number ? 4 : 3)) {
    return fail(parser, "'%s' takes %d words and has %u: write %s OUTPUT INPUT%s", layer->type,
                layer->has_number ? 3 : 2, parser->count - 1, layer->type,
                layer->has_number ? " NUMBER" : "");
  }
  TENON_READER_TRY(find_value(parser, parser->words[2], &inputs[0]));
  if (layer->has_number) {
    double number = 0;
    TENON_READER_TRY(read_number(parser, parser->words[3], &number));
    float element = (float)number;
    const tenon_tensor_view_t view = {
        .data = &element, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
    TENON_READER_TRY(build->constant(builder, NULL, &view, 0, &inputs[1]));
  }
  TENON_READER_TRY(build->expression(builder, layer->expression, names, inputs,
                                     layer->has_number ? 2 : 1, parser->words[1], &value));
  return set_value(parser, parser->words[1], value);
}

static tenon_status_t read_line(parser_t* parser) {
  const char* type = parser->words[0];
  if (parser->count < 2) {
    return fail(parser, "'%s' has no name: write it behind the type", type);
  }
  if (strcmp(type, "input") == 0) {
    return read_input(parser);
  }
  if (strcmp(type, "output") == 0) {
    tenon_value_t value;
    if (parser->count != 2) {
      return fail(parser, "'output' takes 1 name and has %u: write a line for each output",
                  parser->count - 1);
    }
    TENON_READER_TRY(find_value(parser, parser->words[1], &value));
    return parser->reader.build->output(parser->reader.builder, value, parser->words[1]);
  }
  for (size_t k = 0; k < sizeof(layers) / sizeof(layers[0]); ++k) {
    if (strcmp(type, layers[k].type) == 0) {
      return read_layer(parser, &layers[k]);
    }
  }
  return fail(parser, "unknown type '%s': use input, output, scale, shift, relu or tanh", type);
}

/* Cuts the line, which ends with NUL, into words. */
static tenon_status_t split_line(parser_t* parser, char* line) {
  line[strcspn(line, "#\r")] = '\0';
  parser->count = 0;
  for (char* at = line + strspn(line, " \t"); *at != '\0';) {
    if (parser->count == MAX_WORDS) {
      return fail(parser, "more than %d words: write less in a line", MAX_WORDS);
    }
    parser->words[parser->count++] = at;
    at += strcspn(at, " \t");
    if (*at != '\0') {
      *at++ = '\0';
      at += strspn(at, " \t");
    }
  }
  return TENON_OK;
}

static tenon_status_t parse(void* state, tenon_parse_t* parse, const tenon_parse_table_t* host,
                            tenon_builder_t* builder, const tenon_builder_table_t* build) {
  parser_t parser = {.line = 0};
  const void* data = NULL;
  size_t size = 0;
  (void)state;
  tenon_reader_initialize(&parser.reader, parse, host, builder, build);
  TENON_READER_TRY(host->open_file(parse, NULL, &data, &size));
  char* text = tenon_reader_readable(&parser.reader, data, size);
  if (text == NULL) {
    return tenon_reader_fail_memory(&parser.reader);
  }
  while (text != NULL) {
    char* next = strchr(text, '\n');
    if (next != NULL) {
      *next++ = '\0';
    }
    ++parser.line;
    TENON_READER_TRY(split_line(&parser, text));
    if (parser.line == 1) {
      if (parser.count != 2 || strcmp(parser.words[1], "1") != 0) {
        return fail(&parser, "this version of the format is unknown: use 'acme 1'");
      }
    } else if (parser.count > 0) {
      TENON_READER_TRY(read_line(&parser));
    }
    text = next;
  }
  return TENON_OK;
}

static int32_t sniff(void* state, const void* data, size_t size, const char* file_name) {
  static const char magic[] = "acme ";
  (void)state;
  (void)file_name;
  return size >= sizeof(magic) - 1 && memcmp(data, magic, sizeof(magic) - 1) == 0 ? 100 : 0;
}

static const tenon_parser_t parsers[] = {{.size = sizeof(parsers[0]),
                                          .format = "acme",
                                          .summary = "a small text format",
                                          .extensions = ".acme",
                                          .sniff = sniff,
                                          .parse = parse}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("parser/1", parsers)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
