/* See json.h. */
#include "text/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text/escape.h"
#include "text/utf8.h"

static void write_escaped(FILE* file, uint32_t c) {
  switch (c) {
    case '"':
    case '\\':
      (void)fprintf(file, "\\%c", (char)c);
      break;
    case '\n':
      (void)fputs("\\n", file);
      break;
    case '\t':
      (void)fputs("\\t", file);
      break;
    default:
      (void)fprintf(file, "\\u%04x", c);
  }
}

void tool_json_quote(FILE* file, const char* text, size_t size) {
  (void)fputc('"', file);
  for (size_t i = 0; i < size;) {
    uint32_t code = 0;
    const size_t length = tool_utf8_read(text + i, size - i, &code);
    if (length == 0) {
      (void)fputs("\xEF\xBF\xBD", file);
      i += 1;
      continue;
    }
    if (code == '"' || code == '\\' || tool_is_control(code)) {
      write_escaped(file, code);
    } else {
      (void)fwrite(text + i, 1, length, file);
    }
    i += length;
  }
  (void)fputc('"', file);
}

static void begin_field(tool_json_t* json, const char* key) {
  if (json->needs_comma) {
    (void)fputs(", ", json->file);
  }
  json->needs_comma = true;
  if (key != NULL) {
    tool_json_quote(json->file, key, strlen(key));
    (void)fputs(": ", json->file);
  }
}

static void open_scope(tool_json_t* json, const char* key, char bracket) {
  begin_field(json, key);
  (void)fputc(bracket, json->file);
  json->needs_comma = false;
}

static void close_scope(tool_json_t* json, char bracket) {
  (void)fputc(bracket, json->file);
  json->needs_comma = true;
}

void tool_json_begin(tool_json_t* json, FILE* file) {
  json->file = file;
  json->needs_comma = false;
  (void)fputc('{', file);
}

void tool_json_end(tool_json_t* json) {
  (void)fputs("}\n", json->file);
}

void tool_json_text(tool_json_t* json, const char* key, const char* text) {
  const char* value = text != NULL ? text : "";
  tool_json_bytes(json, key, value, strlen(value));
}

void tool_json_bytes(tool_json_t* json, const char* key, const char* text, size_t size) {
  begin_field(json, key);
  tool_json_quote(json->file, text, size);
}

void tool_json_integer(tool_json_t* json, const char* key, int64_t value) {
  begin_field(json, key);
  (void)fprintf(json->file, "%" PRId64, value);
}

void tool_json_unsigned(tool_json_t* json, const char* key, uint64_t value) {
  begin_field(json, key);
  (void)fprintf(json->file, "%" PRIu64, value);
}

void tool_json_number(tool_json_t* json, const char* key, double value) {
  begin_field(json, key);
  if (isfinite(value)) {
    (void)fprintf(json->file, "%.9g", value);
  } else {
    (void)fputs("null", json->file);
  }
}

void tool_json_bool(tool_json_t* json, const char* key, bool value) {
  begin_field(json, key);
  (void)fputs(value ? "true" : "false", json->file);
}

void tool_json_integers(tool_json_t* json, const char* key, const int64_t* values, size_t count) {
  tool_json_list_begin(json, key);
  for (size_t i = 0; i < count; ++i) {
    tool_json_integer(json, NULL, values[i]);
  }
  tool_json_list_end(json);
}

void tool_json_lines(tool_json_t* json, const char* key, const char* lines) {
  tool_json_list_begin(json, key);
  for (const char* line = lines; line != NULL && *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    begin_field(json, NULL);
    tool_json_quote(json->file, line, length);
    line += length + (line[length] == '\n' ? 1 : 0);
  }
  tool_json_list_end(json);
}

void tool_json_list_begin(tool_json_t* json, const char* key) {
  open_scope(json, key, '[');
}

void tool_json_list_end(tool_json_t* json) {
  close_scope(json, ']');
}
