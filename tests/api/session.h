/* What tests of tenon.h share: a network built by hand beside the numbers that go in and must come
 * out, which NumPy or ONNX Runtime computed (expected.c, written by make_expected.py). */
#ifndef TENON_TESTS_API_SESSION_H_
#define TENON_TESTS_API_SESSION_H_

#include <stdlib.h>

#include "core/base/test.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "tenon/tenon.h"
#include "tests/api/expected.h"

enum { SESSION_MOST = 12, MOST_RANK = 64 };

typedef struct session_t {
  tenon__test_messages_t messages; /* warnings and errors, as the logger got them */
  tenon_registry_t* registry;
  tenon_network_t* network;
  uint32_t input_count;
  uint32_t output_count;
  const sample_t* inputs[SESSION_MOST];
  const sample_t* outputs[SESSION_MOST];
  double tolerance; /* relative to the larger of 1 and the expected value */
} session_t;

/* A registry with the plugins of this build and an empty network. `folder`: one more folder with
 * plugins, or NULL. */
static inline bool session_begin(session_t* session, const char* folder);
/* With memory from an allocator of the test's. */
static inline bool session_begin_with(session_t* session, const char* folder,
                                      const tenon_allocator_t* allocator);
static inline void session_end(session_t* session);
/* The path of something in this build's folder. */
static inline const char* session_path(const char* name, char* out_path, size_t capacity);

/* Inputs, constants and expected outputs are samples by name. A fault is a failure of the test, and
 * the value is absent. */
static inline tenon_value_t session_input(session_t* session, const char* sample);
static inline tenon_value_t session_constant(session_t* session, const char* sample);
static inline void session_output(session_t* session, tenon_value_t value, const char* sample);

/* One node; `count` outputs are written. Attributes end with one that has no name, or are NULL. */
static inline void session_add(session_t* session, const char* op, const tenon_value_t* inputs,
                               uint32_t input_count, const tenon_attribute_t* attributes,
                               tenon_value_t* out_values, uint32_t count);

/* node(session, "standard.add/1", VALUES(a, b)) and with attributes; the node's first output. */
#define VALUES(...)                       \
  ((const tenon_value_t[]){__VA_ARGS__}), \
      (uint32_t)(sizeof((tenon_value_t[]){__VA_ARGS__}) / sizeof(tenon_value_t))
#define ATTRIBUTES(...) ((const tenon_attribute_t[]){__VA_ARGS__, {0}})
#define NO_ATTRIBUTES NULL
#define ABSENT ((tenon_value_t){0})

static inline tenon_value_t node(session_t* session, const char* op, const tenon_value_t* inputs,
                                 uint32_t input_count, const tenon_attribute_t* attributes) {
  tenon_value_t value = ABSENT;
  session_add(session, op, inputs, input_count, attributes, &value, 1);
  return value;
}

/* Builds, loads and runs with these options and compares every output. `out_engine` may be NULL. */
static inline void session_run(session_t* session, const tenon_build_options_t* options,
                               tenon_engine_t** out_engine);
/* The same with all plugins and with the reference alone. */
static inline void session_check(session_t* session);

/* Attributes in tables: initialisers, where tenon.h's macros are values. */
#define ROW_INT(attribute, value) \
  { .name = (attribute), .kind = TENON_ATTRIBUTE_INT, .integer = (value) }
#define ROW_FLOAT(attribute, value) \
  { .name = (attribute), .kind = TENON_ATTRIBUTE_FLOAT, .number = (value) }
#define ROW_TEXT(attribute, value) \
  { .name = (attribute), .kind = TENON_ATTRIBUTE_STRING, .string = (value) }
#define ROW_INTS(attribute, ...)                                                                   \
  {                                                                                                \
    .name = (attribute), .kind = TENON_ATTRIBUTE_INTS, .integers = (const int64_t[]){__VA_ARGS__}, \
    .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                              \
  }

/* The view of a sample's data. */
static inline tenon_tensor_view_t session_view(const sample_t* sample);
/* Compares a tensor, whatever its strides, with a sample. */
static inline void session_compare(const char* file, int line, const tenon_tensor_view_t* actual,
                                   const sample_t* expected, double tolerance);
