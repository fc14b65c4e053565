/* Copies and compares descriptors. Each thing on offer has a line, as in a manifest: "operator
 * acme.swish/1", "kernel swish_avx2 acme.swish/1 cpu"; the two sets of lines must be one. */
#include "plugin_registry/descriptor.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/string_map.h"
#include "core/catalog/kinds.h"

#define OFFERING_LIMIT 4096u

static tenon__finding_t wrong(const char* detail) {
  return tenon__finding(TENON_PLUGIN_REASON_DESCRIPTOR, detail);
}

/* ---- Copy ---- */

static bool same_text(const char* a, const char* b) {
  return a != NULL && strcmp(a, b) == 0;
}

static tenon__finding_t check_root(tenon__arena_t* arena, const tenon_plugin_t* root,
                                   const tenon__manifest_t* manifest) {
  if (!same_text(root->name, manifest->name) || !same_text(root->version, manifest->version)) {
    return wrong(tenon__arena_format(
        arena, "it calls itself %.100s %.100s, its manifest says %s %s",
        root->name == NULL ? "nothing" : root->name, root->version == NULL ? "" : root->version,
        manifest->name, manifest->version));
  }
  if (root->built != manifest->built || root->needed != manifest->needed) {
    return wrong("its versions of the contract are not those of its manifest");
  }
  const tenon_list_t* list = &root->offerings;
  if (list->count > OFFERING_LIMIT ||
      (list->count > 0 && (list->items == NULL || list->stride != sizeof(void*)))) {
    return wrong("its array of offerings cannot be right");
  }
  return TENON_FINDING_NONE;
}

static tenon__finding_t copy_offerings(tenon__arena_t* arena, tenon_plugin_t* root) {
  const uint32_t count = root->offerings.count;
  const tenon_offering_t* const* sources = root->offerings.items;
  tenon_offering_t* copies = tenon__arena_allocate(arena, (size_t)count + 1, sizeof(*copies));
  const tenon_offering_t** list = tenon__arena_allocate(arena, (size_t)count + 1, sizeof(void*));
  if (copies == NULL || list == NULL) {
    return TENON_FINDING_MEMORY;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (sources[i] == NULL || !tenon__structure_copy(sources[i], sizeof(tenon_offering_t), SIZE_MAX,
                                                     sizeof(*copies), &copies[i])) {
      return wrong(tenon__arena_format(arena, "the size of offering %u is wrong", i));
    }
    list[i] = &copies[i];
    const char* fault = tenon__offering_fault(&copies[i]);
    if (fault != NULL) {
      return wrong(tenon__arena_format(arena, "number %u is %s", i, fault));
    }
  }
  root->offerings.items = list;
  return TENON_FINDING_NONE;
}

tenon__finding_t tenon__descriptor_copy(tenon__arena_t* arena, const tenon_plugin_t* source,
                                        const tenon__manifest_t* manifest,
                                        tenon_plugin_t* out_root) {
  tenon_plugin_t root;
  /* start and stop may be missing: without them there is nothing to do. */
  if (!tenon__structure_copy(source, offsetof(tenon_plugin_t, start), SIZE_MAX, sizeof(root),
                             &root)) {
    return wrong("the size of its root is wrong");
  }
  tenon__finding_t result = check_root(arena, &root, manifest);
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = copy_offerings(arena, &root);
  }
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    *out_root = root;
  }
  return result;
}

/* ---- Compare ---- */

typedef struct comparison_t {
  tenon__arena_t* arena;
  tenon__string_map_t promised; /* the manifest's lines */
  tenon__string_map_t
      offered; /* the descriptor's lines, and "kernel NAME * DEVICE" for each kernel */
  tenon__finding_t finding;
} comparison_t;

static const tenon__map_value_t present = {.number = 1};

static bool fail(comparison_t* c, tenon__finding_t result) {
  c->finding = result;
  return false;
}

static bool record(comparison_t* c, tenon__string_map_t* map, const char* line) {
  return line != NULL && tenon__string_map_set(map, line, present) ? true
                                                                   : fail(c, TENON_FINDING_MEMORY);
}

/* `line` is offered; it, or one of the two more general ones (which may be NULL), must be promised.
 */
static bool offer(comparison_t* c, const char* line, const char* general,
                  const char* most_general) {
  if (line == NULL || !record(c, &c->offered, line) ||
      (general != NULL && !record(c, &c->offered, general))) {
    return fail(c, TENON_FINDING_MEMORY);
  }
  if (tenon__string_map_find(&c->promised, line) != NULL ||
      (general != NULL && tenon__string_map_find(&c->promised, general) != NULL) ||
      tenon__string_map_find(&c->promised, most_general) != NULL) {
    return true;
  }
  return fail(c, tenon__finding(TENON_PLUGIN_REASON_PROMISE,
                                tenon__arena_format(
                                    c->arena, "its manifest lacks the line 'offers: %s'", line)));
}

static bool offer_kernel_for(comparison_t* c, const tenon_kernel_t* kernel, const char* op) {
  const char* line =
      tenon__arena_format(c->arena, "kernel %s %s %s", kernel->name, op, kernel->device);
  const char* general =
      tenon__arena_format(c->arena, "kernel %s * %s", kernel->name, kernel->device);
  return general == NULL ? fail(c, TENON_FINDING_MEMORY) : offer(c, line, general, "kernel *");
}

