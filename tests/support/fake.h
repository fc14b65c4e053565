/* A host and a builder for tests of parsers: they lend memory and parts, and write down what they
 * are asked for. Types are guessed: a node's outputs are like its first input. */
#ifndef TENON_TESTS_SUPPORT_FAKE_H_
#define TENON_TESTS_SUPPORT_FAKE_H_

#include "tenon/maker.h"
#include "tenon/reader.h"

enum {
  TENON__FAKE_LOG_SIZE = 16384,
  TENON__FAKE_TEXT_SIZE = 4096,
  TENON__FAKE_VALUE_LIMIT = 1024,
  TENON__FAKE_RANK_LIMIT = 16,
  TENON__FAKE_PART_LIMIT = 3,
  TENON__FAKE_CONTENT_LIMIT = 64
};

/* A parser, and its tables of converters. */
typedef struct tenon__fake_parser_t {
  const char* format;
  tenon_status_t (*parse)(void* state, tenon_parse_t* parse, const tenon_parse_table_t* host,
                          tenon_builder_t* builder, const tenon_builder_table_t* build);
  const tenon_offering_t* const* families;
  size_t family_count;
} tenon__fake_parser_t;

typedef struct tenon__fake_value_t {
  tenon_value_type_t type;
  int64_t dims[TENON__FAKE_RANK_LIMIT];
  int64_t contents[TENON__FAKE_CONTENT_LIMIT]; /* where type.has_contents: content_count of them */
  uint32_t content_count;
} tenon__fake_value_t;

typedef struct tenon__fake_t {
  const tenon__fake_parser_t* parser;
  tenon_parse_table_t host;
  tenon_builder_table_t build;
  tenon_sink_t sink;
  const tenon_sink_t* next_sink; /* what is said passes on to it */
  tenon_sink_t last_sink;
  /* What the host is asked for. */
  struct {
    const void* data;
    size_t size;
  } parts[TENON__FAKE_PART_LIMIT];
  uint32_t part_count;
  const char* file_path; /* the one file beside the model */
  const void* file_data;
  size_t file_size;
  const char* shape_input; /* the one input whose shape the caller gave */
  uint32_t shape_rank;
  const int64_t* shape_dims;
  const char* setting_name; /* the one setting */
  const char* setting_value;
  size_t fail_at; /* this allocation fails, counted from 1; 0: none */
  /* What came of it: one line each, cut when full. */
  char messages[TENON__FAKE_TEXT_SIZE];
  char missing[TENON__FAKE_TEXT_SIZE];
  char declared[TENON__FAKE_TEXT_SIZE]; /* values and nodes that the file is told to hold */
  char log[TENON__FAKE_LOG_SIZE];       /* what is built */
  size_t log_size;
  size_t allocation_count;
  uint32_t error_count;
  uint32_t missing_count;
  uint32_t node_count;
  uint32_t output_count;
  uint32_t body_count;
  uint32_t open_bodies;
  uint32_t first_input; /* of the node begun */
  uint8_t last_byte;    /* of a large constant */
  void* blocks;
  uint32_t value_count;
  tenon__fake_value_t values[TENON__FAKE_VALUE_LIMIT]; /* from 1 */
} tenon__fake_t;

void tenon__fake_initialize(tenon__fake_t* out_fake, const tenon__fake_parser_t* parser);
/* What is written down stays readable. */
void tenon__fake_deinitialize(tenon__fake_t* fake);
void tenon__fake_add_part(tenon__fake_t* fake, const void* data, size_t size);
/* Parses the parts. */
tenon_status_t tenon__fake_parse(tenon__fake_t* fake);
/* Initializes a fake and parses one part. */
tenon_status_t tenon__fake_parse_file(tenon__fake_t* out_fake, const tenon__fake_parser_t* parser,
                                      const void* data, size_t size);
/* A fuzz target's body: the bytes are the file. */
void tenon__fake_parse_alone(const tenon__fake_parser_t* parser, const uint8_t* data, size_t size);
/* A reader over it. */
void tenon__fake_reader(tenon__fake_t* fake, tenon_reader_t* out_reader);
tenon_parse_t* tenon__fake_handle(tenon__fake_t* fake);

/* fake_builder.c */
void tenon__fake_initialize_builder(tenon__fake_t* fake);
/* fake.c: memory that no test lets fail. */
void* tenon__fake_allocate(tenon__fake_t* fake, size_t size_bytes);

#endif
