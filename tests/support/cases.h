/* Small networks with what goes in and must come out, as somebody else computed it, in one file
 * that a script writes. Each is parsed, and runs with all plugins and with the reference alone.
 *
 *   file = 8 letters { case }
 *   case = name, kind.text_count texts, tensors that go in, tensors that come out
 *   tensors = count { name, type (where kind.has_types; else f32), rank, extents, elements }
 *
 * Names, types and texts have their size before them; sizes, counts and ranks are uint32, extents
 * int64. */
#ifndef TENON_TESTS_SUPPORT_CASES_H_
#define TENON_TESTS_SUPPORT_CASES_H_

#include <stdlib.h>

#include "core/base/test.h"
#include "tenon/tenon.h"
#include "tests/support/plugin_folder.h"

enum { CASE_TENSOR_LIMIT = 8, CASE_TEXT_LIMIT = 3, CASE_RANK_LIMIT = 8, CASE_NAME_SIZE = 64 };

typedef struct case_tensor_t {
  char name[CASE_NAME_SIZE];
  tenon_dtype_t dtype;
  int64_t dims[CASE_RANK_LIMIT];
  uint32_t rank;
  size_t count;
  size_t width;
  const uint8_t* data; /* perhaps not aligned */
} case_tensor_t;

typedef struct case_text_t {
  const uint8_t* data;
  uint32_t size;
} case_text_t;

typedef struct case_t {
  char name[CASE_NAME_SIZE];
  case_text_t texts[CASE_TEXT_LIMIT];
  case_tensor_t inputs[CASE_TENSOR_LIMIT];
  case_tensor_t outputs[CASE_TENSOR_LIMIT];
  uint32_t input_count;
  uint32_t output_count;
} case_t;

typedef struct case_session_t {
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  void* values[CASE_TENSOR_LIMIT]; /* of inputs: the context reads them when it runs */
} case_session_t;

typedef struct case_kind_t {
  const char* file;
  const char* letters;
  const char* variable; /* of the environment: the beginning of the names that are wanted */
  uint32_t text_count;
  bool has_types;
  bool no_measuring;
  /* Into session->network. */
  tenon_status_t (*parse)(case_session_t* session, const case_t* from);
  /* Of a case that has run. */
  void (*check)(const case_session_t* session, const case_t* from, bool is_reference);
} case_kind_t;

/* ---- The file ---- */

typedef struct case_reader_t {
  const uint8_t* at;
  const uint8_t* end;
} case_reader_t;

static inline const uint8_t* case_take(case_reader_t* reader, size_t size) {
  const uint8_t* data = reader->at;
  if (size > (size_t)(reader->end - reader->at)) {
    (void)fprintf(stderr, "the file of cases is cut off\n");
    abort();
  }
  reader->at += size;
  return data;
}

static inline uint32_t case_take_count(case_reader_t* reader, uint32_t limit) {
  uint32_t value = 0;
  memcpy(&value, case_take(reader, sizeof(value)), sizeof(value));
  if (value > limit) {
    (void)fprintf(stderr, "the file of cases has %u where at most %u fit\n", value, limit);
    abort();
  }
  return value;
}

static inline case_text_t case_take_text(case_reader_t* reader) {
  const uint32_t size = case_take_count(reader, UINT32_MAX);
  return (case_text_t){case_take(reader, size), size};
}

static inline void case_take_name(case_reader_t* reader, char* out_name) {
  const case_text_t text = case_take_text(reader);
  (void)snprintf(out_name, CASE_NAME_SIZE, "%.*s", (int)text.size, (const char*)text.data);
}

static inline tenon_dtype_t case_dtype_of(const char* mnemonic, size_t* out_width) {
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
  (void)fprintf(stderr, "the file of cases has a type '%s'\n", mnemonic);
  abort();
}

static inline uint32_t case_take_tensors(case_reader_t* reader, bool has_types,
                                         case_tensor_t* out_tensors) {
  const uint32_t count = case_take_count(reader, CASE_TENSOR_LIMIT);
  for (uint32_t i = 0; i < count; ++i) {
    case_tensor_t* tensor = &out_tensors[i];
    char type[CASE_NAME_SIZE] = "f32";
    case_take_name(reader, tensor->name);
    if (has_types) {
      case_take_name(reader, type);
    }
    tensor->dtype = case_dtype_of(type, &tensor->width);
    tensor->rank = case_take_count(reader, CASE_RANK_LIMIT);
    tensor->count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
      memcpy(&tensor->dims[axis], case_take(reader, sizeof(int64_t)), sizeof(int64_t));
      tensor->count *= (size_t)tensor->dims[axis];
    }
    tensor->data = case_take(reader, tensor->count * tensor->width);
  }
  return count;
}

