/*
 * tenon/reader.h - helpers for parsers: memory and messages of a parse, maps from names, protocol
 * buffers in both of their forms.
 *
 * A helper over plugin.h for plugins that offer a parser, as maker.h is for converters. It is
 * source and no part of the binary contract: all of it is static and inline, calls the table that
 * the host lends, keeps no globals, and links with nothing. C and C++ (from C++11 on) may include
 * it. This file is the manual. It includes the code, in reader/.
 *
 *   static tenon_status_t parse(void* state, tenon_parse_t* parse, const tenon_parse_table_t* host,
 *                               tenon_builder_t* builder, const tenon_builder_table_t* build) {
 *     tenon_reader_t reader;
 *     tenon_reader_initialize(&reader, parse, host, builder, build);
 *     ...
 *     while (data < end) {
 *       tenon_reader_record_t record;
 *       if (!tenon_reader_read_record(&data, end, &record)) {
 *         return TENON_READER_FAIL(&reader, TENON_ERROR_INVALID_DATA,
 *                                  "byte %zu: a field is broken or cut off", (size_t)(data -
 * begin));
 *       }
 *       TENON_READER_TRY(read_field(&reader, &record));
 *     }
 *
 * Ownership. All memory comes from the host and lives until the parse ends; nothing is ever
 * released, so a parser may return wherever it fails. Data of the wire format are views of the
 * file, which stays mapped. Data of the text format are copied.
 *
 * Threads. Everything is [parse]: a reader belongs to one parse and its thread. Functions without a
 * reader are [any], so a sniff may call them.
 *
 * Errors. Input is not trusted: for all bytes, a function reads no further than `end`, and returns.
 * A function that fails has sent the reason and the place in the file to the sink: return its
 * status without another message. OUT_OF_MEMORY is the host's, or a size that no memory has.
 * Functions that return bool or a pointer send no messages.
 *
 * Limits. A short file must not ask for much: bound how deep messages nest (a text's depth_limit,
 * a count of your own in a walk of the wire format), and count with tenon_reader_spend all data
 * that few bytes of a file can multiply.
 */
#ifndef TENON_READER_H_
#define TENON_READER_H_

#include <stdarg.h>
#include <stdbool.h>

#include "tenon/plugin.h"

#if defined(__GNUC__)
#define TENON_READER_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TENON_READER_PRINTF(text, first)
#endif

enum {
  TENON_READER_MESSAGE_SIZE = 2048,  /* bytes of a message to the sink; longer ones are cut */
  TENON_READER_MADE_LIMIT = 1 << 30, /* bytes: see tenon_reader_spend */
  TENON_READER_NUMBER_LIMIT = 511,   /* characters of a number in a text */
  TENON_READER_CHARACTER_SIZE = 4    /* bytes of a character as tenon_reader_character writes it */
};

/* What one parse carries everywhere: the host's tables, memory, words. */
typedef struct tenon_reader_t {
  tenon_parse_t* parse;
  const tenon_parse_table_t* host;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  const tenon_sink_t* sink;
  uint8_t* block; /* rest of the newest block */
  size_t block_left;
  size_t made_bytes; /* see tenon_reader_spend */
} tenon_reader_t;

/* builder and build may be NULL while nothing is built. */
static inline void tenon_reader_initialize(tenon_reader_t* out_reader, tenon_parse_t* parse,
                                           const tenon_parse_table_t* host,
                                           tenon_builder_t* builder,
                                           const tenon_builder_table_t* build);

/* Returns the status of `call` unless it is TENON_OK. */
#define TENON_READER_TRY(call)                          \
  do {                                                  \
    const tenon_status_t tenon_reader_status_ = (call); \
    if (tenon_reader_status_ != TENON_OK)               \
      return tenon_reader_status_;                      \
  } while (0)

/* ---- Words ---- */

