/* A host that lends memory and parts, and a builder that takes everything: a node's outputs are
 * like its first input. */
#ifndef TENON_PARSER_UFF_TESTING_FAKE_H_
#define TENON_PARSER_UFF_TESTING_FAKE_H_

#include <stdbool.h>

#include "tenon/plugin.h"
#include "tenon/reader.h"

enum {
  TENON__FAKE_VALUE_LIMIT = 1024,
  TENON__FAKE_RANK_LIMIT = 16,
  TENON__FAKE_PART_LIMIT = 2,
  TENON__FAKE_CONTENT_LIMIT = 64
};

typedef struct tenon__fake_value_t {
  tenon_value_type_t type;
  int64_t dims[TENON__FAKE_RANK_LIMIT];
  int64_t contents[TENON__FAKE_CONTENT_LIMIT]; /* of small constants of integers */
} tenon__fake_value_t;

typedef struct tenon__fake_t {
  tenon_parse_table_t host;
  tenon_builder_table_t build;
  tenon_sink_t sink;
  struct {
    const void* data;
    size_t size;
  } parts[TENON__FAKE_PART_LIMIT];
  uint32_t part_count;
  size_t fail_at; /* this allocation fails, counted from 1; 0: none */
  size_t allocation_count;
  void* blocks;
  char messages[4096]; /* one line each, cut when full */
  uint32_t error_count;
  tenon__fake_value_t values[TENON__FAKE_VALUE_LIMIT];
  uint32_t value_count;
  uint32_t first_input; /* of the node begun */
  uint32_t node_count;
  uint32_t output_count;
  const char* outputs; /* the setting; NULL: none */
} tenon__fake_t;

void tenon__fake_initialize(tenon__fake_t* out_fake);
void tenon__fake_deinitialize(tenon__fake_t* fake);
void tenon__fake_add_part(tenon__fake_t* fake, const void* data, size_t size);
/* A reader over it; builder and parse handle are the fake itself. */
void tenon__fake_context(tenon__fake_t* fake, tenon_reader_t* out_context);
/* Parses the parts with the parser of this plugin. */
tenon_status_t tenon__fake_parse(tenon__fake_t* fake);

/* A fuzz target's body: the bytes are the file. */
void tenon__fake_parse_alone(const uint8_t* data, size_t size);

#endif
