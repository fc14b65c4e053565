/* Who stays where two owners offer one thing: the rule is catalog.h's. */
#include "core/catalog/contest.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"

void tenon__catalog_leave_out(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                              const tenon_sink_t* sink) {
  tenon__report(sink, TENON_SEVERITY_WARNING, "plugin %s (%s): %s '%s': %s; it is left out",
                item->owner->plugin, item->owner->path, item->kind, item->name, item->message);
  const char* name = tenon__arena_copy_string(&catalog->arena, item->name);
  const char* message = tenon__arena_copy_string(&catalog->arena, item->message);
  if (name == NULL || message == NULL ||
      !TENON_GROW(catalog->allocator, catalog->left_out, catalog->left_out_capacity,
                  catalog->left_out_count + 1)) {
    return; /* it was said; the list is for those who look later */
  }
  catalog->left_out[catalog->left_out_count++] =
      (tenon__left_out_t){item->kind, name, item->owner, message};
}

void tenon__catalog_drop(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                         tenon__admission_t* verdict, const tenon_sink_t* sink) {
  tenon__catalog_leave_out(catalog, item, sink);
  const char* kept = tenon__arena_copy_string(&catalog->arena, item->message);
  verdict->fault = kept == NULL ? "is left out" : kept;
}

/* ---- Owners ---- */

static int precedence(const tenon__owner_t* owner, const char* name) {
  return !owner->is_installed ? 2 : strcmp(owner->plugin, name) == 0 ? 0 : 1;
}

static int compare(const tenon__owner_t* a, const tenon__owner_t* b, const char* name) {
  return precedence(a, name) - precedence(b, name);
}

/* Equals, or as they stand on the search path; who is there already stays where that is the same.
 */
static bool stays(const tenon__owner_t* there, const tenon__owner_t* comes, const char* name) {
  const int order = compare(there, comes, name);
  return order < 0 || (order == 0 && there->search_rank <= comes->search_rank);
}

/* ---- Operators ---- */

/* The domain of an identity. */
static void domain_of(const char* name, char out_domain[TENON_OFFER_NAME_LIMIT + 1]) {
  const char* dot = strrchr(name, '.');
  const size_t length = dot == NULL ? 0 : (size_t)(dot - name);
  memcpy(out_domain, name, length);
  out_domain[length] = '\0';
}

int tenon__operator_owners_compare(const tenon__owner_t* a, const tenon__owner_t* b,
                                   const char* name) {
  char domain[TENON_OFFER_NAME_LIMIT + 1];
  domain_of(name, domain);
  return compare(a, b, domain);
}

const tenon__owner_t* tenon__catalog_domain_owner(const tenon__catalog_t* catalog,
                                                  const char* name) {
  char domain[TENON_OFFER_NAME_LIMIT + 1];
  domain_of(name, domain);
  for (size_t i = 0; i < catalog->owner_count; ++i) {
    const tenon__owner_slot_t* slot = catalog->owners[i];
    const uint32_t kinds = slot->promised_kinds | slot->offered_kinds;
    if (slot->owner->is_installed && (kinds & 1u << (unsigned)TENON_OFFER_OPERATOR) != 0 &&
        strcmp(slot->owner->plugin, domain) == 0) {
      return slot->owner;
    }
  }
  return NULL;
}

/* ---- Devices, parsers, converters ---- */

static bool overlap(const tenon_converter_t* a, const tenon_converter_t* b) {
  return (a->until == 0 || b->since < a->until) && (b->until == 0 || a->since < b->until);
}

static void describe_converter(const tenon_converter_t* c, const tenon__owner_t* owner,
                               char* out_message, size_t size) {
  char until[48] = " on";
  if (c->until != 0) {
    (void)snprintf(until, sizeof(until), " to %lld", (long long)c->until - 1);
  }
  (void)snprintf(out_message, size, "plugin %s (%s) has one for versions %lld%s", owner->plugin,
                 owner->path, (long long)c->since, until);
}

/* One of two that offer the same goes. */
static void resolve(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                    const tenon__claim_t* loser, const char* message, const tenon_sink_t* sink) {
  const tenon__left_out_t item = {tenon__offer_kind_word(kind), name, loser->owner, message};
  tenon__catalog_drop(catalog, &item, loser->verdict, sink);
}

bool tenon__converter_stays(const tenon__converter_entry_t* there,
                            const tenon__converter_entry_t* comes) {
  return there->owner == comes->owner || stays(there->owner, comes->owner, comes->converter.format);
}

void tenon__catalog_contest_converter(tenon__catalog_t* catalog, const char* key,
                                      const tenon__converter_entry_t* entry,
                                      const tenon_sink_t* sink) {
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[TENON_OFFER_CONVERTER], key);
  for (size_t i = 0; i < list->count; ++i) {
    const tenon__converter_entry_t* other = list->records[i].entry;
    if (other->owner == entry->owner || !overlap(&other->converter, &entry->converter)) {
      continue;
    }
    const bool it_stays = tenon__converter_stays(other, entry);
    const tenon__converter_entry_t* first = it_stays ? other : entry;
    const tenon__owner_t* next = it_stays ? entry->owner : other->owner;
    char message[512];
    describe_converter(&first->converter, first->owner, message, sizeof(message));
    tenon__report(sink, TENON_SEVERITY_INFO,
                  "plugin %s (%s): converter '%s': %s, which is asked first", next->plugin,
                  next->path, key, message);
  }
}

tenon__claim_t tenon__entry_claim(tenon__offer_kind_t kind, const void* entry) {
  const char* at = (const char*)entry + tenon__offer_kind_size(kind);
  tenon__claim_t result;
  memcpy(&result.owner, at, sizeof(void*));
  memcpy(&result.verdict, at + sizeof(void*), sizeof(void*));
  return result;
}

void tenon__catalog_contest_name(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                 const char* name, const void* entry, const tenon_sink_t* sink) {
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[kind], name);
  const tenon__claim_t mine = tenon__entry_claim(kind, entry);
  for (size_t i = 0; i < list->count && mine.verdict->fault == NULL; ++i) {
    const tenon__claim_t other = tenon__entry_claim(kind, list->records[i].entry);
    if (other.verdict->fault != NULL) {
      continue;
    }
    const bool it_stays = stays(other.owner, mine.owner, name);
    const tenon__owner_t* winner = it_stays ? other.owner : mine.owner;
    char message[512];
    (void)snprintf(message, sizeof(message), "plugin %s (%s) offers one of that name",
                   winner->plugin, winner->path);
    resolve(catalog, kind, name, it_stays ? &mine : &other, message, sink);
  }
}