/* Severity as in plugin.h. */
static inline void tenon_reader_say(const tenon_reader_t* reader, int32_t severity,
                                    const char* format, ...) TENON_READER_PRINTF(3, 4);
/* Writes an error to the sink and is `status`. */
#define TENON_READER_FAIL(reader, status, ...) \
  (tenon_reader_say((reader), TENON_SEVERITY_ERROR, __VA_ARGS__), (status))
/* OUT_OF_MEMORY. */
static inline tenon_status_t tenon_reader_fail_memory(const tenon_reader_t* reader);

/* ---- The host ---- */

/* Settings of the caller for this parser; NULL: none, or the host is older than settings. */
static inline const char* tenon_reader_setting(const tenon_reader_t* reader, const char* name);
/* Whether the host wants to be told what the file holds (declare_value, declare_node). */
static inline bool tenon_reader_can_declare(const tenon_reader_t* reader);

/* ---- Memory ---- */

/* `count` elements, zero-filled, aligned to 16 (to 64 when large). NULL when the product overflows
 * or memory is out. Small blocks are cut from larger ones. */
static inline void* tenon_reader_allocate(tenon_reader_t* reader, size_t count, size_t size_bytes);
/* The old elements, then zeros; the old memory stays. */
static inline void* tenon_reader_enlarge(tenon_reader_t* reader, const void* old, size_t old_count,
                                         size_t new_count, size_t size_bytes);
/* As printf writes it; NULL when memory is out. */
static inline char* tenon_reader_format(tenon_reader_t* reader, const char* format, ...)
    TENON_READER_PRINTF(2, 3);
/* Counts `count` elements that the file does not hold one by one: numbers that are filled in, data
 * that many nodes refer to. UNSUPPORTED beyond TENON_READER_MADE_LIMIT in one parse. */
static inline tenon_status_t tenon_reader_spend(tenon_reader_t* reader, size_t count,
                                                size_t size_bytes);
/* For structures of the contract that hold what is only read as void*. */
static inline void* tenon_reader_unconst(const void* data);

/* ---- Characters ----
 * Names and texts of the contract are UTF-8 and end with NUL; files hold any bytes. */

/* The bytes as such a text: where they are no UTF-8, and NUL, as \xNN. NULL when memory is out. */
static inline char* tenon_reader_readable(tenon_reader_t* reader, const void* data,
                                          size_t size_bytes);
/* One character of it, from `data` of `size_bytes` > 0: returns how many bytes it writes. */
static inline size_t tenon_reader_character(const uint8_t* data, size_t size_bytes,
                                            char out_text[TENON_READER_CHARACTER_SIZE],
                                            size_t* out_taken);

/* ---- Names ----
 * A hash map from names, or from addresses, to pointers; all zeros is an empty map. Keys are
 * borrowed. Where a key lies in the map depends on the map's own address, so that no file can be
 * made whose names all collide: a map that holds something stays where it is in memory. */

typedef struct tenon_reader_name_t {
  uint64_t hash;
  const void* key; /* NULL: free */
  void* value;
} tenon_reader_name_t;

typedef struct tenon_reader_names_t {
  tenon_reader_name_t* slots;
  size_t capacity; /* a power of two */
  size_t count;
} tenon_reader_names_t;

/* Sets or replaces. OUT_OF_MEMORY leaves the map as it was. */
static inline tenon_status_t tenon_reader_names_set(tenon_reader_t* reader,
                                                    tenon_reader_names_t* names, const char* name,
                                                    void* value);
/* NULL when absent. */
static inline void* tenon_reader_names_find(const tenon_reader_names_t* names, const char* name);

/* The same with addresses for keys; one map holds one kind of key. */
static inline tenon_status_t tenon_reader_addresses_set(tenon_reader_t* reader,
                                                        tenon_reader_names_t* names,
                                                        const void* key, void* value);
static inline void* tenon_reader_addresses_find(const tenon_reader_names_t* names, const void* key);

