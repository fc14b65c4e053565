/*
 * Every layer of the Caffe parser against OpenCV's dnn and NumPy: small networks with what goes in
 * and must come out, in expected.bin (make_expected.py says how). Each is parsed from a prototxt
 * and a caffemodel as files, and runs with all plugins and with the reference alone.
 *
 *   test_layers_caffe      with the environment variable CAFFE_CASE: the cases whose name
 *                                 begins with it
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "tenon/tenon.h"

enum { TENSOR_LIMIT = 8, RANK_LIMIT = 8, NAME_SIZE = 64, PATH_SIZE = 4096 };

/* ---- The file ---- */

typedef struct tensor_t {
  char name[NAME_SIZE];
  int64_t dims[RANK_LIMIT];
  uint32_t rank;
  int64_t count;
  const uint8_t* data; /* floats, perhaps not aligned */
} tensor_t;

typedef struct text_t {
  const uint8_t* data;
  uint32_t size;
} text_t;

typedef struct case_t {
  char name[NAME_SIZE];
  text_t source;
  text_t prototxt;
  text_t model;
  tensor_t inputs[TENSOR_LIMIT];
  tensor_t outputs[TENSOR_LIMIT];
  uint32_t input_count;
  uint32_t output_count;
} case_t;

typedef struct reader_t {
  const uint8_t* at;
  const uint8_t* end;
} reader_t;

static const uint8_t* take(reader_t* reader, size_t size) {
  const uint8_t* data = reader->at;
  if (size > (size_t)(reader->end - reader->at)) {
    (void)fprintf(stderr, "expected.bin is cut off\n");
    abort();
  }
  reader->at += size;
  return data;
}

static uint32_t take_count(reader_t* reader) {
  uint32_t value = 0;
  memcpy(&value, take(reader, sizeof(value)), sizeof(value));
  return value;
}

static text_t take_text(reader_t* reader) {
  const uint32_t size = take_count(reader);
  return (text_t){take(reader, size), size};
}

static void take_name(reader_t* reader, char* out_name) {
  const text_t text = take_text(reader);
  (void)snprintf(out_name, NAME_SIZE, "%.*s", (int)text.size, (const char*)text.data);
}

static uint32_t take_tensors(reader_t* reader, tensor_t* out_tensors) {
  const uint32_t count = take_count(reader);
  for (uint32_t i = 0; i < count && i < TENSOR_LIMIT; ++i) {
    tensor_t* tensor = &out_tensors[i];
    take_name(reader, tensor->name);
    tensor->rank = take_count(reader);
    tensor->count = 1;
    for (uint32_t axis = 0; axis < tensor->rank && axis < RANK_LIMIT; ++axis) {
      memcpy(&tensor->dims[axis], take(reader, sizeof(int64_t)), sizeof(int64_t));
      tensor->count *= tensor->dims[axis];
    }
    tensor->data = take(reader, (size_t)tensor->count * sizeof(float));
  }
  return count;
}

static bool take_case(reader_t* reader, case_t* out_case) {
  if (reader->at == reader->end) {
    return false;
  }
  take_name(reader, out_case->name);
  out_case->source = take_text(reader);
  out_case->prototxt = take_text(reader);
  out_case->model = take_text(reader);
  out_case->input_count = take_tensors(reader, out_case->inputs);
  out_case->output_count = take_tensors(reader, out_case->outputs);
  return true;
}

static void write_file(const char* path, text_t text) {
  FILE* file = fopen(path, "wb");
  REQUIRE(file != NULL);
  EXPECT_INT(fwrite(text.data, 1, text.size, file), text.size);
  EXPECT_INT(fclose(file), 0);
}

/* ---- One network ---- */

typedef struct session_t {
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  float* values[TENSOR_LIMIT]; /* of inputs: the context reads them when it runs */
} session_t;

