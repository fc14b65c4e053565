/* The text of a .cfg, and a section as the source of a converter. Values stay texts until somebody
 * reads them as a number. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "darknet.h"

/* ---- Reading the text ---- */

/* Without blanks at both ends; the text is changed. */
static char* trim(char* text) {
  text += strspn(text, " \t");
  size_t length = strlen(text);
  while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
    text[--length] = '\0';
  }
  return text;
}

static tenon_status_t begin_section(tenon_reader_t* reader, char* text, uint32_t line,
                                    uint32_t index, tenon_source_t** out_section) {
  const size_t length = strcspn(text, "]");
  if (text[length] == '\0' || text[length + 1] != '\0' || length < 2) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "line %u: '%s' is no section: write [type]", line, text);
  }
  text[length] = '\0';
  tenon_source_t* section = tenon_reader_allocate(reader, 1, sizeof(*section));
  if (section == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  section->reader = reader;
  section->line = line;
  section->type = strcmp(text + 1, "conv") == 0 ? "convolutional" : text + 1;
  section->name = tenon_reader_format(reader, "%s_%u", section->type, index > 0 ? index - 1 : 0);
  *out_section = section;
  return section->name != NULL ? TENON_OK : tenon_reader_fail_memory(reader);
}

static tenon_status_t add_key(tenon_source_t* section, char* text, uint32_t line) {
  char* equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return DARKNET_FAIL(section, "line %u: '%s' is no option: write key=value", line, text);
  }
  *equals = '\0';
  if (section->key_count == DARKNET_MAX_KEYS) {
    return DARKNET_FAIL(section, "line %u: the section has more than %d options", line,
                        DARKNET_MAX_KEYS);
  }
  section->lines[section->key_count] = line;
  section->keys[section->key_count] = trim(text);
  section->values[section->key_count++] = trim(equals + 1);
  return TENON_OK;
}

tenon_status_t darknet_read_sections(tenon_reader_t* reader, const void* data, size_t size,
                                     tenon_source_t*** out_sections, uint32_t* out_count) {
  char* next = tenon_reader_readable(reader, data, size);
  tenon_source_t** sections =
      tenon_reader_allocate(reader, DARKNET_MAX_SECTIONS, sizeof(tenon_source_t*));
  uint32_t count = 0;
  if (next == NULL || sections == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (uint32_t line = 1; next != NULL; ++line) {
    char* text = next;
    next = strchr(text, '\n');
    if (next != NULL) {
      *next++ = '\0';
    }
    text[strcspn(text, "#;")] = '\0';
    text = trim(text);
    if (text[0] == '[') {
      if (count == DARKNET_MAX_SECTIONS) {
        return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED, "more than %d sections",
                                 DARKNET_MAX_SECTIONS);
      }
      TENON_READER_TRY(begin_section(reader, text, line, count, &sections[count]));
      ++count;
    } else if (text[0] != '\0') {
      if (count == 0) {
        return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "line %u: '%s' is in no section",
                                 line, text);
      }
      TENON_READER_TRY(add_key(sections[count - 1], text, line));
    }
  }
  *out_sections = sections;
  *out_count = count;
  return TENON_OK;
}

/* ---- A section as a source ---- */

/* NULL: there is no such option. Of several, the first counts, as in Darknet. */
static const char* find(const tenon_source_t* source, const char* name, uint32_t* out_line) {
  for (uint32_t k = 0; k < source->key_count; ++k) {
    if (strcmp(source->keys[k], name) == 0) {
      *out_line = source->lines[k];
      return source->values[k];
    }
  }
  *out_line = source->line;
  return NULL;
}

static const char* type(const tenon_source_t* source) {
  return source->type;
}
static const char* domain(const tenon_source_t* source) {
  (void)source;
  return "";
}
static const char* name_of(const tenon_source_t* source) {
  return source->name;
}
static int64_t version(const tenon_source_t* source) {
  (void)source;
  return 1;
}
static uint32_t input_count(const tenon_source_t* source) {
  return source->input_count;
}
static uint32_t output_count(const tenon_source_t* source) {
  (void)source;
  return 1;
}
static const char* input_name(const tenon_source_t* source, uint32_t index) {
  return index < source->input_count ? "x" : "";
}
static const char* output_name(const tenon_source_t* source, uint32_t index) {
  return index == 0 ? source->name : "";
}
static uint32_t field_count(const tenon_source_t* source) {
  return source->key_count;
}
static const char* field_name(const tenon_source_t* source, uint32_t index) {
  return index < source->key_count ? source->keys[index] : "";
}

