/* The processor's instructions and the portable rounds are one function. */
#include "core/base/digest_blocks.h"

#include "core/base/test.h"

TENON_TEST(both_ways_mix_alike) {
  uint8_t blocks[9 * TENON_DIGEST_BLOCK + 1];
  uint32_t seed = 12345;
  for (size_t i = 0; i < sizeof(blocks); ++i) {
    seed = seed * 1664525U + 1013904223U;
    blocks[i] = (uint8_t)(seed >> 24);
  }
  for (size_t count = 0; count <= 9; ++count) {
    uint32_t one[8] = {1, 2, 3, 0x80000000U, 5, 6, 0xFFFFFFFFU, 8};
    uint32_t other[8];
    memcpy(other, one, sizeof(one));
    const size_t offset = count < 9 ? 1 : 0; /* any alignment will do */
    tenon__digest_mix(one, blocks + offset, count);
    tenon__digest_mix_portable(other, blocks + offset, count);
    EXPECT(memcmp(one, other, sizeof(one)) == 0);
  }
}
