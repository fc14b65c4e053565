/*
 * The parser "caffe". Its parts, in any order: a prototxt, perhaps a caffemodel, perhaps a
 * binaryproto with the mean to subtract from the pictures that go in. Which is which, their
 * contents say.
 */
#ifndef TENON_PARSER_CAFFE_PARSER_H_
#define TENON_PARSER_CAFFE_PARSER_H_

#include "tenon/plugin.h"

/* A prototxt by its first field, surer with the ending; a caffemodel or binaryproto by its
 * ending and its fields together, for the first fields of other formats look alike. */
int32_t tenon__caffe_parser_sniff(void* state, const void* data, size_t size_bytes,
                                  const char* file_name);
/* INVALID_ARGUMENT without a prototxt or for two binaryprotos. Several caffemodels are laid over
 * each other, the later counts. Settings: weights, level, stage (README.md). */
tenon_status_t tenon__caffe_parser_parse(void* state, tenon_parse_t* parse,
                                         const tenon_parse_table_t* host, tenon_builder_t* builder,
                                         const tenon_builder_table_t* build);

#endif
