/* The messages of both formats: their fields' numbers, names and kinds, as far as they are of use.
 * Sources: TensorFlow's graph.proto and the files that it imports; the messages of UFF as its
 * converter writes them. */
#ifndef TENON_PARSER_UFF_SCHEMA_H_
#define TENON_PARSER_UFF_SCHEMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tenon__uff_kind_t {
  TENON__UFF_KIND_INT, /* of any width and sign */
  TENON__UFF_KIND_BOOL,
  TENON__UFF_KIND_ENUM, /* a number, or in the text form its name */
  TENON__UFF_KIND_FLOAT,
  TENON__UFF_KIND_DOUBLE,
  TENON__UFF_KIND_BYTES, /* strings too */
  TENON__UFF_KIND_MESSAGE,
  TENON__UFF_KIND_IGNORED /* of no use here */
} tenon__uff_kind_t;

typedef struct tenon__uff_entry_t {
  const char* name;
  uint32_t number;
  tenon__uff_kind_t kind;
  const struct tenon__uff_schema_t* message; /* MESSAGE */
} tenon__uff_entry_t;

typedef struct tenon__uff_schema_t {
  const char* name;
  const tenon__uff_entry_t* entries;
  size_t count;
} tenon__uff_schema_t;

extern const tenon__uff_schema_t tenon__uff_meta_graph; /* the root of a UFF file */
extern const tenon__uff_schema_t tenon__uff_graph_def;  /* the root of a frozen graph */

/* NULL when there is no such field. */
const tenon__uff_entry_t* tenon__uff_schema_number(const tenon__uff_schema_t* schema,
                                                   uint64_t number);
const tenon__uff_entry_t* tenon__uff_schema_name(const tenon__uff_schema_t* schema,
                                                 const char* name, size_t length);

#endif
