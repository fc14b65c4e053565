/* Vectors of FIPS 180-4's examples and NIST's CAVP short and long messages. */
#include "core/base/digest.h"

#include <stdlib.h>

#include "core/base/test.h"

static const char* text_of(tenon__digest_t digest) {
  static char text[65];
  tenon__digest_text(&digest, text);
  return text;
}

TENON_TEST(matches_the_standards_examples) {
  EXPECT_TEXT(text_of(tenon__digest_of("", 0)),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_TEXT(text_of(tenon__digest_of("abc", 3)),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const char* two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  EXPECT_TEXT(text_of(tenon__digest_of(two_blocks, strlen(two_blocks))),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_TEXT(text_of(tenon__digest_of("\xd3", 1)),
              "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

TENON_TEST(a_million_letters) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  char letters[1000];
  memset(letters, 'a', sizeof(letters));
  for (int i = 0; i < 1000; ++i) {
    tenon__digest_add(&state, letters, sizeof(letters));
  }
  EXPECT_TEXT(text_of(tenon__digest_end(&state)),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TENON_TEST(pieces_do_not_matter) {
  uint8_t data[300];
  for (size_t i = 0; i < sizeof(data); ++i) {
    data[i] = (uint8_t)(i * 7);
  }
  for (size_t size = 0; size <= sizeof(data); ++size) {
    const tenon__digest_t whole = tenon__digest_of(data, size);
    for (size_t piece = 1; piece < 130; piece += 9) {
      tenon__digest_state_t state;
      tenon__digest_begin(&state);
      for (size_t at = 0; at < size; at += piece) {
        tenon__digest_add(&state, data + at, size - at < piece ? size - at : piece);
      }
      tenon__digest_add(&state, NULL, 0);
      const tenon__digest_t joined = tenon__digest_end(&state);
      EXPECT(memcmp(&whole, &joined, sizeof(whole)) == 0);
    }
  }
}

TENON_TEST(ends_early_when_somebody_wants_it) {
  enum { SIZE = 20 * 1024 * 1024 };
  tenon__interrupt_t interrupt;
  tenon__digest_state_t state;
  uint8_t* data = calloc(1, SIZE);
  REQUIRE(data != NULL);
  data[SIZE - 1] = 5;
  tenon__interrupt_initialize(&interrupt, NULL, NULL);
  tenon__digest_begin(&state);
  EXPECT(tenon__digest_add_until(&state, data, SIZE, &interrupt));
  const tenon__digest_t in_pieces = tenon__digest_end(&state);
  const tenon__digest_t whole = tenon__digest_of(data, SIZE);
  EXPECT(memcmp(&in_pieces, &whole, sizeof whole) == 0);
  tenon__interrupt_want(&interrupt);
  tenon__digest_begin(&state);
  EXPECT(!tenon__digest_add_until(&state, data, SIZE, &interrupt));
  EXPECT(state.total_bytes < SIZE);
  free(data);
}

/* The processor's instructions and the portable rounds are one function. */
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
