/*
 * TensorProto in every encoding, as a dense view. An element type has up to four places in the
 * file: raw_data, a typed field, a file beside the model, a sparse tensor. What lies there as
 * memory has it is not copied, which is nearly all weights of nearly all models.
 */
#ifndef TENON_PARSER_ONNX_TENSOR_H_
#define TENON_PARSER_ONNX_TENSOR_H_

#include "model.h"

/* Dense, row-major. `borrowed`: the elements lie in a mapped file, which outlives the network,
 * perhaps not aligned for their type. Otherwise they live until the parse ends, and are aligned.
 * view.data is never NULL once read, also without elements. */
typedef struct tenon__onnx_tensor_t {
  tenon_tensor_view_t view;
  size_t element_count;
  /* Types below 8 bits are packed, two or four in a byte, low bits first; the last byte is
   * filled up. */
  size_t size_bytes;
  bool borrowed;
} tenon__onnx_tensor_t;

/* `what` names the tensor in messages: "initialiser 'w'". Raw data, and typed data that has the
 * layout of its elements (packed f32 and f64), are borrowed; everything else is decoded. Bools
 * other than 0 and 1 become 1. INVALID_DATA when extents and elements do not agree in number, or
 * the element type does not exist; UNSUPPORTED for segments. On failure *out_tensor is
 * untouched. */
tenon_status_t tenon__onnx_tensor_read(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                       const Onnx__TensorProto* proto, const char* what,
                                       tenon__onnx_tensor_t* out_tensor);
/* Likewise, made dense, zeros where no index points; a place that has two takes the later.
 * UNSUPPORTED above 2 GiB, for strings and for elements below a byte. */
tenon_status_t tenon__onnx_tensor_read_sparse(tenon_reader_t* reader,
                                              const tenon__onnx_model_t* model,
                                              const Onnx__SparseTensorProto* proto,
                                              const char* what, tenon__onnx_tensor_t* out_tensor);

/* A tensor of our own making: fills view (dims copied, strides dense) and sizes, leaves data
 * NULL. INVALID_DATA when an extent is negative, the rank above TENON_RANK_LIMIT, or the
 * product overflows. */
tenon_status_t tenon__onnx_tensor_shape(tenon_reader_t* reader, const char* what,
                                        tenon_dtype_t dtype, size_t rank, const int64_t* dims,
                                        tenon__onnx_tensor_t* out_tensor);
/* Copies the elements when they are not aligned for their type; then they are not borrowed any
 * more. */
tenon_status_t tenon__onnx_tensor_align(tenon_reader_t* reader, tenon__onnx_tensor_t* tensor);
/* Complex numbers are aligned as their halves are. */
bool tenon__onnx_tensor_is_aligned(const tenon__onnx_tensor_t* tensor);

/* typed_data.c: the fields float_data, int32_data and so on, of a tensor that has its shape.
 * int32_data has whatever is narrower, one number for an element, save that elements below 8
 * bits are packed in bytes first. */
tenon_status_t tenon__onnx_typed_data_read(tenon_reader_t* reader,
                                           const tenon__onnx_payload_t* payload, const char* what,
                                           tenon__onnx_tensor_t* tensor);
/* external_data.c: a file beside the model, opened through the host, which decides what "beside"
 * allows; entries `location`, `offset` (0 without), `length`, decimal bytes. The view is
 * borrowed. INVALID_DATA for a range that the file does not have, or a length that is not the
 * tensor's; the host's status for a file that cannot be read. */
tenon_status_t tenon__onnx_external_data_read(tenon_reader_t* reader,
                                              const Onnx__TensorProto* proto, const char* what,
                                              tenon__onnx_tensor_t* tensor);

#endif
