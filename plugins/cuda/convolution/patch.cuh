/*
 * Any window: what a tile of pixels reads of x lies once in shared memory, margins and all, and each
 * tap reads it at another place.
 *
 * A step is 32 bytes of a pixel, 16 channels or 8, at one tap. Of images of up to four channels
 * (NARROW) it is four neighbours of a row of the window, or two, with four channels each, the last of
 * them zero; they may lie in memory anyhow, in the type STORED_X. A table says where in the patch a
 * step reads. Weights of the first steps are in registers before the wait, those of later ones come
 * when their registers are free.
 */
#define IN_WORDS (NARROW && !SINGLE) /* pixels of 8 bytes, of which two are the row of a matrix */

INLINE uint4 weights_at(const uint4* weights, const shape_t& s, int tile, int step) {
  if (!EXACT && step >= s.steps) {
    uint4 none;
    none.x = none.y = none.z = none.w = 0;
    return none;
  }
  return load_weights(weights + ((i64)tile * s.steps + step) * 32);
}

/* Bytes of the patch from a pixel's own place to what a step reads. NARROW: odd where that is the
 * end of a row, which may be no neighbour of the window. */
INLINE int place_of(const shape_t& s, unsigned step) {
#if NARROW
  const unsigned y = quotient(s.by_taps, step);
  const int part = (int)(step - y * s.by_taps.extent);
  return (int)y * s.dilation_y * s.patch_x * s.pitch + part * 32 +
         (part + 1 == (int)s.by_taps.extent ? 1 : 0);
#else
  const unsigned block = quotient(s.by_taps, step);
  const unsigned tap = step - block * s.by_taps.extent;
  const unsigned y = quotient(s.by_kernel_x, tap);
  const int x = (int)(tap - y * s.by_kernel_x.extent);
  return (int)block * 32 + ((int)y * s.dilation_y * s.patch_x + x * s.dilation_x) * s.pitch;
#endif
}

/* Which element of x a pixel of the patch is, -1: it is padding. */
INLINE int element_of(const shape_t& s, unsigned pixel, int image, int y0, int x0) {
  const unsigned line = quotient(s.by_patch_x, pixel);
  const int y = y0 * s.stride_y - s.begin_y + (int)line;
  const int x = x0 * s.stride_x - s.begin_x + (int)(pixel - line * s.by_patch_x.extent);
  return y >= 0 && x >= 0 && y < s.height && x < s.width
             ? image * s.x_image + y * s.x_row + x * s.x_column
             : -1;
}

/* Where in shared memory what would be at `at` lies. Of pixels of 16 bytes, eight of sixteen change
 * places with a neighbour: so eight in every second column lie in different banks, as eight beside
 * one another do. */
INLINE int swizzled(int at) {
#if NARROW && SINGLE
  return at ^ (at >> 3 & 16);
#else
  return at;
#endif
}

#if NARROW
/* Four pixels of a thread at once, so that their loads wait together; kept as they are multiplied. */
INLINE void fill_patch(const shape_t& s, unsigned char* memory, const int* elements) {
  const STORED_X* x = (const STORED_X*)s.x;
  for (int pixel = threadIdx.x; pixel < s.patch_pixels; pixel += 4 * THREADS) {
    STORED_X read[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = pixel + k * THREADS < s.patch_pixels ? elements[pixel + k * THREADS] : -1;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        read[k][c] = at >= 0 && c < s.channels ? x[at + c * s.x_channel] : (STORED_X)0;
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (pixel + k * THREADS < s.patch_pixels) {
#if SINGLE
        uint4 four;
        four.x = multiplied(__float_as_uint(read[k][0]));
        four.y = multiplied(__float_as_uint(read[k][1]));
        four.z = multiplied(__float_as_uint(read[k][2]));
        four.w = multiplied(__float_as_uint(read[k][3]));
        *(uint4*)(memory + swizzled(s.patch_at + (pixel + k * THREADS) * s.pitch)) = four;
#else
        uint2 four;
        four.x = NARROWED_X(read[k][0]) | (unsigned)NARROWED_X(read[k][1]) << 16;
        four.y = NARROWED_X(read[k][2]) | (unsigned)NARROWED_X(read[k][3]) << 16;
        *(uint2*)(memory + s.patch_at + (pixel + k * THREADS) * s.pitch) = four;
#endif
      }
    }
  }
}
#else
INLINE void fill_patch(const shape_t& s, unsigned char* memory, const int* elements) {
  const shared_t patch = shared_of(memory) + s.patch_at;
  const int count = s.patch_pixels * (int)s.by_pieces.extent;
  for (int k = threadIdx.x; k < count; k += THREADS) {
    const unsigned pixel = quotient(s.by_pieces, k);
    const int channel = (k - (int)(pixel * s.by_pieces.extent)) * PIECE;
    const int at = elements[pixel];
    const bool is_there = at >= 0 && channel < s.channels;
    copy_16(patch + pixel * s.pitch + channel * (16 / PIECE),
            (const element_t*)s.x + (is_there ? at + channel : 0), is_there ? 16 : 0);
  }
  wait_for_copies();
}
#endif

/* What a step multiplies: matrices of 16 pixels and 32 bytes of the sum's places. */
#if IN_WORDS
INLINE unsigned pair_at(const unsigned char* from) { return *(const unsigned*)from; }
#endif

