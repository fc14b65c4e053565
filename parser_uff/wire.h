/* Protocol buffers' wire format, one field at a time. */
#ifndef TENON_PARSER_UFF_WIRE_H_
#define TENON_PARSER_UFF_WIRE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TENON__UFF_WIRE_VARINT = 0,
  TENON__UFF_WIRE_FIXED64 = 1,
  TENON__UFF_WIRE_LENGTH = 2,
  TENON__UFF_WIRE_FIXED32 = 5
};

/* One field of a message. */
typedef struct tenon__uff_record_t {
  uint64_t number;
  uint32_t wire;
  uint64_t value;       /* VARINT */
  const uint8_t* start; /* its tag */
  const uint8_t* data;  /* after the tag and, for LENGTH, the length */
  size_t size;
} tenon__uff_record_t;

/* False at what is cut off or malformed; then nothing moves. */
bool tenon__uff_read_varint(const uint8_t** inout_data, const uint8_t* end, uint64_t* out_value);
bool tenon__uff_read_record(const uint8_t** inout_data, const uint8_t* end,
                            tenon__uff_record_t* out_record);

#endif
