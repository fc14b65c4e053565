/* Philox4x32-10, see philox.h. */
#include "philox.h"

static void round_once(uint32_t words[4], const uint32_t keys[2]) {
  uint64_t a = (uint64_t)0xD2511F53u * words[0];
  uint64_t b = (uint64_t)0xCD9E8D57u * words[2];
  uint32_t next[4] = {(uint32_t)(b >> 32) ^ words[1] ^ keys[0], (uint32_t)b,
                      (uint32_t)(a >> 32) ^ words[3] ^ keys[1], (uint32_t)a};
  for (int index = 0; index < 4; ++index) {
    words[index] = next[index];
  }
}

void tenon__philox(uint64_t key, uint64_t counter, uint32_t out_words[4]) {
  uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
  out_words[0] = (uint32_t)counter;
  out_words[1] = (uint32_t)(counter >> 32);
  out_words[2] = 0;
  out_words[3] = 0;
  for (int round = 0; round < 10; ++round) {
    round_once(out_words, keys);
    keys[0] += 0x9E3779B9u;
    keys[1] += 0xBB67AE85u;
  }
}

double tenon__philox_uniform(uint64_t key, uint64_t counter) {
  uint32_t words[4];
  tenon__philox(key, counter, words);
  return (double)(words[0] >> 8) * 0x1p-24;
}

double tenon__philox_uniform53(uint64_t key, uint64_t counter) {
  uint32_t words[4];
  tenon__philox(key, counter, words);
  uint64_t both = (uint64_t)words[0] << 32 | words[1];
  return (double)(both >> 11) * 0x1p-53;
}
