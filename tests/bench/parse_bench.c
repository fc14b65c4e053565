/*
 * What large model files cost to parse. Makes a chain of fully connected layers as a caffemodel
 * with its prototxt and as an ONNX file, and prints for each, as one JSON object: seconds for
 * reading the file, for parsing it (both from the page cache, the fastest of all repetitions), and
 * the peak memory of a process that parses it, less that of one that parses a small file, as a part
 * of the file's size: all resident memory, mapped files included, and what the process has of its
 * own.
 *
 *   parse_bench [megabytes [repetitions]]        default: 500 3
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "tenon/tenon.h"

enum { UNITS = 1024, PATH_SIZE = 4096, NAME_SIZE = 32, LENGTH = 2 };

/* ---- Files ---- */

static void put_varint(FILE* file, uint64_t value) {
  for (; value > 127; value >>= 7) {
    (void)fputc((int)(value & 127) | 128, file);
  }
  (void)fputc((int)value, file);
}

static size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value > 127; value >>= 7) {
    ++size;
  }
  return size;
}

static void put_tag(FILE* file, uint32_t field, uint64_t length) {
  put_varint(file, (uint64_t)field << 3 | LENGTH);
  put_varint(file, length);
}

static size_t field_size(uint32_t field, size_t length) {
  return varint_size((uint64_t)field << 3) + varint_size(length) + length;
}

static void put_text(FILE* file, uint32_t field, const char* text) {
  put_tag(file, field, strlen(text));
  (void)fputs(text, file);
}

static void put_number(FILE* file, uint32_t field, uint64_t value) {
  put_varint(file, (uint64_t)field << 3);
  put_varint(file, value);
}

static void put_floats(FILE* file, uint32_t field, size_t count) {
  static float values[UNITS];
  put_tag(file, field, count * sizeof(float));
  for (size_t i = 0; i < UNITS; ++i) {
    values[i] = (float)i / UNITS - 0.5F;
  }
  for (size_t i = 0; i < count; i += UNITS) {
    (void)fwrite(values, sizeof(float), UNITS, file);
  }
}

static const size_t weights = (size_t)UNITS * UNITS;

/* LayerParameter {name 1, blobs 7 {data 5, shape 7 {dim 1}}}. Names of different lengths, so that
 * elements lie anywhere. */
static void put_caffe_layer(FILE* file, FILE* text, uint32_t number) {
  static const uint8_t shape[] = {0x0A, 4, 0x80, 0x08, 0x80, 0x08}; /* 1024 x 1024 */
  char name[NAME_SIZE];
  (void)snprintf(name, sizeof(name), "fc%u", number * 7);
  const size_t blob = field_size(5, weights * sizeof(float)) + field_size(7, sizeof(shape));
  put_tag(file, 100, field_size(1, strlen(name)) + field_size(7, blob));
  put_text(file, 1, name);
  put_tag(file, 7, blob);
  put_floats(file, 5, weights);
  put_tag(file, 7, sizeof(shape));
  (void)fwrite(shape, 1, sizeof(shape), file);
  (void)fprintf(text,
                "layer { name: '%s' type: 'InnerProduct' bottom: 'x' top: 'x'"
                " inner_product_param { num_output: %d bias_term: false } }\n",
                name, UNITS);
}

/* TensorProto {dims 1, data_type 2, name 8, raw_data 9} and NodeProto {input 1, output 2, op_type
 * 4} of the graph. */
static void put_onnx_layer(FILE* file, uint32_t number) {
  char name[NAME_SIZE];
  char x[NAME_SIZE];
  char y[NAME_SIZE];
  (void)snprintf(name, sizeof(name), "w%u", number * 7);
  (void)snprintf(x, sizeof(x), "x%u", number);
  (void)snprintf(y, sizeof(y), "x%u", number + 1);
  put_tag(file, 1,
          field_size(1, strlen(x)) + field_size(1, strlen(name)) + field_size(2, strlen(y)) +
              field_size(4, 6));
  put_text(file, 1, x);
  put_text(file, 1, name);
  put_text(file, 2, y);
  put_text(file, 4, "MatMul");
  put_tag(file, 5, 8 + field_size(8, strlen(name)) + field_size(9, weights * sizeof(float)));
  put_number(file, 1, UNITS);
  put_number(file, 1, UNITS);
  put_number(file, 2, 1);
  put_text(file, 8, name);
  put_floats(file, 9, weights);
}

