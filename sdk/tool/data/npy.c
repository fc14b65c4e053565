/* See npy.h. The header is a Python dictionary of three entries, read by a small scanner of our
 * own. */
#include "data/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"
#include "text/shape_text.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_SIZE = 6, HEADER_LIMIT = 65536 };

static const struct {
  tenon_dtype_t dtype;
  char kind;
  uint32_t bytes;
} numpy_types[] = {
    {TENON_DTYPE_BOOL, 'b', 1},      {TENON_DTYPE_INT8, 'i', 1},
    {TENON_DTYPE_INT16, 'i', 2},     {TENON_DTYPE_INT32, 'i', 4},
    {TENON_DTYPE_INT64, 'i', 8},     {TENON_DTYPE_UINT8, 'u', 1},
    {TENON_DTYPE_UINT16, 'u', 2},    {TENON_DTYPE_UINT32, 'u', 4},
    {TENON_DTYPE_UINT64, 'u', 8},    {TENON_DTYPE_FLOAT16, 'f', 2},
    {TENON_DTYPE_FLOAT32, 'f', 4},   {TENON_DTYPE_FLOAT64, 'f', 8},
    {TENON_DTYPE_COMPLEX64, 'c', 8}, {TENON_DTYPE_COMPLEX128, 'c', 16},
};
enum { NUMPY_TYPE_COUNT = sizeof(numpy_types) / sizeof(numpy_types[0]) };

typedef struct header_t {
  char kind;      /* 'f', 'i', ..., 'S' bytes, 'U' text */
  char order;     /* '<', '>', '|' */
  uint32_t bytes; /* of one element */
  bool fortran;
  uint32_t rank;
  int64_t dims[TENON_RANK_LIMIT];
  char type[32]; /* as the file spells it, or the beginning; "" where it is a list: records */
} header_t;

/* ---- The header ---- */

typedef struct scan_t {
  const char* at;
  const char* end;
} scan_t;

static void skip_space(scan_t* scan) {
  while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t')) {
    ++scan->at;
  }
}

static bool take(scan_t* scan, const char* text) {
  skip_space(scan);
  const size_t length = strlen(text);
  if ((size_t)(scan->end - scan->at) < length || strncmp(scan->at, text, length) != 0) {
    return false;
  }
  scan->at += length;
  return true;
}

static bool take_string(scan_t* scan, char* out_text, size_t size) {
  skip_space(scan);
  if (scan->at >= scan->end || (*scan->at != '\'' && *scan->at != '"')) {
    return false;
  }
  const char quote = *scan->at++;
  const char* close = memchr(scan->at, quote, (size_t)(scan->end - scan->at));
  if (close == NULL || (size_t)(close - scan->at) >= size) {
    return false;
  }
  memcpy(out_text, scan->at, (size_t)(close - scan->at));
  out_text[close - scan->at] = '\0';
  scan->at = close + 1;
  return true;
}

static bool take_number(scan_t* scan, int64_t* out_number) {
  skip_space(scan);
  int64_t number = 0;
  const char* begin = scan->at;
  while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, *scan->at - '0', &number)) {
      return false;
    }
    ++scan->at;
  }
  (void)take(scan, "L"); /* Python 2's */
  *out_number = number;
  return scan->at != begin;
}

static bool take_shape(scan_t* scan, header_t* header) {
  if (!take(scan, "(")) {
    return false;
  }
  while (!take(scan, ")")) {
    if (header->rank == TENON_RANK_LIMIT || !take_number(scan, &header->dims[header->rank])) {
      return false;
    }
    ++header->rank;
    if (!take(scan, ",")) {
      return take(scan, ")");
    }
  }
  return true;
}

/* '<f4', or the fields of a record: [('a', '<f4'), ...]. What is no number and no text has the kind
 * 0. */
static bool take_type(scan_t* scan, header_t* header) {
  char* text = header->type;
  char* end = NULL;
  if (take(scan, "[")) {
    const char* close = memchr(scan->at, ']', (size_t)(scan->end - scan->at));
    scan->at = close != NULL ? close + 1 : scan->end;
    return close != NULL;
  }
  if (!take_string(scan, text, sizeof(header->type)) || text[0] == '\0') {
    return false;
  }
  const unsigned long bytes = text[1] == '\0' ? 0 : strtoul(text + 2, &end, 10);
  if (strchr("<>|=", text[0]) != NULL && end != NULL && end != text + 2 && *end == '\0' &&
      bytes < 1000000) {
    header->order = text[0];
    header->kind = text[1];
    header->bytes = (uint32_t)bytes;
  }
  return true;
}

