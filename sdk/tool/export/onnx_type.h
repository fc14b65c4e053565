/* Types of inputs and outputs of an ONNX file. onnx_type.c has tool_onnx_ends too. */
#ifndef TOOL_EXPORT_ONNX_TYPE_H_
#define TOOL_EXPORT_ONNX_TYPE_H_

#include "data/wire.h"
#include "export/names.h"
#include "tenon/tenon.h"

/* A TypeProto: extents where the rank is known. */
tool_wire_writer_t tool_onnx_type_of(const tenon_io_info_t* info);

/* The outputs' names, of the fields that tool_onnx_ends wrote: what is needed begins with them. */
void tool_onnx_end_names(const tool_wire_writer_t* ends, tool_names_t* out_names);

#endif
