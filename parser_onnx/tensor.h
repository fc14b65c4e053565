/* TensorProto in every encoding, as a dense view. */
#ifndef TENON_PARSER_ONNX_TENSOR_H_
#define TENON_PARSER_ONNX_TENSOR_H_

#include "model.h"

/* Dense, row-major. `borrowed`: the elements lie in a mapped file, which outlives the network,
 * perhaps not aligned for their type. Otherwise they live until the parse ends, and are aligned. */
typedef struct tenon__onnx_tensor_t {
  tenon_tensor_view_t view;
  size_t element_count;
  size_t size_bytes;
  bool borrowed;
} tenon__onnx_tensor_t;

/* `what` names the tensor in messages: "initialiser 'w'". Raw data, and typed data that has the
 * layout of its elements, are borrowed; everything else is decoded. */
tenon_status_t tenon__onnx_tensor_read(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                       const Onnx__TensorProto* proto, const char* what,
                                       tenon__onnx_tensor_t* out_tensor);
/* Likewise, made dense. */
tenon_status_t tenon__onnx_tensor_read_sparse(tenon_reader_t* reader,
                                              const tenon__onnx_model_t* model,
                                              const Onnx__SparseTensorProto* proto,
                                              const char* what, tenon__onnx_tensor_t* out_tensor);

/* A tensor of our own making: fills view and sizes, leaves data NULL. INVALID_DATA when the extents
 * overflow. */
tenon_status_t tenon__onnx_tensor_shape(tenon_reader_t* reader, const char* what,
                                        tenon_dtype_t dtype, size_t rank, const int64_t* dims,
                                        tenon__onnx_tensor_t* out_tensor);
/* Copies the elements when they are not aligned for their type. */
tenon_status_t tenon__onnx_tensor_align(tenon_reader_t* reader, tenon__onnx_tensor_t* tensor);
bool tenon__onnx_tensor_is_aligned(const tenon__onnx_tensor_t* tensor);

/* typed_data.c: the fields float_data, int32_data and so on. */
tenon_status_t tenon__onnx_typed_data_read(tenon_reader_t* reader,
                                           const tenon__onnx_payload_t* payload, const char* what,
                                           tenon__onnx_tensor_t* tensor);
/* external_data.c: a file beside the model. */
tenon_status_t tenon__onnx_external_data_read(tenon_reader_t* reader,
                                              const Onnx__TensorProto* proto, const char* what,
                                              tenon__onnx_tensor_t* tensor);

#endif
