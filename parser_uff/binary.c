/* The wire format as a tree. */
#include <inttypes.h>
#include <string.h>

#include "tree.h"

enum { UNKNOWN_LIMIT = 8 };

typedef struct walk_t {
  tenon_reader_t* reader;
  const uint8_t* begin;
  size_t field_count;
  uint32_t depth;
  uint32_t unknown_count;
} walk_t;

static tenon_status_t read_message(walk_t* walk, const tenon__uff_schema_t* schema,
                                   const uint8_t* data, const uint8_t* end,
                                   tenon__uff_message_t** out_message);

static void tell_unknown(walk_t* walk, const tenon__uff_schema_t* schema,
                         const tenon_reader_record_t* record) {
  if (++walk->unknown_count <= UNKNOWN_LIMIT) {
    tenon_reader_say(walk->reader, TENON_SEVERITY_WARNING,
                     "byte %zu: field %" PRIu64 " of %s is not known and ignored",
                     (size_t)(record->start - walk->begin), record->number, schema->name);
  }
}

static tenon_status_t fail_wire(walk_t* walk, const tenon__uff_schema_t* schema,
                                const tenon__uff_entry_t* entry,
                                const tenon_reader_record_t* record) {
  return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                           "byte %zu: %s of %s has wire type %u, which it cannot have",
                           (size_t)(record->start - walk->begin), entry->name, schema->name,
                           record->wire);
}

/* Packed numbers must be whole. */
static bool is_whole(const tenon__uff_entry_t* entry, const tenon_reader_record_t* record) {
  if (entry->kind == TENON__UFF_KIND_FLOAT || entry->kind == TENON__UFF_KIND_DOUBLE) {
    return record->size % (entry->kind == TENON__UFF_KIND_FLOAT ? 4 : 8) == 0;
  }
  const uint8_t* at = record->data;
  const uint8_t* end = at + record->size;
  uint64_t value = 0;
  while (at < end) {
    if (!tenon_reader_read_varint(&at, end, &value)) {
      return false;
    }
  }
  return true;
}

static tenon_status_t read_number(walk_t* walk, const tenon__uff_schema_t* schema,
                                  const tenon_reader_record_t* record, tenon__uff_field_t* field) {
  const tenon__uff_entry_t* entry = field->entry;
  const bool is_float = entry->kind == TENON__UFF_KIND_FLOAT;
  const bool is_double = entry->kind == TENON__UFF_KIND_DOUBLE;
  if (record->wire == TENON_READER_WIRE_LENGTH && is_whole(entry, record)) {
    field->is_packed = true;
    field->bytes = record->data;
    field->size = record->size;
    return TENON_OK;
  }
  if (is_float && record->wire == TENON_READER_WIRE_FIXED32) {
    float value = 0;
    memcpy(&value, record->data, sizeof(value));
    field->number = (double)value;
    return TENON_OK;
  }
  if (is_double && record->wire == TENON_READER_WIRE_FIXED64) {
    memcpy(&field->number, record->data, sizeof(field->number));
    return TENON_OK;
  }
  if (!is_float && !is_double && record->wire == TENON_READER_WIRE_VARINT) {
    memcpy(&field->integer, &record->value, sizeof(field->integer));
    return TENON_OK;
  }
  return fail_wire(walk, schema, entry, record);
}

static tenon_status_t read_field(walk_t* walk, const tenon__uff_schema_t* schema,
                                 const tenon_reader_record_t* record, tenon__uff_field_t* field) {
  const tenon__uff_entry_t* entry = field->entry;
  field->place = (uint64_t)(record->start - walk->begin);
  if (entry->kind != TENON__UFF_KIND_BYTES && entry->kind != TENON__UFF_KIND_MESSAGE) {
    return read_number(walk, schema, record, field);
  }
  if (record->wire != TENON_READER_WIRE_LENGTH) {
    return fail_wire(walk, schema, entry, record);
  }
  if (entry->kind == TENON__UFF_KIND_BYTES) {
    field->bytes = record->data;
    field->size = record->size;
    return TENON_OK;
  }
  tenon__uff_message_t* message = NULL;
  TENON_READER_TRY(
      read_message(walk, entry->message, record->data, record->data + record->size, &message));
  field->message = message;
  return TENON_OK;
}

static tenon_status_t read_message(walk_t* walk, const tenon__uff_schema_t* schema,
                                   const uint8_t* data, const uint8_t* end,
                                   tenon__uff_message_t** out_message) {
  tenon__uff_message_t* message = tenon__uff_message_create(walk->reader, schema);
  if (message == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  if (++walk->depth > TENON__UFF_DEPTH_LIMIT) {
    return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                             "byte %zu: messages are nested more than %d deep",
                             (size_t)(data - walk->begin), TENON__UFF_DEPTH_LIMIT);
  }
  while (data < end) {
    tenon_reader_record_t record;
    if (!tenon_reader_read_record(&data, end, &record)) {
      return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                               "byte %zu: a field of %s is broken or cut off",
                               (size_t)(data - walk->begin), schema->name);
    }
    const tenon__uff_entry_t* entry = tenon__uff_schema_number(schema, record.number);
    if (entry == NULL) {
      tell_unknown(walk, schema, &record);
    }
    if (entry == NULL || entry->kind == TENON__UFF_KIND_IGNORED) {
      continue;
    }
    tenon__uff_field_t* field = tenon__uff_message_add(walk->reader, message, entry);
    if (field == NULL || ++walk->field_count > TENON__UFF_FIELD_LIMIT) {
      return field == NULL
                 ? tenon_reader_fail_memory(walk->reader)
                 : TENON_READER_FAIL(walk->reader, TENON_ERROR_UNSUPPORTED,
                                     "the file has more than %d fields", TENON__UFF_FIELD_LIMIT);
    }
    TENON_READER_TRY(read_field(walk, schema, &record, field));
  }
  --walk->depth;
  *out_message = message;
  return TENON_OK;
}

tenon_status_t tenon__uff_binary_read(tenon_reader_t* reader, const tenon__uff_schema_t* schema,
                                      const void* data, size_t size_bytes,
                                      tenon__uff_message_t** out_message) {
  static const uint8_t none = 0;
  const uint8_t* begin = size_bytes == 0 ? &none : data;
  walk_t walk = {.reader = reader, .begin = begin};
  return read_message(&walk, schema, begin, begin + size_bytes, out_message);
}
