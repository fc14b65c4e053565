/* SHA-256 as FIPS 180-4 writes it: a message in blocks of 64 bytes, each mixed into eight words of
 * state; at the end a one bit, zeros and the length in bits. */
#include "core/base/digest.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

/* ---- Blocks ----
 *
 * Each block is expanded to 64 words and mixed in, one word a round (FIPS 180-4, section 6.2). The
 * processor's instructions do two rounds at a time; measured, they take a sixth of the time. */

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, unsigned n) {
  return (x >> n) | (x << (32u - n));
}

static void expand(const uint8_t* block, uint32_t out_message[64]) {
  for (size_t i = 0; i < 16; ++i) {
    const uint8_t* b = block + 4 * i;
    out_message[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t x = out_message[i - 15];
    const uint32_t y = out_message[i - 2];
    const uint32_t s0 = rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3);
    const uint32_t s1 = rotate_right(y, 17) ^ rotate_right(y, 19) ^ (y >> 10);
    out_message[i] = out_message[i - 16] + s0 + out_message[i - 7] + s1;
  }
}

static void mix_block(uint32_t state[8], const uint8_t* block) {
  uint32_t words[64];
  expand(block, words);
  uint32_t v[8]; /* a to h of the standard */
  memcpy(v, state, sizeof(v));
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
    const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    const uint32_t t1 = v[7] + s1 + choice + round_constants[i] + words[i];
    const uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
    const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    v[7] = v[6];
    v[6] = v[5];
    v[5] = v[4];
    v[4] = v[3] + t1;
    v[3] = v[2];
    v[2] = v[1];
    v[1] = v[0];
    v[0] = t1 + s0 + majority;
  }
  for (size_t i = 0; i < 8; ++i) {
    state[i] += v[i];
  }
}

void tenon__digest_mix_portable(uint32_t state[8], const uint8_t* blocks, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    mix_block(state, blocks + i * TENON_DIGEST_BLOCK);
  }
}

#if defined(__x86_64__)
#define WITH_SHA __attribute__((target("sha,ssse3,sse4.1")))

/* The state as the instructions want it: words a, b, e, f and c, d, g, h. */
typedef struct halves_t {
  __m128i abef;
  __m128i cdgh;
} halves_t;

/* Four rounds. */
WITH_SHA static inline void mix_words(halves_t* state, __m128i words, size_t round) {
  const __m128i* constants = (const __m128i*)(const void*)(round_constants + round);
  const __m128i sum = _mm_add_epi32(words, _mm_loadu_si128(constants));
  state->cdgh = _mm_sha256rnds2_epu32(state->cdgh, state->abef, sum);
  state->abef = _mm_sha256rnds2_epu32(state->abef, state->cdgh, _mm_shuffle_epi32(sum, 0x0E));
}

/* The four words after those of w3, from the sixteen before them. */
WITH_SHA static inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
  const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
  return _mm_sha256msg2_epu32(sum, w3);
}

WITH_SHA static inline __m128i load_words(const uint8_t* bytes) {
  const __m128i big_endian = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);
  return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)(const void*)bytes), big_endian);
}

