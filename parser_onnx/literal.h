/* Elements that stand in the file: initialisers and what Constant nodes hold. */
#ifndef TENON_PARSER_ONNX_LITERAL_H_
#define TENON_PARSER_ONNX_LITERAL_H_

#include "program.h"
#include "tensor.h"

/* The elements, dense. */
tenon_status_t tenon__onnx_literal_read(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                        const tenon__onnx_literal_t* literal, const char* what,
                                        tenon__onnx_tensor_t* out_tensor);

/* A constant in the graph that is being built. */
tenon_status_t tenon__onnx_literal_build(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                         const tenon__onnx_literal_t* literal, const char* name,
                                         tenon_value_t* out_value);

/* The attribute of a Constant that holds its value; INVALID_DATA when there is not exactly one. */
tenon_status_t tenon__onnx_literal_of_constant(tenon_reader_t* reader, const Onnx__NodeProto* node,
                                               const Onnx__AttributeProto* const* attributes,
                                               size_t attribute_count,
                                               tenon__onnx_literal_t* out_literal);

#endif
