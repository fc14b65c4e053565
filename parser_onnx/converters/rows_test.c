/* The tables of converters are complete, and find each node's row. */
#include "core/base/test.h"
#include "families.h"

#define FAMILY_ENTRY(name, count) {tenon__onnx_##name##_rows, count},
static const struct {
  const tenon_make_row_t* rows;
  uint32_t count;
} families[] = {TENON__ONNX_FAMILIES(FAMILY_ENTRY)};

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
    EXPECT_TEXT(row->converter.format, "onnx");
    EXPECT(row->converter.convert == tenon__onnx_convert_row);
    EXPECT(row->converter.since >= 1);
    EXPECT(row->make != tenon_make_same || row->op != NULL);
  }
}

static bool overlap(const tenon_converter_t* a, const tenon_converter_t* b) {
  return strcmp(a->type, b->type) == 0 && strcmp(a->domain, b->domain) == 0 &&
         (a->until == 0 || b->since < a->until) && (b->until == 0 || a->since < b->until);
}

static uint32_t count_overlaps(const tenon_converter_t* converter) {
  const tenon_make_row_t* row = NULL;
  uint32_t found = 0;
  for (uint32_t i = 0; (row = row_at(i)) != NULL; ++i) {
    found += overlap(converter, &row->converter) ? 1u : 0;
  }
  return found;
}

TENON_TEST(no_two_rows_take_one_node) {
  const tenon_make_row_t* row = NULL;
  for (uint32_t i = 0; (row = row_at(i)) != NULL; ++i) {
    EXPECT_INT(count_overlaps(&row->converter), 1);
  }
}
