/*
 * Protocol buffers' text format as a tree.
 *
 *   message = { field }
 *   field   = name [":"] "{" message "}" | name ":" value | name ":" "[" value {"," value} "]",
 *             perhaps followed by "," or ";"
 *   value   = number | word | string {string} | "{" message "}"
 *
 * "<" and ">" serve as braces too; "#" begins a comment; numbers are decimal, hexadecimal, octal,
 * with exponents, inf and nan; strings stand in either quotes and take C's escapes.
 */
#include <string.h>

#include "literal.h"
#include "tree.h"

enum { UNKNOWN_LIMIT = 8 };

/* ---- Fields by the schema ---- */

/* 1, 0, or -1 for what is no truth value. */
static int truth_of(const tenon__uff_literal_t* value) {
  static const char* const words[] = {"false", "true", "False", "True", "f", "t"};
  if (value->kind == TENON__UFF_LITERAL_NUMBER && value->is_integer) {
    return value->integer == 0 || value->integer == 1 ? (int)value->integer : -1;
  }
  for (int i = 0; value->kind == TENON__UFF_LITERAL_WORD && i < 6; ++i) {
    if (strcmp(value->text, words[i]) == 0) {
      return i % 2;
    }
  }
  return -1;
}

static tenon_status_t store(tenon__uff_text_t* reader, const tenon__uff_literal_t* value,
                            tenon__uff_field_t* field) {
  const bool is_number = value->kind == TENON__UFF_LITERAL_NUMBER;
  switch (field->entry->kind) {
    case TENON__UFF_KIND_INT:
      field->integer = value->integer;
      return is_number && value->is_integer
                 ? TENON_OK
                 : tenon__uff_text_fail_literal(reader, value, "expected a whole number");
    case TENON__UFF_KIND_BOOL:
      field->integer = truth_of(value) == 1 ? 1 : 0;
      return truth_of(value) >= 0
                 ? TENON_OK
                 : tenon__uff_text_fail_literal(reader, value, "expected true or false");
    case TENON__UFF_KIND_ENUM:
      field->integer = value->integer;
      field->bytes = value->kind == TENON__UFF_LITERAL_WORD ? (const uint8_t*)value->text : NULL;
      return field->bytes != NULL || (is_number && value->is_integer)
                 ? TENON_OK
                 : tenon__uff_text_fail_literal(reader, value, "expected a word");
    case TENON__UFF_KIND_FLOAT:
    case TENON__UFF_KIND_DOUBLE:
      field->number = value->number;
      return is_number ? TENON_OK
                       : tenon__uff_text_fail_literal(reader, value, "expected a number");
    default:
      field->bytes = (const uint8_t*)value->text;
      field->size = value->size;
      return value->kind == TENON__UFF_LITERAL_STRING
                 ? TENON_OK
                 : tenon__uff_text_fail_literal(reader, value, "expected a text in quotes");
  }
}

/* Up to the brace `close`, or, '\0', the end of the file. `schema` NULL: read and dropped. */
static tenon_status_t read_message(tenon__uff_text_t* reader, const tenon__uff_schema_t* schema,
                                   char close, tenon__uff_message_t** out_message);

/* A value of `entry`; NULL: of a field that nobody wants. */
static tenon_status_t read_value(tenon__uff_text_t* reader, const tenon__uff_entry_t* entry,
                                 bool is_scalar, tenon__uff_message_t* message) {
  const char c = tenon__uff_text_skip(reader);
  const bool is_message = c == '{' || c == '<';
  const uint64_t place = tenon__uff_text_place(reader->line, tenon__uff_text_column(reader));
  if (++reader->field_count > TENON__UFF_FIELD_LIMIT) {
    return tenon__uff_text_fail(reader, "the file has too many fields");
  }
  if (entry != NULL && is_message != (entry->kind == TENON__UFF_KIND_MESSAGE)) {
    return tenon__uff_text_fail(
        reader, is_message ? "expected a value" : "expected '{' after a message's name");
  }
  if (!is_message && !is_scalar) {
    return tenon__uff_text_fail(reader, "expected ':' or '{' after a field's name");
  }
  tenon__uff_field_t* field =
      entry == NULL ? NULL : tenon__uff_message_add(reader->context, message, entry);
  if (entry != NULL && field == NULL) {
    return UFF_FAIL_MEMORY(reader->context);
  }
  if (is_message) {
    tenon__uff_message_t* inner = NULL;
    ++reader->at;
    UFF_TRY(
        read_message(reader, entry == NULL ? NULL : entry->message, c == '{' ? '}' : '>', &inner));
    if (field != NULL) {
      field->message = inner;
      field->place = place;
    }
    return TENON_OK;
  }
  tenon__uff_literal_t value;
  UFF_TRY(tenon__uff_text_literal(reader, &value));
  if (field == NULL) {
    return TENON_OK;
  }
  field->place = place;
  return store(reader, &value, field);
}