/* Decimal digits, perhaps with a sign, and blanks after them. A number beyond int64_t is none. */
static bool read_whole(const char* text, const char** out_end, int64_t* out_value) {
  char* end = NULL;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || errno == ERANGE) {
    return false;
  }
  *out_end = end + strspn(end, " \t");
  *out_value = value;
  return true;
}

/* The same with a point and an exponent. Hexadecimal, infinite and undefined numbers are none. */
static bool read_real(const char* text, const char** out_end, double* out_value) {
  char* end = NULL;
  const double value = strtod(text, &end);
  const size_t length = strspn(text, "+-.0123456789eE \t");
  if (end == text || (size_t)(end - text) > length || !isfinite(value)) {
    return false;
  }
  *out_end = end + strspn(end, " \t");
  *out_value = value;
  return true;
}

static bool is_whole(const char* text, int64_t* out_value) {
  const char* end = NULL;
  return read_whole(text, &end, out_value) && *end == '\0';
}

static bool is_real(const char* text, double* out_value) {
  const char* end = NULL;
  return read_real(text, &end, out_value) && *end == '\0';
}

static uint32_t field_kind(const tenon_source_t* source, const char* name) {
  uint32_t line = 0;
  const char* text = find(source, name, &line);
  int64_t whole = 0;
  double real = 0;
  if (text == NULL) {
    return TENON_FIELD_NONE;
  }
  return is_whole(text, &whole)      ? TENON_FIELD_INT
         : is_real(text, &real)      ? TENON_FIELD_FLOAT
         : strchr(text, ',') != NULL ? TENON_FIELD_FLOATS
                                     : TENON_FIELD_STRING;
}