static inline bool case_take_next(case_reader_t* reader, const case_kind_t* kind,
                                  case_t* out_case) {
  if (reader->at == reader->end) {
    return false;
  }
  case_take_name(reader, out_case->name);
  for (uint32_t i = 0; i < kind->text_count; ++i) {
    out_case->texts[i] = case_take_text(reader);
  }
  out_case->input_count = case_take_tensors(reader, kind->has_types, out_case->inputs);
  out_case->output_count = case_take_tensors(reader, kind->has_types, out_case->outputs);
  return true;
}

/* ---- One network ---- */

static inline void case_close(case_session_t* session) {
  tenon_context_destroy(session->context);
  tenon_engine_release(session->engine);
  tenon_plan_destroy(session->plan);
  tenon_network_destroy(session->network);
  for (uint32_t i = 0; i < CASE_TENSOR_LIMIT; ++i) {
    free(session->values[i]);
    session->values[i] = NULL;
  }
  session->context = NULL;
  session->engine = NULL;
  session->plan = NULL;
  session->network = NULL;
}

typedef tenon_status_t (*case_get_io_t)(const tenon_engine_t* engine, uint32_t index,
                                        tenon_io_info_t* out_info);

/* The input or output of that name; TENON_NONE when there is none. */
static inline uint32_t case_find_io(const tenon_engine_t* engine, uint32_t count, case_get_io_t get,
                                    const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    if (get(engine, i, &info) == TENON_OK && strcmp(info.name, name) == 0) {
      return i;
    }
  }
  return TENON_NONE;
}

/* An input that nothing depends on is not there. */
static inline tenon_status_t case_set_input(case_session_t* session, uint32_t number,
                                            const case_tensor_t* tensor) {
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
  const uint32_t index = case_find_io(session->engine, tenon_engine_input_count(session->engine),
                                      tenon_engine_get_input, tensor->name);
  return index == TENON_NONE ? TENON_OK : tenon_context_set_input(session->context, index, &view);
}

