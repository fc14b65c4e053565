/* Writes the protobuf wire format by hand, so that tests own every byte. */
#ifndef TENON_PARSER_ONNX_TESTING_MESSAGE_H_
#define TENON_PARSER_ONNX_TESTING_MESSAGE_H_

#include <stddef.h>
#include <stdint.h>

enum { TENON__MESSAGE_CAPACITY = 8192, TENON__MESSAGE_DEPTH = 16 };

/* All zeros is an empty message. Too long a message stops the test. */
typedef struct tenon__message_t {
  uint8_t bytes[TENON__MESSAGE_CAPACITY];
  size_t size;
  size_t open[TENON__MESSAGE_DEPTH]; /* where the contents of messages begun start */
  size_t depth;
} tenon__message_t;

void tenon__message_varint(tenon__message_t* message, uint32_t field, uint64_t value);
void tenon__message_float(tenon__message_t* message, uint32_t field, float value);
void tenon__message_text(tenon__message_t* message, uint32_t field, const char* text);
void tenon__message_bytes(tenon__message_t* message, uint32_t field, const void* data, size_t size);
/* Fields until the matching end belong to a nested message. */
void tenon__message_begin(tenon__message_t* message, uint32_t field);
void tenon__message_end(tenon__message_t* message);
/* Bytes as they are. */
void tenon__message_raw(tenon__message_t* message, const void* data, size_t size);

/* ONNX. A tensor type or a tensor as field `field`; rank 0 to 4. dims below 0: unnamed. */
void tenon__message_value_info(tenon__message_t* message, uint32_t field, const char* name,
                               int32_t data_type, uint32_t rank, const int64_t* dims);
/* A node of the graph (or function: field 7) that is open; the message stays open for attributes.
 * `inputs` and `outputs`: names separated by spaces, "_" for an empty one. */
void tenon__message_begin_node(tenon__message_t* message, uint32_t field, const char* type,
                               const char* name, const char* inputs, const char* outputs);
/* A model of one operator set, its graph open. Close with two ends: see tenon__message_end_model.
 */
void tenon__message_begin_model(tenon__message_t* message, uint64_t opset);
void tenon__message_end_model(tenon__message_t* message);

#endif