static bool scan_header(const char* text, size_t size, header_t* out_header) {
  scan_t scan = {text, text + size};
  bool seen[3] = {false, false, false};
  *out_header = (header_t){0};
  if (!take(&scan, "{")) {
    return false;
  }
  while (!take(&scan, "}")) {
    char key[32];
    if (!take_string(&scan, key, sizeof(key)) || !take(&scan, ":")) {
      return false;
    }
    bool fine = false;
    if (strcmp(key, "descr") == 0 && !seen[0]) {
      fine = seen[0] = take_type(&scan, out_header);
    } else if (strcmp(key, "fortran_order") == 0 && !seen[1]) {
      out_header->fortran = take(&scan, "True");
      fine = seen[1] = out_header->fortran || take(&scan, "False");
    } else if (strcmp(key, "shape") == 0 && !seen[2]) {
      fine = seen[2] = take_shape(&scan, out_header);
    }
    if (!fine || (!take(&scan, ",") && scan.at < scan.end && *scan.at != '}' && *scan.at != ' ')) {
      return false;
    }
  }
  return seen[0] && seen[1] && seen[2];
}

/* ---- Elements ---- */

/* Element `index` in C order: its number in the file's order. */
static uint64_t file_index(const header_t* header, uint64_t index) {
  if (!header->fortran) {
    return index;
  }
  uint64_t result = 0;
  uint64_t strides[TENON_RANK_LIMIT];
  uint64_t stride = 1;
  for (uint32_t k = 0; k < header->rank; ++k) {
    strides[k] = stride;
    stride *= (uint64_t)header->dims[k];
  }
  for (uint32_t k = header->rank; k-- > 0;) {
    const uint64_t extent = (uint64_t)header->dims[k];
    result += index % extent * strides[k];
    index /= extent;
  }
  return result;
}

static void copy_element(uint8_t* target, const uint8_t* source, uint32_t bytes, uint32_t part) {
  /* Swapped in parts: complex numbers have two. */
  for (uint32_t i = 0; i < bytes; ++i) {
    target[i] = source[i - i % part + part - 1 - i % part];
  }
}

static void copy_numbers(const header_t* header, const uint8_t* source, tool_value_t* value) {
  const uint32_t bytes = header->bytes;
  const uint32_t part = header->kind == 'c' ? bytes / 2 : bytes;
  uint8_t* target = value->data;
  if (!header->fortran && header->order != '>') {
    if (value->size_bytes > 0) {
      memcpy(target, source, (size_t)value->size_bytes);
    }
    return;
  }
  for (uint64_t i = 0; i < value->count; ++i) {
    const uint8_t* from = source + file_index(header, i) * bytes;
    if (header->order == '>') {
      copy_element(target + i * bytes, from, bytes, part);
    } else {
      memcpy(target + i * bytes, from, bytes);
    }
  }
}

static size_t put_utf8(uint32_t code, char* out_text) {
  static const uint32_t limits[] = {0x80, 0x800, 0x10000, 0x110000};
  static const uint8_t leads[] = {0x00, 0xC0, 0xE0, 0xF0};
  if (code >= limits[3] || (code >= 0xD800 && code < 0xE000)) {
    code = 0xFFFD;
  }
  size_t extra = 0;
  while (code >= limits[extra]) {
    ++extra;
  }
  for (size_t i = extra; i > 0; --i) {
    out_text[i] = (char)(0x80 | (code & 0x3F));
    code >>= 6;
  }
  out_text[0] = (char)(leads[extra] | code);
  return extra + 1;
}

static size_t read_text(const header_t* header, const uint8_t* source, char* out_text) {
  size_t used = 0;
  if (header->kind == 'S') {
    size_t length = header->bytes;
    while (length > 0 && source[length - 1] == 0) {
      --length;
    }
    if (length > 0) {
      memcpy(out_text, source, length);
    }
    return length;
  }
  for (uint32_t i = 0; i < header->bytes / 4; ++i) {
    uint8_t bytes[4];
    uint32_t code = 0;
    copy_element(bytes, source + (size_t)i * 4, 4, header->order == '>' ? 4 : 1);
    memcpy(&code, bytes, 4);
    if (code != 0) {
      used += put_utf8(code, out_text + used);
    }
  }
  return used;
}

static void copy_strings(const header_t* header, const uint8_t* source, tool_value_t* value) {
  tenon_string_view_t* strings = value->data;
  value->text = tool_allocate((size_t)value->count * header->bytes + 1, 1);
  size_t used = 0;
  for (uint64_t i = 0; i < value->count; ++i) {
    const uint8_t* from = source + file_index(header, i) * header->bytes;
    const size_t length = read_text(header, from, value->text + used);
    strings[i] = (tenon_string_view_t){value->text + used, length};
    used += length;
  }
}

