/* Protocol buffers' text format as a tree. */
#include <string.h>

#include "tree.h"

enum { UNKNOWN_LIMIT = 8 };

/* A text, and what is counted in it. */
typedef struct walk_t {
  tenon_reader_text_t text;
  size_t field_count;
  uint32_t unknown_count;
} walk_t;

/* ---- Fields by the schema ---- */

/* Of an unsigned number its bits. */
static int64_t bits_of(const tenon_reader_literal_t* value) {
  int64_t integer = tenon_reader_literal_int64(value);
  if (!value->is_negative) {
    memcpy(&integer, &value->magnitude, sizeof(integer));
  }
  return integer;
}

/* 1, 0, or -1 for what is no truth value. */
static int truth_of(const tenon_reader_literal_t* value) {
  static const char* const words[] = {"false", "true", "False", "True", "f", "t"};
  if (value->kind == TENON_READER_LITERAL_NUMBER && value->is_integer) {
    return value->magnitude <= 1 ? (int)value->magnitude : -1;
  }
  if (value->kind == TENON_READER_LITERAL_WORD) {
    for (int i = 0; i < 6; ++i) {
      if (strcmp(value->text, words[i]) == 0) {
        return i % 2;
      }
    }
  }
  return -1;
}

static tenon_status_t store(const tenon_reader_text_t* text, const tenon_reader_literal_t* value,
                            tenon__uff_field_t* field) {
  const bool is_number = value->kind == TENON_READER_LITERAL_NUMBER;
  switch (field->entry->kind) {
    case TENON__UFF_KIND_INT:
      field->integer = bits_of(value);
      return is_number && value->is_integer
                 ? TENON_OK
                 : tenon_reader_literal_fail(text, value, "expected a whole number");
    case TENON__UFF_KIND_BOOL:
      field->integer = truth_of(value) == 1 ? 1 : 0;
      return truth_of(value) >= 0
                 ? TENON_OK
                 : tenon_reader_literal_fail(text, value, "expected true or false");
    case TENON__UFF_KIND_ENUM:
      field->integer = bits_of(value);
      field->bytes = value->kind == TENON_READER_LITERAL_WORD ? (const uint8_t*)value->text : NULL;
      return field->bytes != NULL || (is_number && value->is_integer)
                 ? TENON_OK
                 : tenon_reader_literal_fail(text, value, "expected a word");
    case TENON__UFF_KIND_FLOAT:
    case TENON__UFF_KIND_DOUBLE:
      field->number = value->number;
      return is_number ? TENON_OK : tenon_reader_literal_fail(text, value, "expected a number");
    default:
      field->bytes = (const uint8_t*)value->text;
      field->size = value->size;
      return value->kind == TENON_READER_LITERAL_STRING
                 ? TENON_OK
                 : tenon_reader_literal_fail(text, value, "expected a text in quotes");
  }
}

/* `schema` NULL: read and dropped. */
static tenon_status_t read_message(walk_t* walk, const tenon__uff_schema_t* schema,
                                   tenon_reader_message_t* from,
                                   tenon__uff_message_t** out_message);

/* A value of `entry`; NULL: of a field that nobody wants. */
static tenon_status_t read_value(walk_t* walk, const tenon__uff_entry_t* entry, bool is_message,
                                 tenon__uff_message_t* message) {
  tenon_reader_text_t* text = &walk->text;
  const uint64_t place = tenon__uff_text_place(text->line, tenon_reader_text_column(text));
  tenon__uff_field_t* field = NULL;
  if (++walk->field_count > TENON__UFF_FIELD_LIMIT) {
    return tenon_reader_text_fail(text, "the file has too many fields");
  }
  if (entry != NULL && is_message != (entry->kind == TENON__UFF_KIND_MESSAGE)) {
    return tenon_reader_text_fail(
        text, is_message ? "expected a value" : "expected '{' after a message's name");
  }
  if (entry != NULL) {
    field = tenon__uff_message_add(text->reader, message, entry);
    if (field == NULL) {
      return tenon_reader_fail_memory(text->reader);
    }
    field->place = place;
  }
  if (is_message) {
    tenon_reader_message_t from;
    tenon__uff_message_t* inner = NULL;
    TENON_READER_TRY(tenon_reader_text_enter(text, &from));
    TENON_READER_TRY(read_message(walk, entry == NULL ? NULL : entry->message, &from, &inner));
    if (field != NULL) {
      field->message = inner;
    }
    return TENON_OK;
  }
  tenon_reader_literal_t value;
  TENON_READER_TRY(tenon_reader_text_literal(text, &value));
  return field == NULL ? TENON_OK : store(text, &value, field);
}

/* NULL: nobody wants it. */
static const tenon__uff_entry_t* find_entry(walk_t* walk, const tenon__uff_schema_t* schema,
                                            const tenon_reader_message_t* from) {
  const tenon__uff_entry_t* entry =
      schema == NULL ? NULL : tenon__uff_schema_name(schema, from->name, strlen(from->name));
  if (schema != NULL && entry == NULL && ++walk->unknown_count <= UNKNOWN_LIMIT) {
    tenon_reader_say(walk->text.reader, TENON_SEVERITY_WARNING,
                     "line %u, column %u: field '%.40s' of %s is not known and ignored", from->line,
                     from->column, from->name, schema->name);
  }
  return entry == NULL || entry->kind == TENON__UFF_KIND_IGNORED ? NULL : entry;
}

static tenon_status_t read_message(walk_t* walk, const tenon__uff_schema_t* schema,
                                   tenon_reader_message_t* from,
                                   tenon__uff_message_t** out_message) {
  tenon_reader_text_t* text = &walk->text;
  tenon__uff_message_t* message = tenon__uff_message_create(text->reader, schema);
  if (message == NULL) {
    return tenon_reader_fail_memory(text->reader);
  }
  *out_message = message;
  TENON_READER_TRY(tenon_reader_text_field(text, from));
  while (from->name != NULL) {
    const tenon__uff_entry_t* entry = find_entry(walk, schema, from);
    TENON_READER_TRY(tenon_reader_text_value(text, from));
    while (from->has_value) {
      TENON_READER_TRY(read_value(walk, entry, from->is_message, message));
      TENON_READER_TRY(tenon_reader_text_value(text, from));
    }
    TENON_READER_TRY(tenon_reader_text_field(text, from));
  }
  return TENON_OK;
}

tenon_status_t tenon__uff_text_read(tenon_reader_t* reader, const tenon__uff_schema_t* schema,
                                    const void* data, size_t size_bytes,
                                    tenon__uff_message_t** out_message) {
  walk_t walk = {.field_count = 0};
  tenon_reader_message_t whole;
  TENON_READER_TRY(tenon_reader_text_begin(reader, data, size_bytes, TENON__UFF_DEPTH_LIMIT,
                                           &walk.text, &whole));
  return read_message(&walk, schema, &whole, out_message);
}
