/*
 * The messages of both formats: their fields' numbers, names and kinds, as far as they are of use.
 * One table serves the binary form (by number) and the text form (by name). Sources: TensorFlow's
 * graph.proto and the files that it imports; the messages of UFF as its converter writes them.
 */
#ifndef TENON_PARSER_UFF_SCHEMA_H_
#define TENON_PARSER_UFF_SCHEMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a field holds, and so which members of tenon__uff_field_t count. */
typedef enum tenon__uff_kind_t {
  /* Of any width and sign, never zigzag: neither format has such fields. */
  TENON__UFF_KIND_INT,
  TENON__UFF_KIND_BOOL,
  /* A number, or in the text form its name. */
  TENON__UFF_KIND_ENUM,
  TENON__UFF_KIND_FLOAT,
  TENON__UFF_KIND_DOUBLE,
  TENON__UFF_KIND_BYTES, /* strings too */
  TENON__UFF_KIND_MESSAGE,
  /* Known and of no use here: left out without a word, where an unknown field is named. */
  TENON__UFF_KIND_IGNORED
} tenon__uff_kind_t;

/* A field of a message. Repeated or not is not said: readers take the last, or all. */
typedef struct tenon__uff_entry_t {
  const char* name;
  uint32_t number;
  tenon__uff_kind_t kind;
  /* MESSAGE: which one; else NULL. */
  const struct tenon__uff_schema_t* message;
} tenon__uff_entry_t;

/* A message; `name` is for messages to the user ("NodeDef"). */
typedef struct tenon__uff_schema_t {
  const char* name;
  const tenon__uff_entry_t* entries;
  size_t count;
} tenon__uff_schema_t;

/* The root of a UFF file. */
extern const tenon__uff_schema_t tenon__uff_meta_graph;
/* The root of a frozen graph. */
extern const tenon__uff_schema_t tenon__uff_graph_def;

/* NULL when there is no such field. */
const tenon__uff_entry_t* tenon__uff_schema_number(const tenon__uff_schema_t* schema,
                                                   uint64_t number);
const tenon__uff_entry_t* tenon__uff_schema_name(const tenon__uff_schema_t* schema,
                                                 const char* name, size_t length);

#endif
