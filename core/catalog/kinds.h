/*
 * The kinds of descriptors, and the conversion of one item of an offering to a structure of our
 * size. An item that an older plugin compiled is shorter; its missing members are zero. One that a
 * newer plugin compiled is longer; its additional members are ignored.
 */
#ifndef TENON_CORE_CATALOG_KINDS_H_
#define TENON_CORE_CATALOG_KINDS_H_

#include "tenon/plugin.h"

/* NAME, word in manifests, versioned kind of the offering, structure, last member that an item must
 * have. A new kind needs one line here, a structure in plugin.h, and the code that looks it up. */
#define TENON_OFFER_KINDS(X)                                           \
  X(OPERATOR, "operator", "operator/1", tenon_operator_t, name)        \
  X(KERNEL, "kernel", "kernel/1", tenon_kernel_t, enqueue)             \
  X(DEVICE, "device", "device/1", tenon_device_descriptor_t, free)     \
  X(PARSER, "parser", "parser/1", tenon_parser_t, parse)               \
  X(CONVERTER, "converter", "converter/1", tenon_converter_t, convert) \
  X(REWRITE, "rewrite", "rewrite/1", tenon_rewrite_t, pattern)

#define TENON_OFFER_KIND_ENTRY(name, word, kind, type, least) TENON_OFFER_##name,
typedef enum tenon__offer_kind_t {
  TENON_OFFER_KINDS(TENON_OFFER_KIND_ENTRY) TENON_OFFER_COUNT
} tenon__offer_kind_t;

/* No name in the catalogue (identity, "plugin:kernel", "format:domain:Type") is longer. */
enum { TENON_OFFER_NAME_LIMIT = 511 };

/* Large enough and aligned for one item of any kind. */
typedef union tenon__offer_item_t {
#define TENON_OFFER_ITEM_MEMBER(name, word, kind, type, least) type name##_item;
  TENON_OFFER_KINDS(TENON_OFFER_ITEM_MEMBER)
#undef TENON_OFFER_ITEM_MEMBER
} tenon__offer_item_t;

/* Return the kind for "operator" (a manifest's word) or "operator/1" (an offering's kind); COUNT
 * for an unknown one. */
tenon__offer_kind_t tenon__offer_kind_of_word(const char* word);
tenon__offer_kind_t tenon__offer_kind_of_offering(const char* kind);
/* The kind must not be COUNT. */
const char* tenon__offer_kind_word(tenon__offer_kind_t kind);
size_t tenon__offer_kind_size(tenon__offer_kind_t kind);

/* Copies item `index` of an offering of a known kind to *out_item and returns NULL, or returns its
 * error as a static string. The index is below the count. */
const char* tenon__offer_item(tenon__offer_kind_t kind, const tenon_offering_t* offering,
                              uint32_t index, tenon__offer_item_t* out_item);
/* Returns the error of the offering as a whole (no items, an impossible stride), or NULL. */
const char* tenon__offering_fault(const tenon_offering_t* offering);

#endif
