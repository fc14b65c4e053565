/* Darknet's networks: a .cfg, which is a text of sections, and its .weights. A section is a layer.
 *
 *   parser.c    sections become nodes of a network
 *   section.c   reads the text, and shows a section to converters as a source
 *   weights.c   gives each layer its part of the weights
 *   layers.c    converters of the layers; other plugins may add some, for the format "darknet"
 */
#ifndef DARKNET_H_
#define DARKNET_H_

#include "tenon/reader.h"

enum {
  DARKNET_MAX_KEYS = 64, /* of a section */
  DARKNET_MAX_SECTIONS = 4096,
  DARKNET_MAX_INPUTS = 64,    /* of a layer */
  DARKNET_MAX_NUMBERS = 1024, /* of a list */
  DARKNET_MAX_BLOBS = 5,
  DARKNET_MAX_NUMBER = 1 << 20 /* of filters, extents and the like */
};

/* Weights of a layer, where they lie in the file. */
typedef struct darknet_blob_t {
  const uint8_t* data;
  uint32_t rank;
  int64_t dims[4];
  int64_t strides[4];
} darknet_blob_t;

/* One section; converters see it as their source. Besides its options it has whole numbers for
 * messages: "@" is the line of the section, and "@KEY" that of an option, or of the section if it
 * has no such option. */
struct tenon_source_t {
  tenon_reader_t* reader;
  const char* type;
  const char* name; /* "convolutional_3" */
  uint32_t line;
  uint32_t key_count;
  const char* keys[DARKNET_MAX_KEYS];
  const char* values[DARKNET_MAX_KEYS];
  uint32_t lines[DARKNET_MAX_KEYS];
  uint32_t input_count;
  uint32_t blob_count;
  darknet_blob_t blobs[DARKNET_MAX_BLOBS];
};

#define DARKNET_FAIL(source, ...) \
  TENON_READER_FAIL((source)->reader, TENON_ERROR_INVALID_DATA, __VA_ARGS__)

/* section.c: the table that converters read a section by. */
extern const tenon_source_table_t darknet_source_table;
tenon_status_t darknet_read_sections(tenon_reader_t* reader, const void* data, size_t size,
                                     tenon_source_t*** out_sections, uint32_t* out_count);
/* A whole number of a section, from `min` to DARKNET_MAX_NUMBER. */
tenon_status_t darknet_get_count(const tenon_source_t* section, const char* name, int64_t otherwise,
                                 int64_t min, int64_t* out_value);
/* The first whole number of an option without a message; `otherwise` if there is none. */
int64_t darknet_peek(const tenon_source_t* section, const char* name, int64_t otherwise);

/* weights.c: the rest of the file. */
typedef struct darknet_weights_t {
  const char* name;
  const uint8_t* data; /* NULL: there is no file */
  size_t size;
} darknet_weights_t;
/* Whether a file with this beginning can only be a .weights file. */
bool darknet_is_weights(const void* data, size_t size);
tenon_status_t darknet_open_weights(tenon_reader_t* reader, const char* name, const void* data,
                                    size_t size, darknet_weights_t* out_weights);
/* Takes the blobs of a convolution whose input has so many channels. */
tenon_status_t darknet_take_weights(tenon_source_t* section, int64_t channels,
                                    darknet_weights_t* inout_weights);
/* Fails if weights are left. */
tenon_status_t darknet_close_weights(tenon_reader_t* reader, const darknet_weights_t* weights);

/* layers.c */
extern const tenon_offering_t darknet_layers;

#endif
