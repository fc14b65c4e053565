/* A tensor that is too large to be fetched for each tactic: what a build looks at, and whether what
 * comes of it is right. */
#include "network_run.h"

enum { OUTER = 64, INNER = 1 << 17, ELEMENTS = OUTER * INNER };
static const uint64_t megabyte = 1 << 20;

static bool build_and_load(run_t* run) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_plan_t* plan = NULL;
  options.device = "far";
  EXPECT_STATUS(tenon_build(run->session.network, &options, &plan), TENON_OK);
  const uint64_t fetched = counts_of(run).copied_bytes[TENON_COPY_TO_HOST];
  const uint64_t sent = counts_of(run).copied_bytes[TENON_COPY_TO_DEVICE];
  /* Of 32 megabytes: parts of the output, for each tactic; the input once for each order. */
  EXPECT(fetched > 0 && fetched < 16 * megabyte);
  EXPECT(sent >= 32 * megabyte && sent < 128 * megabyte);
  const bool is_there =
      plan != NULL &&
      tenon_engine_create_from_plan(run->session.registry, plan, NULL, &run->engine) == TENON_OK &&
      tenon_context_create(run->engine, NULL, &run->context) == TENON_OK;
  tenon_plan_destroy(plan);
  return is_there;
}

TENON_TEST(large_outputs_are_looked_at_in_parts) {
  static const int64_t dims[] = {OUTER, INNER};
  run_t run;
  tenon_value_t x = {0};
  tenon_value_t y = {0};
  tenon_tensor_view_t result = {0};
  uint64_t wrong = 0;
  REQUIRE(begin_network(&run));
  EXPECT_STATUS(tenon_network_add_input(run.session.network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add(run.session.network, "standard.abs/1", NULL, &x, 1, NULL, &y, 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(run.session.network, y, "y"), TENON_OK);
  static float numbers[ELEMENTS];
  REQUIRE(build_and_load(&run));
  for (int k = 0; k < ELEMENTS; ++k) {
    numbers[k] = (float)(k % 1013) - 500;
  }
  set_rows(&run, 0, TENON_DTYPE_FLOAT32, 2, dims, numbers);
  EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(run.context, 0, &result), TENON_OK);
  for (int k = 0; k < ELEMENTS && result.data != NULL; ++k) {
    wrong += ((const float*)result.data)[k] == fabsf(numbers[k]) ? 0 : 1;
  }
  EXPECT(result.data != NULL && wrong == 0);
  end(&run);
}