static void close_session(session_t* session) {
  tenon_context_destroy(session->context);
  tenon_engine_release(session->engine);
  tenon_plan_destroy(session->plan);
  tenon_network_destroy(session->network);
  for (uint32_t i = 0; i < TENSOR_LIMIT; ++i) {
    free(session->values[i]);
    session->values[i] = NULL;
  }
  session->context = NULL;
  session->engine = NULL;
  session->plan = NULL;
  session->network = NULL;
}

static float* copy_floats(const tensor_t* tensor) {
  float* values = malloc(((size_t)tensor->count + 1) * sizeof(*values));
  if (values == NULL) {
    abort();
  }
  memcpy(values, tensor->data, (size_t)tensor->count * sizeof(*values));
  return values;
}

typedef tenon_status_t (*get_io_t)(const tenon_engine_t* engine, uint32_t index,
                                   tenon_io_info_t* out_info);

/* The input or output of that name; TENON_NONE when there is none. */
static uint32_t find_io(const tenon_engine_t* engine, uint32_t count, get_io_t get,
                        const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    tenon_io_info_t info;
    if (get(engine, i, &info) == TENON_OK && strcmp(info.name, name) == 0) {
      return i;
    }
  }
  return TENON_NONE;
}

/* An input that no layer reads is not there. */
static tenon_status_t set_input(session_t* session, uint32_t number, const tensor_t* tensor) {
  session->values[number] = copy_floats(tensor);
  const tenon_tensor_view_t view = {.data = session->values[number],
                                    .dims = tensor->dims,
                                    .rank = tensor->rank,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  const uint32_t index = find_io(session->engine, tenon_engine_input_count(session->engine),
                                 tenon_engine_get_input, tensor->name);
  return index == TENON_NONE ? TENON_OK : tenon_context_set_input(session->context, index, &view);
}

/* Relative to the larger of 1 and the expected value: sums of a few hundred single-precision
 * products, in another order. */
static void compare(const char* what, const tensor_t* expected, const tenon_tensor_view_t* actual) {
  static const double tolerance = 2e-5;
  bool same_shape = actual->rank == expected->rank;
  for (uint32_t i = 0; same_shape && i < expected->rank; ++i) {
    same_shape = actual->dims[i] == expected->dims[i];
  }
  if (!same_shape) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' has another shape", what, expected->name);
    return;
  }
  float* values = copy_floats(expected);
  for (int64_t i = 0; i < expected->count; ++i) {
    const double want = (double)values[i];
    const double got = (double)((const float*)actual->data)[i];
    if (!(fabs(want - got) <= tolerance * fmax(1, fabs(want)))) {
      tenon__test_fail(__FILE__, __LINE__, "%s: '%s' element %lld is %.9g, expected %.9g", what,
                       expected->name, (long long)i, got, want);
      break;
    }
  }
  free(values);
}

static tenon_status_t parse_and_build(session_t* session, const char* folder, bool is_reference) {
  char prototxt[PATH_SIZE + NAME_SIZE];
  char model[PATH_SIZE + NAME_SIZE];
  (void)snprintf(prototxt, sizeof(prototxt), "%s/case.prototxt", folder);
  (void)snprintf(model, sizeof(model), "%s/case.caffemodel", folder);
  const char* const parts[] = {model, NULL};
  tenon_parse_options_t parsing = TENON_OPTIONS(tenon_parse_options_t);
  tenon_build_options_t building = TENON_OPTIONS(tenon_build_options_t);
  parsing.parts = parts;
  building.reference_only = is_reference;
  tenon_status_t status = tenon_network_create(session->registry, &session->network);
  status =
      status != TENON_OK ? status : tenon_network_parse_file(session->network, prototxt, &parsing);
  status = status != TENON_OK ? status : tenon_build(session->network, &building, &session->plan);
  status = status != TENON_OK ? status
                              : tenon_engine_create_from_plan(session->registry, session->plan,
                                                              NULL, &session->engine);
  return status != TENON_OK ? status
                            : tenon_context_create(session->engine, NULL, &session->context);
}