extern "C" __global__ void BOUNDS convolve(const __grid_constant__ parameters_t p) {
  SHARED_BYTES(memory);
  const shape_t& s = p.shape;
  const thread_t t = this_thread();
  const unsigned tile = quotient(s.column_tiles, blockIdx.x);
  const int first = (int)(blockIdx.x - tile * s.column_tiles.extent) * TILE_N;
  const uint4* weights = (const uint4*)s.weights + t.lane;
  const int own = first / 16 + t.along * (NT / 2);
  int step = t.part * STEPS;
  uint4 b[STEPS][NT / 2];
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
#pragma unroll
    for (int n = 0; n < NT / 2; ++n) {
      b[k][n] = weights_at(weights, s, own + n, step + k);
    }
  }
  release_dependents();
  const unsigned row_tile = quotient(s.tiles_x, tile);
  const unsigned image = quotient(s.tiles_y, row_tile);
  const int y0 = (int)(row_tile - image * s.tiles_y.extent) * s.tile_y;
  const int x0 = (int)(tile - row_tile * s.tiles_x.extent) * s.tile_x;
  int* table = (int*)(memory + s.table_at);
  int* elements = (int*)memory;
  for (int k = threadIdx.x; k < s.steps; k += THREADS) {
    table[k] = place_of(s, k);
  }
  for (int k = threadIdx.x; k < s.patch_pixels; k += THREADS) {
    elements[k] = element_of(s, k, (int)image, y0, x0);
  }
  int row[IN_WORDS ? 2 * MT : MT]; /* bytes of the patch: where this lane's rows are */
#pragma unroll
  for (int i = 0; i < (IN_WORDS ? 2 * MT : MT); ++i) {
    unsigned m = IN_WORDS ? i * 8 + t.lane / 4 : i * 16 + t.lane % 16;
    m = m < (unsigned)(s.tile_y * s.tile_x) ? m : 0;
    const unsigned line = quotient(s.by_tile_x, m);
    const int x = (int)(m - line * s.by_tile_x.extent);
    row[i] = s.patch_at + ((int)line * s.stride_y * s.patch_x + x * s.stride_x) * s.pitch +
             (IN_WORDS ? t.lane % 4 * 4 : t.lane / 16 * 16);
  }
  ending_t ending;
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    const unsigned m = row_of(k);
    const unsigned line = quotient(s.by_tile_x, m);
    const int y = y0 + (int)line;
    const int x = x0 + (int)(m - line * s.by_tile_x.extent);
    begin_ending(p, k, (int)line < s.tile_y && y < s.rows && x < s.columns, (int)image, y, x, first,
                 ending);
  }
#if NARROW
  /* In the last step of a row: which of this lane's two neighbours are in the window. Of two at a
   * time the first is. */
  const int neighbours = PIECE / 2;
  const int last = ((int)s.by_taps.extent - 1) * neighbours + (IN_WORDS ? t.lane % 4 / 2 : 0);
#if IN_WORDS
  const unsigned near_mask = last < s.kernel_x ? ~0u : 0;
#endif
  const unsigned far_mask = last + neighbours / 2 < s.kernel_x ? ~0u : 0;
#endif
  __syncthreads();
  wait_for_predecessors();
  fill_patch(s, memory, elements);
  read_all_operands(p, ending);
  __syncthreads();
  float sums[MT][NT][4];
  clear(sums);
#if !IN_WORDS
  const shared_t shared = shared_of(memory);
#endif
#pragma unroll 1
  for (;;) {
    const int next = step + WK * STEPS;
    const bool more = !ONCE && next < s.steps;
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      if (EXACT || step + k < s.steps) {
        const int at = table[step + k];
#pragma unroll
        for (int i = 0; i < MT; ++i) {
          unsigned a[4];
#if IN_WORDS
          const unsigned near_kept = (at & 1) != 0 ? near_mask : ~0u;
          const unsigned far_kept = (at & 1) != 0 ? far_mask : ~0u;
          const unsigned char* upper = memory + row[2 * i] + (at & ~1);
          const unsigned char* lower = memory + row[2 * i + 1] + (at & ~1);
          a[0] = pair_at(upper) & near_kept;
          a[1] = pair_at(lower) & near_kept;
          a[2] = pair_at(upper + 16) & far_kept;
          a[3] = pair_at(lower + 16) & far_kept;
#elif NARROW
          const unsigned far_kept = (at & 1) != 0 ? far_mask : ~0u;
          load_matrices(a, shared + swizzled(row[i] + (at & ~1)));
          a[2] &= far_kept;
          a[3] &= far_kept;
#else
          load_matrices(a, shared + row[i] + at);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            a[j] = multiplied(a[j]);
          }
#endif
#pragma unroll
          for (int n = 0; n < NT / 2; ++n) {
            multiply(sums[i][2 * n], a, b[k][n].x, b[k][n].y);
            multiply(sums[i][2 * n + 1], a, b[k][n].z, b[k][n].w);
          }
        }
      }
      if (more) {
#pragma unroll
        for (int n = 0; n < NT / 2; ++n) {
          b[k][n] = weights_at(weights, s, own + n, next + k);
        }
      }
    }
    if (!more) {
      break;
    }
    step = next;
  }
  end_tile(p, t, memory, sums, ending);
}
