/* Types of values: compared, counted, written. */
#include "core/tensor/type.h"

#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

const char* tenon__type_kind_name(uint32_t kind) {
  static const char* const names[] = {[TENON_ARGUMENT_TENSOR] = "tensor",
                                      [TENON_ARGUMENT_SEQUENCE] = "sequence",
                                      [TENON_ARGUMENT_OPTIONAL] = "optional",
                                      [TENON_ARGUMENT_OPTIONAL_SEQUENCE] = "optional sequence"};
  return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

bool tenon__type_same_elements(const tenon__type_t* a, const tenon__type_t* b) {
  return a->kind == b->kind && a->dtype == b->dtype;
}

bool tenon__type_same_shape(const tenon__type_t* a, const tenon__type_t* b) {
  return a->rank == b->rank &&
         (a->rank == TENON_NONE || tenon__dims_equal(a->dims, b->dims, a->rank));
}

bool tenon__type_is_plain(const tenon__type_t* type) {
  return type->kind == TENON_ARGUMENT_TENSOR && type->rank != TENON_NONE &&
         type->dtype != TENON_DTYPE_STRING;
}

bool tenon__type_agrees(const tenon__dim_pool_t* pool, const tenon__type_t* a,
                        const tenon__type_t* b) {
  if (!tenon__type_same_elements(a, b) || a->rank != b->rank) {
    return false;
  }
  const uint32_t rank = a->rank == TENON_NONE ? 0 : a->rank;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t x = 0;
    int64_t y = 0;
    if (tenon__dim_known(pool, a->dims[i], &x) && tenon__dim_known(pool, b->dims[i], &y) &&
        x != y) {
      return false;
    }
  }
  return true;
}

bool tenon__type_known(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                       int64_t* out_number) {
  return type->contents != NULL && type->content_count == 1 &&
         tenon__dim_known(pool, type->contents[0], out_number);
}

bool tenon__type_same_contents(const tenon__type_t* a, const tenon__type_t* b) {
  if (a->contents == NULL || b->contents == NULL) {
    return a->contents == b->contents;
  }
  return a->content_count == b->content_count &&
         tenon__dims_equal(a->contents, b->contents, a->content_count);
}

bool tenon__type_extents(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                         int64_t* out_extents) {
  bool is_known = type->rank != TENON_NONE;
  const uint32_t rank = is_known ? type->rank : 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (!tenon__dim_known(pool, type->dims[i], &out_extents[i])) {
      out_extents[i] = -1;
      is_known = false;
    }
  }
  return is_known;
}

bool tenon__type_is_tensor_of(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                              tenon_dtype_t dtype, uint32_t rank, const int64_t* extents) {
  if (type->kind != TENON_ARGUMENT_TENSOR || type->dtype != dtype || type->rank != rank) {
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t extent = 0;
    if (!tenon__dim_known(pool, type->dims[i], &extent) || extent != extents[i]) {
      return false;
    }
  }
  return true;
}

bool tenon__type_element_count(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                               uint64_t* out_count) {
  int64_t dims[TENON_RANK_LIMIT];
  return type->kind == TENON_ARGUMENT_TENSOR && tenon__type_extents(pool, type, dims) &&
         tenon__element_count(type->rank, dims, out_count);
}

const char* tenon__type_text(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                             tenon__arena_t* arena) {
  const char* kind = type->kind == TENON_ARGUMENT_TENSOR ? NULL : tenon__type_kind_name(type->kind);
  const char* text = tenon__arena_format(
      arena, "%s%s%s%s", kind == NULL ? "" : kind, kind == NULL ? "" : " ",
      tenon__dtype_name(type->dtype),
      type->rank == TENON_NONE ? "[...]" : tenon__dims_text(pool, type->dims, type->rank, arena));
  return text == NULL ? "?" : text;
}

bool tenon__type_is_small(const tenon__dim_pool_t* pool, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_extents, uint32_t* out_count) {
  int64_t count = 1;
  if (rank > TENON_RANK_LIMIT) {
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (!tenon__dim_known(pool, dims[i], &out_extents[i]) || out_extents[i] < 0 ||
        out_extents[i] > TENON_CONTENT_LIMIT) {
      return false;
    }
    count *= out_extents[i];
    if (count > TENON_CONTENT_LIMIT) {
      return false;
    }
  }
  *out_count = (uint32_t)count;
  return true;
}

tenon__content_at_t tenon__type_content(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                                        const int64_t* coordinates, tenon_dim_t* out_content) {
  uint64_t place = 0;
  for (uint32_t i = 0; i < type->rank; ++i) {
    int64_t extent = 0;
    if (!tenon__dim_known(pool, type->dims[i], &extent)) {
      return TENON_CONTENT_UNKNOWN;
    }
    if (coordinates[i] < 0 || coordinates[i] >= extent) {
      return TENON_CONTENT_OUTSIDE;
    }
    place = place * (uint64_t)extent + (uint64_t)coordinates[i];
  }
  if (type->contents == NULL || place >= type->content_count) {
    return TENON_CONTENT_UNKNOWN;
  }
  *out_content = type->contents[place];
  return TENON_CONTENT_FOUND;
}
