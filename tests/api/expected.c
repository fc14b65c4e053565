/* Reads expected.txt: a tensor a line, "NAME DTYPE [DIMS] NUMBERS", written by make_expected.py. */
#include "tests/api/expected.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_SAMPLES = 512,
  LINE_SIZE = 1 << 16,
  MOST_DIMS = sizeof((sample_t){0}.dims) / sizeof(int64_t)
};

static struct {
  sample_t items[MOST_SAMPLES];
  uint32_t count;
} samples; /* as long as the program: cases borrow them */

static tenon_dtype_t dtype_of(const char* name) {
  static const struct {
    const char* name;
    tenon_dtype_t dtype;
  } dtypes[] = {{"f32", TENON_DTYPE_FLOAT32},
                {"i32", TENON_DTYPE_INT32},
                {"i64", TENON_DTYPE_INT64},
                {"bool", TENON_DTYPE_BOOL},
                {"u8", TENON_DTYPE_UINT8}};
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); ++i) {
    if (strcmp(dtypes[i].name, name) == 0) {
      return dtypes[i].dtype;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

/* The number at `text` as element `index`; returns what follows it. */
static char* take_number(char* text, const sample_t* sample, void* data, size_t index) {
  char* end = text;
  if (sample->dtype == TENON_DTYPE_FLOAT32) {
    ((float*)data)[index] = strtof(text, &end);
    return end;
  }
  const long long number = strtoll(text, &end, 10);
  switch (sample->dtype) {
    case TENON_DTYPE_INT64:
      ((int64_t*)data)[index] = number;
      return end;
    case TENON_DTYPE_INT32:
      ((int32_t*)data)[index] = (int32_t)number;
      return end;
    default:
      ((uint8_t*)data)[index] = (uint8_t)number;
      return end;
  }
}

/* "[2,3]", and the number of elements; NULL where it is none. */
static char* take_dims(char* text, sample_t* sample, size_t* out_count) {
  *out_count = 1;
  if (*text++ != '[') {
    return NULL;
  }
  while (*text != ']') {
    char* end = text;
    const long long dim = strtoll(text, &end, 10);
    if (end == text || sample->rank == MOST_DIMS) {
      return NULL;
    }
    sample->dims[sample->rank++] = dim;
    *out_count *= (size_t)dim;
    text = *end == ',' ? end + 1 : end;
  }
  return text + 1;
}

static bool take_line(char* line) {
  sample_t sample = {0};
  size_t count = 0;
  char* dtype = strchr(line, ' ');
  char* dims = dtype == NULL ? NULL : strchr(dtype + 1, ' ');
  if (dims == NULL || samples.count == MOST_SAMPLES) {
    return false;
  }
  *dtype++ = '\0';
  *dims++ = '\0';
  sample.dtype = dtype_of(dtype);
  char* at = take_dims(dims, &sample, &count);
  char* name = strdup(line);
  void* data = calloc(count + 1, sizeof(int64_t));
  bool good = at != NULL && sample.dtype != TENON_DTYPE_UNDEFINED && name != NULL && data != NULL;
  for (size_t i = 0; i < count && good; ++i) {
    char* end = take_number(at, &sample, data, i);
    good = end != at;
    at = end;
  }
  sample.name = name;
  sample.data = data;
  samples.items[samples.count++] = sample;
  return good && *at == '\n';
}

/* Its faults end the program: no test could say anything true. */
static void read_all(void) {
  static char line[LINE_SIZE];
  FILE* file = fopen(EXPECTED_FILE, "r");
  bool good = file != NULL;
  while (good && fgets(line, sizeof(line), file) != NULL) {
    good = take_line(line);
  }
  if (!good) {
    (void)fprintf(stderr, "%s: cannot be read at tensor %u\n", EXPECTED_FILE, samples.count);
    exit(1);
  }
  (void)fclose(file);
}

const sample_t* expected_get(const char* name) {
  if (samples.count == 0) {
    read_all();
  }
  for (uint32_t i = 0; i < samples.count; ++i) {
    if (strcmp(samples.items[i].name, name) == 0) {
      return &samples.items[i];
    }
  }
  return NULL;
}
