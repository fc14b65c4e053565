/* Attributes that convolutions and pools share. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_WINDOWS_H_
#define TENON_PARSER_ONNX_CONVERTERS_WINDOWS_H_

#include "tenon/maker.h"

/* strides, dilations, pads and auto_pad of a node begun; padding that ONNX computes excludes pads.
 */
void tenon__onnx_window_attributes(tenon_make_t* make);

#endif
