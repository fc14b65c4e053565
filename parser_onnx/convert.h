/* Bodies, for the source-node table and for the converters of loops. */
#ifndef TENON_PARSER_ONNX_CONVERT_H_
#define TENON_PARSER_ONNX_CONVERT_H_

#include "source.h"

/* What a subgraph becomes. `parameter_types` as in the source-node table. Values that a loop
 * carries may change their extents from pass to pass: parameter `carried_parameter + i` and result
 * `carried_result + i` are made of one type, for i in [0, carried_count); extents in which they
 * differ are left open. */
typedef struct tenon__onnx_body_request_t {
  const char* attribute;
  const tenon_value_t* parameter_types;
  uint32_t parameter_type_count;
  uint32_t carried_parameter;
  uint32_t carried_result;
  uint32_t carried_count;
} tenon__onnx_body_request_t;

/* The nodes of the scope's block, in order. */
tenon_status_t tenon__onnx_convert_nodes(tenon__onnx_program_t* program,
                                         tenon__onnx_scope_t* scope);

/* body.c */
tenon_status_t tenon__onnx_convert_body(const tenon_source_t* source,
                                        const tenon__onnx_body_request_t* request,
                                        uint32_t* out_body, const tenon_value_t** out_captured,
                                        uint32_t* out_captured_count);

#endif
