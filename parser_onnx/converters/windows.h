/* Attributes that convolutions and pools share: ONNX writes them alike for all. */
#ifndef TENON_PARSER_ONNX_CONVERTERS_WINDOWS_H_
#define TENON_PARSER_ONNX_CONVERTERS_WINDOWS_H_

#include "tenon/maker.h"

/* Sets strides, dilations, and pads or auto_pad of the node begun. With an auto_pad other than
 * NOTSET (or "") ONNX has the padding computed from the extents, and `pads`, if they stand
 * there, say nothing: they are not passed. An unknown auto_pad is INVALID_DATA. */
void tenon__onnx_window_attributes(tenon_make_t* make);

#endif
