/*
 * Every operation of the UFF parser against TensorFlow: small frozen graphs and UFF files with what
 * goes in and must come out, in expected.bin (make_expected.py says how). Each runs with all
 * plugins and with the reference alone.
 *
 *   test_tensorflow_cases     with the environment variable TENSORFLOW_CASE: the cases whose name
 *                             begins with it
 */
#include <stdlib.h>

#include "core/base/test.h"
#include "tenon/tenon.h"

enum { TENSOR_LIMIT = 8, RANK_LIMIT = 8, NAME_SIZE = 64, PATH_SIZE = 4096 };

/* ---- The file ---- */

typedef struct tensor_t {
  char name[NAME_SIZE];
  tenon_dtype_t dtype;
  int64_t dims[RANK_LIMIT];
  uint32_t rank;
  size_t count;
  size_t width;
  const uint8_t* data; /* perhaps not aligned */
} tensor_t;

typedef struct case_t {
  char name[NAME_SIZE];
  const uint8_t* model;
  uint32_t model_size;
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

static void take_name(reader_t* reader, char* out_name) {
  const uint32_t size = take_count(reader);
  (void)snprintf(out_name, NAME_SIZE, "%.*s", (int)size, (const char*)take(reader, size));
}

static tenon_dtype_t dtype_of(const char* mnemonic, size_t* out_width) {
#define TYPE_ENTRY(name, text, bits, kind) {text, bits},
  static const struct {
    const char* mnemonic;
    uint32_t bits;
  } types[] = {TENON_DTYPES(TYPE_ENTRY)};
#undef TYPE_ENTRY
  for (tenon_dtype_t i = 1; i < TENON_DTYPE_COUNT; ++i) {
    if (strcmp(types[i].mnemonic, mnemonic) == 0) {
      *out_width = types[i].bits / 8;
      return i;
    }
  }
  (void)fprintf(stderr, "expected.bin has a type '%s'\n", mnemonic);
  abort();
}

static uint32_t take_tensors(reader_t* reader, tensor_t* out_tensors) {
  const uint32_t count = take_count(reader);
  for (uint32_t i = 0; i < count && i < TENSOR_LIMIT; ++i) {
    tensor_t* tensor = &out_tensors[i];
    char type[NAME_SIZE];
    take_name(reader, tensor->name);
    take_name(reader, type);
    tensor->dtype = dtype_of(type, &tensor->width);
    tensor->rank = take_count(reader);
    tensor->count = 1;
    for (uint32_t axis = 0; axis < tensor->rank && axis < RANK_LIMIT; ++axis) {
      memcpy(&tensor->dims[axis], take(reader, sizeof(int64_t)), sizeof(int64_t));
      tensor->count *= (size_t)tensor->dims[axis];
    }
    tensor->data = take(reader, tensor->count * tensor->width);
  }
  return count;
}

static bool take_case(reader_t* reader, case_t* out_case) {
  if (reader->at == reader->end) {
    return false;
  }
  take_name(reader, out_case->name);
  out_case->model_size = take_count(reader);
  out_case->model = take(reader, out_case->model_size);
  out_case->input_count = take_tensors(reader, out_case->inputs);
  out_case->output_count = take_tensors(reader, out_case->outputs);
  return true;
}

/* ---- One network ---- */

typedef struct session_t {
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  void* values[TENSOR_LIMIT]; /* of inputs: the context reads them when it runs */
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

/* An input that nothing depends on is not there. */
static tenon_status_t set_input(session_t* session, uint32_t number, const tensor_t* tensor) {
  session->values[number] = malloc(tensor->count * tensor->width + 1);
  if (session->values[number] == NULL) {
    abort();
  }
  memcpy(session->values[number], tensor->data, tensor->count * tensor->width);
  const tenon_tensor_view_t view = {.data = session->values[number],
                                    .dims = tensor->dims,
                                    .rank = tensor->rank,
                                    .dtype = tensor->dtype,
                                    .layout = TENON_NONE};
  const uint32_t index = find_io(session->engine, tenon_engine_input_count(session->engine),
                                 tenon_engine_get_input, tensor->name);
  return index == TENON_NONE ? TENON_OK : tenon_context_set_input(session->context, index, &view);
}

/* What is open in a file may be as large as what goes in. */
static tenon_status_t build(session_t* session, const case_t* from, bool is_reference) {
  tenon_profile_range_t ranges[TENSOR_LIMIT];
  tenon_profile_t profile = {ranges, 0};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.reference_only = is_reference;
  options.no_measuring = 1;
  options.profiles = &profile;
  options.profile_count = 1;
  for (uint32_t i = 0; i < tenon_network_input_count(session->network); ++i) {
    tenon_io_info_t info;
    if (tenon_network_get_input(session->network, i, &info) != TENON_OK) {
      continue;
    }
    for (uint32_t k = 0; k < from->input_count; ++k) {
      const tensor_t* input = &from->inputs[k];
      if (strcmp(input->name, info.name) == 0) {
        ranges[profile.range_count++] = (tenon_profile_range_t){
            input->name, input->rank, input->dims, input->dims, input->dims};
      }
    }
  }
  return tenon_build(session->network, &options, &session->plan);
}

static tenon_status_t begin(session_t* session, const case_t* from, bool is_reference) {
  tenon_status_t status = tenon_network_create(session->registry, &session->network);
  status = status != TENON_OK ? status
                              : tenon_network_parse_memory(session->network, from->model,
                                                           from->model_size, from->name, NULL);
  status = status != TENON_OK ? status : build(session, from, is_reference);
  status = status != TENON_OK ? status
                              : tenon_engine_create_from_plan(session->registry, session->plan,
                                                              NULL, &session->engine);
  return status != TENON_OK ? status
                            : tenon_context_create(session->engine, NULL, &session->context);
}

/* ---- Comparing ---- */

static double float_at(const tensor_t* tensor, const uint8_t* data, size_t index) {
  float narrow = 0;
  double wide = 0;
  if (tensor->dtype == TENON_DTYPE_FLOAT32) {
    memcpy(&narrow, data + 4 * index, 4);
    return (double)narrow;
  }
  memcpy(&wide, data + 8 * index, 8);
  return wide;
}

/* Of floats, relative to the larger of 1 and the expected value: sums of a few hundred products of
 * single precision in another order, and functions of another library. All else is equal. */
static bool is_near(const tensor_t* expected, const uint8_t* actual) {
  static const double tolerance = 2e-5;
  const bool is_float =
      expected->dtype == TENON_DTYPE_FLOAT32 || expected->dtype == TENON_DTYPE_FLOAT64;
  if (!is_float) {
    return memcmp(expected->data, actual, expected->count * expected->width) == 0;
  }
  for (size_t i = 0; i < expected->count; ++i) {
    const double want = float_at(expected, expected->data, i);
    const double got = float_at(expected, actual, i);
    const bool is_same = want == got || (isnan(want) && isnan(got));
    if (!is_same && !(fabs(want - got) <= tolerance * fmax(1, fabs(want)))) {
      (void)printf("element %zu is %.9g, expected %.9g\n", i, got, want);
      return false;
    }
  }
  return true;
}

static void compare(const char* what, const tensor_t* expected, const tenon_tensor_view_t* actual) {
  bool same_shape = actual->rank == expected->rank;
  for (uint32_t i = 0; same_shape && i < expected->rank; ++i) {
    same_shape = actual->dims[i] == expected->dims[i];
  }
  if (!same_shape || actual->dtype != expected->dtype) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' has rank %u and type %u, expected %u and %u",
                     what, expected->name, actual->rank, actual->dtype, expected->rank,
                     expected->dtype);
    for (uint32_t i = 0; i < actual->rank; ++i) {
      (void)printf("extent %u: %lld\n", i, (long long)actual->dims[i]);
    }
    return;
  }
  if (!is_near(expected, actual->data)) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' differs", what, expected->name);
  }
}

