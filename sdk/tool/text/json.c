/* See json.h. */
#include "text/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Length of the UTF-8 sequence at `text`, 0 when it is none (overlong, surrogate, cut short). */
static size_t utf8_length(const unsigned char* text, size_t size) {
  static const struct {
    unsigned char mask, lead;
    uint32_t least;
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  for (size_t extra = 0; extra < 4; ++extra) {
    if ((text[0] & forms[extra].mask) != forms[extra].lead) {
      continue;
    }
    if (extra >= size) {
      return 0;
    }
    uint32_t code = text[0] & (unsigned char)~forms[extra].mask;
    for (size_t i = 1; i <= extra; ++i) {
      if ((text[i] & 0xC0) != 0x80) {
        return 0;
      }
      code = code << 6 | (text[i] & 0x3Fu);
    }
    const bool valid =
        code >= forms[extra].least && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    return valid ? extra + 1 : 0;
  }
  return 0;
}

static void write_escaped(FILE* file, unsigned char c) {
  switch (c) {
    case '"':
    case '\\':
      (void)fprintf(file, "\\%c", c);
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
  const unsigned char* bytes = (const unsigned char*)text;
  (void)fputc('"', file);
  for (size_t i = 0; i < size;) {
    const size_t length = utf8_length(bytes + i, size - i);
    if (length == 0) {
      (void)fputs("\xEF\xBF\xBD", file);
      i += 1;
    } else if (bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\' || bytes[i] == 0x7F) {
      write_escaped(file, bytes[i]);
      i += 1;
    } else {
      (void)fwrite(bytes + i, 1, length, file);
      i += length;
    }
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
  begin_field(json, key);
  const char* words = text != NULL ? text : "";
  tool_json_quote(json->file, words, strlen(words));
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
