/*
 * Fields of a message by name, with the kinds that the schema gives them: what rules, inputs and
 * the source-node table read. Each says with line and column what is of a wrong kind. Asking for a
 * field marks it as read, whatever comes of it: what stays unread is named as ignored.
 */
#ifndef TENON_PARSER_CAFFE_FIELDS_H_
#define TENON_PARSER_CAFFE_FIELDS_H_

#include "text.h"

/* A message and the name of the field that holds it, under which the schema knows it; "net" and
 * "layer" for the outer ones. */
typedef struct tenon__caffe_node_t {
  const char* name;
  tenon__caffe_message_t* message;
} tenon__caffe_node_t;

/* One of TENON_FIELD_*; NONE when absent. A field that the schema does not know is what it looks
 * like: numbers without point are ints, texts in quotes and words strings, true and false ints;
 * one that stands several times is a list, of floats when one of them has a point. */
uint32_t tenon__caffe_fields_kind(const tenon__caffe_node_t* node, const char* name);

/* NOT_FOUND, in silence, when absent; INVALID_DATA when it is no such thing. A number of an
 * enumeration is its name, a bool 0 or 1; a whole number serves as a float. Where one is asked
 * for and several stand, the last one counts. Integers have less than 33 bits, extents (dim,
 * input_dim) less than 49, so that sums and products of a few do not overflow. Lists live until
 * the parse ends. */
tenon_status_t tenon__caffe_fields_int(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                       const char* name, int64_t* out_value);
tenon_status_t tenon__caffe_fields_float(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                         const char* name, double* out_value);
tenon_status_t tenon__caffe_fields_string(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          const char* name, const char** out_value);
tenon_status_t tenon__caffe_fields_ints(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                        const char* name, const int64_t** out_values,
                                        size_t* out_count);
tenon_status_t tenon__caffe_fields_floats(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          const char* name, const double** out_values,
                                          size_t* out_count);
tenon_status_t tenon__caffe_fields_strings(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                           const char* name, const tenon_string_view_t** out_values,
                                           size_t* out_count);
/* The message that a field is; INVALID_DATA when it is a value. The field is not marked. */
tenon_status_t tenon__caffe_field_node(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                                       tenon__caffe_node_t* out_node);
/* How many of that name there are. */
uint32_t tenon__caffe_fields_count(const tenon__caffe_node_t* node, const char* name);
/* Message `index` of that name; NOT_FOUND past the last. */
tenon_status_t tenon__caffe_fields_node(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                        const char* name, uint32_t index,
                                        tenon__caffe_node_t* out_node);

#endif
