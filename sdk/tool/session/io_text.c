/* See io_text.h. */
#include "session/io_text.h"

#include "data/value.h"
#include "text/memory.h"
#include "text/shape_text.h"

static bool has_extents(const tenon_io_info_t* info) {
  return info->kind == TENON_ARGUMENT_TENSOR && info->rank != TENON_NONE;
}

bool tool_io_is_open(const tenon_io_info_t* info) {
  bool open = false;
  for (uint32_t k = 0; has_extents(info) && k < info->rank && !open; ++k) {
    open = info->dims[k] < 0;
  }
  return open;
}

static const char* symbol_of(const tenon_io_info_t* info, uint32_t axis) {
  const bool open = info->dims[axis] < 0 && info->symbols[axis] != NULL;
  return open ? info->symbols[axis] : "";
}

/* "batch, time": the symbols of all open extents; *out_count tells how many. */
static char* list_symbols(const tenon_io_info_t* info, uint32_t* out_count) {
  char* names = tool_copy_text("");
  uint32_t count = 0;
  for (uint32_t k = 0; has_extents(info) && k < info->rank; ++k) {
    if (info->dims[k] < 0) {
      tool_append(&names, "%s%s", count++ == 0 ? "" : ", ", symbol_of(info, k));
    }
  }
  *out_count = count;
  return names;
}

char* tool_io_text(const tenon_io_info_t* info) {
  char shape[512];
  uint32_t open = 0;
  if (info->kind != TENON_ARGUMENT_TENSOR) {
    return tool_format("%s: %s", info->name, tool_kind_name(info->kind));
  }
  tool_shape_print(info->rank, info->dims, shape, sizeof(shape));
  char* names = list_symbols(info, &open);
  char* text = open == 0
                   ? tool_format("%s: %s %s", info->name, tool_dtype_name(info->dtype), shape)
                   : tool_format("%s: %s %s (? %s %s)", info->name, tool_dtype_name(info->dtype),
                                 shape, open == 1 ? "is" : "are", names);
  tool_free(names);
  return text;
}

void tool_io_json(tool_json_t* json, const char* what, const tenon_io_info_t* info) {
  tool_json_text(json, what, info->name);
  tool_json_text(json, "kind", tool_kind_name(info->kind));
  tool_json_text(json, "dtype", tool_dtype_name(info->dtype));
  tool_json_integers(json, "shape", info->dims, has_extents(info) ? info->rank : 0);
  tool_json_list_begin(json, "symbols");
  for (uint32_t k = 0; has_extents(info) && k < info->rank; ++k) {
    tool_json_text(json, NULL, symbol_of(info, k));
  }
  tool_json_list_end(json);
}
