/* The tables of converters are complete, and find each node's row. */
#include "core/base/test.h"
#include "families.h"

#define FAMILY_ENTRY(name, count) {#name, tenon__make_##name##_rows, count},
static const struct {
  const char* name;
  const tenon__make_row_t* rows;
  uint32_t count;
} families[] = {TENON__ONNX_FAMILIES(FAMILY_ENTRY)};

enum { FAMILY_COUNT = sizeof(families) / sizeof(families[0]) };

TENON_TEST(every_row_is_filled) {
  for (uint32_t i = 0; i < FAMILY_COUNT; ++i) {
    for (uint32_t k = 0; k < families[i].count; ++k) {
      const tenon__make_row_t* row = &families[i].rows[k];
      REQUIRE(row->converter.type != NULL && row->make != NULL);
      EXPECT_TEXT(row->converter.format, "onnx");
      EXPECT(row->converter.convert == tenon__make_convert);
      EXPECT(row->converter.since >= 1);
      EXPECT(row->make != tenon__make_same || row->op != NULL);
    }
  }
}

static bool overlap(const tenon_converter_t* a, const tenon_converter_t* b) {
  return strcmp(a->type, b->type) == 0 && strcmp(a->domain, b->domain) == 0 &&
         (a->until == 0 || b->since < a->until) && (b->until == 0 || a->since < b->until);
}

TENON_TEST(no_two_rows_take_one_node) {
  for (uint32_t i = 0; i < FAMILY_COUNT; ++i) {
    for (uint32_t k = 0; k < families[i].count; ++k) {
      uint32_t found = 0;
      for (uint32_t m = 0; m < FAMILY_COUNT; ++m) {
        for (uint32_t n = 0; n < families[m].count; ++n) {
          found += overlap(&families[i].rows[k].converter, &families[m].rows[n].converter) ? 1u : 0;
        }
      }
      if (found != 1) {
        tenon__test_fail(__FILE__, __LINE__, "%s %s: %u rows", families[i].name,
                         families[i].rows[k].converter.type, found);
      }
    }
  }
}
