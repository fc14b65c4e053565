/* Products of matrices of any type, with their batches; einsum; determinants. */
#if OP_mat_mul
/* number as in matrices.cuh. A block makes 16 x 16 elements. */
enum { TILE = 16 };
KERNEL multiply(const __grid_constant__ parameters_t p) {
  __shared__ sum_t left[TILE][TILE];
  __shared__ sum_t right[TILE][TILE + 1];
  begin(p);
  const i64 rows = p.number[1];
  const i64 inner = p.number[2];
  const i64 columns = p.number[3];
  const i64 down = (rows + TILE - 1) / TILE;
  const i64 across = (columns + TILE - 1) / TILE;
  const int r = threadIdx.x / TILE;
  const int c = threadIdx.x % TILE;
  EACH_BLOCK(block, p.number[0] * down * across) {
    const i64 batch = block / across / down;
    const i64 row = block / across % down * TILE + r;
    const i64 column = block % across * TILE + c;
    const matrices_t from = matrices_of(p, batch);
    sum_t total = 0;
    for (i64 first = 0; first < inner; first += TILE) {
      left[r][c] = row < rows && first + c < inner ? (sum_t)IN0(from.a + row * inner + first + c) : (sum_t)0;
      right[r][c] = column < columns && first + r < inner ? (sum_t)IN1(from.b + (first + r) * columns + column) : (sum_t)0;
      __syncthreads();
      const int count = (int)least_of(TILE, inner - first);
      for (int k = 0; k < count; ++k) {
        total = op_add(total, op_mul(left[r][k], right[k][c]));
      }
      __syncthreads();
    }
    if (row < rows && column < columns) {
      OUT0((batch * rows + row) * columns + column, total);
    }
  }
}
#elif OP_einsum
/* number: labels, those of the result, operands; from 3 the labels' extents, 12 of them; then per operand how far
 * a step along each label is. */
#define EXTENT(label) p.number[3 + (label)]
#define STEP(operand, label) p.number[15 + (operand)*12 + (label)]
INLINE sum_t operand_at(const parameters_t& p, int operand, i64 place) {
  switch (operand) {
    case 0: return (sum_t)IN0(place);
    case 1: return (sum_t)IN1(place);
    case 2: return (sum_t)IN2(place);
    case 3: return (sum_t)IN3(place);
    case 4: return (sum_t)IN4(place);
    default: return (sum_t)IN5(place);
  }
}
KERNEL sum_products(const __grid_constant__ parameters_t p) {
  begin(p);
  const int labels = (int)p.number[0];
  const int kept = (int)p.number[1];
  const int operands = (int)p.number[2];
  i64 terms = 1;
  for (int k = kept; k < labels; ++k) {
    terms *= EXTENT(k);
  }
  EACH(i, p.out[0].count) {
    i64 places[6] = {0, 0, 0, 0, 0, 0};
    i64 rest = i;
    for (int k = kept - 1; k >= 0; --k) {
      for (int o = 0; o < operands; ++o) {
        places[o] += rest % EXTENT(k) * STEP(o, k);
      }
      rest /= EXTENT(k);
    }
    sum_t total = 0;
    for (i64 term = 0; term < terms; ++term) {
      sum_t value = 1;
      for (int o = 0; o < operands; ++o) {
        i64 place = places[o];
        i64 left = term;
        for (int k = labels - 1; k >= kept; --k) {
          place += left % EXTENT(k) * STEP(o, k);
          left /= EXTENT(k);
        }
        value = o == 0 ? operand_at(p, o, place) : op_mul(value, operand_at(p, o, place));
      }
      total = op_add(total, value);
    }
    OUT0(i, total);
  }
}
#else
/* Gaussian elimination with row pivots; a thread has a matrix, in scratch. */
KERNEL determinant(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 n = p.in[0].dims[IN0_RANK - 1];
  EACH(i, p.out[0].count) {
    double* m = (double*)p.scratch + i * n * n;
    double result = 1.0;
    for (i64 k = 0; k < n * n; ++k) {
      m[k] = (double)IN0(i * n * n + k);
    }
    for (i64 step = 0; step < n && result != 0.0; ++step) {
      i64 pivot = step;
      for (i64 row = step + 1; row < n; ++row) {
        pivot = fabs(m[row * n + step]) > fabs(m[pivot * n + step]) ? row : pivot;
      }
      for (i64 k = 0; pivot != step && k < n; ++k) {
        const double kept = m[pivot * n + k];
        m[pivot * n + k] = m[step * n + k];
        m[step * n + k] = kept;
      }
      const double diagonal = m[step * n + step];
      result *= pivot != step ? -diagonal : diagonal;
      for (i64 row = step + 1; diagonal != 0.0 && row < n; ++row) {
        const double factor = m[row * n + step] / diagonal;
        for (i64 k = step; k < n; ++k) {
          m[row * n + k] -= factor * m[step * n + k];
        }
      }
    }
    OUT0(i, result);
  }
}
#endif