static tenon_status_t get_int(const tenon_source_t* source, const char* name, int64_t* out_value) {
  uint32_t line = 0;
  if (name[0] == '@') {
    (void)find(source, name + 1, &line);
    *out_value = line;
    return TENON_OK;
  }
  const char* text = find(source, name, &line);
  if (text == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  return is_whole(text, out_value)
             ? TENON_OK
             : DARKNET_FAIL(source, "line %u: %s=%s is no whole number: write decimal digits", line,
                            name, text);
}

static tenon_status_t get_float(const tenon_source_t* source, const char* name, double* out_value) {
  uint32_t line = 0;
  const char* text = find(source, name, &line);
  if (text == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  return is_real(text, out_value)
             ? TENON_OK
             : DARKNET_FAIL(source, "line %u: %s=%s is no number: write a decimal number", line,
                            name, text);
}

static tenon_status_t get_string(const tenon_source_t* source, const char* name,
                                 tenon_string_view_t* out_value) {
  uint32_t line = 0;
  const char* text = find(source, name, &line);
  if (text == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_value = (tenon_string_view_t){text, strlen(text)};
  return TENON_OK;
}

/* An option whose numbers have commas between them. */
typedef struct list_t {
  const char* text;
  uint32_t line;
  size_t count;
} list_t;

static tenon_status_t find_list(const tenon_source_t* source, const char* name, list_t* out_list) {
  list_t list = {.count = 1};
  list.text = find(source, name, &list.line);
  if (list.text == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  for (const char* at = strchr(list.text, ','); at != NULL; at = strchr(at + 1, ',')) {
    ++list.count;
  }
  if (list.count > DARKNET_MAX_NUMBERS) {
    return DARKNET_FAIL(source, "line %u: %s has %zu numbers: write at most %d", list.line, name,
                        list.count, DARKNET_MAX_NUMBERS);
  }
  *out_list = list;
  return TENON_OK;
}

static tenon_status_t get_floats(const tenon_source_t* source, const char* name,
                                 const double** out_values, size_t* out_count) {
  list_t list = {.text = NULL};
  TENON_READER_TRY(find_list(source, name, &list));
  double* values = tenon_reader_allocate(source->reader, list.count, sizeof(*values));
  if (values == NULL) {
    return tenon_reader_fail_memory(source->reader);
  }
  const char* at = list.text;
  for (size_t k = 0; k < list.count; ++k) {
    if (!read_real(at, &at, &values[k]) || (*at != ',' && *at != '\0')) {
      return DARKNET_FAIL(source, "line %u: %s=%s is no list of numbers: write A,B,C", list.line,
                          name, list.text);
    }
    at += *at == ',' ? 1 : 0;
  }
  *out_values = values;
  *out_count = list.count;
  return TENON_OK;
}

static tenon_status_t get_ints(const tenon_source_t* source, const char* name,
                               const int64_t** out_values, size_t* out_count) {
  list_t list = {.text = NULL};
  TENON_READER_TRY(find_list(source, name, &list));
  int64_t* values = tenon_reader_allocate(source->reader, list.count, sizeof(*values));
  if (values == NULL) {
    return tenon_reader_fail_memory(source->reader);
  }
  const char* at = list.text;
  for (size_t k = 0; k < list.count; ++k) {
    if (!read_whole(at, &at, &values[k]) || (*at != ',' && *at != '\0') ||
        values[k] < -DARKNET_MAX_NUMBER || values[k] > DARKNET_MAX_NUMBER) {
      return DARKNET_FAIL(source,
                          "line %u: %s=%s is no list of whole numbers: write A,B,C, each from %d "
                          "to %d",
                          list.line, name, list.text, -DARKNET_MAX_NUMBER, DARKNET_MAX_NUMBER);
    }
    at += *at == ',' ? 1 : 0;
  }
  *out_values = values;
  *out_count = list.count;
  return TENON_OK;
}

static tenon_status_t no_strings(const tenon_source_t* source, const char* name,
                                 const tenon_string_view_t** out_values, size_t* out_count) {
  (void)source;
  (void)name;
  (void)out_values;
  (void)out_count;
  return TENON_ERROR_NOT_FOUND;
}

static uint32_t blob_count(const tenon_source_t* source) {
  return source->blob_count;
}

static tenon_status_t get_blob(const tenon_source_t* source, uint32_t index,
                               tenon_tensor_view_t* out_value) {
  if (index >= source->blob_count) {
    return TENON_ERROR_NOT_FOUND;
  }
  const darknet_blob_t* blob = &source->blobs[index];
  *out_value = (tenon_tensor_view_t){.data = tenon_reader_unconst(blob->data),
                                     .dims = blob->dims,
                                     .strides = blob->strides,
                                     .rank = blob->rank,
                                     .dtype = TENON_DTYPE_FLOAT32,
                                     .layout = TENON_NONE};
  return TENON_OK;
}

static int32_t can_borrow(const tenon_source_t* source, const void* data) {
  (void)source;
  (void)data;
  return 1;
}

const tenon_source_table_t darknet_source_table = {.size = sizeof(tenon_source_table_t),
                                                   .type = type,
                                                   .domain = domain,
                                                   .name = name_of,
                                                   .version = version,
                                                   .input_count = input_count,
                                                   .output_count = output_count,
                                                   .input_name = input_name,
                                                   .output_name = output_name,
                                                   .field_count = field_count,
                                                   .field_name = field_name,
                                                   .field_kind = field_kind,
                                                   .get_int = get_int,
                                                   .get_float = get_float,
                                                   .get_string = get_string,
                                                   .get_ints = get_ints,
                                                   .get_floats = get_floats,
                                                   .get_strings = no_strings,
                                                   .get_tensor = tenon_reader_no_tensor,
                                                   .get_tree = tenon_reader_no_tree,
                                                   .tree_count = tenon_reader_no_trees,
                                                   .convert_body = tenon_reader_no_body,
                                                   .blob_count = blob_count,
                                                   .get_blob = get_blob,
                                                   .can_borrow = can_borrow};

tenon_status_t darknet_get_count(const tenon_source_t* section, const char* name, int64_t otherwise,
                                 int64_t min, int64_t* out_value) {
  uint32_t line = 0;
  (void)find(section, name, &line);
  *out_value = otherwise;
  const tenon_status_t status = get_int(section, name, out_value);
  if (status != TENON_OK && status != TENON_ERROR_NOT_FOUND) {
    return status;
  }
  if (*out_value < min || *out_value > DARKNET_MAX_NUMBER) {
    return DARKNET_FAIL(section, "line %u: %s=%lld in [%s]: write a number from %lld to %d", line,
                        name, (long long)*out_value, section->type, (long long)min,
                        DARKNET_MAX_NUMBER);
  }
  return TENON_OK;
}

int64_t darknet_peek(const tenon_source_t* section, const char* name, int64_t otherwise) {
  uint32_t line = 0;
  const char* text = find(section, name, &line);
  const char* end = NULL;
  int64_t value = 0;
  return text != NULL && read_whole(text, &end, &value) ? value : otherwise;
}
