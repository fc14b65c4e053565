/*
 * What follows a node in its block, converted in a body of that node: see branch.h. The rest goes
 * from the node behind the scope's position to the end of the block's order, and what the block
 * gives becomes what the node gives.
 */
#ifndef TENON_PARSER_ONNX_REST_H_
#define TENON_PARSER_ONNX_REST_H_

#include "convert.h"

/* What the rest reads of what is there by then, and what it is to give. Both lists have each
 * name once, and live until the parse ends. */
typedef struct tenon__onnx_rest_t {
  /* Values: they go into the body as parameters, behind what the node's subgraphs capture. */
  tenon__onnx_captures_t captures;
  /* Names of constants. They are built in the graph around, once for both bodies, which use them
   * without a parameter. */
  const char** literals;
  uint32_t literal_count;
  /* The block's outputs that have no value yet. Those that have one stay the block's as they
   * are. */
  const char** results;
  uint32_t result_count;
} tenon__onnx_rest_t;

/* Call it before the body is begun: literals are built in the graph that is current. A name that
 * a node of the rest defines is not there yet, and so in neither list. */
tenon_status_t tenon__onnx_list_rest(const tenon_source_t* source, tenon__onnx_rest_t* out_rest);

/* In the body: `captured` (one for each of the captures) stands for what it reads, `outputs` for
 * the node's outputs, by position. Writes result_count values. A node of the rest may itself
 * take in what follows it. */
tenon_status_t tenon__onnx_convert_rest(const tenon_source_t* source,
                                        const tenon__onnx_rest_t* rest,
                                        const tenon_value_t* captured, const tenon_value_t* outputs,
                                        uint32_t output_count, tenon_value_t* out_results);

#endif