/* Names of extensions stand in brackets: [domain.name]. NULL: nobody wants it. */
static tenon_status_t read_name(tenon__uff_text_t* reader, const tenon__uff_schema_t* schema,
                                const tenon__uff_entry_t** out_entry) {
  const bool is_extension = tenon__uff_text_take(reader, '[');
  const char c = tenon__uff_text_skip(reader);
  const char* name = NULL;
  if (!tenon__uff_text_is_name(c) || tenon__uff_text_is_digit(c)) {
    return tenon__uff_text_fail(reader, "expected a field's name");
  }
  UFF_TRY(tenon__uff_text_word(reader, &name));
  while (is_extension && tenon__uff_text_take(reader, '.')) {
    UFF_TRY(tenon__uff_text_word(reader, &name));
  }
  if (is_extension && !tenon__uff_text_take(reader, ']')) {
    return tenon__uff_text_fail(reader, "expected ']' after an extension's name");
  }
  const tenon__uff_entry_t* entry =
      schema == NULL ? NULL : tenon__uff_schema_name(schema, name, strlen(name));
  if (schema != NULL && entry == NULL && ++reader->unknown_count <= UNKNOWN_LIMIT) {
    tenon__uff_say(reader->context, TENON_SEVERITY_WARNING,
                   "line %u, column %u: field '%.40s' of %s is not known and ignored", reader->line,
                   tenon__uff_text_column(reader), name, schema->name);
  }
  *out_entry = entry == NULL || entry->kind == TENON__UFF_KIND_IGNORED ? NULL : entry;
  return TENON_OK;
}

static tenon_status_t read_field(tenon__uff_text_t* reader, const tenon__uff_schema_t* schema,
                                 tenon__uff_message_t* message) {
  const tenon__uff_entry_t* entry = NULL;
  UFF_TRY(read_name(reader, schema, &entry));
  const bool has_colon = tenon__uff_text_take(reader, ':');
  if (!tenon__uff_text_take(reader, '[')) {
    UFF_TRY(read_value(reader, entry, has_colon, message));
  } else if (!tenon__uff_text_take(reader, ']')) {
    do {
      UFF_TRY(read_value(reader, entry, true, message));
    } while (tenon__uff_text_take(reader, ','));
    if (!tenon__uff_text_take(reader, ']')) {
      return tenon__uff_text_fail(reader, "expected ',' or ']' after a list's value");
    }
  }
  (void)(tenon__uff_text_take(reader, ',') || tenon__uff_text_take(reader, ';'));
  return TENON_OK;
}

static tenon_status_t read_message(tenon__uff_text_t* reader, const tenon__uff_schema_t* schema,
                                   char close, tenon__uff_message_t** out_message) {
  const uint32_t line = reader->line;
  tenon__uff_message_t* message = tenon__uff_message_create(reader->context, schema);
  if (message == NULL) {
    return UFF_FAIL_MEMORY(reader->context);
  }
  *out_message = message;
  if (++reader->depth > TENON__UFF_DEPTH_LIMIT) {
    return tenon__uff_text_fail(reader, "messages are nested too deep");
  }
  for (;;) {
    (void)tenon__uff_text_skip(reader);
    if (reader->at == reader->end) {
      break;
    }
    if (close != '\0' && tenon__uff_text_take(reader, close)) {
      --reader->depth;
      return TENON_OK;
    }
    UFF_TRY(read_field(reader, schema, message));
  }
  if (close != '\0') {
    return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                    "line %u, column %u: the file ends before the message that begins in line %u",
                    reader->line, tenon__uff_text_column(reader), line);
  }
  --reader->depth;
  return TENON_OK;
}

tenon_status_t tenon__uff_text_read(tenon__uff_context_t* context,
                                    const tenon__uff_schema_t* schema, const void* data,
                                    size_t size_bytes, tenon__uff_message_t** out_message) {
  static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, by some editors */
  const char* begin = size_bytes == 0 ? "" : data;
  const bool is_marked = size_bytes >= 3 && memcmp(begin, mark, 3) == 0;
  const char* first = begin + (is_marked ? 3 : 0);
  tenon__uff_text_t reader = {
      .context = context, .at = first, .end = begin + size_bytes, .line_start = first, .line = 1};
  return read_message(&reader, schema, '\0', out_message);
}
