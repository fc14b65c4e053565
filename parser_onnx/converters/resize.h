/*
 * Resize and its predecessors, all as the operator "resize", which wants the extents of the result.
 * In sampling.c's table; a file of their own since ONNX gives extents or scales, of some axes,
 * known or computed by the graph.
 */
#ifndef TENON_PARSER_ONNX_CONVERTERS_RESIZE_H_
#define TENON_PARSER_ONNX_CONVERTERS_RESIZE_H_

#include "tenon/maker.h"

/* Upsample 1 (height_scale, width_scale, rank 4) and 7 (attribute scales). Asymmetric, rounded
 * down. */
void tenon__onnx_upsample(tenon_make_t* make);
/* Resize 10 and Upsample 9: scales are input 1, which the graph may compute. Likewise. */
void tenon__onnx_resize_10(tenon_make_t* make);
/* Since opset 11: roi, scales and sizes are inputs 1 to 3, of which the last two may be empty
 * tensors. */
void tenon__onnx_resize(tenon_make_t* make);

#endif
