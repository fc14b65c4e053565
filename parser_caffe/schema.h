/*
 * Caffe's messages as a prototxt holds them: which fields there are and of what kind. Fields that
 * are not here (forks, other people's layers) are what they look like, which is why text.h does not
 * ask for the schema.
 */
#ifndef TENON_PARSER_CAFFE_SCHEMA_H_
#define TENON_PARSER_CAFFE_SCHEMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From 1: 0 is no type. Caffe's int32, int64 and uint32 are INT, float and double FLOAT. */
typedef enum tenon__caffe_type_t {
  TENON__CAFFE_TYPE_INT = 1,
  TENON__CAFFE_TYPE_BOOL,
  TENON__CAFFE_TYPE_FLOAT,
  TENON__CAFFE_TYPE_STRING,
  TENON__CAFFE_TYPE_ENUM,
  TENON__CAFFE_TYPE_MESSAGE,
  /* For training, or of an implementation (engine, fillers): no result depends on it. Not
   * readable, and not named as ignored either. */
  TENON__CAFFE_TYPE_IGNORED
} tenon__caffe_type_t;

/* One field of a message. */
typedef struct tenon__caffe_entry_t {
  const char* field;
  /* ENUM: its names in the order of their numbers, ' ' between, '-' for none. Else NULL. */
  const char* values;
  tenon__caffe_type_t type;
  bool is_repeated;
} tenon__caffe_entry_t;

/* `message` is the name of the field that holds it ("convolution_param", "shape"); "net" and
 * "layer" are the outer ones, "layer" of both versions. NULL when the field is not known. */
const tenon__caffe_entry_t* tenon__caffe_schema_find(const char* message, const char* field);

/* The name of an enumeration's number, *out_length long and without NUL; NULL when there is
 * none. */
const char* tenon__caffe_enum_name(const tenon__caffe_entry_t* entry, int64_t number,
                                   size_t* out_length);

#endif
