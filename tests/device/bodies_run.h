/* Networks with bodies, for the tests of this folder: made, run on the device and on the host, and
 * compared. */
#ifndef TENON_TESTS_DEVICE_BODIES_RUN_H_
#define TENON_TESTS_DEVICE_BODIES_RUN_H_

#include "network_run.h"

enum { BATCH = 2, WIDTH = 3, ROW = BATCH * WIDTH, MOST_STEPS = 12, MOST_OUTPUTS = 4 };
enum { MOST_CELLS = MOST_STEPS * ROW };

/* What a test makes of it, and runs. Inputs are as the network's maker adds them. */
typedef struct body_case_t {
  void (*make)(session_t* session, int64_t steps);
  int64_t steps; /* iterations: an extent, or a trip count */
  uint32_t output_count;
  bool is_lazy;
  const char* const* node_devices;
} body_case_t;

/* Of one run. */
typedef struct body_result_t {
  uint32_t rank[MOST_OUTPUTS];
  int64_t dims[MOST_OUTPUTS][4];
  float cells[MOST_OUTPUTS][MOST_CELLS];
} body_result_t;

/* ---- Making ---- */

static inline const tenon_builder_table_t* table(void) {
  return tenon_builder_get_table();
}

static inline tenon_builder_t* builder_of(const session_t* session) {
  return tenon_network_get_builder(session->network);
}

static inline tenon_value_t add_input(session_t* session, const char* name, tenon_dtype_t dtype,
                                      uint32_t rank, const int64_t* dims) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add_input(session->network, name, dtype, rank, dims, &value),
                TENON_OK);
  return value;
}

static inline tenon_value_t add_constant(session_t* session, const char* name, tenon_dtype_t dtype,
                                         uint32_t rank, const int64_t* dims, const void* data) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add_constant(session->network, name, dtype, rank, dims, data, &value),
                TENON_OK);
  return value;
}

static inline void begin_body(session_t* session, const char* name) {
  EXPECT_STATUS(table()->begin_body(builder_of(session), name), TENON_OK);
}

static inline tenon_value_t parameter(session_t* session, const char* name, tenon_dtype_t dtype,
                                      uint32_t rank, const int64_t* dims) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(table()->body_parameter(builder_of(session), name, TENON_ARGUMENT_TENSOR, dtype,
                                        rank, dims, &value),
                TENON_OK);
  return value;
}

static inline tenon_value_t float_parameter(session_t* session, const char* name, uint32_t rank,
                                            const int64_t* dims) {
  return parameter(session, name, TENON_DTYPE_FLOAT32, rank, dims);
}

static inline void result(session_t* session, tenon_value_t value) {
  EXPECT_STATUS(table()->body_result(builder_of(session), value), TENON_OK);
}

static inline uint32_t end_body(session_t* session) {
  uint32_t body = 0;
  EXPECT_STATUS(table()->end_body(builder_of(session), &body), TENON_OK);
  return body;
}

static inline tenon_value_t add(session_t* session, tenon_value_t a, tenon_value_t b) {
  return node(session, "standard.add/1", VALUES(a, b), NO_ATTRIBUTES);
}

static inline tenon_value_t multiply(session_t* session, tenon_value_t a, tenon_value_t b) {
  return node(session, "standard.mul/1", VALUES(a, b), NO_ATTRIBUTES);
}

/* -x, by a node of that name. */
static inline tenon_value_t negate(session_t* session, const char* name, tenon_value_t x) {
  tenon_value_t y = ABSENT;
  EXPECT_STATUS(tenon_network_add(session->network, "standard.neg/1", name, &x, 1, NULL, &y, 1),
                TENON_OK);
  return y;
}

/* A node with bodies: two branches, where nothing is carried or cut. */
typedef struct control_t {
  const char* op;
  int64_t carried;
  int64_t scanned;
  uint32_t axis_count;
  int64_t axes[4];
  int64_t directions[4];
} control_t;

