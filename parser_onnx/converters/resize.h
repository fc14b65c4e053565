/* Resize and its predecessors. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_RESIZE_H_
#define TENON_PARSER_ONNX_CONVERTERS_RESIZE_H_

#include "maker.h"

void tenon__make_upsample(tenon__make_t* make);  /* scales are attributes */
void tenon__make_resize_10(tenon__make_t* make); /* scales are input 1; also Upsample 9 */
void tenon__make_resize(tenon__make_t* make);    /* since opset 11 */

#endif