static void put_value_info(FILE* file, uint32_t field, const char* name) {
  static const uint8_t type[] = {0x12, 0x0F, 0x0A, 0x0D, 0x08, 1,    0x12, 0x09, 0x0A,
                                 2,    0x08, 1,    0x0A, 3,    0x08, 0x80, 0x08};
  put_tag(file, field, field_size(1, strlen(name)) + sizeof(type));
  put_text(file, 1, name);
  (void)fwrite(type, 1, sizeof(type), file);
}

static void put_onnx_graph(FILE* file, uint32_t layers) {
  char last[NAME_SIZE];
  (void)snprintf(last, sizeof(last), "x%u", layers);
  for (uint32_t i = 0; i < layers; ++i) {
    put_onnx_layer(file, i);
  }
  put_value_info(file, 11, "x0");
  put_value_info(file, 12, last);
}

typedef struct paths_t {
  char prototxt[PATH_SIZE];
  char caffemodel[PATH_SIZE];
  char onnx[PATH_SIZE];
} paths_t;

static bool close_all(FILE* a, FILE* b) {
  bool good = true;
  if (a != NULL) {
    good = fclose(a) == 0;
  }
  if (b != NULL) {
    good = fclose(b) == 0 && good;
  }
  return good && a != NULL && b != NULL;
}

static bool write_caffe(const paths_t* paths, uint32_t layers) {
  FILE* model = fopen(paths->caffemodel, "wb");
  FILE* text = fopen(paths->prototxt, "w");
  if (model != NULL && text != NULL) {
    (void)fprintf(text, "input: 'x' input_shape { dim: 1 dim: %d }\n", UNITS);
    for (uint32_t i = 0; i < layers; ++i) {
      put_caffe_layer(model, text, i);
    }
  }
  return close_all(model, text);
}

/* ModelProto {ir_version 1, graph 7, opset_import 8 {version 2}}; the graph's length is known when
 * it is written. */
static bool write_onnx(const paths_t* paths, uint32_t layers) {
  static const uint8_t opset[] = {0x42, 2, 0x10, 13};
  FILE* model = fopen(paths->onnx, "wb");
  FILE* graph = tmpfile();
  if (model != NULL && graph != NULL) {
    static uint8_t buffer[1 << 16];
    put_onnx_graph(graph, layers);
    const long size = ftell(graph);
    put_number(model, 1, 8);
    put_tag(model, 7, (uint64_t)size);
    rewind(graph);
    for (size_t got = fread(buffer, 1, sizeof(buffer), graph); got > 0;
         got = fread(buffer, 1, sizeof(buffer), graph)) {
      (void)fwrite(buffer, 1, got, model);
    }
    (void)fwrite(opset, 1, sizeof(opset), model);
  }
  return close_all(model, graph);
}

/* ---- Measuring ---- */

static double read_seconds(const char* path, double* out_size) {
  static uint8_t buffer[1 << 20];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const double begin = tenon__seconds();
  *out_size = 0;
  for (ssize_t got = 1; file >= 0 && got > 0;) {
    got = read(file, buffer, sizeof(buffer));
    *out_size += got > 0 ? (double)got : 0;
  }
  const double seconds = tenon__seconds() - begin;
  if (file >= 0) {
    (void)close(file);
  }
  return seconds;
}

/* A line of /proc/self/status, in bytes. */
static double status_bytes(const char* name) {
  char line[256];
  double found = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) {
      found = strtod(line + strlen(name), NULL) * 1024;
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return found;
}

typedef struct result_t {
  double seconds;
  double peak;
  double own; /* anonymous, at the end: nothing is given back on the way */
} result_t;