static void run_case(session_t* session, const case_t* from, bool is_reference) {
  tenon_status_t status = begin(session, from, is_reference);
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
  } else {
    EXPECT_INT(tenon_engine_output_count(session->engine), from->output_count);
    if (strstr(session->messages.text, "is not known") != NULL) { /* an attribute nobody read */
      tenon__test_fail(__FILE__, __LINE__, "%s: %s", from->name, session->messages.text);
    }
  }
  close_session(session);
}

static void run_cases(reader_t* reader) {
  static session_t session;
  static case_t now;
  uint32_t count = 0;
  const char* wanted = getenv("TENSORFLOW_CASE");
  char plugins[PATH_SIZE];
  (void)snprintf(plugins, sizeof(plugins), "%s/plugins", getenv("TENON_BUILD_DIR"));
  const char* const paths[] = {plugins, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = (tenon_sink_t){&session.messages, tenon__test_keep_message};
  REQUIRE(tenon_registry_create(&options, &session.registry) == TENON_OK);
  while (take_case(reader, &now)) {
    if (wanted != NULL && strncmp(now.name, wanted, strlen(wanted)) != 0) {
      continue;
    }
    session.messages = (tenon__test_messages_t){0};
    run_case(&session, &now, false);
    run_case(&session, &now, true);
    ++count;
  }
  (void)printf("%u networks\n", count);
  EXPECT(count > 0);
  tenon_registry_release(session.registry);
}

TENON_TEST(networks_give_what_tensorflow_says) {
  FILE* file = fopen(EXPECTED_FILE, "rb");
  REQUIRE(file != NULL);
  REQUIRE(fseek(file, 0, SEEK_END) == 0);
  const long length = ftell(file);
  REQUIRE(length > 8 && fseek(file, 0, SEEK_SET) == 0);
  uint8_t* bytes = malloc((size_t)length);
  REQUIRE(bytes != NULL);
  const size_t size = fread(bytes, 1, (size_t)length, file);
  (void)fclose(file);
  REQUIRE(size == (size_t)length && memcmp(bytes, "TNTF0001", 8) == 0);
  reader_t reader = {bytes + 8, bytes + size};
  run_cases(&reader);
  free(bytes);
}