static inline void set_form(tenon_builder_t* builder, const control_t* form) {
  if (form->carried > 0) {
    EXPECT_STATUS(table()->attribute_int(builder, "carried_count", form->carried), TENON_OK);
  }
  if (form->scanned > 0) {
    EXPECT_STATUS(table()->attribute_int(builder, "scanned_count", form->scanned), TENON_OK);
  }
  if (form->axis_count > 0) {
    EXPECT_STATUS(table()->attribute_ints(builder, "axes", form->axes, form->axis_count), TENON_OK);
    EXPECT_STATUS(
        table()->attribute_ints(builder, "directions", form->directions, form->axis_count),
        TENON_OK);
  }
}

static inline void control(session_t* session, const control_t* form, const tenon_value_t* inputs,
                           uint32_t input_count, const uint32_t* bodies, tenon_value_t* out_values,
                           uint32_t count) {
  tenon_builder_t* builder = builder_of(session);
  const uint32_t body_count = form->carried == 0 && form->scanned == 0 ? 2 : 1;
  EXPECT_STATUS(table()->begin(builder, form->op, form->op), TENON_OK);
  set_form(builder, form);
  for (uint32_t k = 0; k < input_count; ++k) {
    EXPECT_STATUS(table()->add_input(builder, inputs[k]), TENON_OK);
  }
  for (uint32_t k = 0; k < body_count; ++k) {
    EXPECT_STATUS(table()->add_body(builder, bodies[k]), TENON_OK);
  }
  EXPECT_STATUS(table()->output_count(builder, count), TENON_OK);
  EXPECT_STATUS(table()->end(builder, out_values, count), TENON_OK);
}

static inline void add_output(session_t* session, tenon_value_t value, const char* name) {
  EXPECT_STATUS(tenon_network_add_output(session->network, value, name), TENON_OK);
}

/* ---- Running ---- */

static inline bool open_case(run_t* run, const body_case_t* c, const char* device) {
  if (!begin_network(run)) {
    return false;
  }
  run->far->set(0, FAR_SETTING_LAZY, c->is_lazy);
  c->make(&run->session, c->steps);
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.node_devices = device == NULL ? NULL : c->node_devices;
  return start(run, device, options);
}

static inline void get_result(const run_t* run, tenon_context_t* context, uint32_t output_count,
                              body_result_t* out_result) {
  (void)run;
  memset(out_result, 0, sizeof *out_result);
  for (uint32_t k = 0; k < output_count; ++k) {
    tenon_tensor_view_t view = {0};
    size_t count = 1;
    EXPECT_STATUS(tenon_context_get_output(context, k, &view), TENON_OK);
    for (uint32_t d = 0; d < view.rank; ++d) {
      out_result->dims[k][d] = view.dims[d];
      count *= (size_t)view.dims[d];
    }
    out_result->rank[k] = view.rank;
    EXPECT(count <= MOST_CELLS);
    if (view.data != NULL && count <= MOST_CELLS) {
      memcpy(out_result->cells[k], view.data, count * sizeof(float));
    }
  }
}

static inline void expect_same(const body_result_t* a, const body_result_t* b) {
  EXPECT(memcmp(a->rank, b->rank, sizeof a->rank) == 0);
  EXPECT(memcmp(a->dims, b->dims, sizeof a->dims) == 0);
  for (int k = 0; k < MOST_OUTPUTS; ++k) {
    for (int cell = 0; cell < MOST_CELLS; ++cell) {
      EXPECT(a->cells[k][cell] == b->cells[k][cell]);
    }
  }
}

/* What a run did to the device. */
static inline far_counts_t difference(const far_counts_t* before, const far_counts_t* after) {
  far_counts_t counts = *after;
  for (int k = 0; k < FAR_CALL_COUNT; ++k) {
    counts.calls[k] -= before->calls[k];
  }
  for (size_t k = 0; k < sizeof counts.copied_bytes / sizeof *counts.copied_bytes; ++k) {
    counts.copied_bytes[k] -= before->copied_bytes[k];
  }
  return counts;
}

#endif
