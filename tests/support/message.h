/* Writes the protobuf wire format by hand, so that tests own every byte. */
#ifndef TENON_TESTS_SUPPORT_MESSAGE_H_
#define TENON_TESTS_SUPPORT_MESSAGE_H_

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

/* Bytes as they are. */
void tenon__message_raw(tenon__message_t* message, const void* data, size_t size);
void tenon__message_varint(tenon__message_t* message, uint32_t field, uint64_t value);
void tenon__message_text(tenon__message_t* message, uint32_t field, const char* text);
void tenon__message_bytes(tenon__message_t* message, uint32_t field, const void* data, size_t size);
/* One element by itself: 4 or 8 bytes. */
void tenon__message_fixed(tenon__message_t* message, uint32_t field, const void* data, size_t size);
/* Fields until the matching end belong to a nested message. */
void tenon__message_begin(tenon__message_t* message, uint32_t field);
void tenon__message_end(tenon__message_t* message);

#endif
