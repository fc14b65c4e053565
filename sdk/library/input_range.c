/* The range of an input's values. */
#include "core/plan/input_range.h"

#include "core/engine/engine.h"
#include "sdk/library/library.h"

tenon_status_t tenon_engine_get_input_range(const tenon_engine_t* engine, uint32_t input,
                                            double* out_min, double* out_max) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_min", out_min != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_max", out_max != NULL));
  const tenon_io_info_t* info = NULL;
  TENON_TRY(tenon__engine_input(engine, __func__, input, &info));
  tenon__arena_t arena;
  tenon__input_range_t range = {0};
  tenon__arena_initialize(&arena, engine->registry->allocator);
  const tenon_status_t status =
      tenon__input_range_find(tenon__engine_plan(engine->engine), input, &arena, &range);
  tenon__arena_deinitialize(&arena);
  TENON_TRY(tenon__tell(&engine->sink, __func__, status));
  *out_min = range.min;
  *out_max = range.max;
  return TENON_OK;
}
