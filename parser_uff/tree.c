/* Fields of messages: lists in the order of the file, and typed access to them. */
#include "tree.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t text_mark = (uint64_t)1 << 63;

tenon__uff_message_t* tenon__uff_message_create(tenon_reader_t* reader,
                                                const tenon__uff_schema_t* schema) {
  tenon__uff_message_t* message = tenon_reader_allocate(reader, 1, sizeof(*message));
  if (message != NULL) {
    message->schema = schema;
  }
  return message;
}

tenon__uff_field_t* tenon__uff_message_add(tenon_reader_t* reader, tenon__uff_message_t* message,
                                           const tenon__uff_entry_t* entry) {
  tenon__uff_field_t* field = tenon_reader_allocate(reader, 1, sizeof(*field));
  if (field == NULL) {
    return NULL;
  }
  field->entry = entry;
  if (message->last == NULL) {
    message->first = field;
  } else {
    message->last->next = field;
  }
  message->last = field;
  return field;
}

uint64_t tenon__uff_text_place(uint32_t line, uint32_t column) {
  return text_mark | (uint64_t)line << 24 | (column < 0xFFFFFFu ? column : 0xFFFFFFu);
}

bool tenon__uff_is_in_text(uint64_t place) {
  return (place & text_mark) != 0;
}

const char* tenon__uff_place(tenon_reader_t* reader, uint64_t place) {
  const char* text = !tenon__uff_is_in_text(place)
                         ? tenon_reader_format(reader, "byte %" PRIu64, place)
                         : tenon_reader_format(reader, "line %" PRIu64 ", column %" PRIu64,
                                               (place & ~text_mark) >> 24, place & 0xFFFFFFu);
  return text == NULL ? "somewhere" : text;
}

const tenon__uff_field_t* tenon__uff_find(const tenon__uff_field_t* field, const char* name) {
  while (field != NULL && strcmp(field->entry->name, name) != 0) {
    field = field->next;
  }
  return field;
}

uint32_t tenon__uff_count(const tenon__uff_message_t* message, const char* name) {
  uint32_t count = 0;
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, name); field != NULL;
       field = tenon__uff_find(field->next, name)) {
    ++count;
  }
  return count;
}

const tenon__uff_field_t* tenon__uff_last(const tenon__uff_message_t* message, const char* name) {
  const tenon__uff_field_t* last = NULL;
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, name); field != NULL;
       field = tenon__uff_find(field->next, name)) {
    last = field;
  }
  return last;
}

const char* tenon__uff_text_of(tenon_reader_t* reader, const tenon__uff_message_t* message,
                               const char* name) {
  const tenon__uff_field_t* field = tenon__uff_last(message, name);
  return field == NULL ? "" : tenon_reader_readable(reader, field->bytes, field->size);
}

tenon_status_t tenon__uff_texts(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                const char* name, const tenon_string_view_t** out_texts,
                                size_t* out_count) {
  const size_t count = tenon__uff_count(message, name);
  TENON_READER_TRY(tenon_reader_spend(reader, count, sizeof(tenon_string_view_t)));
  tenon_string_view_t* texts = tenon_reader_allocate(reader, count, sizeof(*texts));
  if (texts == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  size_t used = 0;
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, name); field != NULL;
       field = tenon__uff_find(field->next, name)) {
    TENON_READER_TRY(tenon_reader_spend(reader, field->size + 4, 4)); /* and its block's rest */
    const char* text = tenon_reader_readable(reader, field->bytes, field->size);
    if (text == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    texts[used++] = (tenon_string_view_t){text, strlen(text)};
  }
  *out_texts = texts;
  *out_count = count;
  return TENON_OK;
}

int64_t tenon__uff_int_of(const tenon__uff_message_t* message, const char* name,
                          int64_t otherwise) {
  const tenon__uff_field_t* field = tenon__uff_last(message, name);
  return field == NULL ? otherwise : field->integer;
}

/* ---- Numbers ---- */

static size_t width_of(tenon__uff_kind_t kind) {
  return kind == TENON__UFF_KIND_DOUBLE ? 8 : kind == TENON__UFF_KIND_FLOAT ? 4 : 0;
}

/* How many numbers a field holds; the binary reader saw to it that they are whole. */
static size_t count_of(const tenon__uff_field_t* field) {
  const size_t width = width_of(field->entry->kind);
  if (!field->is_packed) {
    return 1;
  }
  if (width > 0) {
    return field->size / width;
  }
  size_t count = 0;
  for (size_t i = 0; i < field->size; ++i) {
    count += field->bytes[i] < 0x80u ? 1 : 0;
  }
  return count;
}

static void read_floats(const tenon__uff_field_t* field, size_t count, double* out_values) {
  if (!field->is_packed) {
    out_values[0] = field->number;
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (field->entry->kind == TENON__UFF_KIND_DOUBLE) {
      memcpy(&out_values[i], field->bytes + 8 * i, 8);
    } else {
      float value = 0;
      memcpy(&value, field->bytes + 4 * i, 4);
      out_values[i] = (double)value;
    }
  }
}

static void read_ints(const tenon__uff_field_t* field, size_t count, int64_t* out_values) {
  if (!field->is_packed) {
    out_values[0] = field->integer;
    return;
  }
  const uint8_t* at = field->bytes;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    (void)tenon_reader_read_varint(&at, field->bytes + field->size, &value);
    memcpy(&out_values[i], &value, sizeof(value));
  }
}

tenon_status_t tenon__uff_numbers(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                  const char* name, int64_t** out_ints, double** out_floats,
                                  size_t* out_count) {
  const tenon__uff_field_t* first = tenon__uff_find(message->first, name);
  size_t count = 0;
  *out_ints = NULL;
  *out_floats = NULL;
  *out_count = 0;
  for (const tenon__uff_field_t* field = first; field != NULL;
       field = tenon__uff_find(field->next, name)) {
    count += count_of(field);
  }
  if (count == 0) {
    return TENON_OK;
  }
  TENON_READER_TRY(tenon_reader_spend(reader, count, sizeof(int64_t)));
  const bool is_float = width_of(first->entry->kind) > 0;
  int64_t* ints = is_float ? NULL : tenon_reader_allocate(reader, count, sizeof(*ints));
  double* floats = is_float ? tenon_reader_allocate(reader, count, sizeof(*floats)) : NULL;
  if (ints == NULL && floats == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  size_t used = 0;
  for (const tenon__uff_field_t* field = first; field != NULL;
       field = tenon__uff_find(field->next, name)) {
    const size_t own = count_of(field);
    if (is_float) {
      read_floats(field, own, floats + used);
    } else {
      read_ints(field, own, ints + used);
    }
    used += own;
  }
  *out_ints = ints;
  *out_floats = floats;
  *out_count = count;
  return TENON_OK;
}
