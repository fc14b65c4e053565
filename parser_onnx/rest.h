/* What follows a node in its block, converted in a body of that node: see branch.h. */
#ifndef TENON_PARSER_ONNX_REST_H_
#define TENON_PARSER_ONNX_REST_H_

#include "convert.h"

/* What it reads of what is there by then, captured values and literals, and what it is to give: the
 * block's outputs that are not there yet. */
typedef struct tenon__onnx_rest_t {
  tenon__onnx_captures_t captures;
  const char** literals;
  uint32_t literal_count;
  const char** results;
  uint32_t result_count;
} tenon__onnx_rest_t;

/* Before the body is begun: literals are built. */
tenon_status_t tenon__onnx_list_rest(const tenon_source_t* source, tenon__onnx_rest_t* out_rest);

/* In the body: `captured` stands for what it reads, `outputs` for the node's outputs. */
tenon_status_t tenon__onnx_convert_rest(const tenon_source_t* source,
                                        const tenon__onnx_rest_t* rest,
                                        const tenon_value_t* captured, const tenon_value_t* outputs,
                                        uint32_t output_count, tenon_value_t* out_results);

#endif
