/* Tests of a parser's tables of converters, of which `under_test` is: they are complete, and find
 * each node's row. A source of them includes the parser's testing/under_test.h and this file. */
#ifndef TENON_TESTS_SUPPORT_ROW_TABLES_H_
#define TENON_TESTS_SUPPORT_ROW_TABLES_H_

#include "core/base/test.h"
#include "tests/support/fake.h"

/* The rows of all families, one after the other; NULL after the last. */
static const tenon_make_row_t* row_at(uint32_t index) {
  for (size_t i = 0; i < under_test.family_count; ++i) {
    if (index < under_test.families[i]->items.count) {
      return (const tenon_make_row_t*)under_test.families[i]->items.items + index;
    }
    index -= under_test.families[i]->items.count;
  }
  return NULL;
}

TENON_TEST(every_row_is_filled) {
  const tenon_make_row_t* row = NULL;
  for (uint32_t i = 0; (row = row_at(i)) != NULL; ++i) {
    REQUIRE(row->converter.type != NULL && row->make != NULL);
    EXPECT_TEXT(row->converter.format, under_test.format);
    EXPECT(row->converter.convert != NULL);
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

#endif
