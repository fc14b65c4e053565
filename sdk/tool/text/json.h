/*
 * JSON, one object a line: what --json prints. Numbers that JSON does not have (NaN, infinities)
 * are written as null. The writer keeps no tree: fields go out as they are added, and the caller
 * sees to it that lists are ended.
 */
#ifndef TOOL_TEXT_JSON_H_
#define TOOL_TEXT_JSON_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* On the caller's stack, between begin and end. */
typedef struct tool_json_t {
  FILE* file;
  bool needs_comma;
} tool_json_t;

/* One line: begin, fields, end. */
void tool_json_begin(tool_json_t* json, FILE* file);
void tool_json_end(tool_json_t* json);

/* Fields; inside a list `key` is NULL. A NULL `text` is "". */
void tool_json_text(tool_json_t* json, const char* key, const char* text);
/* A text of `size` bytes, perhaps with NULs. */
void tool_json_bytes(tool_json_t* json, const char* key, const char* text, size_t size);
void tool_json_integer(tool_json_t* json, const char* key, int64_t value);
void tool_json_unsigned(tool_json_t* json, const char* key, uint64_t value);
void tool_json_number(tool_json_t* json, const char* key, double value);
void tool_json_bool(tool_json_t* json, const char* key, bool value);
/* A list of numbers as one field. */
void tool_json_integers(tool_json_t* json, const char* key, const int64_t* values, size_t count);
/* Lines of a text as a list of strings. */
void tool_json_lines(tool_json_t* json, const char* key, const char* lines);
void tool_json_list_begin(tool_json_t* json, const char* key);
void tool_json_list_end(tool_json_t* json);

/* The text in quotation marks, escaped; bytes that are not UTF-8 become U+FFFD. */
void tool_json_quote(FILE* file, const char* text, size_t size);

#endif
