/* A prototxt as a tree of fields with their places. Which fields there are is not known here
 * (see schema.h): values keep the form in which they stand. */
#ifndef TENON_PARSER_CAFFE_TEXT_H_
#define TENON_PARSER_CAFFE_TEXT_H_

#include "tenon/reader.h"

/* Messages within messages. */
enum { TENON__CAFFE_TEXT_DEPTH_LIMIT = 100 };

typedef enum tenon__caffe_value_t {
  TENON__CAFFE_VALUE_NUMBER,
  TENON__CAFFE_VALUE_WORD, /* an enumeration's name, true, false */
  TENON__CAFFE_VALUE_STRING,
  TENON__CAFFE_VALUE_MESSAGE
} tenon__caffe_value_t;

/* One value of a field: a list, like a field that stands several times, is several of them.
 * Everything is copied out of the file and lives until the parse ends. */
typedef struct tenon__caffe_field_t {
  const char* name;
  struct tenon__caffe_field_t* next;
  /* MESSAGE. Never NULL there, perhaps empty. */
  struct tenon__caffe_message_t* message;
  const char* text; /* WORD, STRING: ends with NUL, readable */
  double number;    /* NUMBER */
  /* NUMBER without point and exponent (is_integer), saturated. */
  int64_t integer;
  uint32_t line; /* of the value, both from 1 */
  uint32_t column;
  tenon__caffe_value_t kind;
  bool is_integer;
  bool is_read; /* somebody asked for it (fields.h) */
} tenon__caffe_field_t;

/* Fields in the order of the file; both NULL when it is empty. */
typedef struct tenon__caffe_message_t {
  tenon__caffe_field_t* first;
  tenon__caffe_field_t* last;
} tenon__caffe_message_t;

/* INVALID_DATA with line and column, for what is no text format and for messages nested too
 * deep. *out_message is not to be read after a failure. */
tenon_status_t tenon__caffe_text_read(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                      tenon__caffe_message_t** out_message);

/* The first field of that name from `field` (which may be NULL) on; NULL when there is none. */
tenon__caffe_field_t* tenon__caffe_field_find(tenon__caffe_field_t* field, const char* name);
/* "the number 3", "the word X", "a message" ...: what stands there, for messages; texts cut at
 * 40 bytes. */
const char* tenon__caffe_field_describe(tenon_reader_t* reader, const tenon__caffe_field_t* field);

#endif
