/* Protocol buffers' wire format, written. tenon/reader.h reads it. Encoding:
 * https://protobuf.dev/programming-guides/encoding. */
#ifndef TOOL_DATA_WIRE_H_
#define TOOL_DATA_WIRE_H_

#include <stddef.h>
#include <stdint.h>

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
