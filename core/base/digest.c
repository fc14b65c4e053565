/* SHA-256 as FIPS 180-4 writes it: a message in blocks of 64 bytes, each mixed into eight words of
 * state; at the end a one bit, zeros and the length in bits. */
#include "core/base/digest.h"

#include <string.h>

#include "core/base/digest_blocks.h"

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