static bool offer_kernel(comparison_t* c, const tenon_kernel_t* kernel) {
  if (kernel->name == NULL || kernel->device == NULL) {
    return true; /* the catalogue leaves it out and says so */
  }
  bool good = true;
  for (const char* const* op = kernel->operators; good && op != NULL && *op != NULL; ++op) {
    good = offer_kernel_for(c, kernel, *op);
  }
  if (good && (kernel->flags & TENON_KERNEL_EXPRESSIONS) != 0) {
    good = offer_kernel_for(c, kernel, "*expressions");
  }
  if (good && (kernel->flags & TENON_KERNEL_MOVES) != 0) {
    good = offer_kernel_for(c, kernel, "*moves");
  }
  if (good && (kernel->pattern != NULL || kernel->propose != NULL)) {
    good = offer_kernel_for(c, kernel, "*");
  }
  return good;
}

static bool offer_named(comparison_t* c, tenon__offer_kind_t kind, const char* name) {
  const char* word = tenon__offer_kind_word(kind);
  const char* any = tenon__arena_format(c->arena, "%s *", word);
  if (name == NULL) {
    return true; /* as above */
  }
  return any == NULL ? fail(c, TENON_FINDING_MEMORY)
                     : offer(c, tenon__arena_format(c->arena, "%s %s", word, name), NULL, any);
}

static bool offer_converter(comparison_t* c, const tenon_converter_t* converter) {
  if (converter->format == NULL || converter->type == NULL) {
    return true; /* as above */
  }
  const char* name =
      tenon__arena_format(c->arena, "%s:%s:%s", converter->format,
                          converter->domain == NULL ? "" : converter->domain, converter->type);
  return name == NULL ? fail(c, TENON_FINDING_MEMORY) : offer_named(c, TENON_OFFER_CONVERTER, name);
}

static bool offer_item(comparison_t* c, tenon__offer_kind_t kind, const tenon__offer_item_t* item) {
  switch (kind) {
    case TENON_OFFER_OPERATOR:
      return offer_named(c, kind, item->OPERATOR_item.name);
    case TENON_OFFER_KERNEL:
      return offer_kernel(c, &item->KERNEL_item);
    case TENON_OFFER_DEVICE:
      return offer_named(c, kind, item->DEVICE_item.name);
    case TENON_OFFER_PARSER:
      return offer_named(c, kind, item->PARSER_item.format);
    case TENON_OFFER_CONVERTER:
      return offer_converter(c, &item->CONVERTER_item);
    default:
      return offer_named(c, kind, item->REWRITE_item.name);
  }
}

static bool take_offerings(comparison_t* c, const tenon_plugin_t* root) {
  const tenon_offering_t* const* offerings = root->offerings.items;
  for (uint32_t i = 0; i < root->offerings.count; ++i) {
    const tenon_offering_t* offering = offerings[i];
    const tenon__offer_kind_t kind = tenon__offer_kind_of_offering(offering->kind);
    const uint32_t count = kind == TENON_OFFER_COUNT ? 0 : offering->items.count;
    for (uint32_t k = 0; k < count; ++k) {
      tenon__offer_item_t item;
      const char* fault = tenon__offer_item(kind, offering, k, &item);
      if (fault != NULL) {
        return fail(c, wrong(tenon__arena_format(c->arena, "%s number %u: %s",
                                                 tenon__offer_kind_word(kind), k, fault)));
      }
      if (!offer_item(c, kind, &item)) {
        return false;
      }
    }
  }
  return true;
}

static bool check_promises(comparison_t* c, const tenon__manifest_t* manifest) {
  for (size_t i = 0; i < manifest->offer_count; ++i) {
    const tenon__manifest_offer_t* promise = &manifest->offers[i];
    const bool is_known = tenon__offer_kind_of_word(promise->kind) != TENON_OFFER_COUNT;
    if (is_known && strcmp(promise->name, "*") != 0 &&
        tenon__string_map_find(&c->offered, promise->text) == NULL) {
      return fail(
          c, tenon__finding(TENON_PLUGIN_REASON_PROMISE,
                            tenon__arena_format(c->arena, "it promises '%s' and does not offer it",
                                                promise->text)));
    }
  }
  return true;
}

tenon__finding_t tenon__descriptor_compare(tenon__arena_t* scratch, const tenon_plugin_t* root,
                                           const tenon__manifest_t* manifest) {
  comparison_t c = {.arena = scratch, .finding = TENON_FINDING_NONE};
  tenon__string_map_initialize(&c.promised, scratch->allocator);
  tenon__string_map_initialize(&c.offered, scratch->allocator);
  bool good = true;
  for (size_t i = 0; good && i < manifest->offer_count; ++i) {
    good = record(&c, &c.promised, manifest->offers[i].text);
  }
  if (good && take_offerings(&c, root)) {
    (void)check_promises(&c, manifest);
  }
  tenon__string_map_deinitialize(&c.offered);
  tenon__string_map_deinitialize(&c.promised);
  return c.finding;
}
