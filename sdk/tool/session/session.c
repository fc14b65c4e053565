/* See session.h. */
#include "session/session.h"

#include "text/console.h"

static void say_where_from(const char* model, const tool_session_t* session) {
  const double load_ms = session->execution.load_seconds * 1e3;
  switch (session->file.use) {
    case TOOL_CACHE_PLAN:
      tool_say("%s: a plan, loaded in %.1f ms\n", model, load_ms);
      break;
    case TOOL_CACHE_HIT:
      tool_say("%s: plan found in the cache (hit), loaded in %.1f ms\n", model, load_ms);
      break;
    case TOOL_CACHE_MISS:
    case TOOL_CACHE_OFF:
    default:
      tool_say("%s: built in %.2f s (cache: %s), loaded in %.1f ms\n", model,
               session->file.build_seconds, tool_cache_use_text(session->file.use), load_ms);
  }
}

tenon_status_t tool_session_open(tenon_registry_t* registry, const char* model,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 uint32_t verify, tool_session_t* out_session) {
  tool_session_t session = {0};
  tenon_status_t status =
      tool_plan_file_obtain(registry, model, building, feed, false, &session.file);
  if (status != TENON_OK) {
    return status;
  }
  const bool from_cache = session.file.use == TOOL_CACHE_HIT;
  tool_console_soften(from_cache);
  const bool is_old = from_cache || session.file.use == TOOL_CACHE_PLAN;
  status = tool_execution_open(registry, &session.file, building->threads,
                               is_old ? verify : TENON_VERIFY_NONE, &session.execution);
  tool_console_soften(false);
  if (status != TENON_OK && from_cache) {
    tool_warn("the cached plan cannot be loaded and is built again");
    tool_plan_file_free(&session.file);
    status = tool_plan_file_obtain(registry, model, building, feed, true, &session.file);
    if (status == TENON_OK) {
      status = tool_execution_open(registry, &session.file, building->threads, TENON_VERIFY_NONE,
                                   &session.execution);
    }
  }
  if (status != TENON_OK) {
    tool_plan_file_free(&session.file);
    return status;
  }
  say_where_from(model, &session);
  *out_session = session;
  return TENON_OK;
}

void tool_session_close(tool_session_t* session) {
  tool_execution_close(&session->execution);
  tool_plan_file_free(&session->file);
}
