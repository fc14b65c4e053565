#include "wire.h"

bool tenon__uff_read_varint(const uint8_t** inout_data, const uint8_t* end, uint64_t* out_value) {
  uint64_t value = 0;
  const uint8_t* data = *inout_data;
  for (uint32_t shift = 0; shift < 70 && data < end; shift += 7) {
    const uint8_t byte = *data++;
    value |= shift < 64 ? (uint64_t)(byte & 0x7Fu) << shift : 0;
    if (byte < 0x80u) {
      *inout_data = data;
      *out_value = value;
      return true;
    }
  }
  return false;
}

/* Reads what follows the tag. */
static bool read_payload(const uint8_t** inout_data, const uint8_t* end,
                         tenon__uff_record_t* record) {
  uint64_t size = 0;
  record->data = *inout_data;
  switch (record->wire) {
    case TENON__UFF_WIRE_VARINT:
      return tenon__uff_read_varint(inout_data, end, &record->value);
    case TENON__UFF_WIRE_FIXED64:
      size = 8;
      break;
    case TENON__UFF_WIRE_FIXED32:
      size = 4;
      break;
    case TENON__UFF_WIRE_LENGTH:
      if (!tenon__uff_read_varint(inout_data, end, &size)) {
        return false;
      }
      record->data = *inout_data;
      break;
    default:
      return false; /* groups are of no use here, the rest does not exist */
  }
  if (size > (uint64_t)(end - record->data)) {
    return false;
  }
  *inout_data = record->data + size;
  return true;
}

bool tenon__uff_read_record(const uint8_t** inout_data, const uint8_t* end,
                            tenon__uff_record_t* out_record) {
  const uint8_t* data = *inout_data;
  uint64_t tag = 0;
  if (!tenon__uff_read_varint(&data, end, &tag)) {
    return false;
  }
  *out_record =
      (tenon__uff_record_t){.number = tag >> 3, .wire = (uint32_t)tag & 7u, .start = *inout_data};
  if (out_record->number == 0 || !read_payload(&data, end, out_record)) {
    return false;
  }
  out_record->size = (size_t)(data - out_record->data);
  *inout_data = data;
  return true;
}
