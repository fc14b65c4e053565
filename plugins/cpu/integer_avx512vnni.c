/* Integer products by vpdpbusd: 4 products of bytes for each of 16 sums. It does not saturate. */
#define TENON_VECTOR_BYTES 64
#define TENON_ISA avx512vnni
#include "integer_vector.inc"

typedef uint8_t number_t;
typedef int8_t b_number_t;
enum { PANEL_COLUMNS = 2 * VECTOR_FLOATS, DEPTH_STEP = 4, MAX_ROWS = 12, ROWS_A_BASE = 3 };

/* The compiler moves the sums of the intrinsic to memory and back in each step. */
INLINE void add_products(__m512i* sum, __m512i a, __m512i b) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(b));
}

/* `rows` and `vectors` are constants in each call. */
INLINE void multiply_rows(int rows, int vectors, const tenon__cpu_integer_tile_t* t, size_t row) {
  __m512i sums[MAX_ROWS][2];
  const uint8_t* bases[(MAX_ROWS + ROWS_A_BASE - 1) / ROWS_A_BASE];
  const uint8_t* a = (const uint8_t*)t->a + row * t->a_stride;
  const int8_t* b = t->b;
  const size_t stride = t->a_stride;
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int v = 0; v < vectors; v++) {
      sums[i][v] = _mm512_loadu_si512(t->start + (size_t)v * VECTOR_FLOATS);
    }
    if (i % ROWS_A_BASE == 0) {
      bases[i / ROWS_A_BASE] = a + (size_t)i * stride;
    }
  }
  for (size_t k = 0; k < t->groups; k++) {
    __m512i both[2];
    UNROLL for (int v = 0; v < vectors; v++) {
      both[v] = _mm512_loadu_si512(b + (2 * k + (size_t)v) * 64);
    }
    UNROLL for (int i = 0; i < rows; i++) {
      int32_t four;
      memcpy(&four, bases[i / ROWS_A_BASE] + (size_t)(i % ROWS_A_BASE) * stride + 4 * k,
             sizeof(four));
      const __m512i x = _mm512_set1_epi32(four);
      UNROLL for (int v = 0; v < vectors; v++) {
        add_products(&sums[i][v], x, both[v]);
      }
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    int32_t* c = t->c + (row + (size_t)i) * t->c_stride;
    UNROLL for (int v = 0; v < vectors; v++) {
      const size_t left = t->columns - (size_t)v * VECTOR_FLOATS;
      const __mmask16 mask = (__mmask16)(left >= 16 ? 0xffffU : (1U << left) - 1U);
      _mm512_mask_storeu_epi32(c + (size_t)v * VECTOR_FLOATS, mask, sums[i][v]);
    }
  }
}

INLINE void multiply_vectors(int vectors, const tenon__cpu_integer_tile_t* t) {
  size_t row = 0;
  for (; row + MAX_ROWS <= t->rows; row += MAX_ROWS) {
    multiply_rows(MAX_ROWS, vectors, t, row);
  }
  if (row + 8 <= t->rows) {
    multiply_rows(8, vectors, t, row);
    row += 8;
  }
  for (; row + 4 <= t->rows; row += 4) {
    multiply_rows(4, vectors, t, row);
  }
  for (; row < t->rows; row++) {
    multiply_rows(1, vectors, t, row);
  }
}

static void multiply(const tenon__cpu_integer_tile_t* t) {
  if (t->columns > VECTOR_FLOATS) {
    multiply_vectors(2, t);
  } else {
    multiply_vectors(1, t);
  }
}

#include "integer_rows.inc"
