/* Resize and its predecessors. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_RESIZE_H_
#define TENON_PARSER_ONNX_CONVERTERS_RESIZE_H_

#include "tenon/maker.h"

void tenon__onnx_upsample(tenon_make_t* make);  /* scales are attributes */
void tenon__onnx_resize_10(tenon_make_t* make); /* scales are input 1; also Upsample 9 */
void tenon__onnx_resize(tenon_make_t* make);    /* since opset 11 */

#endif
