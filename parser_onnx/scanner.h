/*
 * The first look at a model file: walks the protobuf wire format by a table of ONNX's messages,
 * checks every length, bounds the nesting, and cuts the tensors' elements out as views of the file.
 * What is left, the skeleton, is small and safe to decode: a generated decoder neither bounds its
 * recursion nor can it borrow. Everything that a parser does not need (documentation, metadata,
 * training) is left out.
 */
#ifndef TENON_PARSER_ONNX_SCANNER_H_
#define TENON_PARSER_ONNX_SCANNER_H_

#include "tenon/reader.h"

enum {
  TENON__ONNX_DEPTH_LIMIT = 100,              /* messages within messages */
  TENON__ONNX_ELEMENT_LIMIT = 4 * 1024 * 1024 /* messages and strings of one file */
};

/* A run of one of a TensorProto's element fields, as it lies in the file. */
typedef struct tenon__onnx_chunk_t {
  uint32_t field;
  bool packed; /* elements alone; else each has its tag before it */
  const uint8_t* data;
  size_t size;
  struct tenon__onnx_chunk_t* next;
} tenon__onnx_chunk_t;

/* What was cut from one TensorProto. */
typedef struct tenon__onnx_payload_t {
  tenon__onnx_chunk_t* chunks;
  tenon__onnx_chunk_t* last_chunk;
  bool has_segment;
} tenon__onnx_payload_t;

/* The skeleton is an encoded ModelProto. In it each TensorProto's raw_data holds the number of its
 * payload (4 bytes, little-endian). String fields are UTF-8 without NUL: other bytes are written as
 * \xNN. */
typedef struct tenon__onnx_scan_t {
  uint8_t* skeleton;
  size_t skeleton_size;
  tenon__onnx_payload_t** payloads;
  uint32_t payload_count;
} tenon__onnx_scan_t;

/* INVALID_DATA with the place and the reason when the file is no ModelProto. */
tenon_status_t tenon__onnx_scan(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                tenon__onnx_scan_t* out_scan);

/* How sure: 0 .. 100, from the first bytes of a file. */
int32_t tenon__onnx_sniff(const void* data, size_t size_bytes);

#endif
