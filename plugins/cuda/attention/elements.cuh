/*
 * softmax(f(q k^T)) v. A warp has TILES times 16 queries and goes over keys in tiles of 16 GROUPS,
 * with the largest score and the sum of a row so far. KEY_WARPS share the keys of a row and meet in
 * shared memory; there are QUERY_WARPS times as many, with other rows. The text in front defines
 * these, D and E (features of q and k, and of v, in steps of 8), ONCE (each warp has one tile of
 * keys), STAGED (keys and values come through shared memory, for all warps of a block), EXCHANGED
 * (exchanged.cuh), HOPELESS, and the types of the products (matrix.cuh).
 *
 * Which feature is which place of a sum does not matter as long as both factors agree, nor which
 * column of v is which of a product, nor which key which row. So a lane has what lies together:
 *   of a row of q or k    16 bytes of 64 (then 8 of 32, 4 of 16): up to four words
 *   of the scores         4 neighbouring keys of 16, in two tiles of 8 columns
 *   of four rows of v     8 neighbouring columns of 64 (then 4 of 32, 2 of 16, 1 of 8), and of the
 *                         result, in one row, 16 of 64
 */
enum {
  BYTES = (int)sizeof(element_t),
  EACH = 4 / BYTES,             /* elements of a word */
  OWN = D / (4 * EACH),         /* words of a row of q or k that a lane has */
  WORDS = (OWN + 1) / 2 * 2,    /* the same, in pairs */
  COLUMNS = E / 8,              /* tiles of v */
  VALUES = (COLUMNS + EACH - 1) / EACH,
  KEYS = 16 * GROUPS,
  QUERIES = 16 * TILES,
  THREADS = 32 * QUERY_WARPS * KEY_WARPS,
  /* In shared memory: bytes from one row to the next. Two rows of k, and four of v that are four
   * rows apart, lie in different banks. */
  K_LINES = (BYTES * D + 63) / 64,
  K_PITCH = (K_LINES + 1 - K_LINES % 2) * 64,
  V_PITCH = (BYTES * E + 31) / 32 * 32,
  K_BYTES = KEYS * K_PITCH,
  V_BYTES = KEYS * V_PITCH + KEYS / 4 * 32,
  SUMS_PITCH = E + 4, /* floats */
  SUMS = QUERIES * (SUMS_PITCH + 2)
};
#define LOG2_E 1.4426950408889634f

struct lane_t {
  int row;     /* of 8 */
  int quarter; /* of a row */
};

/* ---- Which elements a lane has ---- */

/* The first feature of its word w of q and k. */
INLINE int feature_of(int w, int quarter) {
  const int fours = OWN / 4 * 4;
  const int twos = OWN / 2 * 2;
  const int run = w < fours ? 4 : w < twos ? 2 : 1;
  const int first = w / run * run;
  return (first * 4 + quarter * run + w - first) * EACH;
}
/* Where the run of tiles of v that holds tile j begins, and how many it is: 8, 4, 2 or 1. */
INLINE int run_of(int j) {
  return j < COLUMNS / 8 * 8 ? 8 : j < COLUMNS / 4 * 4 ? 4 : j < COLUMNS / 2 * 2 ? 2 : 1;
}
/* The column of v that is column `row` of tile j. */
INLINE int column_of(int j, int row) {
  const int run = run_of(j);
  return j / run * run * 8 + row * run + j % run;
}

/* ---- Reading rows ---- */

/* The lane's words of a row of q or k; zeros where there is none. */
template <bool WIDE>
INLINE void load_features(const element_t* row, i64 step, bool inside, int quarter,
                          unsigned (&out)[WORDS]) {
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    out[w] = 0;
  }
  if (!inside) {
    return;
  }
  if (!WIDE) {
#pragma unroll
    for (int w = 0; w < OWN; ++w) {
      const int feature = feature_of(w, quarter);
      out[w] = row[feature * step];
      if (EACH == 2) {
        out[w] |= (unsigned)row[(feature + 1) * step] << 16;
      }
    }
  } else {
#pragma unroll
    for (int w = 0; w + 4 <= OWN; w += 4) {
      const uint4 four = *(const uint4*)(row + feature_of(w, quarter));
      out[w] = four.x;
      out[w + 1] = four.y;
      out[w + 2] = four.z;
      out[w + 3] = four.w;
    }
    if (OWN % 4 >= 2) {
      const int w = OWN / 4 * 4;
      const uint2 two = *(const uint2*)(row + feature_of(w, quarter));
      out[w] = two.x;
      out[w + 1] = two.y;
    }
    if (OWN % 2 == 1) {
      out[OWN - 1] = *(const unsigned*)(row + feature_of(OWN - 1, quarter));
    }
  }
#pragma unroll
  for (int w = 0; w < OWN; ++w) {
    out[w] = multiplied(out[w]);
  }
}

