/*
 * A file as a tree of fields, whichever form it had: binary.c reads the wire format, text.c the
 * text format, both by the schema. Numbers that stand packed stay where they are; so do bytes of
 * the binary form, which are views of the file.
 */
#ifndef TENON_PARSER_UFF_TREE_H_
#define TENON_PARSER_UFF_TREE_H_

#include "schema.h"
#include "tenon/reader.h"

enum {
  TENON__UFF_DEPTH_LIMIT = 32,             /* messages within messages */
  TENON__UFF_FIELD_LIMIT = 8 * 1024 * 1024 /* fields of one file */
};

typedef struct tenon__uff_field_t {
  const tenon__uff_entry_t* entry;
  struct tenon__uff_field_t* next;
  const struct tenon__uff_message_t* message; /* MESSAGE */
  const uint8_t* bytes;                       /* BYTES; packed numbers; an ENUM's word, with NUL */
  size_t size;
  int64_t integer; /* INT, BOOL, ENUM; of unsigned ones the same bits */
  double number;   /* FLOAT, DOUBLE */
  uint64_t place;  /* the byte where it begins, or (text) line and column */
  bool is_packed;
} tenon__uff_field_t;

typedef struct tenon__uff_message_t {
  const tenon__uff_schema_t* schema;
  tenon__uff_field_t* first;
  tenon__uff_field_t* last;
} tenon__uff_message_t;

/* Each reads a whole file; INVALID_DATA with the place and the reason. What the schema does not
 * have is named, the first few times, and left out. */
tenon_status_t tenon__uff_binary_read(tenon_reader_t* reader, const tenon__uff_schema_t* schema,
                                      const void* data, size_t size_bytes,
                                      tenon__uff_message_t** out_message);
tenon_status_t tenon__uff_text_read(tenon_reader_t* reader, const tenon__uff_schema_t* schema,
                                    const void* data, size_t size_bytes,
                                    tenon__uff_message_t** out_message);

/* What both readers share. NULL when memory is out. */
tenon__uff_message_t* tenon__uff_message_create(tenon_reader_t* reader,
                                                const tenon__uff_schema_t* schema);
tenon__uff_field_t* tenon__uff_message_add(tenon_reader_t* reader, tenon__uff_message_t* message,
                                           const tenon__uff_entry_t* entry);
/* "byte 17" or "line 3, column 5". */
const char* tenon__uff_place(tenon_reader_t* reader, uint64_t place);
uint64_t tenon__uff_text_place(uint32_t line, uint32_t column);
/* Then its bytes are no view of the file. */
bool tenon__uff_is_in_text(uint64_t place);

/* The next field of that name from `field` on; NULL when there is none. */
const tenon__uff_field_t* tenon__uff_find(const tenon__uff_field_t* field, const char* name);
/* How many fields of that name there are. */
uint32_t tenon__uff_count(const tenon__uff_message_t* message, const char* name);
/* Of what may stand once the last one counts. NULL: not there. */
const tenon__uff_field_t* tenon__uff_last(const tenon__uff_message_t* message, const char* name);
/* Names as UTF-8 with NUL; "" when absent. NULL when memory is out. */
const char* tenon__uff_text_of(tenon_reader_t* reader, const tenon__uff_message_t* message,
                               const char* name);
/* All texts of a repeated field, likewise. */
tenon_status_t tenon__uff_texts(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                const char* name, const tenon_string_view_t** out_texts,
                                size_t* out_count);
int64_t tenon__uff_int_of(const tenon__uff_message_t* message, const char* name, int64_t otherwise);

/* All numbers of a repeated field, packed or not. Integers of INT, BOOL, ENUM as out_ints, others
 * as out_floats; the other list is NULL. */
tenon_status_t tenon__uff_numbers(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                  const char* name, int64_t** out_ints, double** out_floats,
                                  size_t* out_count);

#endif