static tenon_status_t find_type(const char* name, const header_t* header,
                                tenon_dtype_t* out_dtype) {
  for (size_t i = 0; i < NUMPY_TYPE_COUNT; ++i) {
    if (numpy_types[i].kind == header->kind && numpy_types[i].bytes == header->bytes) {
      *out_dtype = numpy_types[i].dtype;
      return TENON_OK;
    }
  }
  if (header->kind == 'S' || header->kind == 'U') {
    *out_dtype = TENON_DTYPE_STRING;
    return TENON_OK;
  }
  if (header->kind == 'V' && (header->bytes == 2)) {
    *out_dtype = TENON_DTYPE_BFLOAT16; /* what ml_dtypes' bfloat16 becomes in a file */
    return TENON_OK;
  }
  return tool_fail(
      TENON_ERROR_UNSUPPORTED,
      "%s: has elements of NumPy type %s, which %s; save numbers or texts, for example "
      "array.astype('float32')",
      name, header->type[0] != '\0' ? header->type : "record",
      strchr(header->type, 'O') != NULL ? "are objects of Python" : "cannot be read");
}

/* Number of bytes of the elements in the file; false where it overflows or the extents are
 * impossible. */
static bool data_bytes(const header_t* header, uint64_t* out_bytes) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  const uint32_t size = header->kind == 'U' ? header->bytes * 4 : header->bytes;
  return tool_element_count(header->rank, header->dims, TENON_DTYPE_UINT8, &count, &bytes) &&
         !__builtin_mul_overflow(count, (uint64_t)size, out_bytes);
}

bool tool_npy_is_one(const uint8_t* data, size_t size) {
  return size >= MAGIC_SIZE && memcmp(data, magic, MAGIC_SIZE) == 0;
}

tenon_status_t tool_npy_parse(const char* name, const uint8_t* data, size_t size,
                              tool_value_t* out_value) {
  if (size < 10 || memcmp(data, magic, MAGIC_SIZE) != 0 || data[6] < 1 || data[6] > 3) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: not a .npy file of version 1 to 3", name);
  }
  const size_t begin = data[6] == 1 ? 10 : 12;
  size_t length = (size_t)data[8] | (size_t)data[9] << 8;
  if (begin == 12 && size >= 12) {
    length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  }
  header_t header;
  if (size < begin || length > size - begin || length > HEADER_LIMIT ||
      !scan_header((const char*)data + begin, length, &header)) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: damaged .npy header", name);
  }
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  tenon_status_t status = find_type(name, &header, &dtype);
  uint64_t bytes = 0;
  if (status == TENON_OK && (!data_bytes(&header, &bytes) || bytes > size - begin - length)) {
    char shape[512];
    tool_shape_print(header.rank, header.dims, shape, sizeof(shape));
    status = tool_fail(TENON_ERROR_INVALID_DATA, "%s: has %zu bytes of data, too few for %s of %s",
                       name, size - begin - length, shape, header.type);
  }
  /* Empty strings take no bytes in the file, but memory here. */
  if (status == TENON_OK && dtype == TENON_DTYPE_STRING && header.bytes == 0) {
    status = tool_fail(TENON_ERROR_UNSUPPORTED, "%s: strings of no length", name);
  }
  if (status == TENON_OK) {
    status = tool_value_make(name, dtype, header.rank, header.dims, out_value);
  }
  if (status != TENON_OK) {
    return status;
  }
  header.bytes = header.kind == 'U' ? header.bytes * 4 : header.bytes;
  if (dtype == TENON_DTYPE_STRING) {
    copy_strings(&header, data + begin + length, out_value);
  } else {
    copy_numbers(&header, data + begin + length, out_value);
  }
  return TENON_OK;
}

/* ---- Writing ---- */

static const char* numpy_type(tenon_dtype_t dtype, size_t text_length, char out_text[32]) {
  if (dtype == TENON_DTYPE_STRING) {
    (void)snprintf(out_text, 32, "<U%zu", text_length);
    return out_text;
  }
  for (size_t i = 0; i < NUMPY_TYPE_COUNT; ++i) {
    if (numpy_types[i].dtype == dtype) {
      (void)snprintf(out_text, 32, "%c%c%u", numpy_types[i].bytes == 1 ? '|' : '<',
                     numpy_types[i].kind, numpy_types[i].bytes);
      return out_text;
    }
  }
  return NULL;
}

