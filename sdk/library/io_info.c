/* Inputs and outputs as the application sees them. */
#include <string.h>

#include "sdk/library/library.h"

#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"

/* The number of an extent, -1 where it is open. */
static int64_t extent_number(const tenon__network_t* network, const tenon__profile_t* profile,
                             tenon_dim_t dim) {
  int64_t min = 0;
  int64_t max = 0;
  if (tenon__dim_known(network->pool, dim, &min)) {
    return min;
  }
  if (profile != NULL && tenon__extents_get(&profile->min, dim, &min) &&
      tenon__extents_get(&profile->max, dim, &max) && min == max) {
    return min;
  }
  return -1;
}

tenon_status_t tenon__io_info(const tenon__network_t* network, const tenon__profile_t* profile,
                              uint32_t value, const char* name, tenon__arena_t* arena,
                              tenon_io_info_t* out_info) {
  const tenon__value_node_t* node = &network->graphs[0]->values[value];
  tenon_io_info_t info = {.name = name != NULL ? name : node->name,
                          .kind = node->type.kind,
                          .dtype = node->type.dtype,
                          .rank = node->type.rank};
  if (node->type.rank != TENON_NONE) {
    int64_t* dims = tenon__arena_allocate(arena, node->type.rank + 1u, sizeof(*dims));
    const char** symbols = tenon__arena_allocate(arena, node->type.rank + 1u, sizeof(*symbols));
    if (dims == NULL || symbols == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t k = 0; k < node->type.rank; ++k) {
      dims[k] = extent_number(network, profile, node->type.dims[k]);
      /* A symbol that a profile narrowed to one number still is one. */
      const bool is_open =
          tenon__dim_get(network->pool, node->type.dims[k]).kind != TENON_DIM_CONSTANT;
      symbols[k] = is_open ? tenon__dim_text(network->pool, node->type.dims[k], arena) : "";
      if (symbols[k] == NULL) {
        return TENON_ERROR_OUT_OF_MEMORY;
      }
    }
    info.dims = dims;
    info.symbols = symbols;
  }
  *out_info = info;
  return TENON_OK;
}
