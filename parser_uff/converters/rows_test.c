/* The tables of converters are complete. */
#include "core/base/test.h"
#include "families.h"

#define FAMILY_ENTRY(name, count) {tenon__uff_##name##_rows, count},
static const tenon_make_table_t families[] = {TENON__UFF_FAMILIES(FAMILY_ENTRY)};

enum { FAMILY_COUNT = sizeof(families) / sizeof(families[0]) };

/* The rows of all families, one after the other; NULL after the last. */
static const tenon_make_row_t* row_at(uint32_t index) {
  for (uint32_t i = 0; i < FAMILY_COUNT; ++i) {
    if (index < families[i].count) {
      return &families[i].rows[index];
    }
    index -= families[i].count;
  }
  return NULL;
}

TENON_TEST(every_row_is_filled) {
  const tenon_make_row_t* row = NULL;
  for (uint32_t i = 0; (row = row_at(i)) != NULL; ++i) {
    REQUIRE(row->converter.type != NULL && row->make != NULL);
    EXPECT_TEXT(row->converter.format, "uff");
    EXPECT(row->converter.convert == tenon__uff_convert_row);
    EXPECT(row->make != tenon_make_same || row->op != NULL);
  }
}

TENON_TEST(no_two_rows_take_one_layer) {
  const tenon_make_row_t* row = NULL;
  const tenon_make_row_t* other = NULL;
  for (uint32_t i = 0; (row = row_at(i)) != NULL; ++i) {
    for (uint32_t k = i + 1; (other = row_at(k)) != NULL; ++k) {
      EXPECT(strcmp(row->converter.type, other->converter.type) != 0 ||
             strcmp(row->converter.domain, other->converter.domain) != 0);
    }
  }
}