/* What is open in a file may be as large as what goes in. */
static inline tenon_status_t case_build(case_session_t* session, const case_kind_t* kind,
                                        const case_t* from, bool is_reference) {
  tenon_profile_range_t ranges[CASE_TENSOR_LIMIT];
  tenon_profile_t profile = {{ranges, 0, sizeof(*ranges)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.reference_only = is_reference;
  options.no_measuring = kind->no_measuring;
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  for (uint32_t i = 0; i < tenon_network_input_count(session->network); ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    if (tenon_network_get_input(session->network, i, &info) != TENON_OK) {
      continue;
    }
    for (uint32_t k = 0; k < from->input_count; ++k) {
      const case_tensor_t* input = &from->inputs[k];
      if (strcmp(input->name, info.name) == 0) {
        ranges[profile.ranges.count++] = (tenon_profile_range_t){
            input->name, input->rank, input->dims, input->dims, input->dims};
      }
    }
  }
  return tenon_build(session->network, &options, &session->plan);
}

static inline tenon_status_t case_open(case_session_t* session, const case_kind_t* kind,
                                       const case_t* from, bool is_reference) {
  tenon_status_t status = tenon_network_create(session->registry, &session->network);
  status = status != TENON_OK ? status : kind->parse(session, from);
  status = status != TENON_OK ? status : case_build(session, kind, from, is_reference);
  status = status != TENON_OK ? status
                              : tenon_engine_create_from_plan(session->registry, session->plan,
                                                              NULL, &session->engine);
  return status != TENON_OK ? status
                            : tenon_context_create(session->engine, NULL, &session->context);
}

/* ---- Comparing ---- */

static inline double case_float_at(const case_tensor_t* tensor, const uint8_t* data, size_t index) {
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
static inline bool case_is_near(const case_tensor_t* expected, const uint8_t* actual) {
  static const double tolerance = 2e-5;
  const bool is_float =
      expected->dtype == TENON_DTYPE_FLOAT32 || expected->dtype == TENON_DTYPE_FLOAT64;
  if (!is_float) {
    return memcmp(expected->data, actual, expected->count * expected->width) == 0;
  }
  for (size_t i = 0; i < expected->count; ++i) {
    const double want = case_float_at(expected, expected->data, i);
    const double got = case_float_at(expected, actual, i);
    const bool is_same = want == got || (isnan(want) && isnan(got));
    if (!is_same && !(fabs(want - got) <= tolerance * fmax(1, fabs(want)))) {
      (void)fprintf(stderr, "element %zu is %.9g, expected %.9g\n", i, got, want);
      return false;
    }
  }
  return true;
}

static inline void case_compare(const char* what, const case_tensor_t* expected,
                                const tenon_tensor_view_t* actual) {
  bool same_shape = actual->rank == expected->rank;
  for (uint32_t i = 0; same_shape && i < expected->rank; ++i) {
    same_shape = actual->dims[i] == expected->dims[i];
  }
  if (!same_shape || actual->dtype != expected->dtype) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' has rank %u and type %u, expected %u and %u",
                     what, expected->name, actual->rank, actual->dtype, expected->rank,
                     expected->dtype);
    for (uint32_t i = 0; i < actual->rank; ++i) {
      (void)fprintf(stderr, "extent %u: %lld\n", i, (long long)actual->dims[i]);
    }
    return;
  }
  if (!case_is_near(expected, actual->data)) {
    tenon__test_fail(__FILE__, __LINE__, "%s: '%s' differs", what, expected->name);
  }
}

/* ---- All of them ---- */

static inline void case_run(case_session_t* session, const case_kind_t* kind, const case_t* from,
                            bool is_reference) {
  tenon_status_t status = case_open(session, kind, from, is_reference);
  for (uint32_t i = 0; status == TENON_OK && i < from->input_count; ++i) {
    status = case_set_input(session, i, &from->inputs[i]);
  }
  status = status != TENON_OK ? status : tenon_context_run(session->context);
  for (uint32_t i = 0; status == TENON_OK && i < from->output_count; ++i) {
    tenon_tensor_view_t view = {.data = NULL};
    const uint32_t index = case_find_io(session->engine, tenon_engine_output_count(session->engine),
                                        tenon_engine_get_output, from->outputs[i].name);
    status = index == TENON_NONE ? TENON_ERROR_NOT_FOUND
                                 : tenon_context_get_output(session->context, index, &view);
    if (status == TENON_OK) {
      case_compare(from->name, &from->outputs[i], &view);
    }
  }
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: status %d: %s", from->name, status,
                     session->messages.text);
  } else {
    kind->check(session, from, is_reference);
  }
  if (session->engine != NULL) {
    EXPECT_INT(tenon_engine_output_count(session->engine), from->output_count);
  }
  case_close(session);
}

static inline void case_run_bytes(const case_kind_t* kind, case_reader_t* reader) {
  static case_session_t session;
  static case_t now;
  uint32_t count = 0;
  const char* wanted = getenv(kind->variable);
  char plugins[PATH_MAX];
  (void)snprintf(plugins, sizeof(plugins), "%s/plugins", getenv("TENON_BUILD_DIR"));
  const char* const paths[] = {plugins, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = (tenon_sink_t){&session.messages, tenon__test_keep_message};
  REQUIRE(tenon_registry_create(&options, &session.registry) == TENON_OK);
  while (case_take_next(reader, kind, &now)) {
    if (wanted == NULL || strncmp(now.name, wanted, strlen(wanted)) == 0) {
      session.messages = (tenon__test_messages_t){0};
      case_run(&session, kind, &now, false);
      case_run(&session, kind, &now, true);
      ++count;
    }
  }
  (void)printf("%u networks\n", count);
  EXPECT(count > 0);
  tenon_registry_release(session.registry);
}

static inline void case_run_all(const case_kind_t* kind) {
  const test_bytes_t file = test_read_file(kind->file);
  REQUIRE(file.data != NULL);
  const size_t size = strlen(kind->letters);
  const bool is_of_kind = file.size > size && memcmp(file.data, kind->letters, size) == 0;
  EXPECT(is_of_kind);
  if (is_of_kind) {
    case_reader_t reader = {file.data + size, file.data + file.size};
    case_run_bytes(kind, &reader);
  }
  free(file.data);
}

#endif
