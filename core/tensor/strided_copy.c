/* A strided copy: axes are sorted by their step in the target, and the innermost one is copied line
 * by line. */
#include "core/tensor/strided_copy.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/tensor/dtype.h"
#include "core/tensor/line_convert.h"

typedef struct copying_t {
  uint32_t rank;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t from[TENON_RANK_LIMIT]; /* strides, in bytes */
  int64_t to[TENON_RANK_LIMIT];
  uint32_t width;         /* of an element of the source, in bytes */
  tenon_dtype_t types[2]; /* from, to */
} copying_t;

/* Axes with the smallest step in the target innermost: writes go forward. */
static void arrange(const tenon_tensor_view_t* from, const tenon_tensor_view_t* to,
                    copying_t* out_copying) {
  copying_t* c = out_copying;
  const int64_t to_width = tenon__dtype_bits(to->dtype) / 8;
  c->width = tenon__dtype_bits(from->dtype) / 8;
  c->types[0] = from->dtype;
  c->types[1] = to->dtype;
  for (uint32_t k = 0; k < from->rank; ++k) {
    uint32_t at = c->rank;
    if (from->dims[k] == 1) {
      continue;
    }
    while (at > 0 && c->to[at - 1] < to->strides[k] * to_width) {
      c->dims[at] = c->dims[at - 1];
      c->from[at] = c->from[at - 1];
      c->to[at] = c->to[at - 1];
      --at;
    }
    c->dims[at] = from->dims[k];
    c->from[at] = from->strides[k] * c->width;
    c->to[at] = to->strides[k] * to_width;
    c->rank += 1;
  }
}

static void copy_line(const copying_t* c, const uint8_t* from, uint8_t* to) {
  const int64_t count = c->rank == 0 ? 1 : c->dims[c->rank - 1];
  const int64_t from_step = c->rank == 0 ? 0 : c->from[c->rank - 1];
  const int64_t to_step = c->rank == 0 ? 0 : c->to[c->rank - 1];
  if (c->types[0] != c->types[1]) {
    if (tenon__line_convert((tenon__line_t){tenon__drop_const(from), c->types[0], from_step},
                            (tenon__line_t){to, c->types[1], to_step}, count)) {
      return;
    }
    const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(c->types[0]);
    for (int64_t k = 0; k < count; ++k) {
      tenon__element_store(to + k * to_step, c->types[1], 0,
                           tenon__element_load(from + k * from_step, c->types[0], 0), arithmetic);
    }
  } else if (from_step == c->width && to_step == c->width) {
    memcpy(to, from, (size_t)count * c->width);
  } else if (c->width == 4) {
    for (int64_t k = 0; k < count; ++k) {
      memcpy(to + k * to_step, from + k * from_step, 4);
    }
  } else {
    for (int64_t k = 0; k < count; ++k) {
      memcpy(to + k * to_step, from + k * from_step, c->width);
    }
  }
}

void tenon__strided_copy(const tenon_tensor_view_t* from, const tenon_tensor_view_t* to) {
  copying_t c = {0};
  int64_t at[TENON_RANK_LIMIT] = {0};
  const uint8_t* source = from->data;
  uint8_t* target = to->data;
  for (uint32_t k = 0; k < from->rank; ++k) {
    if (from->dims[k] == 0) {
      return;
    }
  }
  arrange(from, to, &c);
  for (;;) {
    copy_line(&c, source, target);
    uint32_t d = c.rank < 2 ? 0 : c.rank - 1;
    while (d > 0) { /* the next line */
      --d;
      source += c.from[d];
      target += c.to[d];
      if (++at[d] < c.dims[d]) {
        break;
      }
      source -= c.from[d] * c.dims[d];
      target -= c.to[d] * c.dims[d];
      at[d] = 0;
      if (d == 0) {
        return;
      }
    }
    if (c.rank < 2) {
      return;
    }
  }
}