#define EXPECT_TENSOR(view, sample, tolerance) \
  session_compare(__FILE__, __LINE__, (view), expected_get(sample), (tolerance))

/* ---- What they do ---- */

static inline void session_listen(void* user, int32_t severity, const char* message) {
  if (severity >= TENON_SEVERITY_WARNING) {
    tenon__test_keep_message(user, severity, message);
  }
}

static inline const char* session_path(const char* name, char* out_path, size_t capacity) {
  const char* build = getenv("TENON_BUILD_DIR");
  (void)snprintf(out_path, capacity, "%s/%s", build == NULL ? "." : build, name);
  return out_path;
}

static inline bool session_begin_with(session_t* session, const char* folder,
                                      const tenon_allocator_t* allocator) {
  char own[4096];
  memset(session, 0, sizeof *session);
  session->tolerance = 1e-5;
  const char* const paths[] = {session_path("plugins", own, sizeof own), folder, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = (tenon_sink_t){&session->messages, session_listen};
  options.allocator = allocator;
  const bool good = tenon_registry_create(&options, &session->registry) == TENON_OK &&
                    tenon_network_create(session->registry, &session->network) == TENON_OK;
  if (!good) {
    tenon__test_fail(__FILE__, __LINE__, "no session: %s", session->messages.text);
  }
  return good;
}

static inline bool session_begin(session_t* session, const char* folder) {
  return session_begin_with(session, folder, NULL);
}

static inline void session_end(session_t* session) {
  tenon_network_destroy(session->network);
  tenon_registry_release(session->registry);
}

static inline const sample_t* session_find(const char* name) {
  const sample_t* sample = expected_get(name);
  if (sample == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "make_expected.py makes no '%s'", name);
  }
  return sample;
}

static inline void session_expect(const session_t* session, const char* what,
                                  tenon_status_t status) {
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", what, session->messages.text);
  }
}

static inline tenon_value_t session_input(session_t* session, const char* name) {
  const sample_t* sample = session_find(name);
  tenon_value_t value = ABSENT;
  if (sample == NULL || session->input_count == SESSION_MOST) {
    return value;
  }
  session_expect(session, name,
                 tenon_network_add_input(session->network, name, sample->dtype, sample->rank,
                                         sample->dims, &value));
  session->inputs[session->input_count++] = sample;
  return value;
}

static inline tenon_value_t session_constant(session_t* session, const char* name) {
  const sample_t* sample = session_find(name);
  tenon_value_t value = ABSENT;
  if (sample != NULL) {
    session_expect(session, name,
                   tenon_network_add_constant(session->network, name, sample->dtype, sample->rank,
                                              sample->dims, sample->data, &value));
  }
  return value;
}

static inline void session_output(session_t* session, tenon_value_t value, const char* name) {
  const sample_t* sample = session_find(name);
  if (sample == NULL || session->output_count == SESSION_MOST) {
    return;
  }
  session_expect(session, name, tenon_network_add_output(session->network, value, name));
  session->outputs[session->output_count++] = sample;
}

static inline void session_add(session_t* session, const char* op, const tenon_value_t* inputs,
                               uint32_t input_count, const tenon_attribute_t* attributes,
                               tenon_value_t* out_values, uint32_t count) {
  uint32_t attribute_count = 0;
  while (attributes != NULL && attributes[attribute_count].name != NULL) {
    ++attribute_count;
  }
  session_expect(
      session, op,
      tenon_network_add(session->network, op, NULL, inputs, input_count,
                        &(tenon_list_t){attributes, attribute_count, sizeof(tenon_attribute_t)},
                        out_values, count));
}

static inline tenon_tensor_view_t session_view(const sample_t* sample) {
  void* data = NULL; /* a view is for reading and for writing */
  memcpy(&data, &sample->data, sizeof data);
  return (tenon_tensor_view_t){.data = data,
                               .dims = sample->dims,
                               .rank = sample->rank,
                               .dtype = sample->dtype,
                               .layout = TENON_NONE};
}

/* ---- Comparing ---- */

