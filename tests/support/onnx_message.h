/* Models of ONNX, field by field. */
#ifndef TENON_TESTS_SUPPORT_ONNX_MESSAGE_H_
#define TENON_TESTS_SUPPORT_ONNX_MESSAGE_H_

#include "tests/support/message.h"

void tenon__message_float(tenon__message_t* message, uint32_t field, float value);
/* A tensor type or a tensor as field `field`; rank 0 to 4. dims below 0: unnamed. */
void tenon__message_value_info(tenon__message_t* message, uint32_t field, const char* name,
                               int32_t data_type, uint32_t rank, const int64_t* dims);
/* A node of the graph (or function: field 7) that is open; the message stays open for attributes.
 * `inputs` and `outputs`: names separated by spaces, "_" for an empty one. */
void tenon__message_begin_node(tenon__message_t* message, uint32_t field, const char* type,
                               const char* name, const char* inputs, const char* outputs);
/* A model of one operator set, its graph open; closed by tenon__message_end_model. */
void tenon__message_begin_model(tenon__message_t* message, uint64_t opset);
void tenon__message_end_model(tenon__message_t* message);

#endif
