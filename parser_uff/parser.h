/* The parser "uff": UFF files and TensorFlow's frozen graphs, each binary or as text. Which of
 * the four a file is, its first bytes say; the ending of its name only strengthens that. */
#ifndef TENON_PARSER_UFF_PARSER_H_
#define TENON_PARSER_UFF_PARSER_H_

#include "tenon/plugin.h"

/* 90 for a binary form, 70 for text, since a prototxt of something else may begin with the same
 * word; ".uff" adds, and is 40 alone. */
int32_t tenon__uff_parser_sniff(void* state, const void* data, size_t size_bytes,
                                const char* file_name);
/* One file (INVALID_ARGUMENT otherwise); setting "outputs" names the network's outputs. Reads,
 * links, checks that everything has a converter, builds. A SavedModel is refused with what to
 * do. */
tenon_status_t tenon__uff_parser_parse(void* state, tenon_parse_t* parse,
                                       const tenon_parse_table_t* host, tenon_builder_t* builder,
                                       const tenon_builder_table_t* build);

#endif
