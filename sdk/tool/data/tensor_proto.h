/*
 * Recorded tensors: ONNX's TensorProto, SequenceProto and OptionalProto, as data sets hold them
 * (input_0.pb). The file does not say which of the three it is: the caller knows from the network's
 * input or output. Message definitions: onnx.proto, https://github.com/onnx/onnx.
 */
#ifndef TOOL_DATA_TENSOR_PROTO_H_
#define TOOL_DATA_TENSOR_PROTO_H_

#include "data/value.h"

/* TensorProto.DataType; 0 if ONNX lacks it. */
uint32_t tool_onnx_dtype(tenon_dtype_t dtype);
/* `kind`: TENON_ARGUMENT_TENSOR, _SEQUENCE or _OPTIONAL. `name` is for messages. */
tenon_status_t tool_tensor_proto_parse(const char* name, const uint8_t* data, size_t size,
                                       uint32_t kind, tool_value_t* out_value);
/* Name, type and extents alone; false when it is no tensor. For planning, before anything is read.
 */
bool tool_tensor_proto_peek(const uint8_t* data, size_t size, char** out_name,
                            tenon_dtype_t* out_dtype, uint32_t* out_rank, int64_t out_dims[64]);
tenon_status_t tool_tensor_proto_write(const char* path, const tool_value_t* value);

#endif
