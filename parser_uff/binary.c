/* The wire format as a tree. */
#include <inttypes.h>
#include <string.h>

#include "tree.h"
#include "wire.h"

enum { UNKNOWN_LIMIT = 8 };

typedef struct reader_t {
  tenon__uff_context_t* context;
  const uint8_t* begin;
  size_t field_count;
  uint32_t depth;
  uint32_t unknown_count;
} reader_t;

static tenon_status_t read_message(reader_t* reader, const tenon__uff_schema_t* schema,
                                   const uint8_t* data, const uint8_t* end,
                                   tenon__uff_message_t** out_message);

static void tell_unknown(reader_t* reader, const tenon__uff_schema_t* schema,
                         const tenon__uff_record_t* record) {
  if (++reader->unknown_count <= UNKNOWN_LIMIT) {
    tenon__uff_say(reader->context, TENON_SEVERITY_WARNING,
                   "byte %zu: field %" PRIu64 " of %s is not known and ignored",
                   (size_t)(record->start - reader->begin), record->number, schema->name);
  }
}

static tenon_status_t fail_wire(reader_t* reader, const tenon__uff_schema_t* schema,
                                const tenon__uff_entry_t* entry,
                                const tenon__uff_record_t* record) {
  return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                  "byte %zu: %s of %s has wire type %u, which it cannot have",
                  (size_t)(record->start - reader->begin), entry->name, schema->name, record->wire);
}

/* Packed numbers must be whole. */
static bool is_whole(const tenon__uff_entry_t* entry, const tenon__uff_record_t* record) {
  if (entry->kind == TENON__UFF_KIND_FLOAT || entry->kind == TENON__UFF_KIND_DOUBLE) {
    return record->size % (entry->kind == TENON__UFF_KIND_FLOAT ? 4 : 8) == 0;
  }
  const uint8_t* at = record->data;
  const uint8_t* end = at + record->size;
  uint64_t value = 0;
  while (at < end) {
    if (!tenon__uff_read_varint(&at, end, &value)) {
      return false;
    }
  }
  return true;
}

static tenon_status_t read_number(reader_t* reader, const tenon__uff_schema_t* schema,
                                  const tenon__uff_record_t* record, tenon__uff_field_t* field) {
  const tenon__uff_entry_t* entry = field->entry;
  const bool is_float = entry->kind == TENON__UFF_KIND_FLOAT;
  const bool is_double = entry->kind == TENON__UFF_KIND_DOUBLE;
  if (record->wire == TENON__UFF_WIRE_LENGTH && is_whole(entry, record)) {
    field->is_packed = true;
    field->bytes = record->data;
    field->size = record->size;
    return TENON_OK;
  }
  if (is_float && record->wire == TENON__UFF_WIRE_FIXED32) {
    float value = 0;
    memcpy(&value, record->data, sizeof(value));
    field->number = (double)value;
    return TENON_OK;
  }
  if (is_double && record->wire == TENON__UFF_WIRE_FIXED64) {
    memcpy(&field->number, record->data, sizeof(field->number));
    return TENON_OK;
  }
  if (!is_float && !is_double && record->wire == TENON__UFF_WIRE_VARINT) {
    memcpy(&field->integer, &record->value, sizeof(field->integer));
    return TENON_OK;
  }
  return fail_wire(reader, schema, entry, record);
}

static tenon_status_t read_field(reader_t* reader, const tenon__uff_schema_t* schema,
                                 const tenon__uff_record_t* record, tenon__uff_field_t* field) {
  const tenon__uff_entry_t* entry = field->entry;
  field->place = (uint64_t)(record->start - reader->begin);
  if (entry->kind != TENON__UFF_KIND_BYTES && entry->kind != TENON__UFF_KIND_MESSAGE) {
    return read_number(reader, schema, record, field);
  }
  if (record->wire != TENON__UFF_WIRE_LENGTH) {
    return fail_wire(reader, schema, entry, record);
  }
  if (entry->kind == TENON__UFF_KIND_BYTES) {
    field->bytes = record->data;
    field->size = record->size;
    return TENON_OK;
  }
  tenon__uff_message_t* message = NULL;
  UFF_TRY(
      read_message(reader, entry->message, record->data, record->data + record->size, &message));
  field->message = message;
  return TENON_OK;
}

static tenon_status_t read_message(reader_t* reader, const tenon__uff_schema_t* schema,
                                   const uint8_t* data, const uint8_t* end,
                                   tenon__uff_message_t** out_message) {
  tenon__uff_message_t* message = tenon__uff_message_create(reader->context, schema);
  if (message == NULL) {
    return UFF_FAIL_MEMORY(reader->context);
  }
  if (++reader->depth > TENON__UFF_DEPTH_LIMIT) {
    return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                    "byte %zu: messages are nested more than %d deep",
                    (size_t)(data - reader->begin), TENON__UFF_DEPTH_LIMIT);
  }
  while (data < end) {
    tenon__uff_record_t record;
    if (!tenon__uff_read_record(&data, end, &record)) {
      return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                      "byte %zu: a field of %s is broken or cut off",
                      (size_t)(data - reader->begin), schema->name);
    }
    const tenon__uff_entry_t* entry = tenon__uff_schema_number(schema, record.number);
    if (entry == NULL) {
      tell_unknown(reader, schema, &record);
    }
    if (entry == NULL || entry->kind == TENON__UFF_KIND_IGNORED) {
      continue;
    }
    tenon__uff_field_t* field = tenon__uff_message_add(reader->context, message, entry);
    if (field == NULL || ++reader->field_count > TENON__UFF_FIELD_LIMIT) {
      return field == NULL ? UFF_FAIL_MEMORY(reader->context)
                           : UFF_FAIL(reader->context, TENON_ERROR_UNSUPPORTED,
                                      "the file has more than %d fields", TENON__UFF_FIELD_LIMIT);
    }
    UFF_TRY(read_field(reader, schema, &record, field));
  }
  --reader->depth;
  *out_message = message;
  return TENON_OK;
}

tenon_status_t tenon__uff_binary_read(tenon__uff_context_t* context,
                                      const tenon__uff_schema_t* schema, const void* data,
                                      size_t size_bytes, tenon__uff_message_t** out_message) {
  static const uint8_t none = 0;
  const uint8_t* begin = size_bytes == 0 ? &none : data;
  reader_t reader = {.context = context, .begin = begin};
  return read_message(&reader, schema, begin, begin + size_bytes, out_message);
}
