/*
 * The first look at a model file: walks the protobuf wire format by a table of ONNX's messages,
 * checks every length, bounds the nesting, and cuts the tensors' elements out as views of the file.
 * What is left, the skeleton, is small and safe to decode: a generated decoder neither bounds its
 * recursion nor can it borrow. Everything that a parser does not need (documentation, metadata,
 * training) is left out. See schema.h for the table, model.h for what comes next.
 */
#ifndef TENON_PARSER_ONNX_SCANNER_H_
#define TENON_PARSER_ONNX_SCANNER_H_

#include "tenon/reader.h"

enum {
  /* Messages within messages, the ModelProto being 1. Each subgraph costs 3: node, attribute,
   * graph. */
  TENON__ONNX_DEPTH_LIMIT = 100,
  /* Messages, strings, numbers and chunks of one file: each costs the decoder a block of memory
   * many times its size in the file. */
  TENON__ONNX_ELEMENT_LIMIT = 4 * 1024 * 1024
};

/* A run of one of a TensorProto's element fields, as it lies in the file. A packed field is one
 * chunk; elements that have a tag each and follow one another are one too, tags included. `data`
 * is a view of the file. */
typedef struct tenon__onnx_chunk_t {
  /* Of TensorProto: 4 float_data, 5 int32_data, 6 string_data, 7 int64_data, 9 raw_data, 10
   * double_data, 11 uint64_data. */
  uint32_t field;
  /* Elements alone; else each has its tag (a varint) before it. Strings never are. */
  bool packed;
  const uint8_t* data;
  /* Bytes of `data`. */
  size_t size;
  struct tenon__onnx_chunk_t* next;
} tenon__onnx_chunk_t;

/* What was cut from one TensorProto: its chunks in the order of the file, both pointers NULL
 * when it has no elements. Fields of several types may stand there; tensor.c takes the one that
 * the element type says. */
typedef struct tenon__onnx_payload_t {
  tenon__onnx_chunk_t* chunks;
  tenon__onnx_chunk_t* last_chunk;
  /* TensorProto.segment (3) stands there: a part of a tensor, which nothing writes and nothing
   * here reads. */
  bool has_segment;
} tenon__onnx_payload_t;

/* The skeleton is an encoded ModelProto of the same order as the file. In it each TensorProto's
 * raw_data holds the number of its payload (4 bytes, little-endian). String fields are UTF-8
 * without NUL: other bytes are written as \xNN. Numbers that repeat are written packed however
 * they came, since alone they would cost the decoder twenty times their size. Both live until
 * the parse ends. */
typedef struct tenon__onnx_scan_t {
  uint8_t* skeleton;
  size_t skeleton_size;
  tenon__onnx_payload_t** payloads;
  uint32_t payload_count;
} tenon__onnx_scan_t;

/* INVALID_DATA, with the byte and the message it is in, when the file is no ModelProto: cut off,
 * a wrong wire type, nested too deep, or a field twice that a decoder would merge (graph, g, t,
 * type ...). UNSUPPORTED beyond TENON__ONNX_ELEMENT_LIMIT or a skeleton of 1 GiB. An empty file
 * is an empty ModelProto. */
tenon_status_t tenon__onnx_scan(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                tenon__onnx_scan_t* out_scan);

/* How sure, 0 .. 95, from the first bytes of a file, which may end anywhere: a field that
 * ModelProto does not have, or of another wire type, is 0 (so is an ir_version above 1000);
 * ir_version, graph and opset_import count 40 each, other fields 10. */
int32_t tenon__onnx_sniff(const void* data, size_t size_bytes);

#endif
