#include "core/base/string_map.h"

#include "core/base/test.h"

static tenon__map_value_t number(uint64_t value) {
  return (tenon__map_value_t){.number = value};
}

TENON_TEST(finds_what_was_set) {
  tenon__string_map_t map;
  tenon__string_map_initialize(&map, tenon__allocator_default());
  EXPECT(tenon__string_map_find(&map, "x") == NULL);
  for (uint64_t i = 0; i < 5000; ++i) {
    char key[32];
    (void)snprintf(key, sizeof(key), "node_%llu", (unsigned long long)i);
    REQUIRE(tenon__string_map_set(&map, key, number(i)));
  }
  EXPECT_INT(tenon__string_map_count(&map), 5000);
  for (uint64_t i = 0; i < 5000; ++i) {
    char key[32];
    (void)snprintf(key, sizeof(key), "node_%llu", (unsigned long long)i);
    const tenon__map_value_t* value = tenon__string_map_find(&map, key);
    REQUIRE(value != NULL);
    EXPECT_INT(value->number, i);
    EXPECT_TEXT(tenon__string_map_key(&map, i), key);
    EXPECT_INT(tenon__string_map_value(&map, i).number, i);
  }
  EXPECT(tenon__string_map_find(&map, "node_5000") == NULL);
  EXPECT(tenon__string_map_find(&map, "") == NULL);
  tenon__string_map_deinitialize(&map);
}

TENON_TEST(setting_again_replaces_in_place) {
  tenon__string_map_t map;
  tenon__string_map_initialize(&map, tenon__allocator_default());
  EXPECT(tenon__string_map_set(&map, "a", number(1)));
  EXPECT(tenon__string_map_set(&map, "", number(2)));
  EXPECT(tenon__string_map_set(&map, "a", number(3)));
  EXPECT_INT(tenon__string_map_count(&map), 2);
  EXPECT_TEXT(tenon__string_map_key(&map, 0), "a");
  EXPECT_TEXT(tenon__string_map_key(&map, 1), "");
  EXPECT_INT(tenon__string_map_value(&map, 0).number, 3);
  EXPECT_INT(tenon__string_map_find(&map, "")->number, 2);
  tenon__string_map_deinitialize(&map);
}

TENON_TEST(keys_are_copied) {
  tenon__string_map_t map;
  tenon__string_map_initialize(&map, tenon__allocator_default());
  char key[] = "abc";
  EXPECT(tenon__string_map_set(&map, key, number(1)));
  key[0] = 'x';
  EXPECT(tenon__string_map_find(&map, "abc") != NULL);
  EXPECT(tenon__string_map_find(&map, "xbc") == NULL);
  tenon__string_map_deinitialize(&map);
}

/* Made with an implementation in Python of the paper's definition, key (seed, ~seed). */
TENON_TEST(hashes_as_siphash_1_3) {
  const uint8_t bytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT(tenon__hash_bytes(bytes, 0, 0) == 0x6b3c89e238a4996e);
  EXPECT(tenon__hash_bytes(bytes, 7, 1) == 0xe950eb5cd738e46f);
  EXPECT(tenon__hash_bytes(bytes, 8, 2) == 0xaa92eb440857f9b2);
  EXPECT(tenon__hash_bytes(bytes, 17, 0x0123456789abcdef) == 0xb48f40c5d36f771d);
}

TENON_TEST(a_failed_set_leaves_the_map_as_it_was) {
  for (uint64_t fail_at = 1; fail_at < 200; ++fail_at) {
    tenon__test_allocator_t state = {.fail_at = fail_at};
    tenon__string_map_t map;
    tenon__string_map_initialize(&map, tenon__test_allocator(&state));
    uint64_t set_count = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      char key[32];
      (void)snprintf(key, sizeof(key), "k%llu", (unsigned long long)i);
      if (!tenon__string_map_set(&map, key, number(i))) {
        EXPECT(tenon__string_map_find(&map, key) == NULL);
        EXPECT_INT(tenon__string_map_count(&map), set_count);
        EXPECT(tenon__string_map_set(&map, key, number(i)));
      }
      ++set_count;
      EXPECT_INT(tenon__string_map_value(&map, i).number, i);
    }
    tenon__string_map_deinitialize(&map);
    EXPECT_INT(state.live_blocks, 0);
    EXPECT_INT(state.live_bytes, 0);
  }
}
