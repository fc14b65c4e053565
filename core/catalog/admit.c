/* What is added to the catalogue: each item copied in full size, checked for what must be there,
 * and entered under its names. A faulty item is reported and left out; a faulty operator is listed
 * as disabled. */
#include "core/catalog/admit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/catalog/contest.h"
#include "core/catalog/left_out.h"
#include "core/catalog/promises.h"
#include "core/operator/operator_admit.h"

/* One offering on its way in. */
typedef struct admission_t {
  tenon__catalog_t* catalog;
  tenon__offer_kind_t kind;
  const tenon__owner_t* owner;
  const tenon_sink_t* sink;
} admission_t;

static const char* or_empty(const char* text) {
  return text == NULL ? "" : text;
}

static void leave_out(const admission_t* a, const char* name, const char* fault) {
  const tenon__left_out_t item = {tenon__offer_kind_word(a->kind), name, a->owner, fault};
  tenon__catalog_leave_out(a->catalog, &item, a->sink);
}

#define IS_ENTRY(name, item)                                                              \
  _Static_assert(offsetof(tenon__##name##_entry_t, owner) == sizeof(item) &&              \
                     sizeof(tenon__##name##_entry_t) == sizeof(item) + 2 * sizeof(void*), \
                 "make_entry writes owner and verdict last");
TENON_ENTRIES(IS_ENTRY)

static void* make_entry(const admission_t* a, const tenon__offer_item_t* item) {
  const size_t size = tenon__offer_kind_size(a->kind);
  const tenon__admission_t* verdict =
      tenon__arena_allocate(&a->catalog->arena, 1, sizeof(*verdict));
  char* entry = tenon__arena_allocate(&a->catalog->arena, 1, size + 2 * sizeof(void*));
  if (entry == NULL || verdict == NULL) {
    return NULL;
  }
  memcpy(entry, item, size);
  memcpy(entry + size, &a->owner, sizeof(void*));
  memcpy(entry + size + sizeof(void*), &verdict, sizeof(void*));
  return entry;
}

/* Enters it under `key` and under "" (everything of the kind). */
static tenon_status_t enter(const admission_t* a, const char* key, void* entry, const char* name,
                            const tenon__admission_t* verdict) {
  const int64_t rank = a->kind == TENON_OFFER_PARSER ? a->owner->search_rank : 0;
  const tenon__index_record_t record = {entry, a->owner->plugin, name, rank, verdict};
  tenon__index_t* index = &a->catalog->offers[a->kind];
  const bool done = tenon__index_add(index, key, &record) && tenon__index_add(index, "", &record);
  return done ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

/* ---- Operators ---- */

/* Passes messages on and remembers the last one. */
typedef struct listener_t {
  const tenon_sink_t* next;
  char last[1024];
} listener_t;

static void listen(void* user, int32_t severity, const char* message) {
  listener_t* listener = user;
  (void)snprintf(listener->last, sizeof(listener->last), "%s", message);
  tenon__report(listener->next, severity, "%s", message);
}

static tenon__definition_t* find_definition(const admission_t* a, const char* name) {
  return tenon__string_map_pointer(&a->catalog->definitions, name);
}

static tenon_status_t add_definition(const admission_t* a, const char* name,
                                     const tenon__operator_t* op, const char* disabled) {
  tenon__arena_t* arena = &a->catalog->arena;
  tenon__definition_t* definition = tenon__arena_allocate(arena, 1, sizeof(*definition));
  TENON_TRY_MEMORY(definition != NULL);
  *definition =
      (tenon__definition_t){.op = op, .owner = a->owner, .name = name, .disabled = disabled};
  if (!tenon__string_map_set(&a->catalog->definitions, name,
                             (tenon__map_value_t){.pointer = definition})) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  return enter(a, name, definition, name, NULL);
}

/* A faulty definition does not stand in the way of a good one of somebody else. */
static tenon_status_t admit_faulty(const admission_t* a, const char* name, const char* message) {
  if (find_definition(a, name) != NULL) {
    return TENON_OK;
  }
  const char* reason = tenon__arena_copy_string(&a->catalog->arena, message);
  return reason == NULL ? TENON_ERROR_OUT_OF_MEMORY : add_definition(a, name, NULL, reason);
}

static void replace_definition(const admission_t* a, tenon__definition_t* first,
                               const tenon__operator_t* op) {
  first->op = op;
  first->owner = a->owner;
  first->disabled = NULL;
}

/* An operator in a domain that is another plugin's. */
static void refuse_domain(const admission_t* a, const char* name, const tenon__owner_t* home) {
  char message[512];
  (void)snprintf(message, sizeof(message), "its domain belongs to plugin %s (%s)", home->plugin,
                 home->path);
  leave_out(a, name, message);
}

/* One of two different definitions. */
static tenon_status_t refuse_definition(const admission_t* a, tenon__definition_t* kept,
                                        const tenon__owner_t* loser,
                                        const tenon__operator_t* lost) {
  const tenon__owner_t* winner = kept->owner;
  const bool is_home = winner == tenon__catalog_domain_owner(a->catalog, kept->name);
  const tenon__rejected_t made = {loser, lost, kept->rejected};
  char difference[640];
  char message[1600];
  tenon__operator_difference(a->catalog->allocator, kept->op, lost, difference, sizeof(difference));
  if (loser == winner) {
    (void)snprintf(message, sizeof(message), "the plugin defines it twice: %s", difference);
    leave_out(a, kept->name, message);
    return TENON_OK;
  }
  kept->rejected = tenon__arena_copy(&a->catalog->arena, &made, sizeof(made));
  TENON_TRY_MEMORY(kept->rejected != NULL);
  (void)snprintf(message, sizeof(message),
                 "%splugin %s (%s)%s defines it otherwise: %s; kernels, patterns and rewrites of "
                 "plugin %s that name it are not used",
                 is_home ? "its domain belongs to " : "", winner->plugin, winner->path,
                 is_home ? ", which" : "", difference, loser->plugin);
  const tenon__left_out_t item = {tenon__offer_kind_word(a->kind), kept->name, loser, message};
  tenon__catalog_leave_out(a->catalog, &item, a->sink);
  return TENON_OK;
}

static tenon_status_t admit_second(const admission_t* a, tenon__definition_t* first,
                                   const tenon__operator_t* op) {
  const tenon__definition_t before = *first;
  const bool stays = tenon__definition_stays(before.owner, a->owner, op->name);
  if (!stays) {
    replace_definition(a, first, op);
  }
  return tenon__operators_agree(before.op, op) ? TENON_OK
         : stays                               ? refuse_definition(a, first, a->owner, op)
                 : refuse_definition(a, first, before.owner, before.op);
}

static tenon_status_t admit_operator(const admission_t* a, const tenon__offer_item_t* item) {
  const tenon_operator_t* descriptor = &item->OPERATOR_item;
  if (descriptor->name == NULL || strlen(descriptor->name) > TENON_OFFER_NAME_LIMIT) {
    leave_out(a, "", "has no name, or one that is too long");
    return TENON_OK;
  }
  listener_t listener = {.next = a->sink, .last = "its declaration has a fault"};
  const tenon_sink_t sink = {&listener, listen};
  const tenon__operator_t* op = NULL;
  const tenon_status_t status = tenon__operator_admit(
      &a->catalog->arena, descriptor, a->owner->plugin, a->owner->state, &sink, &op);
  TENON_TRY_MEMORY(status != TENON_ERROR_OUT_OF_MEMORY);
  if (status != TENON_OK) {
    return admit_faulty(a, descriptor->name, listener.last);
  }
  const tenon__owner_t* home = tenon__catalog_domain_owner(a->catalog, op->name);
  bool is_guarded = home != NULL && home != a->owner && !a->owner->is_installed;
  while (is_guarded && tenon__promises_load(a->catalog, home, a->sink)) {
    /* Its definition may be the same; and if it fails, the domain is another plugin's. */
    home = tenon__catalog_domain_owner(a->catalog, op->name);
    is_guarded = home != NULL && home != a->owner;
  }
  tenon__definition_t* first = find_definition(a, op->name);
  if (first != NULL && first->op != NULL) {
    return admit_second(a, first, op);
  }
  if (is_guarded) {
    refuse_domain(a, op->name, home);
    return TENON_OK;
  }
  if (first != NULL) { /* a faulty one does not stand in the way */
    replace_definition(a, first, op);
    return TENON_OK;
  }
  return add_definition(a, op->name, op, NULL);
}

/* ---- Kernels ---- */

static const char* kernel_fault(const tenon_kernel_t* kernel) {
  if (kernel->name == NULL || kernel->name[0] == '\0') {
    return "has no name";
  }
  if (kernel->device == NULL) {
    return "names no device";
  }
  if (kernel->enqueue == NULL) {
    return "lacks enqueue";
  }
  if (kernel->operators == NULL && kernel->pattern == NULL && kernel->propose == NULL &&
      (kernel->flags & (TENON_KERNEL_EXPRESSIONS | TENON_KERNEL_MOVES)) == 0) {
    return "names no operator, pattern or form that it computes";
  }
  const tenon_list_t* slots = &kernel->slots;
  if (slots->count > 0 &&
      (slots->items == NULL || slots->stride < offsetof(tenon_slot_t, max_operands) ||
       slots->stride % _Alignof(tenon_slot_t) != 0)) {
    return "has slots whose stride cannot be right";
  }
  return NULL;
}

/* Full-size slots in the arena; NULL and *out_fault when one of them cannot be read. */
static tenon_status_t copy_slots(const admission_t* a, tenon_kernel_t* kernel,
                                 const char** out_fault) {
  *out_fault = NULL;
  const tenon_list_t list = kernel->slots;
  if (list.count == 0) {
    kernel->slots = (tenon_list_t){0};
    return TENON_OK;
  }
  tenon_slot_t* slots = tenon__arena_allocate(&a->catalog->arena, list.count, sizeof(*slots));
  TENON_TRY_MEMORY(slots != NULL);
  for (uint32_t i = 0; i < list.count; ++i) {
    if (!tenon__structure_copy(tenon__list_item(&list, i), offsetof(tenon_slot_t, max_operands),
                               list.stride, sizeof(*slots), &slots[i])) {
      *out_fault = "has a slot whose size is wrong";
      return TENON_OK;
    }
  }
  kernel->slots = (tenon_list_t){slots, list.count, (uint32_t)sizeof(*slots)};
  return TENON_OK;
}

/* Under each operator, under its forms, under "*" when it looks for itself, and once under "". */
static tenon_status_t enter_kernel(const admission_t* a, tenon__kernel_entry_t* entry) {
  const tenon_kernel_t* kernel = &entry->kernel;
  const int64_t rank = (kernel->flags & TENON_KERNEL_REFERENCE) != 0 ? 1 : 0;
  const tenon__index_record_t record = {entry, a->owner->plugin, kernel->name, rank,
                                        entry->verdict};
  tenon__index_t* index = &a->catalog->offers[TENON_OFFER_KERNEL];
  bool done = tenon__index_add(index, "", &record);
  for (const char* const* op = kernel->operators; done && op != NULL && *op != NULL; ++op) {
    done = tenon__index_add(index, *op, &record);
  }
  if (done && (kernel->flags & TENON_KERNEL_EXPRESSIONS) != 0) {
    done = tenon__index_add(index, "*expressions", &record);
  }
  if (done && (kernel->flags & TENON_KERNEL_MOVES) != 0) {
    done = tenon__index_add(index, "*moves", &record);
  }
  if (done && (kernel->pattern != NULL || kernel->propose != NULL)) {
    done = tenon__index_add(index, "*", &record);
  }
  return done ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t admit_kernel(const admission_t* a, tenon__offer_item_t* item) {
  tenon_kernel_t* kernel = &item->KERNEL_item;
  const char* fault = kernel_fault(kernel);
  char key[TENON_OFFER_NAME_LIMIT + 1];
  if (fault == NULL && !tenon__catalog_key(a->owner->plugin, kernel->name, NULL, key)) {
    fault = "has a name that is too long";
  }
  if (fault == NULL && tenon__string_map_find(&a->catalog->kernels, key) != NULL) {
    fault = "is offered twice";
  }
  if (fault == NULL) {
    TENON_TRY(copy_slots(a, kernel, &fault));
  }
  if (fault != NULL) {
    leave_out(a, or_empty(kernel->name), fault);
    return TENON_OK;
  }
  tenon__kernel_entry_t* entry = make_entry(a, item);
  if (entry == NULL ||
      !tenon__string_map_set(&a->catalog->kernels, key, (tenon__map_value_t){.pointer = entry})) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  return enter_kernel(a, entry);
}

/* ---- The others ---- */

static const char* device_fault(const tenon_device_descriptor_t* device) {
  if (device->count == NULL || device->open == NULL || device->close == NULL ||
      device->fingerprint == NULL || device->has == NULL || device->allocate == NULL ||
      device->free == NULL) {
    return "lacks one of count, open, close, fingerprint, has, allocate, free";
  }
  if ((device->flags & TENON_DEVICE_HOST_MEMORY) == 0 &&
      (device->copy == NULL || device->fill == NULL)) {
    return "has memory of its own, but no copy or fill";
  }
  if ((device->flags & TENON_DEVICE_INLINE_STREAM) == 0 &&
      (device->create_stream == NULL || device->destroy_stream == NULL ||
       device->synchronize == NULL || device->create_event == NULL ||
       device->destroy_event == NULL || device->record_event == NULL ||
       device->wait_event == NULL || device->elapsed == NULL)) {
    return "has streams, but lacks one of their functions";
  }
  if ((device->flags & TENON_DEVICE_RECORDS) != 0 &&
      (device->begin_record == NULL || device->end_record == NULL || device->replay == NULL ||
       device->destroy_recording == NULL)) {
    return "records, but lacks one of the functions for it";
  }
  return NULL;
}

/* Name and fault of what is neither operator nor kernel. A converter's absent domain is the empty
 * one. */
static const char* other_fault(tenon__offer_kind_t kind, tenon__offer_item_t* item,
                               const char** out_name) {
  switch (kind) {
    case TENON_OFFER_DEVICE:
      *out_name = item->DEVICE_item.name;
      return device_fault(&item->DEVICE_item);
    case TENON_OFFER_PARSER:
      *out_name = item->PARSER_item.format;
      return item->PARSER_item.parse == NULL || item->PARSER_item.sniff == NULL
                 ? "lacks sniff or parse"
                 : NULL;
    case TENON_OFFER_CONVERTER:
      *out_name = item->CONVERTER_item.type;
      item->CONVERTER_item.domain = or_empty(item->CONVERTER_item.domain);
      return item->CONVERTER_item.convert == NULL || item->CONVERTER_item.format == NULL
                 ? "lacks a format or convert"
                 : NULL;
    default:
      *out_name = item->REWRITE_item.name;
      return item->REWRITE_item.pattern == NULL ||
                     (item->REWRITE_item.replacement == NULL && item->REWRITE_item.rewrite == NULL)
                 ? "lacks a pattern, or what replaces it"
                 : NULL;
  }
}

/* Newer ranges of versions first, so that the first that holds is the nearest. */
static tenon_status_t enter_converter(const admission_t* a, tenon__converter_entry_t* entry) {
  const tenon_converter_t* converter = &entry->converter;
  const long long since = converter->since > 0 ? (long long)converter->since : 0;
  char key[TENON_OFFER_NAME_LIMIT + 1];
  if (!tenon__catalog_key(converter->format, converter->domain, converter->type, key)) {
    leave_out(a, converter->type, "has a name that is too long");
    return TENON_OK;
  }
  const char* name =
      tenon__arena_format(&a->catalog->arena, "%s %019lld", key, (long long)INT64_MAX - since);
  TENON_TRY_MEMORY(name != NULL);
  tenon__catalog_contest_converter(a->catalog, key, entry, a->sink);
  return enter(a, key, entry, name, entry->verdict);
}

static tenon_status_t enter_other(const admission_t* a, void* entry, const char* name) {
  if (a->kind == TENON_OFFER_DEVICE || a->kind == TENON_OFFER_PARSER) {
    tenon__catalog_contest_name(a->catalog, a->kind, name, entry, a->sink);
  }
  return enter(a, name, entry, name, tenon__entry_claim(a->kind, entry).verdict);
}

static tenon_status_t admit_other(const admission_t* a, tenon__offer_item_t* item) {
  const char* name = NULL;
  const char* fault = other_fault(a->kind, item, &name);
  if (name == NULL || name[0] == '\0' || strlen(name) > TENON_OFFER_NAME_LIMIT) {
    fault = "has no name, or one that is too long";
  }
  if (fault != NULL) {
    leave_out(a, or_empty(name), fault);
    return TENON_OK;
  }
  void* entry = make_entry(a, item);
  TENON_TRY_MEMORY(entry != NULL);
  return a->kind == TENON_OFFER_CONVERTER ? enter_converter(a, entry) : enter_other(a, entry, name);
}

static tenon_status_t admit_item(const admission_t* a, tenon__offer_item_t* item) {
  switch (a->kind) {
    case TENON_OFFER_OPERATOR:
      return admit_operator(a, item);
    case TENON_OFFER_KERNEL:
      return admit_kernel(a, item);
    default:
      return admit_other(a, item);
  }
}

tenon_status_t tenon__catalog_admit(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                    const tenon__owner_t* owner, const tenon_offering_t* offering,
                                    const tenon_sink_t* sink) {
  const admission_t a = {catalog, kind, owner, sink};
  for (uint32_t i = 0; i < offering->items.count; ++i) {
    tenon__offer_item_t item;
    const char* fault = tenon__offer_item(kind, offering, i, &item);
    if (fault != NULL) {
      char place[32];
      (void)snprintf(place, sizeof(place), "number %u", i);
      leave_out(&a, place, fault);
      continue;
    }
    TENON_TRY(admit_item(&a, &item));
  }
  return TENON_OK;
}