/* ---- Protocol buffers: the wire format ----
 * https://protobuf.dev/programming-guides/encoding/, one field at a time. */

enum {
  TENON_READER_WIRE_VARINT = 0,
  TENON_READER_WIRE_FIXED64 = 1,
  TENON_READER_WIRE_LENGTH = 2,
  TENON_READER_WIRE_FIXED32 = 5
};

/* One field of a message. */
typedef struct tenon_reader_record_t {
  uint64_t number;      /* not 0 */
  uint32_t wire;        /* one of the four above */
  uint64_t value;       /* VARINT */
  const uint8_t* start; /* its tag */
  const uint8_t* data;  /* after the tag and, for LENGTH, the length; not aligned */
  size_t size;
} tenon_reader_record_t;

/* Both move *inout_data behind what they read. False at what is cut off by `end`, or malformed: a
 * varint of more than ten bytes, the number 0, groups, wire types that do not exist; then nothing
 * is written. A varint may be longer than it need be; of ten bytes the last one's upper bits are
 * dropped. */
static inline bool tenon_reader_read_varint(const uint8_t** inout_data, const uint8_t* end,
                                            uint64_t* out_value);
static inline bool tenon_reader_read_record(const uint8_t** inout_data, const uint8_t* end,
                                            tenon_reader_record_t* out_record);

/* ---- Protocol buffers: the text format ----
 *
 *   message = { field }
 *   field   = name [":"] "{" message "}" | name ":" value | name [":"] "[" value {"," value} "]",
 *             perhaps followed by "," or ";"
 *   name    = word | "[" word {"." word} "]" (an extension, which goes by its last word)
 *   value   = number | word | string {string} | "{" message "}"
 *
 * "<" and ">" serve as braces too; "#" begins a comment; numbers are decimal, hexadecimal, octal,
 * with exponents, inf and nan; strings stand in either quotes and take C's escapes. Which fields
 * there are is the parser's to know:
 *
 *   tenon_status_t read_message(tenon_reader_text_t* text, tenon_reader_message_t* message) {
 *     for (;;) {
 *       TENON_READER_TRY(tenon_reader_text_field(text, message));
 *       if (message->name == NULL) {
 *         return TENON_OK;
 *       }
 *       for (;;) {
 *         TENON_READER_TRY(tenon_reader_text_value(text, message));
 *         if (!message->has_value) {
 *           break;
 *         }
 *         if (message->is_message) {
 *           tenon_reader_message_t inner;
 *           TENON_READER_TRY(tenon_reader_text_enter(text, &inner));
 *           TENON_READER_TRY(read_message(text, &inner));
 *         } else {
 *           tenon_reader_literal_t literal;
 *           TENON_READER_TRY(tenon_reader_text_literal(text, &literal));
 *         }
 *       }
 *     }
 *   }
 */

/* A text and the place in it. */
typedef struct tenon_reader_text_t {
  tenon_reader_t* reader;
  const char* at;
  const char* end;
  const char* line_start;
  uint32_t line; /* from 1 */
  uint32_t depth;
  uint32_t depth_limit; /* messages within messages, the file's own being the first */
} tenon_reader_text_t;

/* A message whose fields are being read. */
typedef struct tenon_reader_message_t {
  uint32_t begin_line; /* the message's own */
  char close;          /* the brace that ends it; '\0': the file's end does */
  const char* name;    /* of the field; NULL: the message has ended */
  uint32_t line;       /* where the name begins */
  uint32_t column;
  bool has_colon;
  bool is_list;
  bool is_first;   /* no value of it was read */
  bool has_value;  /* one of its values stands here */
  bool is_message; /* it is a message, and its opening brace is here */
} tenon_reader_message_t;

typedef enum tenon_reader_literal_kind_t {
  TENON_READER_LITERAL_NUMBER, /* inf and nan too */
  TENON_READER_LITERAL_WORD,   /* an enumeration's name, true, false */
  TENON_READER_LITERAL_STRING
} tenon_reader_literal_kind_t;