WITH_SHA static void mix_accelerated(uint32_t words[8], const uint8_t* blocks, size_t count) {
  __m128i* places = (__m128i*)(void*)words;
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(places), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(places + 1), 0x1B);
  halves_t state = {_mm_alignr_epi8(cdab, hgfe, 8), _mm_blend_epi16(hgfe, cdab, 0xF0)};
  for (; count > 0; --count, blocks += TENON_DIGEST_BLOCK) {
    const halves_t before = state;
    __m128i w0 = load_words(blocks);
    __m128i w1 = load_words(blocks + 16);
    __m128i w2 = load_words(blocks + 32);
    __m128i w3 = load_words(blocks + 48);
    for (size_t round = 0; round < 64; round += 16) {
      mix_words(&state, w0, round);
      mix_words(&state, w1, round + 4);
      mix_words(&state, w2, round + 8);
      mix_words(&state, w3, round + 12);
      w0 = next_words(w0, w1, w2, w3);
      w1 = next_words(w1, w2, w3, w0);
      w2 = next_words(w2, w3, w0, w1);
      w3 = next_words(w3, w0, w1, w2);
    }
    state.abef = _mm_add_epi32(state.abef, before.abef);
    state.cdgh = _mm_add_epi32(state.cdgh, before.cdgh);
  }
  const __m128i feba = _mm_shuffle_epi32(state.abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(state.cdgh, 0xB1);
  _mm_storeu_si128(places, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(places + 1, _mm_alignr_epi8(dchg, feba, 8));
}

static bool ask_processor(void) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

/* Asked once: in a virtual machine the question takes longer than a block. */
static bool is_accelerated(void) {
  enum { UNKNOWN, NO, YES };
  static atomic_int answer = UNKNOWN;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == UNKNOWN) {
    known = ask_processor() ? YES : NO;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == YES;
}
#endif

void tenon__digest_mix(uint32_t state[8], const uint8_t* blocks, size_t count) {
#if defined(__x86_64__)
  if (is_accelerated()) {
    mix_accelerated(state, blocks, count);
    return;
  }
#endif
  tenon__digest_mix_portable(state, blocks, count);
}

/* ---- Messages ---- */

void tenon__digest_begin(tenon__digest_state_t* out_state) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memset(out_state, 0, sizeof(*out_state));
  memcpy(out_state->state, start, sizeof(start));
}

void tenon__digest_add(tenon__digest_state_t* state, const void* data, size_t size_bytes) {
  const uint8_t* bytes = data;
  size_t buffered = (size_t)(state->total_bytes % TENON_DIGEST_BLOCK);
  state->total_bytes += size_bytes;
  if (buffered > 0) {
    const size_t room = TENON_DIGEST_BLOCK - buffered;
    const size_t taken = size_bytes < room ? size_bytes : room;
    if (taken > 0) {
      memcpy(state->buffer + buffered, bytes, taken);
      bytes += taken;
      size_bytes -= taken;
      buffered += taken;
    }
    if (buffered < TENON_DIGEST_BLOCK) {
      return;
    }
    tenon__digest_mix(state->state, state->buffer, 1);
  }
  const size_t blocks = size_bytes / TENON_DIGEST_BLOCK;
  if (blocks > 0) {
    tenon__digest_mix(state->state, bytes, blocks);
    bytes += blocks * TENON_DIGEST_BLOCK;
    size_bytes -= blocks * TENON_DIGEST_BLOCK;
  }
  if (size_bytes > 0) {
    memcpy(state->buffer, bytes, size_bytes);
  }
}

bool tenon__digest_add_until(tenon__digest_state_t* state, const void* data, size_t size_bytes,
                             tenon__interrupt_t* interrupt) {
  static const size_t most = (size_t)1 << 23; /* some milliseconds */
  const uint8_t* bytes = data;
  while (size_bytes > most) {
    tenon__digest_add(state, bytes, most);
    bytes += most;
    size_bytes -= most;
    if (tenon__interrupt_is_wanted(interrupt)) {
      return false;
    }
  }
  tenon__digest_add(state, bytes, size_bytes);
  return true;
}

tenon__digest_t tenon__digest_end(tenon__digest_state_t* state) {
  const uint64_t bit_count = state->total_bytes * 8;
  uint8_t tail[TENON_DIGEST_BLOCK + 8] = {0x80};
  const size_t buffered = (size_t)(state->total_bytes % TENON_DIGEST_BLOCK);
  const size_t zeros_end = buffered < 56 ? 56 - buffered : 120 - buffered;
  for (size_t i = 0; i < 8; ++i) {
    tail[zeros_end + i] = (uint8_t)(bit_count >> (56 - 8 * i));
  }
  tenon__digest_add(state, tail, zeros_end + 8);

  tenon__digest_t digest;
  for (size_t i = 0; i < sizeof(digest.bytes); ++i) {
    digest.bytes[i] = (uint8_t)(state->state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

tenon__digest_t tenon__digest_of(const void* data, size_t size_bytes) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, data, size_bytes);
  return tenon__digest_end(&state);
}

void tenon__digest_text(const tenon__digest_t* digest, char out_text[65]) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < sizeof(digest->bytes); ++i) {
    out_text[2 * i] = digits[digest->bytes[i] >> 4];
    out_text[2 * i + 1] = digits[digest->bytes[i] & 15];
  }
  out_text[64] = '\0';
}
