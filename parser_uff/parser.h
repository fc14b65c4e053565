/* The parser "uff": UFF files and TensorFlow's frozen graphs, each binary or as text. */
#ifndef TENON_PARSER_UFF_PARSER_H_
#define TENON_PARSER_UFF_PARSER_H_

#include "tenon/plugin.h"

int32_t tenon__uff_parser_sniff(void* state, const void* data, size_t size_bytes,
                                const char* file_name);
tenon_status_t tenon__uff_parser_parse(void* state, tenon_parse_t* parse,
                                       const tenon_parse_table_t* host, tenon_builder_t* builder,
                                       const tenon_builder_table_t* build);

#endif
