/*
 * A file as a tree of fields, whichever form it had: binary.c reads the wire format, text.c the
 * text format, both by the schema. Numbers that stand packed stay where they are; so do bytes of
 * the binary form, which are views of the file. A frozen graph's weights are not touched before a
 * converter asks for them.
 */
#ifndef TENON_PARSER_UFF_TREE_H_
#define TENON_PARSER_UFF_TREE_H_

#include "schema.h"
#include "tenon/reader.h"

enum {
  TENON__UFF_DEPTH_LIMIT = 32, /* messages within messages */
  /* Fields of one file: one that has two bytes there takes 72 here. */
  TENON__UFF_FIELD_LIMIT = 8 * 1024 * 1024
};

/* One field as it stands, in the order of the file. `entry` says the kind, and with it which
 * members count; the others are zeros. A packed list is one field, a list in brackets of the
 * text form one for each number. */
typedef struct tenon__uff_field_t {
  const tenon__uff_entry_t* entry;
  struct tenon__uff_field_t* next;
  /* MESSAGE. Never NULL there. */
  const struct tenon__uff_message_t* message;
  /* BYTES; packed numbers as they lie in the file, of whole numbers; an ENUM's word, with NUL
   * (text form), else NULL. */
  const uint8_t* bytes;
  size_t size;
  /* INT, BOOL, ENUM, one alone; of unsigned ones the same bits. */
  int64_t integer;
  double number; /* FLOAT, DOUBLE, one alone */
  /* The byte where it begins, or (text) line and column: see tenon__uff_place. */
  uint64_t place;
  bool is_packed;
} tenon__uff_field_t;

/* A list of fields; both NULL when it is empty. */
typedef struct tenon__uff_message_t {
  const tenon__uff_schema_t* schema;
  tenon__uff_field_t* first;
  tenon__uff_field_t* last;
} tenon__uff_message_t;

/* Each reads a whole file; INVALID_DATA with the place and the reason. What the schema does not
 * have is named, the first eight times, and left out: a newer writer's fields, or the wrong kind
 * of file. UNSUPPORTED (binary) for more fields than the limit. *out_message is not to be read
 * after a failure. */
tenon_status_t tenon__uff_binary_read(tenon_reader_t* reader, const tenon__uff_schema_t* schema,
                                      const void* data, size_t size_bytes,
                                      tenon__uff_message_t** out_message);
tenon_status_t tenon__uff_text_read(tenon_reader_t* reader, const tenon__uff_schema_t* schema,
                                    const void* data, size_t size_bytes,
                                    tenon__uff_message_t** out_message);

/* What both readers share. NULL when memory is out; a new field stands last, its members zeros. */
tenon__uff_message_t* tenon__uff_message_create(tenon_reader_t* reader,
                                                const tenon__uff_schema_t* schema);
tenon__uff_field_t* tenon__uff_message_add(tenon_reader_t* reader, tenon__uff_message_t* message,
                                           const tenon__uff_entry_t* entry);
/* "byte 17" or "line 3, column 5"; never NULL. */
const char* tenon__uff_place(tenon_reader_t* reader, uint64_t place);
/* The highest bit marks a place in a text; columns beyond 2^24 - 1 are told as that. */
uint64_t tenon__uff_text_place(uint32_t line, uint32_t column);
/* Then its bytes are no view of the file, and cannot be borrowed. */
bool tenon__uff_is_in_text(uint64_t place);

/* The next field of that name from `field` (which may be NULL) on; NULL when there is none. */
const tenon__uff_field_t* tenon__uff_find(const tenon__uff_field_t* field, const char* name);
/* How many fields of that name there are. */
uint32_t tenon__uff_count(const tenon__uff_message_t* message, const char* name);
/* Of what may stand once the last one counts, as protobuf has it. NULL: not there. */
const tenon__uff_field_t* tenon__uff_last(const tenon__uff_message_t* message, const char* name);
/* The last field's bytes as UTF-8 with NUL; "" when absent. NULL when memory is out. */
const char* tenon__uff_text_of(tenon_reader_t* reader, const tenon__uff_message_t* message,
                               const char* name);
/* All texts of a repeated field, likewise. UNSUPPORTED when a file asks for more than a parse
 * may make (tenon_reader_spend). */
tenon_status_t tenon__uff_texts(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                const char* name, const tenon_string_view_t** out_texts,
                                size_t* out_count);
/* The last field's number; `otherwise` when it is absent. */
int64_t tenon__uff_int_of(const tenon__uff_message_t* message, const char* name, int64_t otherwise);

/* All numbers of a repeated field, packed or not, mixed too. Integers of INT, BOOL, ENUM as
 * out_ints, others as out_floats, f32 widened; the other list is NULL, and both are when there
 * are no numbers. */
tenon_status_t tenon__uff_numbers(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                  const char* name, int64_t** out_ints, double** out_floats,
                                  size_t* out_count);

#endif
