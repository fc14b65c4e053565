/* Values for trials, within the range of their domain, from a generator with a fixed seed. Distinct
 * places count upwards. */
#include "core/operator/made_data.h"

#include <math.h>
#include <string.h>

#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

typedef struct maker_t {
  const tenon__data_wish_t* wish;
  uint64_t state;
  uint64_t row;   /* elements along the last axis, at least 1 */
  bool has_range; /* the domain's, or the wish's */
  double low;
  double high;
} maker_t;

static uint64_t next_random(maker_t* m) {
  m->state = m->state * 6364136223846793005u + 1442695040888963407u;
  return m->state >> 32;
}

/* In [0, 1); rising along the last axis where the domain is sorted. */
static double next_share(maker_t* m, uint64_t index) {
  const double random = (double)next_random(m) * 0x1p-32;
  return m->wish->domain.is_sorted ? ((double)(index % m->row) + random) / (double)m->row : random;
}

/* ---- Numbers ---- */

static double float_at(maker_t* m, uint64_t index) {
  const tenon__domain_t* d = &m->wish->domain;
  const double share = next_share(m, index);
  if (m->has_range || d->is_sorted) {
    const double number = m->low + share * (m->high - m->low);
    return d->is_nonzero && number == 0 ? m->high : number;
  }
  /* Away from 0 on both sides. */
  const double signed_share = 2 * share - 1;
  const double number = signed_share * 0.9375 + (signed_share < 0 ? -0.0625 : 0.0625);
  return d->is_positive ? fabs(number) : number;
}

static int64_t integer_at(maker_t* m, uint64_t index) {
  const tenon__domain_t* d = &m->wish->domain;
  const double number = floor(m->low + next_share(m, index) * (m->high - m->low + 1));
  const int64_t whole = (int64_t)(number > m->high ? m->high : number);
  return d->is_nonzero && whole == 0 ? (int64_t)(m->high != 0 ? m->high : m->low) : whole;
}

/* Where the domain gives no range: what fits into narrow types, 0 and 1 in wide ones, which may
 * count something. */
static void find_range(maker_t* m) {
  const tenon__domain_t* d = &m->wish->domain;
  const char kind = tenon__dtype_class(m->wish->dtype);
  const uint32_t bits = tenon__dtype_bits(m->wish->dtype);
  const double most = kind == 'f' || bits > 8 || kind == 'b' ? 1
                      : kind == 'u'                          ? ldexp(1, (int)bits) * 0.8
                                                             : ldexp(1, (int)bits - 1) * 0.8;
  const bool is_wished = m->wish->low < m->wish->high && kind != 'b';
  m->has_range = d->has_range || is_wished;
  m->high = floor(most) < 1 ? 1 : floor(most);
  m->low = kind == 'f' || (kind == 'i' && bits <= 8) ? -m->high : 0;
  if (is_wished) {
    m->low = kind == 'u' && m->wish->low < 0 ? 0 : m->wish->low;
    m->high = m->wish->high;
  }
  if (d->has_range) {
    /* An end that is infinite is ten away from the other. */
    const double min = isfinite(d->min) ? d->min : isfinite(d->max) ? d->max - 10 : -10;
    const double max = isfinite(d->max) ? d->max : min + 10;
    m->low = kind == 'f' ? min : ceil(min);
    m->high = kind == 'f' ? max : floor(max);
  }
  if (d->is_positive && m->low <= 0) {
    m->low = kind == 'f' ? m->high / 16 : 1;
  }
  if (kind == 'i' || kind == 'u') {
    /* What the type holds, and a sum of two such still fits into a word. */
    const double end = ldexp(1, (int)(bits > 62 ? 62 : kind == 'u' ? bits : bits - 1));
    m->low = fmin(fmax(m->low, kind == 'u' ? 0 : -end), end - 1);
    m->high = fmin(m->high, end - 1);
  }
  m->high = m->high < m->low ? m->low : m->high;
}

/* ---- Places ---- */

static int64_t limit_at(const maker_t* m, uint64_t k) {
  const int64_t limit = k < m->wish->limit_count ? m->wish->limits[k] : 1;
  return limit < 1 ? 1 : limit;
}

/* Along `axis` the indices of one line count up, each line from another beginning. */
static int64_t distinct_index(const maker_t* m, uint64_t index) {
  const tenon__data_wish_t* w = m->wish;
  uint64_t inner = 1;
  for (uint32_t d = w->axis + 1; d < w->rank; ++d) {
    inner *= (uint64_t)w->dims[d];
  }
  const uint64_t extent = w->axis < w->rank ? (uint64_t)w->dims[w->axis] : 1;
  const uint64_t along = index / inner % extent;
  const uint64_t line = index / inner / extent * inner + index % inner;
  return (int64_t)((along + line) % (uint64_t)limit_at(m, 0));
}

