/* The order of a parse: scan, decode, check versions, convert. */
#include "parser.h"

#include <inttypes.h>
#include <string.h>

#include "convert.h"
#include "program.h"

enum { NEWEST_IR = 14, NEWEST_OPSET = 28 };

int32_t tenon__onnx_parser_sniff(void* state, const void* data, size_t size_bytes,
                                 const char* file_name) {
  (void)state;
  const int32_t certainty = tenon__onnx_sniff(data, size_bytes);
  const size_t length = file_name == NULL ? 0 : strlen(file_name);
  const bool named = length > 5 && strcmp(file_name + length - 5, ".onnx") == 0;
  return named && certainty < 100 ? certainty + 5 : certainty;
}

/* INVALID_DATA: a version that there cannot be. Two versions of one domain are the standard's
 * affair (the higher counts), but hardly meant. */
static tenon_status_t check_operator_sets(const tenon_reader_t* reader,
                                          Onnx__OperatorSetIdProto* const* sets, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const char* domain = tenon__onnx_domain(sets[i]->domain);
    const char* shown = domain[0] == '\0' ? "ai.onnx" : domain;
    if (sets[i]->version < 1) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "imports version %" PRId64
                               " of operator set '%s': versions begin with 1",
                               sets[i]->version, shown);
    }
    const int64_t taken = tenon__onnx_version(sets, count, domain);
    if (taken > sets[i]->version) {
      tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                       "imports versions %" PRId64 " and %" PRId64
                       " of operator set '%s': the higher one is taken",
                       sets[i]->version, taken, shown);
    }
  }
  return TENON_OK;
}

/* Newer files are tried: what they use may well be known. */
static void warn_of_newer(const tenon_reader_t* reader, const Onnx__ModelProto* proto) {
  if (proto->ir_version > NEWEST_IR) {
    tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                     "the file is of IR version %" PRId64 ", newer than %d", proto->ir_version,
                     NEWEST_IR);
  }
  const int64_t version = tenon__onnx_version(proto->opset_import, proto->n_opset_import, "");
  if (version > NEWEST_OPSET) {
    tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                     "the file uses operator set %" PRId64
                     ", newer than %d: operators are read as they were in that version",
                     version, NEWEST_OPSET);
  }
}

tenon_status_t tenon__onnx_parser_parse(void* state, tenon_parse_t* parse,
                                        const tenon_parse_table_t* host, tenon_builder_t* builder,
                                        const tenon_builder_table_t* build) {
  (void)state;
  tenon_reader_t reader;
  tenon_reader_initialize(&reader, parse, host, builder, build);
  const char* name = NULL;
  const void* data = NULL;
  size_t size_bytes = 0;
  if (host->part_count(parse) != 1) {
    return TENON_READER_FAIL(&reader, TENON_ERROR_INVALID_ARGUMENT,
                             "an ONNX model is one file, %u are given", host->part_count(parse));
  }
  TENON_READER_TRY(host->part(parse, 0, &name, &data, &size_bytes));
  tenon__onnx_model_t model;
  TENON_READER_TRY(tenon__onnx_model_read(&reader, data, size_bytes, &model));
  TENON_READER_TRY(
      check_operator_sets(&reader, model.proto->opset_import, model.proto->n_opset_import));
  warn_of_newer(&reader, model.proto);
  tenon__onnx_program_t program = {
      .reader = &reader, .model = &model, .convert_body = tenon__onnx_convert_body};
  TENON_READER_TRY(tenon__onnx_program_describe(&program));
  TENON_READER_TRY(tenon__onnx_program_resolve(&program));
  TENON_READER_TRY(tenon__onnx_program_check(&program));
  return tenon__onnx_program_convert(&program);
}
