/* The files of a network, told apart by their content, and their conversion. */
#include "parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* ---- What a file is ---- */

/* How surely a prototxt: its first field is one of a network's. */
static int32_t sniff_text(const void* data, size_t size_bytes) {
  static const struct {
    const char* name;
    int32_t certainty;
  } fields[] = {{"layer", 90},          {"layers", 90},      {"input", 80},
                {"input_dim", 80},      {"input_shape", 80}, {"name", 60},
                {"force_backward", 90}, {"debug_info", 60},  {"state", 60}};
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
    if (tenon_reader_text_begins_with(data, size_bytes, fields[i].name)) {
      return fields[i].certainty;
    }
  }
  return 0;
}

static bool ends_with(const char* name, const char* ending) {
  const size_t length = name == NULL ? 0 : strlen(name);
  const size_t wanted = strlen(ending);
  return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

/* A caffemodel is taken for one by its name alone: the first fields of other formats look alike. */
int32_t tenon__caffe_parser_sniff(void* state, const void* data, size_t size_bytes,
                                  const char* file_name) {
  (void)state;
  const bool is_prototxt = ends_with(file_name, ".prototxt");
  const bool is_binary =
      ends_with(file_name, ".caffemodel") || ends_with(file_name, ".binaryproto");
  const int32_t text = sniff_text(data, size_bytes);
  if (text > 0) {
    return text + (is_prototxt ? 10 : 0);
  }
  return is_prototxt                                                                        ? 40
         : is_binary && tenon__caffe_content(data, size_bytes) != TENON__CAFFE_CONTENT_NONE ? 90
                                                                                            : 0;
}

/* ---- Parts ---- */

typedef struct parts_t {
  const void* prototxt;
  size_t prototxt_size;
  const char* prototxt_name;
} parts_t;

static tenon_status_t read_mean(tenon__caffe_program_t* program, const void* data, size_t size) {
  tenon_reader_t* reader = program->reader;
  if (program->mean != NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT, "there are two binaryprotos");
  }
  program->mean = tenon_reader_allocate(reader, 1, sizeof(*program->mean));
  return program->mean == NULL ? tenon_reader_fail_memory(reader)
                               : tenon__caffe_blob_read(reader, data, data, size, program->mean);
}

/* Binary parts are recognised by their fields; what is neither is text. */
static tenon_status_t read_part(tenon__caffe_program_t* program, uint32_t index, parts_t* parts) {
  tenon_reader_t* reader = program->reader;
  const char* name = NULL;
  const void* data = NULL;
  size_t size = 0;
  TENON_READER_TRY(reader->host->part(reader->parse, index, &name, &data, &size));
  const bool is_text = sniff_text(data, size) > 0;
  switch (is_text ? TENON__CAFFE_CONTENT_NONE : tenon__caffe_content(data, size)) {
    case TENON__CAFFE_CONTENT_NET:
      program->has_weights = true;
      return tenon__caffe_weights_read(reader, data, size, &program->weights);
    case TENON__CAFFE_CONTENT_BLOB:
      return read_mean(program, data, size);
    default:
      break;
  }
  if (parts->prototxt != NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "'%s' is no caffemodel and no binaryproto, and '%s' is the prototxt",
                             name, parts->prototxt_name);
  }
  *parts = (parts_t){data, size, name};
  return TENON_OK;
}

/* weights=random or weights=random:SEED: what no file has is made up. */
static tenon_status_t read_settings(tenon__caffe_program_t* program) {
  static const char random[] = "random";
  const size_t length = sizeof(random) - 1;
  const char* weights = tenon_reader_setting(program->reader, "weights");
  char* end = NULL;
  if (weights == NULL) {
    return TENON_OK;
  }
  const bool is_random = strncmp(weights, random, length) == 0;
  const bool has_seed = is_random && weights[length] == ':';
  program->makes_weights = true;
  errno = 0;
  program->seed = has_seed ? strtoull(weights + length + 1, &end, 10) : 0;
  const bool is_digit = has_seed && weights[length + 1] >= '0' && weights[length + 1] <= '9';
  const bool is_good =
      has_seed ? is_digit && *end == '\0' && errno == 0 : is_random && weights[length] == '\0';
  return is_good
             ? TENON_OK
             : TENON_READER_FAIL(program->reader, TENON_ERROR_INVALID_ARGUMENT,
                                 "weights=%s: it can be \"random\" or \"random:SEED\"", weights);
}

tenon_status_t tenon__caffe_parser_parse(void* state, tenon_parse_t* parse,
                                         const tenon_parse_table_t* host, tenon_builder_t* builder,
                                         const tenon_builder_table_t* build) {
  (void)state;
  tenon_reader_t reader;
  tenon__caffe_program_t program = {.reader = &reader};
  tenon__caffe_message_t* message = NULL;
  parts_t parts = {0};
  tenon_reader_initialize(&reader, parse, host, builder, build);
  TENON_READER_TRY(read_settings(&program));
  for (uint32_t i = 0; i < host->part_count(parse); ++i) {
    TENON_READER_TRY(read_part(&program, i, &parts));
  }
  if (parts.prototxt == NULL) {
    return TENON_READER_FAIL(
        &reader, TENON_ERROR_INVALID_ARGUMENT,
        "a caffemodel holds weights: name the network's prototxt as the model, and "
        "this file as its weights (--weights FILE)");
  }
  TENON_READER_TRY(tenon__caffe_text_read(&reader, parts.prototxt, parts.prototxt_size, &message));
  TENON_READER_TRY(tenon__caffe_net_read(&reader, message, &program.net));
  tenon__caffe_program_match(&program);
  TENON_READER_TRY(tenon__caffe_program_check(&program));
  return tenon__caffe_program_convert(&program);
}
