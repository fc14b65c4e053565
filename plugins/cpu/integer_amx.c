/*
 * Integer products by AMX. A tile register holds 16 rows of 64 bytes: tdpbusd multiplies 16 rows of
 * a, 64 bytes deep, by 16 columns of b. Four registers hold the sums of 32 x 32 elements. Registers
 * are released at the end of a task, so that the system does not save them.
 */
#define TENON_VECTOR_BYTES 64
#define TENON_ISA amx
#include "integer_vector.inc"

typedef uint8_t number_t;
typedef int8_t b_number_t;
enum { PANEL_COLUMNS = 32, DEPTH_STEP = 64, TILE_ROWS = 16, TILE_BYTES = 64, BLOCK_ROWS = 32 };

/* Sums in registers 0 to 3, rows of a in 4 and 5, columns of b in 6 and 7. */
typedef struct configuration_t {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} configuration_t;

/* The compiler does not know which memory tile instructions read. */
INLINE void order_memory(void) {
  __asm__ volatile("" ::: "memory");
}

/* Sets the rows of all registers. A register has 1 row or more, even if it is not used. */
static void configure(size_t upper, size_t lower) {
  configuration_t all = {.palette = 1};
  const size_t rows[8] = {upper, upper, lower, lower, upper, lower, TILE_ROWS, TILE_ROWS};
  for (size_t k = 0; k < 8; k++) {
    all.rows[k] = (uint8_t)(rows[k] > 0 ? rows[k] : 1);
    all.row_bytes[k] = TILE_BYTES;
  }
  order_memory();
  _tile_loadconfig(&all);
}

/* A tile of sums is stored in c, or in `part` if c has fewer columns than the tile. */
INLINE int32_t* target_of(int32_t* c, int32_t* part, size_t columns) {
  return columns >= TILE_ROWS ? c : part;
}

INLINE size_t stride_of(const tenon__cpu_integer_tile_t* t, size_t columns) {
  return columns >= TILE_ROWS ? t->c_stride * sizeof(int32_t) : TILE_BYTES;
}

INLINE void copy_part(const tenon__cpu_integer_tile_t* t, int32_t* c, const int32_t* part,
                      size_t rows, size_t columns) {
  order_memory();
  for (size_t i = 0; i < (columns < TILE_ROWS ? rows : 0); i++) {
    memcpy(c + i * t->c_stride, part + i * TILE_ROWS, columns * sizeof(int32_t));
  }
}

/* The number of a register is a literal. */
#define STORE(number, c, rows, columns)                                     \
  _tile_stored(number, target_of(c, part, columns), stride_of(t, columns)); \
  copy_part(t, c, part, rows, columns)

/* `has_lower` means more than 16 rows and `has_right` more than 16 columns. Both are constants in
 * each call. */
INLINE void multiply_block(bool has_lower, bool has_right, const tenon__cpu_integer_tile_t* t,
                           size_t row, size_t rows) {
  int32_t part[TILE_ROWS * TILE_ROWS];
  const uint8_t* a = (const uint8_t*)t->a + row * t->a_stride;
  const uint8_t* a_lower = a + TILE_ROWS * t->a_stride;
  const int8_t* b = t->b;
  int32_t* c = t->c + row * t->c_stride;
  order_memory();
  _tile_loadd(0, t->start, 0); /* the same row 16 times */
  if (has_right) {
    _tile_loadd(1, t->start + TILE_ROWS, 0);
  }
  if (has_lower) {
    _tile_loadd(2, t->start, 0);
    if (has_right) {
      _tile_loadd(3, t->start + TILE_ROWS, 0);
    }
  }
  for (size_t k = 0; k < t->groups; k += TILE_ROWS) {
    _tile_loadd(6, b, 2 * TILE_BYTES);
    _tile_loadd(4, a, t->a_stride);
    _tile_dpbusd(0, 4, 6);
    if (has_right) {
      _tile_loadd(7, b + TILE_BYTES, 2 * TILE_BYTES);
      _tile_dpbusd(1, 4, 7);
    }
    if (has_lower) {
      _tile_loadd(5, a_lower, t->a_stride);
      _tile_dpbusd(2, 5, 6);
      if (has_right) {
        _tile_dpbusd(3, 5, 7);
      }
    }
    a += TILE_BYTES;
    a_lower += TILE_BYTES;
    b += (size_t)2 * TILE_BYTES * TILE_ROWS;
  }
  const size_t upper = rows < TILE_ROWS ? rows : TILE_ROWS;
  int32_t* c_lower = c + TILE_ROWS * t->c_stride;
  STORE(0, c, upper, t->columns);
  if (has_right) {
    STORE(1, c + TILE_ROWS, upper, t->columns - TILE_ROWS);
  }
  if (has_lower) {
    STORE(2, c_lower, rows - TILE_ROWS, t->columns);
    if (has_right) {
      STORE(3, c_lower + TILE_ROWS, rows - TILE_ROWS, t->columns - TILE_ROWS);
    }
  }
  order_memory();
}

static void multiply(const tenon__cpu_integer_tile_t* t) {
  for (size_t row = 0; row < t->rows; row += BLOCK_ROWS) {
    const size_t left = t->rows - row;
    const size_t rows = left < BLOCK_ROWS ? left : BLOCK_ROWS;
    if (rows != *t->configured) {
      *t->configured = rows;
      configure(rows < TILE_ROWS ? rows : TILE_ROWS, rows < TILE_ROWS ? 0 : rows - TILE_ROWS);
    }
    const bool has_right = t->columns > TILE_ROWS;
    if (rows > TILE_ROWS && has_right) {
      multiply_block(true, true, t, row, rows);
    } else if (rows > TILE_ROWS) {
      multiply_block(true, false, t, row, rows);
    } else if (has_right) {
      multiply_block(false, true, t, row, rows);
    } else {
      multiply_block(false, false, t, row, rows);
    }
  }
}

static void release(void) {
  _tile_release();
}
#define HAS_RELEASE

#include "integer_rows.inc"
