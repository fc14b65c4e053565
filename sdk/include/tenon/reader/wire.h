/* The code of tenon/reader.h: protocol buffers' wire format. */
#ifndef TENON_READER_WIRE_H_
#define TENON_READER_WIRE_H_

#include "tenon/reader.h"

static inline bool tenon_reader_read_varint(const uint8_t** inout_data, const uint8_t* end,
                                            uint64_t* out_value) {
  uint64_t value = 0;
  const uint8_t* data = *inout_data;
  for (uint32_t shift = 0; shift < 64 && data < end; shift += 7) {
    const uint8_t byte = *data++;
    value |= (uint64_t)(byte & 0x7Fu) << shift;
    if (byte < 0x80u) {
      *inout_data = data;
      *out_value = value;
      return true;
    }
  }
  return false;
}

/* Reads what follows the tag. */
static inline bool tenon_reader_read_payload(const uint8_t** inout_data, const uint8_t* end,
                                             tenon_reader_record_t* record) {
  uint64_t size = 0;
  record->data = *inout_data;
  switch (record->wire) {
    case TENON_READER_WIRE_VARINT:
      return tenon_reader_read_varint(inout_data, end, &record->value);
    case TENON_READER_WIRE_FIXED64:
      size = 8;
      break;
    case TENON_READER_WIRE_FIXED32:
      size = 4;
      break;
    case TENON_READER_WIRE_LENGTH:
      if (!tenon_reader_read_varint(inout_data, end, &size)) {
        return false;
      }
      record->data = *inout_data;
      break;
    default:
      return false; /* groups, and unknown types */
  }
  if (size > (uint64_t)(end - record->data)) {
    return false;
  }
  *inout_data = record->data + size;
  return true;
}

static inline bool tenon_reader_read_record(const uint8_t** inout_data, const uint8_t* end,
                                            tenon_reader_record_t* out_record) {
  const uint8_t* data = *inout_data;
  uint64_t tag = 0;
  if (!tenon_reader_read_varint(&data, end, &tag) || tag >> 3 == 0) {
    return false;
  }
  tenon_reader_record_t record = {tag >> 3, (uint32_t)tag & 7u, 0, *inout_data, data, 0};
  if (!tenon_reader_read_payload(&data, end, &record)) {
    return false;
  }
  record.size = (size_t)(data - record.data);
  *out_record = record;
  *inout_data = data;
  return true;
}

#endif /* TENON_READER_WIRE_H_ */
