/* The messages of ONNX as the scanner sees them: which fields there are and what becomes of each.
 */
#ifndef TENON_PARSER_ONNX_SCHEMA_H_
#define TENON_PARSER_ONNX_SCHEMA_H_

#include <stdint.h>

#define TENON__ONNX_MESSAGES(X)              \
  X(MODEL, "ModelProto")                     \
  X(GRAPH, "GraphProto")                     \
  X(NODE, "NodeProto")                       \
  X(ATTRIBUTE, "AttributeProto")             \
  X(TENSOR, "TensorProto")                   \
  X(SPARSE, "SparseTensorProto")             \
  X(VALUE_INFO, "ValueInfoProto")            \
  X(TYPE, "TypeProto")                       \
  X(TYPE_TENSOR, "TypeProto.Tensor")         \
  X(TYPE_CONTAINER, "TypeProto.Sequence")    \
  X(TYPE_MAP, "TypeProto.Map")               \
  X(SHAPE, "TensorShapeProto")               \
  X(DIMENSION, "TensorShapeProto.Dimension") \
  X(OPERATOR_SET, "OperatorSetIdProto")      \
  X(FUNCTION, "FunctionProto")               \
  X(ENTRY, "StringStringEntryProto")

#define TENON__ONNX_MESSAGE_ENTRY(name, text) TENON__ONNX_MESSAGE_##name,
typedef enum tenon__onnx_message_t {
  TENON__ONNX_MESSAGES(TENON__ONNX_MESSAGE_ENTRY) TENON__ONNX_MESSAGE_COUNT
} tenon__onnx_message_t;

typedef enum tenon__onnx_action_t {
  TENON__ONNX_FIELD_NUMBER,  /* varint or 32 bits: copied */
  TENON__ONNX_FIELD_NUMBERS, /* likewise, many: written packed however they come */
  TENON__ONNX_FIELD_BYTES,   /* copied */
  TENON__ONNX_FIELD_STRING,  /* copied, made UTF-8 */
  TENON__ONNX_FIELD_MESSAGE, /* walked; may repeat */
  TENON__ONNX_FIELD_SINGLE,  /* walked; at most once in its message (`once` tells which others
                                exclude it) */
  TENON__ONNX_FIELD_CUT,     /* a tensor's elements */
  TENON__ONNX_FIELD_SEGMENT  /* noted */
} tenon__onnx_action_t;

typedef struct tenon__onnx_field_t {
  uint8_t message;
  uint8_t number;
  uint8_t action;
  uint8_t child; /* MESSAGE, SINGLE: which message */
  uint8_t wire;  /* NUMBER, NUMBERS, CUT: wire type of one element */
  uint8_t once;  /* SINGLE: bit number */
} tenon__onnx_field_t;

/* NULL for a field that is not needed or not known: it is skipped. */
const tenon__onnx_field_t* tenon__onnx_schema_field(uint32_t message, uint64_t number);
const char* tenon__onnx_schema_name(uint32_t message);

#endif
