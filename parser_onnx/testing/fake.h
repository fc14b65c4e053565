/* A host and a builder that write down what they are asked for. Types are guessed: a node's outputs
 * are like its first input. */
#ifndef TENON_PARSER_ONNX_TESTING_FAKE_H_
#define TENON_PARSER_ONNX_TESTING_FAKE_H_

#include "message.h"
#include "tenon/plugin.h"

enum { TENON__FAKE_TEXT_SIZE = 16384, TENON__FAKE_VALUE_LIMIT = 512, TENON__FAKE_RANK_LIMIT = 8 };

typedef struct tenon__fake_value_t {
  tenon_value_type_t type;
  int64_t dims[TENON__FAKE_RANK_LIMIT];
  const void* data; /* a copy, when a constant */
} tenon__fake_value_t;

typedef struct tenon__fake_t {
  tenon_parse_table_t host;
  tenon_builder_table_t build;
  tenon_sink_t sink;
  const tenon_sink_t* next_sink; /* what is said passes on to it */
  tenon_sink_t last_sink;
  const void* model;
  size_t model_size;
  /* What is asked of the host. */
  const char* file_path; /* the one file beside the model */
  const void* file_data;
  size_t file_size;
  const char* shape_input; /* the one input whose shape the caller gave */
  uint32_t shape_rank;
  const int64_t* shape_dims;
  size_t fail_at; /* this allocation fails, counted from 1; 0: none */
  /* What came of it. */
  size_t allocation_count;
  void* blocks;
  size_t missing_count;
  char missing[1024];
  char declared[2048]; /* one line for each value and node that the file is told to hold */
  char messages[4096];
  uint32_t error_count;
  char log[TENON__FAKE_TEXT_SIZE]; /* one line for each thing built, cut when full */
  tenon__fake_value_t values[TENON__FAKE_VALUE_LIMIT];
  uint32_t value_count;
  uint32_t body_count;
  uint32_t open_bodies;
  uint32_t first_input; /* of the node begun */
} tenon__fake_t;

void tenon__fake_initialize(tenon__fake_t* out_fake, const void* model, size_t model_size);
void tenon__fake_deinitialize(tenon__fake_t* fake);
/* Parses the model with the parser of this plugin. */
tenon_status_t tenon__fake_parse(tenon__fake_t* fake);
tenon_parse_t* tenon__fake_handle(tenon__fake_t* fake);

#endif