static bool parse(const char* model, const char* part, result_t* out_result) {
  char folder[PATH_SIZE];
  const char* build = getenv("TENON_BUILD_DIR");
  (void)snprintf(folder, sizeof(folder), "%s/plugins", build == NULL ? "." : build);
  const char* const folders[] = {folder, NULL};
  const char* const parts[] = {part, NULL};
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  tenon_parse_options_t parsing = TENON_OPTIONS(tenon_parse_options_t);
  options.paths = folders;
  options.only_paths = 1;
  parsing.parts = part == NULL ? NULL : parts;
  bool good = tenon_registry_create(&options, &registry) == TENON_OK &&
              tenon_network_create(registry, &network) == TENON_OK;
  const double begin = tenon__seconds();
  good = good && tenon_network_parse_file(network, model, &parsing) == TENON_OK;
  out_result->seconds = tenon__seconds() - begin;
  out_result->peak = status_bytes("VmHWM:");
  out_result->own = status_bytes("RssAnon:");
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return good;
}

/* In a process of its own, so that its memory is that of one parse. */
static bool parse_apart(const char* model, const char* part, result_t* out_result) {
  int ends[2];
  int status = 1;
  if (pipe(ends) != 0) {
    return false;
  }
  (void)fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    result_t result = {0};
    const bool good = parse(model, part, &result) &&
                      write(ends[1], &result, sizeof(result)) == (ssize_t)sizeof(result);
    _exit(good ? 0 : 1);
  }
  (void)close(ends[1]);
  const bool got = read(ends[0], out_result, sizeof(*out_result)) == (ssize_t)sizeof(*out_result);
  (void)close(ends[0]);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && got;
}

static bool measure(const char* name, const char* model, const char* part, const char* large,
                    int repetitions, const result_t* small) {
  double read_best = 1e30;
  double size = 0;
  result_t best = {.seconds = 1e30};
  for (int i = 0; i < repetitions; ++i) {
    result_t result;
    const double seconds = read_seconds(large, &size);
    read_best = seconds < read_best ? seconds : read_best;
    if (!parse_apart(model, part, &result)) {
      (void)fprintf(stderr, "%s: cannot be parsed\n", model);
      return false;
    }
    best = result.seconds < best.seconds ? result : best;
  }
  (void)printf(
      "  \"%s\": {\"megabytes\": %.0f, \"read_seconds\": %.3f, \"parse_seconds\": %.3f, "
      "\"peak\": %.3f, \"own\": %.3f}",
      name, size / 1e6, read_best, best.seconds, (best.peak - small->peak) / size,
      (best.own - small->own) / size);
  return true;
}

static bool write_both(const paths_t* paths, uint32_t layers) {
  return write_caffe(paths, layers) && write_onnx(paths, layers);
}

int main(int argc, char** argv) {
  const long megabytes = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
  const int repetitions = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
  const char* temporary = getenv("TMPDIR");
  char folder[PATH_SIZE / 2];
  paths_t paths;
  result_t small[2];
  (void)snprintf(folder, sizeof(folder), "%s/parse_bench_XXXXXX",
                 temporary == NULL ? "/tmp" : temporary);
  if (mkdtemp(folder) == NULL) {
    return 1;
  }
  (void)snprintf(paths.prototxt, sizeof(paths.prototxt), "%s/m.prototxt", folder);
  (void)snprintf(paths.caffemodel, sizeof(paths.caffemodel), "%s/m.caffemodel", folder);
  (void)snprintf(paths.onnx, sizeof(paths.onnx), "%s/m.onnx", folder);
  const uint32_t layers = (uint32_t)((double)megabytes * 1e6 / (double)(weights * sizeof(float)));
  bool good = write_both(&paths, 1) && parse_apart(paths.prototxt, paths.caffemodel, &small[0]) &&
              parse_apart(paths.onnx, NULL, &small[1]) &&
              write_both(&paths, layers > 1 ? layers : 2);
  (void)printf("{\n");
  good = good && measure("caffemodel", paths.prototxt, paths.caffemodel, paths.caffemodel,
                         repetitions, &small[0]);
  (void)printf(",\n");
  good = good && measure("onnx", paths.onnx, NULL, paths.onnx, repetitions, &small[1]);
  (void)printf("\n}\n");
  (void)unlink(paths.prototxt);
  (void)unlink(paths.caffemodel);
  (void)unlink(paths.onnx);
  (void)rmdir(folder);
  return good ? 0 : 1;
}
