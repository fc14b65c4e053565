/* See show.h. */
#include "session/show.h"

#include <stdio.h>
#include <string.h>

#include "data/file.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/shape_text.h"

/* A line of a text file, without its end; "" past the last. */
static void find_line(const char* text, uint64_t index, char* out_line, size_t size) {
  while (text != NULL && index > 0 && *text != '\0') {
    text += strcspn(text, "\n");
    text += *text == '\n' ? 1 : 0;
    --index;
  }
  (void)snprintf(out_line, size, "%.*s", text != NULL ? (int)strcspn(text, "\r\n") : 0,
                 text != NULL ? text : "");
}

static void print_class(uint64_t row, uint32_t place, uint64_t index, double score,
                        const char* label) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_unsigned(&json, "row", row);
    tool_json_unsigned(&json, "place", place);
    tool_json_unsigned(&json, "class", index);
    tool_json_text(&json, "label", label);
    tool_json_number(&json, "score", score);
    tool_json_end(&json);
    return;
  }
  tool_say("  %s%-5llu %-10.6g %s\n", place == 0 ? "> " : "  ", (unsigned long long)index, score,
           label);
}

/* The first that is not taken; there is one. */
static uint64_t first_left(const bool* taken) {
  uint64_t i = 0;
  while (taken[i]) {
    ++i;
  }
  return i;
}

/* The largest of one row, one after the other: K is small. NaN comes last. */
static void print_row(const tool_value_t* value, uint64_t row, uint64_t classes, uint32_t top,
                      const char* labels) {
  bool* taken = tool_allocate((size_t)classes, sizeof(bool));
  for (uint32_t place = 0; place < top && place < classes; ++place) {
    uint64_t best = tool_value_largest(value, row * classes, classes, taken);
    best = best < classes ? best : first_left(taken);
    const double score = tool_element_get(value->dtype, value->data, row * classes + best, 0);
    char label[128];
    taken[best] = true;
    find_line(labels, best, label, sizeof(label));
    print_class(row, place, best, score, label);
  }
  tool_free(taken);
}

static uint64_t count_lines(const uint8_t* text, size_t size) {
  uint64_t count = size > 0 && text[size - 1] != '\n' ? 1 : 0;
  for (size_t i = 0; i < size; ++i) {
    count += text[i] == '\n' ? 1 : 0;
  }
  return count;
}

tenon_status_t tool_classes_print(const tool_value_t* value, uint32_t top,
                                  const char* labels_path) {
  uint8_t* labels = NULL;
  size_t size = 0;
  if (labels_path != NULL) {
    const tenon_status_t status = tool_file_read(labels_path, &labels, &size);
    if (status != TENON_OK) {
      return status;
    }
  }
  const uint64_t classes = value->rank > 0 ? (uint64_t)value->dims[value->rank - 1] : 1;
  const uint64_t rows = classes > 0 ? value->count / classes : 0;
  const uint64_t names = count_lines(labels, size);
  if (labels != NULL && names != classes) {
    tool_warn("%s: %llu names for %llu classes", labels_path, (unsigned long long)names,
              (unsigned long long)classes);
  }
  tool_say("    %-5s %-10s%s\n", "class", "score", labels != NULL ? " label" : "");
  for (uint64_t row = 0; row < rows; ++row) {
    if (rows > 1) {
      tool_say("row %llu\n", (unsigned long long)row);
    }
    print_row(value, row, classes, top, (const char*)labels);
  }
  tool_free(labels);
  return TENON_OK;
}