/* Code points of valid UTF-8; other bytes count one each. */
static uint32_t next_code(const char** inout_text, const char* end) {
  const unsigned char* text = (const unsigned char*)*inout_text;
  const size_t left = (size_t)(end - *inout_text);
  const size_t extra = text[0] >= 0xF0 ? 3 : text[0] >= 0xE0 ? 2 : text[0] >= 0xC0 ? 1 : 0;
  if (extra == 0 || extra >= left) {
    *inout_text += 1;
    return text[0];
  }
  uint32_t code = text[0] & (0x3Fu >> extra);
  for (size_t i = 1; i <= extra; ++i) {
    code = code << 6 | (text[i] & 0x3Fu);
  }
  *inout_text += extra + 1;
  return code;
}

static uint8_t* text_elements(const tool_value_t* value, size_t longest, size_t* out_size) {
  const tenon_string_view_t* strings = value->data;
  uint32_t* codes = tool_allocate((size_t)value->count * longest, sizeof(uint32_t));
  for (uint64_t i = 0; i < value->count; ++i) {
    const char* at = strings[i].data;
    const char* end = at + strings[i].size;
    for (size_t k = 0; at < end; ++k) {
      codes[i * longest + k] = next_code(&at, end);
    }
  }
  *out_size = (size_t)value->count * longest * sizeof(uint32_t);
  return (uint8_t*)codes;
}

static tenon_status_t write_tensor(const char* path, const tool_value_t* value, const char* type,
                                   const void* elements, size_t size) {
  char shape[TENON_RANK_LIMIT * 21 + 4] = "";
  size_t used = 0;
  for (uint32_t k = 0; k < value->rank && k < TENON_RANK_LIMIT; ++k) {
    used +=
        (size_t)snprintf(shape + used, sizeof(shape) - used, "%lld, ", (long long)value->dims[k]);
  }
  char* header =
      tool_format("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
  const size_t length = (10 + strlen(header) + 1 + 63) / 64 * 64 - 10;
  uint8_t* file = tool_allocate(10 + length + size, 1);
  memcpy(file, magic, MAGIC_SIZE);
  file[6] = 1;
  file[8] = (uint8_t)(length & 0xFF);
  file[9] = (uint8_t)(length >> 8);
  memset(file + 10, ' ', length);
  for (size_t i = 0; header[i] != '\0'; ++i) {
    file[10 + i] = (uint8_t)header[i];
  }
  file[10 + length - 1] = '\n';
  if (size > 0) {
    memcpy(file + 10 + length, elements, size);
  }
  const tenon_status_t status = tool_file_write(path, file, 10 + length + size);
  tool_free(file);
  tool_free(header);
  return status;
}

static tenon_status_t write_strings(const char* path, const tool_value_t* value) {
  const tenon_string_view_t* strings = value->data;
  size_t longest = 1;
  for (uint64_t i = 0; i < value->count; ++i) {
    longest = strings[i].size > longest ? strings[i].size : longest;
  }
  char type[32];
  size_t size = 0;
  uint8_t* elements = text_elements(value, longest, &size);
  const tenon_status_t status =
      write_tensor(path, value, numpy_type(TENON_DTYPE_STRING, longest, type), elements, size);
  tool_free(elements);
  return status;
}

static tenon_status_t write_items(const char* path, const tool_value_t* value) {
  tenon_status_t status = TENON_OK;
  const int stem = (int)(strlen(path) - (tool_path_has_suffix(path, ".npy") ? 4 : 0));
  for (size_t i = 0; i < value->item_count && status == TENON_OK; ++i) {
    char* item = tool_format("%.*s_%zu.npy", stem, path, i);
    status = tool_npy_write(item, &value->items[i]);
    tool_free(item);
  }
  return status;
}

tenon_status_t tool_npy_write(const char* path, const tool_value_t* value) {
  char type[32];
  if (value->kind != TENON_ARGUMENT_TENSOR) {
    return write_items(path, value);
  }
  if (value->dtype == TENON_DTYPE_STRING) {
    return write_strings(path, value);
  }
  if (numpy_type(value->dtype, 0, type) != NULL) {
    return write_tensor(path, value, type, value->data, (size_t)value->size_bytes);
  }
  const char kind = tool_dtype_class(value->dtype);
  const tenon_dtype_t wider = kind == 'f'   ? TENON_DTYPE_FLOAT32
                              : kind == 'i' ? TENON_DTYPE_INT8
                                            : TENON_DTYPE_UINT8;
  tool_value_t converted;
  tool_loss_t loss;
  tenon_status_t status = tool_value_convert(path, value, wider, &converted, &loss);
  if (status == TENON_OK) {
    status = tool_npy_write(path, &converted);
    tool_value_free(&converted);
  }
  return status;
}
