/* The parser "onnx": what plugin.c hangs into its table. From here a file goes through
 * scanner.h, model.h, program.h. */
#ifndef TENON_PARSER_ONNX_PARSER_H_
#define TENON_PARSER_ONNX_PARSER_H_

#include "tenon/plugin.h"

/* 0 .. 100 from the first bytes of a file, see tenon__onnx_sniff; a name that ends in ".onnx"
 * adds 5, which decides between formats that the bytes alone do not tell apart. */
int32_t tenon__onnx_parser_sniff(void* state, const void* data, size_t size_bytes,
                                 const char* file_name);
/* Builds the network of one file (INVALID_ARGUMENT for more parts; external data are opened by
 * name through the host). In this order: read, check imported versions, tell the host what the
 * file declares, resolve names, find nodes that nothing converts, build. So all missing
 * operators are told at once, before the first node is built. A newer IR or operator set than
 * this parser knows is a warning: what the file uses may well be known. */
tenon_status_t tenon__onnx_parser_parse(void* state, tenon_parse_t* parse,
                                        const tenon_parse_table_t* host, tenon_builder_t* builder,
                                        const tenon_builder_table_t* build);

#endif
