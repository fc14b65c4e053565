/* Protocol buffers' wire format, bounds-checked, as much as recorded tensors need: varints, 64-bit,
 * length-delimited and 32-bit fields; groups are refused. Encoding:
 * https://protobuf.dev/programming-guides/encoding. */
#ifndef TOOL_DATA_WIRE_H_
#define TOOL_DATA_WIRE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOOL_WIRE_VARINT = 0, TOOL_WIRE_FIXED64 = 1, TOOL_WIRE_BYTES = 2, TOOL_WIRE_FIXED32 = 5 };

/* What is still to be read; all three are set by who begins it, `position` and `failed` to zero. */
typedef struct tool_wire_t {
  const uint8_t* data;
  size_t size;
  size_t position;
  bool failed;
} tool_wire_t;

/* One field; of `value` and `bytes` the one that its type says. The bytes are views. */
typedef struct tool_wire_field_t {
  uint32_t number;
  uint32_t type;
  uint64_t value;       /* VARINT, FIXED32, FIXED64 */
  const uint8_t* bytes; /* BYTES */
  size_t size;
} tool_wire_field_t;

/* The next field; false at the end, and at a fault (then `failed`): a field that goes beyond the
 * end, a group, a number of 0. */
bool tool_wire_next(tool_wire_t* wire, tool_wire_field_t* out_field);
/* The next number of a packed field of varints; false at its end, and at one that is cut off or
 * longer than 64 bits (then `failed`). */
bool tool_wire_varint(tool_wire_t* wire, uint64_t* out_value);

/* A growing buffer; all zeros is empty. `data` is the owner's to free by tool_free. */
typedef struct tool_wire_writer_t {
  uint8_t* data;
  size_t size;
  size_t capacity;
} tool_wire_writer_t;

/* Fields are written in the order of the calls; a negative number is a varint of ten bytes. */
void tool_wire_put_varint(tool_wire_writer_t* writer, uint32_t number, uint64_t value);
void tool_wire_put_fixed64(tool_wire_writer_t* writer, uint32_t number, uint64_t bits);
void tool_wire_put_fixed32(tool_wire_writer_t* writer, uint32_t number, uint32_t bits);
/* A field of bytes of which only the beginning is written: `size` bytes are to follow. */
void tool_wire_put_length(tool_wire_writer_t* writer, uint32_t number, size_t size);
void tool_wire_put_bytes(tool_wire_writer_t* writer, uint32_t number, const void* data,
                         size_t size);
void tool_wire_put_text(tool_wire_writer_t* writer, uint32_t number, const char* text);
/* An inner message, which is freed and empty then. */
void tool_wire_put_message(tool_wire_writer_t* writer, uint32_t number,
                           tool_wire_writer_t* message);

#endif