static void run_case(session_t* session, const char* folder, const case_t* from,
                     bool is_reference) {
  tenon_status_t status = parse_and_build(session, folder, is_reference);
  for (uint32_t i = 0; status == TENON_OK && i < from->input_count; ++i) {
    status = set_input(session, i, &from->inputs[i]);
  }
  status = status != TENON_OK ? status : tenon_context_run(session->context);
  for (uint32_t i = 0; status == TENON_OK && i < from->output_count; ++i) {
    tenon_tensor_view_t view = {.data = NULL};
    const uint32_t index = find_io(session->engine, tenon_engine_output_count(session->engine),
                                   tenon_engine_get_output, from->outputs[i].name);
    status = index == TENON_NONE ? TENON_ERROR_NOT_FOUND
                                 : tenon_context_get_output(session->context, index, &view);
    if (status == TENON_OK) {
      compare(from->name, &from->outputs[i], &view);
    }
  }
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: status %d: %s", from->name, status,
                     session->messages.text);
  }
  if (session->engine != NULL) {
    EXPECT_INT(tenon_engine_output_count(session->engine), from->output_count);
  }
  close_session(session);
}

static bool is_wanted(const char* name) {
  const char* wanted = getenv("CAFFE_CASE");
  return wanted == NULL || strncmp(name, wanted, strlen(wanted)) == 0;
}

static void run_cases(reader_t* reader, const char* folder) {
  static session_t session;
  static case_t now;
  uint32_t counts[2] = {0, 0};
  char plugins[PATH_SIZE];
  (void)snprintf(plugins, sizeof(plugins), "%s/plugins", getenv("TENON_BUILD_DIR"));
  const char* const paths[] = {plugins, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = (tenon_sink_t){&session.messages, tenon__test_keep_message};
  REQUIRE(tenon_registry_create(&options, &session.registry) == TENON_OK);
  while (take_case(reader, &now)) {
    char path[PATH_SIZE + NAME_SIZE];
    if (!is_wanted(now.name)) {
      continue;
    }
    (void)snprintf(path, sizeof(path), "%s/case.prototxt", folder);
    write_file(path, now.prototxt);
    (void)snprintf(path, sizeof(path), "%s/case.caffemodel", folder);
    write_file(path, now.model);
    session.messages = (tenon__test_messages_t){0};
    run_case(&session, folder, &now, false);
    run_case(&session, folder, &now, true);
    ++counts[now.source.data[0] == 'o'];
  }
  (void)printf("%u networks by OpenCV, %u by NumPy\n", counts[1], counts[0]);
  EXPECT(counts[0] + counts[1] > 0);
  tenon_registry_release(session.registry);
}

TENON_TEST(layers_give_what_opencv_and_numpy_say) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  char folder[PATH_SIZE];
  FILE* file = fopen(EXPECTED_FILE, "rb");
  REQUIRE(file != NULL);
  REQUIRE(fseek(file, 0, SEEK_END) == 0);
  const long length = ftell(file);
  REQUIRE(length > 8 && fseek(file, 0, SEEK_SET) == 0);
  bytes = malloc((size_t)length);
  REQUIRE(bytes != NULL);
  size = fread(bytes, 1, (size_t)length, file);
  (void)fclose(file);
  REQUIRE(size == (size_t)length && memcmp(bytes, "TNCAFFE1", 8) == 0);
  (void)snprintf(folder, sizeof(folder), "%s/caffe_layers_XXXXXX", getenv("TENON_BUILD_DIR"));
  REQUIRE(mkdtemp(folder) != NULL);
  reader_t reader = {bytes + 8, bytes + size};
  run_cases(&reader, folder);
  char path[PATH_SIZE + NAME_SIZE];
  (void)snprintf(path, sizeof(path), "%s/case.prototxt", folder);
  (void)unlink(path);
  (void)snprintf(path, sizeof(path), "%s/case.caffemodel", folder);
  (void)unlink(path);
  (void)rmdir(folder);
  free(bytes);
}
