/* The text format of protocol buffers as a tree, read with tenon/reader.h. */
#include "text.h"

#include <string.h>

static tenon_status_t read_message(tenon_reader_text_t* text, tenon_reader_message_t* from,
                                   tenon__caffe_message_t** out_message);

static tenon_status_t read_literal(tenon_reader_text_t* text, tenon__caffe_field_t* field) {
  tenon_reader_literal_t literal;
  TENON_READER_TRY(tenon_reader_text_literal(text, &literal));
  switch (literal.kind) {
    case TENON_READER_LITERAL_NUMBER:
      field->kind = TENON__CAFFE_VALUE_NUMBER;
      field->number = literal.number;
      field->is_integer = literal.is_integer;
      field->integer = tenon_reader_literal_int64(&literal);
      return TENON_OK;
    case TENON_READER_LITERAL_WORD:
      field->kind = TENON__CAFFE_VALUE_WORD;
      field->text = literal.text;
      return TENON_OK;
    default:
      field->kind = TENON__CAFFE_VALUE_STRING;
      field->text = tenon_reader_readable(text->reader, literal.text, literal.size);
      return field->text == NULL ? tenon_reader_fail_memory(text->reader) : TENON_OK;
  }
}

static tenon_status_t add_value(tenon_reader_text_t* text, const tenon_reader_message_t* from,
                                tenon__caffe_message_t* message) {
  tenon__caffe_field_t* field = tenon_reader_allocate(text->reader, 1, sizeof(*field));
  if (field == NULL) {
    return tenon_reader_fail_memory(text->reader);
  }
  field->name = from->name;
  field->line = text->line;
  field->column = tenon_reader_text_column(text);
  if (from->is_message) {
    tenon_reader_message_t inner;
    field->kind = TENON__CAFFE_VALUE_MESSAGE;
    TENON_READER_TRY(tenon_reader_text_enter(text, &inner));
    TENON_READER_TRY(read_message(text, &inner, &field->message));
  } else {
    TENON_READER_TRY(read_literal(text, field));
  }
  *(message->last == NULL ? &message->first : &message->last->next) = field;
  message->last = field;
  return TENON_OK;
}

static tenon_status_t read_message(tenon_reader_text_t* text, tenon_reader_message_t* from,
                                   tenon__caffe_message_t** out_message) {
  tenon__caffe_message_t* message = tenon_reader_allocate(text->reader, 1, sizeof(*message));
  if (message == NULL) {
    return tenon_reader_fail_memory(text->reader);
  }
  *out_message = message;
  TENON_READER_TRY(tenon_reader_text_field(text, from));
  while (from->name != NULL) {
    TENON_READER_TRY(tenon_reader_text_value(text, from));
    while (from->has_value) {
      TENON_READER_TRY(add_value(text, from, message));
      TENON_READER_TRY(tenon_reader_text_value(text, from));
    }
    TENON_READER_TRY(tenon_reader_text_field(text, from));
  }
  return TENON_OK;
}

tenon_status_t tenon__caffe_text_read(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                      tenon__caffe_message_t** out_message) {
  tenon_reader_text_t text;
  tenon_reader_message_t whole;
  TENON_READER_TRY(tenon_reader_text_begin(reader, data, size_bytes, TENON__CAFFE_TEXT_DEPTH_LIMIT,
                                           &text, &whole));
  return read_message(&text, &whole, out_message);
}

tenon__caffe_field_t* tenon__caffe_field_find(tenon__caffe_field_t* field, const char* name) {
  while (field != NULL && strcmp(field->name, name) != 0) {
    field = field->next;
  }
  return field;
}

const char* tenon__caffe_field_describe(tenon_reader_t* reader, const tenon__caffe_field_t* field) {
  const char* text = NULL;
  switch (field->kind) {
    case TENON__CAFFE_VALUE_NUMBER:
      text = tenon_reader_format(reader, "the number %.9g", field->number);
      break;
    case TENON__CAFFE_VALUE_WORD:
      text = tenon_reader_format(reader, "the word %.40s", field->text);
      break;
    case TENON__CAFFE_VALUE_STRING:
      text = tenon_reader_format(reader, "the string '%.40s'", field->text);
      break;
    case TENON__CAFFE_VALUE_MESSAGE:
      text = "a message";
      break;
  }
  return text == NULL ? "another value" : text;
}
