/* The tables are complete: every row has a name, every name is unique, every entry says what it is.
 */
#include "families.h"

#include "core/base/test.h"

#define FAMILY_ENTRY(family, summary) &tenon__##family##_family,
static const tenon_offering_t* const families[] = {TENON__FAMILIES(FAMILY_ENTRY)};

/* The operators of all families, one after the other; NULL after the last. */
static const tenon_operator_t* operator_at(uint32_t index) {
  for (size_t family = 0; family < sizeof(families) / sizeof(families[0]); ++family) {
    if (index < families[family]->items.count) {
      return (const tenon_operator_t*)families[family]->items.items + index;
    }
    index -= families[family]->items.count;
  }
  return NULL;
}

TENON_TEST(every_row_is_filled) {
  const tenon_operator_t* op = NULL;
  for (uint32_t index = 0; (op = operator_at(index)) != NULL; ++index) {
    REQUIRE(op->name != NULL);
    EXPECT(strncmp(op->name, "standard.", 9) == 0);
    EXPECT(op->summary != NULL && op->outputs.count > 0);
    EXPECT(op->cases.count == 0 || op->moves.count == 0);
    EXPECT(op->shape != NULL || op->infer != NULL || op->cases.count > 0 || op->control != NULL);
  }
}

static uint32_t count_of(const char* name) {
  const tenon_operator_t* op = NULL;
  uint32_t found = 0;
  for (uint32_t index = 0; (op = operator_at(index)) != NULL; ++index) {
    found += strcmp(op->name, name) == 0 ? 1u : 0u;
  }
  return found;
}

TENON_TEST(names_are_unique) {
  const tenon_operator_t* op = NULL;
  for (uint32_t index = 0; (op = operator_at(index)) != NULL; ++index) {
    EXPECT_INT(count_of(op->name), 1);
  }
}

static bool attributes_are_complete(const tenon_operator_t* op) {
  bool complete = true;
  const tenon_attribute_descriptor_t* attributes = op->attributes.items;
  for (uint32_t index = 0; index < op->attributes.count; ++index) {
    const tenon_attribute_descriptor_t* attribute = &attributes[index];
    bool required = (attribute->flags & TENON_ATTRIBUTE_REQUIRED) != 0;
    complete = complete && attribute->name != NULL && attribute->kind != 0 &&
               required == (attribute->default_text == NULL);
  }
  return complete;
}

TENON_TEST(defaults_are_there_unless_required) {
  const tenon_operator_t* op = NULL;
  for (uint32_t index = 0; (op = operator_at(index)) != NULL; ++index) {
    EXPECT(attributes_are_complete(op));
  }
}
