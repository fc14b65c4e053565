/* Attributes that convolutions and pools share. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_WINDOWS_H_
#define TENON_PARSER_ONNX_CONVERTERS_WINDOWS_H_

#include "maker.h"

/* strides, dilations, pads and auto_pad of a node begun; padding that ONNX computes excludes pads.
 */
void tenon__make_window_attributes(tenon__make_t* make);

#endif