/* One value as it is written. */
typedef struct tenon_reader_literal_t {
  tenon_reader_literal_kind_t kind;
  bool is_integer;    /* NUMBER: without point and exponent */
  bool is_negative;   /* integers: magnitude is of a number below zero */
  uint64_t magnitude; /* integers: saturated */
  double number;      /* NUMBER */
  const char* text;   /* WORD: ends with NUL; STRING: any bytes */
  size_t size;
  uint32_t line; /* where it begins */
  uint32_t column;
} tenon_reader_literal_t;

/* Begins a text (UTF-8's mark before it is skipped), and its own message. */
static inline tenon_status_t tenon_reader_text_begin(tenon_reader_t* reader, const void* data,
                                                     size_t size_bytes, uint32_t depth_limit,
                                                     tenon_reader_text_t* out_text,
                                                     tenon_reader_message_t* out_message);
/* To the message's next field, or its end. */
static inline tenon_status_t tenon_reader_text_field(tenon_reader_text_t* text,
                                                     tenon_reader_message_t* message);
/* To the field's next value: lists have any number, others one. Each is to be read by
 * tenon_reader_text_literal or, as a message, by tenon_reader_text_enter. */
static inline tenon_status_t tenon_reader_text_value(tenon_reader_text_t* text,
                                                     tenon_reader_message_t* message);
/* Begins the message whose opening brace stands here. */
static inline tenon_status_t tenon_reader_text_enter(tenon_reader_text_t* text,
                                                     tenon_reader_message_t* out_message);
static inline tenon_status_t tenon_reader_text_literal(tenon_reader_text_t* text,
                                                       tenon_reader_literal_t* out_literal);
/* An integer, saturated to what int64_t has. */
static inline int64_t tenon_reader_literal_int64(const tenon_reader_literal_t* literal);

/* INVALID_DATA with the place, the expected and the found text; or, for a value that was read, with
 * the place where it begins. */
static inline tenon_status_t tenon_reader_text_fail(const tenon_reader_text_t* text,
                                                    const char* expected);
static inline tenon_status_t tenon_reader_literal_fail(const tenon_reader_text_t* text,
                                                       const tenon_reader_literal_t* literal,
                                                       const char* what);
/* From 1, in bytes. */
static inline uint32_t tenon_reader_text_column(const tenon_reader_text_t* text);
/* Whether the first field of a text is called `name`; `data` may be the first bytes alone. */
static inline bool tenon_reader_text_begins_with(const void* data, size_t size_bytes,
                                                 const char* name);

/* ---- Source nodes ----
 * Functions for a tenon_source_table_t whose format has no such fields: NOT_FOUND, or 0. */

static inline tenon_status_t tenon_reader_no_tensor(const tenon_source_t* source, const char* name,
                                                    tenon_tensor_view_t* out_value);
static inline tenon_status_t tenon_reader_no_tree(const tenon_source_t* source, const char* name,
                                                  uint32_t index, const tenon_source_t** out_value);
static inline uint32_t tenon_reader_no_trees(const tenon_source_t* source, const char* name);
static inline tenon_status_t tenon_reader_no_body(const tenon_source_t* source, const char* name,
                                                  const tenon_value_t* parameter_types,
                                                  uint32_t parameter_type_count,
                                                  tenon_converted_body_t* out_body);
static inline uint32_t tenon_reader_no_blobs(const tenon_source_t* source);
static inline tenon_status_t tenon_reader_no_blob(const tenon_source_t* source, uint32_t index,
                                                  tenon_tensor_view_t* out_value);

#include "tenon/reader/literal.h"
#include "tenon/reader/memory.h"
#include "tenon/reader/names.h"
#include "tenon/reader/source.h"
#include "tenon/reader/text.h"
#include "tenon/reader/wire.h"

#endif /* TENON_READER_H_ */