/* Words from a place that is a multiple of their bytes, at most 16. */
template <int COUNT>
INLINE void load_words(const element_t* from, unsigned* out) {
  if (COUNT >= 4) {
#pragma unroll
    for (int k = 0; k < COUNT / 4; ++k) {
      const uint4 four = ((const uint4*)from)[k];
      out[4 * k] = four.x;
      out[4 * k + 1] = four.y;
      out[4 * k + 2] = four.z;
      out[4 * k + 3] = four.w;
    }
  } else if (COUNT == 2) {
    const uint2 two = *(const uint2*)from;
    out[0] = two.x;
    out[1] = two.y;
  } else if (COUNT == 1) {
    out[0] = *(const unsigned*)from;
  } else {
    out[0] = *from; /* half a word */
  }
}
/* The lane's columns of a row of v, tile after tile, EACH in a word. */
template <bool WIDE>
INLINE void load_columns(const element_t* from, i64 step, bool inside, int row,
                         unsigned (&out)[VALUES]) {
#pragma unroll
  for (int w = 0; w < VALUES; ++w) {
    out[w] = 0;
  }
  if (!inside) {
    return;
  }
  if (!WIDE) {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
      out[j / EACH] |= (unsigned)from[column_of(j, row) * step] << (j % EACH * 16);
    }
  } else {
#pragma unroll
    for (int j = 0; j + 8 <= COLUMNS; j += 8) {
      load_words<8 / EACH>(from + column_of(j, row), out + j / EACH);
    }
#if E / 8 % 8 >= 4
    load_words<4 / EACH>(from + column_of(E / 64 * 8, row), out + E / 64 * 8 / EACH);
#endif
#if E / 8 % 4 >= 2
    load_words<2 / EACH>(from + column_of(E / 32 * 4, row), out + E / 32 * 4 / EACH);
#endif
#if E / 8 % 2 == 1
    load_words<1 / EACH>(from + column_of(COLUMNS - 1, row), out + (COLUMNS - 1) / EACH);
#endif
  }
#pragma unroll
  for (int w = 0; w < VALUES; ++w) {
    out[w] = multiplied(out[w]);
  }
}

/* ---- Where rows are ---- */

/* Keys and values of a block: in memory, or a tile of them in shared memory. */
struct source_t {
  const element_t* k;
  const element_t* v;
  i64 k_row;
  i64 k_feature;
  i64 v_row;
  i64 v_feature;
};

/* Returns the offset of a block's heads in q, k, v or y, in elements. */
INLINE i64 heads_of(const lines_t& lines, const place_t& block) {
  i64 offset = 0;
#pragma unroll
  for (int axis = 0; axis < AXES - 2; ++axis) {
    offset += block.at[axis] * lines.outer[axis];
  }
  return offset;
}

#if STAGED || EXCHANGED
/* Copies 16 bytes of a row. WIDE: they are contiguous. */
template <bool WIDE>
INLINE void stage_piece(unsigned char* to, const element_t* rows, i64 row, i64 step, int key,
                        int piece, bool inside) {
  if (WIDE) {
    copy_16(shared_of(to), inside ? rows + key * row + piece * PIECE : rows, inside ? 16 : 0);
    return;
  }
  words_t<element_t, PIECE> words;
#pragma unroll
  for (int j = 0; j < PIECE; ++j) {
    words.elements[j] = inside ? rows[key * row + (piece * PIECE + j) * step] : (element_t)0;
  }
  *(uint4*)to = words.words[0];
}
#endif
#if STAGED
/* A tile of keys and values, by all threads of the block. */
template <bool WIDE>
INLINE void stage(const source_t& from, int first, int keys, unsigned char* to) {
  for (int n = threadIdx.x; n < KEYS * (D / PIECE); n += THREADS) {
    const int row = n / (D / PIECE);
    const int piece = n % (D / PIECE);
    stage_piece<WIDE>(to + row * K_PITCH + piece * 16, from.k, from.k_row, from.k_feature,
                      first + row, piece, first + row < keys);
  }
  for (int n = threadIdx.x; n < KEYS * (E / PIECE); n += THREADS) {
    const int row = n / (E / PIECE);
    const int piece = n % (E / PIECE);
    stage_piece<WIDE>(to + K_BYTES + row * V_PITCH + row / 4 * 32 + piece * 16, from.v, from.v_row,
                      from.v_feature, first + row, piece, first + row < keys);
  }
}
#endif

/* The lane's words of the key that is column `row` of half `half` of a group of 16. */
INLINE int key_of(int group, int half, int row) {
  return group * 16 + row / 2 * 4 + half * 2 + row % 2;
}
template <bool WIDE>
INLINE void load_key(const source_t& from, const unsigned char* staged, int first, int keys,
                     int key, int quarter, unsigned (&out)[WORDS]) {
#if STAGED
  load_features<true>((const element_t*)(staged + key * K_PITCH), 1, true, quarter, out);
#else
  load_features<WIDE>(from.k + (first + key) * from.k_row, from.k_feature, first + key < keys,
                      quarter, out);
#endif
}
template <bool WIDE>
INLINE void load_value(const source_t& from, const unsigned char* staged, int first, int keys,
                       int key, int row, unsigned (&out)[VALUES]) {
#if STAGED
  load_columns<true>((const element_t*)(staged + K_BYTES + key * V_PITCH + key / 4 * 32), 1, true,
                     row, out);
#else
  load_columns<WIDE>(from.v + (first + key) * from.v_row, from.v_feature, first + key < keys, row,
                     out);
#endif
}