/* Element k of tuple t: the tuples are places counted in rows, evenly apart. */
static int64_t distinct_coordinate(const maker_t* m, uint64_t index) {
  const uint64_t width = m->row;
  uint64_t total = 1;
  uint64_t inner = 1;
  uint64_t tuples = 1;
  for (uint64_t k = 0; k < width && total < UINT64_MAX / 4096; ++k) {
    total *= (uint64_t)limit_at(m, k);
    inner *= k > index % width ? (uint64_t)limit_at(m, k) : 1;
  }
  for (uint32_t d = 0; d + 1 < m->wish->rank; ++d) {
    tuples *= (uint64_t)m->wish->dims[d];
  }
  const uint64_t apart = tuples == 0 || total < tuples ? 1 : total / tuples;
  const uint64_t place = index / width * apart % total;
  return (int64_t)(place / inner % (uint64_t)limit_at(m, index % width));
}

static int64_t place_at(maker_t* m, uint64_t index) {
  const tenon__domain_t* d = &m->wish->domain;
  if (d->places == TENON_DOMAIN_INDEX) {
    return d->is_distinct ? distinct_index(m, index)
                          : (int64_t)(next_share(m, index) * (double)limit_at(m, 0));
  }
  return d->is_distinct ? distinct_coordinate(m, index)
                        : (int64_t)(next_random(m) % (uint64_t)limit_at(m, index % m->row));
}

/* ---- All ---- */

/* The usual case: as float_at has it. */
static void fill_floats(float* floats, uint64_t count, maker_t* m) {
  for (uint64_t i = 0; i < count; ++i) {
    const float share = (float)(int32_t)(uint32_t)next_random(m) * 0x1p-31f;
    floats[i] = share * 0.9375f + (share < 0 ? -0.0625f : 0.0625f);
  }
}

static void fill_complex(void* data, tenon_dtype_t dtype, uint64_t count, maker_t* m) {
  for (uint64_t i = 0; i < 2 * count; ++i) {
    if (dtype == TENON_DTYPE_COMPLEX64) {
      ((float*)data)[i] = (float)float_at(m, i);
    } else {
      ((double*)data)[i] = float_at(m, i);
    }
  }
}

static void fill_numbers(void* data, uint64_t count, maker_t* m) {
  const tenon_dtype_t dtype = m->wish->dtype;
  const bool is_float = tenon__dtype_class(dtype) == 'f';
  const bool is_place = !is_float && m->wish->domain.places != TENON_DOMAIN_NO_PLACES;
  for (uint64_t i = 0; i < count; ++i) {
    const tenon__scalar_t number = is_float   ? (tenon__scalar_t){.f = float_at(m, i)}
                                   : is_place ? (tenon__scalar_t){.i = place_at(m, i)}
                                              : (tenon__scalar_t){.i = integer_at(m, i)};
    tenon__element_store(data, dtype, i, number,
                         is_float ? TENON_DTYPE_FLOAT64 : TENON_DTYPE_INT64);
  }
}

/* So many elements are made where an element's place says nothing about it; then they repeat
 * themselves, with a period that no extents have. */
static uint64_t made_count(const maker_t* m, uint64_t count) {
  enum { PERIOD = 1048573 /* a prime */ };
  const tenon__domain_t* d = &m->wish->domain;
  const char kind = tenon__dtype_class(m->wish->dtype);
  const bool is_place = kind != 'f' && d->places != TENON_DOMAIN_NO_PLACES;
  return is_place || d->is_sorted || tenon__dtype_bits(m->wish->dtype) % 8 != 0 || count < PERIOD
             ? count
             : PERIOD;
}

void tenon__data_make(const tenon__data_wish_t* wish, void* out_data) {
  maker_t m = {.wish = wish, .state = 0x9e3779b97f4a7c15u ^ wish->seed};
  const tenon__domain_t* d = &wish->domain;
  const char kind = tenon__dtype_class(wish->dtype);
  uint64_t count = 0;
  if (!tenon__element_count(wish->rank, wish->dims, &count) || count == 0 || kind == 's' ||
      kind == 'x') {
    return;
  }
  m.row = wish->rank > 0 ? (uint64_t)wish->dims[wish->rank - 1] : 1;
  find_range(&m);
  const uint64_t made = made_count(&m, count);
  if (wish->dtype == TENON_DTYPE_FLOAT32 && !m.has_range && !d->is_sorted && !d->is_positive) {
    fill_floats(out_data, made, &m);
  } else if (kind == 'c') {
    fill_complex(out_data, wish->dtype, made, &m);
  } else {
    fill_numbers(out_data, made, &m);
  }
  const size_t bytes = tenon__dtype_bits(wish->dtype) / 8;
  for (uint64_t i = made; i < count; i += made) {
    memcpy((char*)out_data + i * bytes, out_data, (i + made < count ? made : count - i) * bytes);
  }
}
