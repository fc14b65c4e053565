/* The kinds of offerings as a table. */
#include "core/catalog/kinds.h"

#include <string.h>

#include "core/base/bytes.h"

typedef struct kind_row_t {
  const char* word;
  const char* kind;
  size_t full;
  size_t least;
} kind_row_t;

static const kind_row_t kind_rows[TENON_OFFER_COUNT] = {
#define KIND_ROW(name, word, kind, type, member) \
  {word, kind, sizeof(type), offsetof(type, member) + sizeof(((type*)NULL)->member)},
    TENON_OFFER_KINDS(KIND_ROW)
#undef KIND_ROW
};

tenon__offer_kind_t tenon__offer_kind_of_word(const char* word) {
  int kind = 0;
  while (kind < TENON_OFFER_COUNT && strcmp(kind_rows[kind].word, word) != 0) {
    ++kind;
  }
  return (tenon__offer_kind_t)kind;
}

tenon__offer_kind_t tenon__offer_kind_of_offering(const char* name) {
  int kind = 0;
  while (kind < TENON_OFFER_COUNT && strcmp(kind_rows[kind].kind, name) != 0) {
    ++kind;
  }
  return (tenon__offer_kind_t)kind;
}

const char* tenon__offer_kind_word(tenon__offer_kind_t kind) {
  return kind_rows[kind].word;
}

size_t tenon__offer_kind_size(tenon__offer_kind_t kind) {
  return kind_rows[kind].full;
}

const char* tenon__offering_fault(const tenon_offering_t* offering) {
  if (offering->kind == NULL) {
    return "an offering without a kind";
  }
  const tenon_list_t* items = &offering->items;
  if (items->count == 0) {
    return NULL;
  }
  if (items->items == NULL) {
    return "an offering without items";
  }
  if (items->stride < sizeof(size_t) || items->stride > TENON_STRUCTURE_LIMIT ||
      items->stride % _Alignof(size_t) != 0) {
    return "an offering whose stride cannot be the size of an item";
  }
  return NULL;
}

const char* tenon__offer_item(tenon__offer_kind_t kind, const tenon_offering_t* offering,
                              uint32_t index, tenon__offer_item_t* out_item) {
  const tenon_list_t* items = &offering->items;
  if (!tenon__structure_copy(tenon__list_item(items, index), kind_rows[kind].least, items->stride,
                             kind_rows[kind].full, out_item)) {
    return "its size is not that of an item of this kind";
  }
  return NULL;
}
