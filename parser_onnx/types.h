/* ONNX's element types and TypeProto, told in the contract's terms. */
#ifndef TENON_PARSER_ONNX_TYPES_H_
#define TENON_PARSER_ONNX_TYPES_H_

#include "model.h"

enum { TENON__ONNX_RANK_LIMIT = 64 };

/* TENON_DTYPE_UNDEFINED for a number that is no element type. */
tenon_dtype_t tenon__onnx_dtype(int64_t data_type);
const char* tenon__onnx_dtype_name(tenon_dtype_t dtype); /* the contract's mnemonic */
uint32_t tenon__onnx_dtype_bits(tenon_dtype_t dtype);

/* A TypeProto, flattened: a tensor, or a sequence or optional of tensors. A map, and a sequence of
 * maps, is the table of its values: a row for each map, a column for each key. */
typedef struct tenon__onnx_type_t {
  uint32_t kind; /* TENON_ARGUMENT_TENSOR, _SEQUENCE, _OPTIONAL */
  tenon_dtype_t dtype;
  uint32_t rank;        /* TENON_NONE: not declared */
  int64_t* dims;        /* -1: not a number */
  const char** symbols; /* NULL where unnamed */
  bool is_map;
} tenon__onnx_type_t;

/* `what` names the value in messages: "input 'x'". */
tenon_status_t tenon__onnx_type_read(tenon_reader_t* reader, const Onnx__TypeProto* type,
                                     const char* what, tenon__onnx_type_t* out_type);

/* Makes one input of the network, of its type as it was read. Asks the host for extents that the
 * file leaves open. */
tenon_status_t tenon__onnx_type_input(tenon_reader_t* reader, const char* name,
                                      tenon__onnx_type_t* type, tenon_value_t* out_value);

#endif
