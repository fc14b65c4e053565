/* Why an argument of a step cannot be bound, in words. */
#include "core/frame/unfit.h"

#include "core/base/status.h"
#include "core/tensor/dtype.h"

/* "[4, ?]" of extents as they are now; notes what is wrong with them. */
static const char* extents_of(const tenon__frame_t* frame, const tenon__value_node_t* value,
                              tenon__arena_t* arena, bool* out_unknown, bool* out_negative) {
  const char* text = "[";
  const uint32_t rank = value->type.rank == TENON_NONE ? 0 : value->type.rank;
  *out_unknown = value->type.rank == TENON_NONE;
  *out_negative = false;
  for (uint32_t d = 0; text != NULL && d < rank; ++d) {
    const char* comma = d == 0 ? "" : ", ";
    int64_t extent = 0;
    if (tenon__extents_get(&frame->run->extents, value->type.dims[d], &extent)) {
      text = tenon__arena_format(arena, "%s%s%lld", text, comma, (long long)extent);
      *out_negative = *out_negative || extent < 0;
    } else {
      text = tenon__arena_format(arena, "%s%s?", text, comma);
      *out_unknown = true;
    }
  }
  text = text == NULL ? NULL : tenon__arena_format(arena, "%s]", text);
  return text == NULL ? "?" : text;
}

tenon_status_t tenon__frame_unfit(const tenon__frame_t* frame, const char* step, uint32_t place,
                                  tenon_status_t status) {
  const tenon_sink_t* sink = frame->run->engine->options.sink;
  const tenon__place_t* p = &frame->schedule->places[place];
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  const bool is_view = p->storage == TENON_STORAGE_VIEW || p->storage == TENON_STORAGE_PART;
  bool is_unknown = false;
  bool is_negative = false;
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, frame->run->allocator);
  const char* own = extents_of(frame, value, &arena, &is_unknown, &is_negative);
  if (status == TENON_ERROR_OUT_OF_MEMORY) {
    status = tenon__fail(sink, status, "%s: out of memory for '%s', %s of extents %s", step,
                         value->name, tenon__dtype_name(value->type.dtype), own);
  } else if (is_unknown) {
    status =
        tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                    "%s: the extents %s of '%s' are not known in time", step, own, value->name);
  } else if (is_negative) {
    status = tenon__fail(sink, TENON_ERROR_INVALID_DATA, "%s: '%s' would have the extents %s", step,
                         value->name, own);
  } else if (is_view) {
    const tenon__value_node_t* whole = tenon__frame_value(frame, p->base);
    status =
        tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                    "%s: '%s' of extents %s does not fit '%s' of extents %s", step, value->name,
                    own, whole->name, extents_of(frame, whole, &arena, &is_unknown, &is_negative));
  } else {
    status =
        tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                    "%s: '%s' of extents %s is larger than any memory", step, value->name, own);
  }
  tenon__arena_deinitialize(&arena);
  return status;
}
