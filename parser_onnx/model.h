/*
 * A model file, read: the decoded skeleton and what was cut from its tensors. The generated decoder
 * sees only what the scanner wrote (scanner.h); a tensor of the skeleton finds its elements again
 * by the number of its payload.
 */
#ifndef TENON_PARSER_ONNX_MODEL_H_
#define TENON_PARSER_ONNX_MODEL_H_

#include <onnx-ml.pb-c.h>

#include "scanner.h"

typedef struct tenon__onnx_model_t {
  /* Its `graph` is never NULL. Texts in it may be: read them through tenon__onnx_text. */
  const Onnx__ModelProto* proto;
  tenon__onnx_scan_t scan;
} tenon__onnx_model_t;

/* Everything lives until the parse ends; the elements of tensors stay in `data`, which must live
 * as long. INVALID_DATA when the bytes are no ModelProto or hold no graph; UNSUPPORTED for a
 * skeleton above 1 GiB or more messages than the scanner counts. Nothing is checked of what the
 * graph means. */
tenon_status_t tenon__onnx_model_read(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                      tenon__onnx_model_t* out_model);

/* What was cut from a tensor of the model: never NULL. For one that has no number, or a wrong
 * one, an empty payload, which is a tensor without elements. */
const tenon__onnx_payload_t* tenon__onnx_model_payload(const tenon__onnx_model_t* model,
                                                       const Onnx__TensorProto* tensor);

/* Protobuf-c leaves NULL where an optional text is absent, which ONNX means as "". */
const char* tenon__onnx_text(const char* text);

/* The domain as converters are registered for it: "" for "ai.onnx", which is another name of it,
 * and for NULL. */
const char* tenon__onnx_domain(const char* domain);

/* The version of `domain` among operator sets: the highest when it is imported twice, as the
 * standard has it; 1 when it is not imported at all. */
int64_t tenon__onnx_version(Onnx__OperatorSetIdProto* const* sets, size_t count,
                            const char* domain);

#endif
