/*
 * The messages of ONNX as the scanner sees them: which fields there are and what becomes of each.
 * One row for each field that the parser reads, after proto/onnx-ml.proto; a field without a row is
 * skipped, so a file of a newer version of ONNX is read as far as it is known.
 */
#ifndef TENON_PARSER_ONNX_SCHEMA_H_
#define TENON_PARSER_ONNX_SCHEMA_H_

#include <stdint.h>

/* Name, and what a message to the user calls it. TYPE_TENSOR serves sparse tensor types too,
 * TYPE_CONTAINER sequences and optionals: their fields have the same numbers. */
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

/* What becomes of a field on its way into the skeleton. */
typedef enum tenon__onnx_action_t {
  TENON__ONNX_FIELD_NUMBER, /* a varint or 32 bits: copied */
  /* Likewise, many: written packed however they come. */
  TENON__ONNX_FIELD_NUMBERS,
  /* Copied as it is: attributes' strings, which need not be text. */
  TENON__ONNX_FIELD_BYTES,
  TENON__ONNX_FIELD_STRING, /* copied, made UTF-8 */
  /* Walked; may repeat. */
  TENON__ONNX_FIELD_MESSAGE,
  /* Walked; at most once in its message. Fields of one message with the same `once` exclude each
   * other (the value of a TypeProto is one of five): a decoder would merge what comes twice. */
  TENON__ONNX_FIELD_SINGLE,
  /* A tensor's elements: to the payload, not into the skeleton. */
  TENON__ONNX_FIELD_CUT,
  /* Noted in the payload. */
  TENON__ONNX_FIELD_SEGMENT
} tenon__onnx_action_t;

/* A row. Bytes, so that the table stays within a few cache lines: it is searched for each field
 * of the file. */
typedef struct tenon__onnx_field_t {
  /* Which tenon__onnx_message_t it is in, and its number there. */
  uint8_t message;
  uint8_t number;
  uint8_t action;
  /* MESSAGE, SINGLE: which message it holds. Otherwise 0. */
  uint8_t child;
  /* NUMBER, NUMBERS, CUT: the wire type of one element; packed ones come as
   * TENON_READER_WIRE_LENGTH too. */
  uint8_t wire;
  /* SINGLE: its bit, 0 .. 31, in what was seen of the message. */
  uint8_t once;
} tenon__onnx_field_t;

/* NULL for a field that is not needed or not known, whatever its number. */
const tenon__onnx_field_t* tenon__onnx_schema_field(uint32_t message, uint64_t number);
/* "TypeProto.Tensor": for messages to the user. `message` is one of tenon__onnx_message_t. */
const char* tenon__onnx_schema_name(uint32_t message);

#endif
