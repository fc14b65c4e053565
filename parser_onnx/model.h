/* A model file, read: the decoded skeleton and what was cut from its tensors. */
#ifndef TENON_PARSER_ONNX_MODEL_H_
#define TENON_PARSER_ONNX_MODEL_H_

#include <onnx-ml.pb-c.h>

#include "scanner.h"

typedef struct tenon__onnx_model_t {
  const Onnx__ModelProto* proto; /* with a graph */
  tenon__onnx_scan_t scan;
} tenon__onnx_model_t;

/* Everything lives until the parse ends; elements of tensors stay in `data`. */
tenon_status_t tenon__onnx_model_read(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                      tenon__onnx_model_t* out_model);

/* What was cut from a tensor of the model; never NULL. */
const tenon__onnx_payload_t* tenon__onnx_model_payload(const tenon__onnx_model_t* model,
                                                       const Onnx__TensorProto* tensor);

/* The decoder leaves NULL where a text is absent: this gives "". */
const char* tenon__onnx_text(const char* text);

/* "ai.onnx" is another name of the domain "". */
const char* tenon__onnx_domain(const char* domain);

/* The version of `domain` among operator sets, the highest as the standard has it; 1 when it is not
 * imported. */
int64_t tenon__onnx_version(Onnx__OperatorSetIdProto* const* sets, size_t count,
                            const char* domain);

#endif
