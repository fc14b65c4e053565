/*
 * Elements that stand in the file: initialisers, and what Constant nodes hold (TensorProto,
 * SparseTensorProto, or an attribute itself). They become constants of the network only where
 * something reads them; scope.c decides when.
 */
#ifndef TENON_PARSER_ONNX_LITERAL_H_
#define TENON_PARSER_ONNX_LITERAL_H_

#include "program.h"
#include "tensor.h"

/* The elements, dense and row-major; borrowed from the file where tensor.h says so, else alive
 * until the parse ends. An attribute's number or text is a scalar, a list is a vector: f32, i64
 * or strings (value_float has no f64). `what` begins messages, "initialiser 'w'". */
tenon_status_t tenon__onnx_literal_read(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                        const tenon__onnx_literal_t* literal, const char* what,
                                        tenon__onnx_tensor_t* out_tensor);

/* A constant named `name` in the graph that is being built. Borrowed elements are lent to the
 * network (the mapped file outlives it), others the builder copies. */
tenon_status_t tenon__onnx_literal_build(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                         const tenon__onnx_literal_t* literal, const char* name,
                                         tenon_value_t* out_value);

/* Which of the eight attributes of a Constant (value, sparse_value, value_float ...
 * value_strings) holds its value, among those `attributes`, which are the node's with references
 * to a function's attributes resolved. INVALID_DATA when there is not exactly one of them, or
 * when its declared type is not the one its name promises. */
tenon_status_t tenon__onnx_literal_of_constant(tenon_reader_t* reader, const Onnx__NodeProto* node,
                                               const Onnx__AttributeProto* const* attributes,
                                               size_t attribute_count,
                                               tenon__onnx_literal_t* out_literal);

#endif
