/* ONNX's element types and TypeProto, told in the contract's terms. */
#ifndef TENON_PARSER_ONNX_TYPES_H_
#define TENON_PARSER_ONNX_TYPES_H_

#include "model.h"

/* What one tensor may have, in a type or as data: far above any operator, small enough for fixed
 * lists. */
/* Of a number of TensorProto.DataType; TENON_DTYPE_UNDEFINED for one that is no element type, 0
 * among them. */
tenon_dtype_t tenon__onnx_dtype(int64_t data_type);
/* The contract's mnemonic, "f32"; "unknown" for what is no dtype. */
const char* tenon__onnx_dtype_name(tenon_dtype_t dtype);
/* Of one element in memory; 0 for what is no dtype. */
uint32_t tenon__onnx_dtype_bits(tenon_dtype_t dtype);

/* A TypeProto, flattened: a tensor, or a sequence or optional of tensors, whose `dtype` and dims
 * are those of the element. A map, and a sequence of maps, is the table of its values: a row for
 * each map, a column for each key, both extents -1. The contract has no deeper containers. */
typedef struct tenon__onnx_type_t {
  /* TENON_ARGUMENT_TENSOR, _SEQUENCE or _OPTIONAL. */
  uint32_t kind;
  tenon_dtype_t dtype;
  /* TENON_NONE: not declared; dims and symbols are then NULL. */
  uint32_t rank;
  /* [rank]; -1 where the file has no number, or a negative one. */
  int64_t* dims;
  /* [rank]; NULL where unnamed (dim_param is absent or empty) and where there is a number. */
  const char** symbols;
  bool is_map;
} tenon__onnx_type_t;

/* `what` names the value in messages: "input 'x'". INVALID_DATA without a type or element type;
 * UNSUPPORTED for sparse tensors, containers of containers, optionals of maps and maps of
 * anything but tensors' elements. A NULL `type` is UNSUPPORTED too. */
tenon_status_t tenon__onnx_type_read(tenon_reader_t* reader, const Onnx__TypeProto* type,
                                     const char* what, tenon__onnx_type_t* out_type);

/* Makes one input of the network, of its type as it was read. Where a tensor's rank or an extent
 * is open, the host is asked for the shape that the caller gave, and *type changes to what is
 * known then. INVALID_ARGUMENT when the two contradict, or when nobody says the rank. Extents
 * still open become symbols: inputs that share a name share the symbol. */
tenon_status_t tenon__onnx_type_input(tenon_reader_t* reader, const char* name,
                                      tenon__onnx_type_t* type, tenon_value_t* out_value);

#endif
