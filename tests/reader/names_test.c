/* The hash map: growth, collisions, both kinds of keys. */
#include "core/base/test.h"
#include "tests/support/fake.h"

enum { MANY = 5000, NAME_SIZE = 24, FEW = 11 };

static tenon__fake_t fake;
static tenon_reader_t reader;

static void begin(void) {
  tenon__fake_initialize(&fake, NULL);
  tenon__fake_reader(&fake, &reader);
}

static void end(void) {
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(an_empty_map_holds_nothing) {
  const tenon_reader_names_t names = {0};
  EXPECT(tenon_reader_names_find(&names, "") == NULL);
  EXPECT(tenon_reader_names_find(&names, "a") == NULL);
  EXPECT(tenon_reader_addresses_find(&names, &names) == NULL);
}

TENON_TEST(holds_many_names_as_it_grows) {
  static char keys[MANY][NAME_SIZE];
  static char values[MANY];
  tenon_reader_names_t names = {0};
  begin();
  for (size_t i = 0; i < MANY; ++i) {
    (void)snprintf(keys[i], NAME_SIZE, "layer%zu/weights", i);
    EXPECT_STATUS(tenon_reader_names_set(&reader, &names, keys[i], &values[i]), TENON_OK);
    EXPECT(names.count * 4 <= names.capacity * 3 && (names.capacity & (names.capacity - 1)) == 0);
  }
  EXPECT_INT(names.count, MANY);
  for (size_t i = 0; i < MANY; ++i) {
    char other[NAME_SIZE]; /* the text counts, not where it stands */
    (void)snprintf(other, sizeof(other), "layer%zu/weights", i);
    EXPECT(tenon_reader_names_find(&names, other) == &values[i]);
    (void)snprintf(other, sizeof(other), "layer%zu/weight", i);
    EXPECT(tenon_reader_names_find(&names, other) == NULL);
  }
  end();
}

TENON_TEST(replaces_what_has_the_name) {
  int first = 0;
  int second = 0;
  char copy[] = "a";
  tenon_reader_names_t names = {0};
  begin();
  EXPECT_STATUS(tenon_reader_names_set(&reader, &names, "a", &first), TENON_OK);
  EXPECT_STATUS(tenon_reader_names_set(&reader, &names, copy, &second), TENON_OK);
  EXPECT_INT(names.count, 1);
  EXPECT(tenon_reader_names_find(&names, "a") == &second);
  end();
}

static size_t slot_of(const tenon_reader_names_t* names, const char* name) {
  return tenon_reader_names_hash(names, name, strlen(name)) & (TENON_READER_NAMES_FIRST - 1);
}

/* All of them belong in the last slot of the smallest map: they go on at its beginning. */
TENON_TEST(names_of_one_slot_are_told_apart) {
  static char keys[FEW][NAME_SIZE];
  tenon_reader_names_t names = {0};
  char absent[NAME_SIZE] = "";
  size_t count = 0;
  begin();
  for (size_t i = 0; count <= FEW; ++i) {
    (void)snprintf(absent, sizeof(absent), "n%zu", i);
    if (slot_of(&names, absent) != TENON_READER_NAMES_FIRST - 1) {
      continue;
    }
    if (count < FEW) {
      memcpy(keys[count], absent, NAME_SIZE);
      EXPECT_STATUS(tenon_reader_names_set(&reader, &names, keys[count], keys[count]), TENON_OK);
    }
    ++count;
  }
  EXPECT_INT(names.capacity, TENON_READER_NAMES_FIRST);
  for (size_t i = 0; i < FEW; ++i) {
    EXPECT(tenon_reader_names_find(&names, keys[i]) == keys[i]);
  }
  EXPECT(tenon_reader_names_find(&names, absent) == NULL);
  end();
}

/* Nobody finds two such names; here the map is told that they are. */
TENON_TEST(names_of_one_hash_are_told_apart) {
  static const char texts[2][2] = {"a", "a"};
  int value = 0;
  tenon_reader_names_t names = {0};
  begin();
  EXPECT_STATUS(tenon_reader_names_put(&reader, &names, 5, "a", true, &value), TENON_OK);
  EXPECT_STATUS(tenon_reader_names_put(&reader, &names, 5, "b", true, &names), TENON_OK);
  EXPECT(tenon_reader_names_get(&names, 5, "a", true) == &value);
  EXPECT(tenon_reader_names_get(&names, 5, "b", true) == &names);
  EXPECT(tenon_reader_names_get(&names, 5, "c", true) == NULL);
  EXPECT_INT(names.count, 2);
  memset(&names, 0, sizeof(names));
  EXPECT_STATUS(tenon_reader_names_put(&reader, &names, 5, texts[0], false, &value), TENON_OK);
  EXPECT(tenon_reader_names_get(&names, 5, texts[1], false) == NULL);
  end();
}

/* Else a file could be made whose names all lie in one slot. */
TENON_TEST(every_map_has_an_order_of_its_own) {
  static tenon_reader_names_t maps[2];
  EXPECT(tenon_reader_names_hash(&maps[0], "a", 1) != tenon_reader_names_hash(&maps[1], "a", 1));
}

TENON_TEST(addresses_are_no_texts) {
  char first[] = "a";
  char second[] = "a";
  tenon_reader_names_t names = {0};
  begin();
  EXPECT_STATUS(tenon_reader_addresses_set(&reader, &names, first, first), TENON_OK);
  EXPECT(tenon_reader_addresses_find(&names, second) == NULL);
  EXPECT_STATUS(tenon_reader_addresses_set(&reader, &names, second, second), TENON_OK);
  EXPECT(tenon_reader_addresses_find(&names, first) == first);
  EXPECT(tenon_reader_addresses_find(&names, second) == second);
  EXPECT_INT(names.count, 2);
  end();
}

TENON_TEST(holds_many_addresses) {
  static char keys[MANY];
  tenon_reader_names_t names = {0};
  begin();
  for (size_t i = 0; i < MANY; ++i) {
    EXPECT_STATUS(tenon_reader_addresses_set(&reader, &names, &keys[i], &keys[MANY - 1 - i]),
                  TENON_OK);
  }
  for (size_t i = 0; i < MANY; ++i) {
    EXPECT(tenon_reader_addresses_find(&names, &keys[i]) == &keys[MANY - 1 - i]);
  }
  end();
}

/* Of 13 names the last one needs a larger map. */
TENON_TEST(is_what_it_was_when_memory_is_out) {
  static const char* const keys[] = {"a", "b", "c", "d", "e", "f", "g",
                                     "h", "i", "j", "k", "l", "m"};
  tenon_reader_names_t names = {0};
  begin();
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_STATUS(tenon_reader_names_set(&reader, &names, keys[i], &names), TENON_OK);
  }
  reader.block_left = 0;
  fake.fail_at = fake.allocation_count + 1;
  EXPECT_STATUS(tenon_reader_names_set(&reader, &names, keys[12], &names),
                TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_TEXT(fake.messages, "out of memory\n");
  EXPECT_INT(names.count, 12);
  EXPECT(tenon_reader_names_find(&names, keys[12]) == NULL);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT(tenon_reader_names_find(&names, keys[i]) == &names);
  }
  end();
}
