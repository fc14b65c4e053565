/* How many of the cases in tests/tensorflow/expected.bin have a node of each type. Standard input:
 * lines of a domain (empty: UFF's own operations) and a type, with a tab between; each comes out
 * with the number behind it, and in the end "- -" and "- tensorflow" with the numbers of UFF files
 * and of graphs.
 *
 *   case_count EXPECTED_FILE < TYPES */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_LIMIT = 4096, NAME_SIZE = 256 };

typedef struct case_t {
  const uint8_t* model;
  uint32_t size;
  bool is_uff;
} case_t;

typedef struct reader_t {
  const uint8_t* at;
  const uint8_t* end;
} reader_t;

static const uint8_t* take(reader_t* reader, size_t size) {
  const uint8_t* data = reader->at;
  if (size > (size_t)(reader->end - reader->at)) {
    (void)fprintf(stderr, "case_count: the file is cut off\n");
    exit(1);
  }
  reader->at += size;
  return data;
}

static const uint8_t* take_text(reader_t* reader, uint32_t* out_size) {
  memcpy(out_size, take(reader, sizeof(*out_size)), sizeof(*out_size));
  return take(reader, *out_size);
}

static size_t width_of(const uint8_t* mnemonic, uint32_t size) {
  const uint8_t last = size == 0 ? 0 : mnemonic[size - 1];
  return last == '4' ? 8 : last == '2' ? 4 : last == '6' ? 2 : 1; /* i64, f32, u16; i8, bool */
}

static void skip_tensors(reader_t* reader) {
  uint32_t count = 0;
  memcpy(&count, take(reader, sizeof(count)), sizeof(count));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    uint32_t rank = 0;
    (void)take_text(reader, &size);
    const uint8_t* mnemonic = take_text(reader, &size);
    size_t bytes = width_of(mnemonic, size);
    memcpy(&rank, take(reader, sizeof(rank)), sizeof(rank));
    for (uint32_t axis = 0; axis < rank; ++axis) {
      int64_t dim = 0;
      memcpy(&dim, take(reader, sizeof(dim)), sizeof(dim));
      bytes *= (size_t)dim;
    }
    (void)take(reader, bytes);
  }
}

static size_t read_cases(reader_t* reader, case_t* out_cases) {
  size_t count = 0;
  (void)take(reader, strlen("TNTF0001"));
  for (; reader->at != reader->end && count < CASE_LIMIT; ++count) {
    uint32_t size = 0;
    const uint8_t* name = take_text(reader, &size);
    out_cases[count].is_uff = size > 4 && memcmp(name, "uff.", 4) == 0;
    out_cases[count].model = take_text(reader, &out_cases[count].size);
    skip_tensors(reader);
    skip_tensors(reader);
  }
  return count;
}

static bool has(const case_t* one, const char* text, size_t size) {
  for (const uint8_t* at = one->model; (size_t)(one->model + one->size - at) >= size; ++at) {
    if (memcmp(at, text, size) == 0) {
      return true;
    }
  }
  return false;
}

/* Binary: the field's tag (3 of a UFF node, 2 of a NodeDef) and the length before the name. */
static bool has_type(const case_t* one, const char* type) {
  char binary[NAME_SIZE + 2];
  char text[NAME_SIZE + 32];
  const int size = snprintf(binary, sizeof(binary), "%c%c%s", one->is_uff ? 0x1A : 0x12,
                            (int)strlen(type), type);
  const int length =
      snprintf(text, sizeof(text), "%s: \"%s\"", one->is_uff ? "operation" : "op", type);
  return has(one, binary, (size_t)size) || has(one, text, (size_t)length);
}

static uint8_t* read_file(const char* path, size_t* out_size) {
  enum { LIMIT = 64 << 20 };
  FILE* file = fopen(path, "rb");
  uint8_t* data = malloc(LIMIT);
  if (file == NULL || data == NULL) {
    (void)fprintf(stderr, "case_count: cannot read '%s'\n", path);
    exit(1);
  }
  *out_size = fread(data, 1, LIMIT, file);
  (void)fclose(file);
  return data;
}

int main(int argc, char** argv) {
  static case_t cases[CASE_LIMIT];
  char line[NAME_SIZE];
  size_t size = 0;
  if (argc != 2) {
    return 2;
  }
  uint8_t* data = read_file(argv[1], &size);
  reader_t reader = {data, data + size};
  const size_t count = read_cases(&reader, cases);
  size_t uff_files = 0;
  for (size_t i = 0; i < count; ++i) {
    uff_files += cases[i].is_uff ? 1 : 0;
  }
  while (fgets(line, sizeof(line), stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    const char* type = strchr(line, '\t');
    size_t found = 0;
    for (size_t i = 0; type != NULL && i < count; ++i) {
      const bool is_domain = cases[i].is_uff == (line[0] == '\t');
      found += is_domain && has_type(&cases[i], type + 1) ? 1 : 0;
    }
    (void)printf("%s\t%zu\n", line, found);
  }
  (void)printf("-\t-\t%zu\n-\ttensorflow\t%zu\n", uff_files, count - uff_files);
  free(data);
  return 0;
}