/* Element `index` in row-major order as a number. */
static inline double session_number(const tenon_tensor_view_t* view, const int64_t* strides,
                                    uint64_t index) {
  int64_t at = 0;
  for (uint32_t k = view->rank; k-- > 0;) {
    at += (int64_t)(index % (uint64_t)view->dims[k]) * strides[k];
    index /= (uint64_t)view->dims[k];
  }
  switch (view->dtype) {
    case TENON_DTYPE_FLOAT32:
      return (double)((const float*)view->data)[at];
    case TENON_DTYPE_INT32:
      return (double)((const int32_t*)view->data)[at];
    case TENON_DTYPE_INT64:
      return (double)((const int64_t*)view->data)[at];
    case TENON_DTYPE_BOOL:
    case TENON_DTYPE_UINT8:
      return (double)((const uint8_t*)view->data)[at];
    default:
      return (double)NAN;
  }
}

static inline bool session_is_close(double actual, double expected, double tolerance) {
  const double larger = fabs(expected) > 1 ? fabs(expected) : 1;
  return actual == expected || (isnan(actual) && isnan(expected)) ||
         fabs(actual - expected) <= tolerance * larger;
}

static inline void session_compare(const char* file, int line, const tenon_tensor_view_t* actual,
                                   const sample_t* expected, double tolerance) {
  int64_t dense[MOST_RANK];
  uint64_t count = 0;
  if (expected == NULL || actual->dtype != expected->dtype || actual->rank != expected->rank ||
      memcmp(actual->dims, expected->dims, actual->rank * sizeof(int64_t)) != 0) {
    tenon__test_fail(file, line, "%s: another type or shape (%s of rank %u)",
                     expected == NULL ? "?" : expected->name, tenon__dtype_name(actual->dtype),
                     actual->rank);
    return;
  }
  (void)tenon__strides_row_major(actual->rank, actual->dims, dense);
  (void)tenon__element_count(actual->rank, actual->dims, &count);
  const tenon_tensor_view_t wanted = session_view(expected);
  const double allowed = actual->dtype == TENON_DTYPE_FLOAT32 ? tolerance : 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double is = session_number(actual, actual->strides == NULL ? dense : actual->strides, i);
    const double should = session_number(&wanted, dense, i);
    if (!session_is_close(is, should, allowed)) {
      tenon__test_fail(file, line, "%s[%llu] is %.9g, expected %.9g", expected->name,
                       (unsigned long long)i, is, should);
      return;
    }
  }
}

/* ---- Running ---- */

static inline void session_run_engine(session_t* session, tenon_engine_t* engine) {
  tenon_context_t* context = NULL;
  tenon_status_t status = tenon_context_create(engine, NULL, &context);
  for (uint32_t k = 0; status == TENON_OK && k < session->input_count; ++k) {
    const tenon_tensor_view_t view = session_view(session->inputs[k]);
    status = tenon_context_set_input(context, k, &view);
  }
  status = status == TENON_OK ? tenon_context_run(context) : status;
  session_expect(session, "run", status);
  for (uint32_t k = 0; status == TENON_OK && k < session->output_count; ++k) {
    tenon_tensor_view_t view;
    status = tenon_context_get_output(context, k, &view);
    session_expect(session, session->outputs[k]->name, status);
    if (status == TENON_OK) {
      session_compare(__FILE__, __LINE__, &view, session->outputs[k], session->tolerance);
    }
  }
  tenon_context_destroy(context);
}

static inline void session_run(session_t* session, const tenon_build_options_t* options,
                               tenon_engine_t** out_engine) {
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_status_t status = tenon_build(session->network, options, &plan);
  session_expect(session, "build", status);
  if (status == TENON_OK) {
    status = tenon_engine_create_from_plan(session->registry, plan, NULL, &engine);
    session_expect(session, "load", status);
  }
  if (status == TENON_OK) {
    session_run_engine(session, engine);
  }
  tenon_plan_destroy(plan);
  if (out_engine != NULL) {
    *out_engine = engine;
  } else {
    tenon_engine_release(engine);
  }
}

static inline void session_check(session_t* session) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  session_run(session, &options, NULL);
  options.reference_only = 1;
  session_run(session, &options, NULL);
}

#endif
