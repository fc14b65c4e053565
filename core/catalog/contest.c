/* Who stays where two owners offer one thing: the rule is catalog.h's. */
#include "core/catalog/contest.h"

#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/catalog/left_out.h"

/* ---- Owners ---- */

/* Ranks of the owners of a name. */
enum { RANK_HOME, RANK_INSTALLED, RANK_OTHER };

static int precedence(const tenon__owner_t* owner, const char* name) {
  return !owner->is_installed               ? RANK_OTHER
         : strcmp(owner->plugin, name) == 0 ? RANK_HOME
                                            : RANK_INSTALLED;
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

/* An application prefers plugins for their converters, parsers and devices. Operators stay those of
 * the plugin that their domain belongs to. */
static bool offer_stays(const tenon__owner_t* there, const tenon__owner_t* comes,
                        const char* name) {
  return there->is_preferred != comes->is_preferred ? there->is_preferred
         : there->is_preferred                      ? there->search_rank <= comes->search_rank
                                                    : stays(there, comes, name);
}

/* ---- Operators ---- */

/* The domain of an identity. */
static void domain_of(const char* name, char out_domain[TENON_OFFER_NAME_LIMIT + 1]) {
  const char* dot = strrchr(name, '.');
  const size_t length = dot == NULL ? 0 : (size_t)(dot - name);
  memcpy(out_domain, name, length);
  out_domain[length] = '\0';
}

bool tenon__definition_stays(const tenon__owner_t* there, const tenon__owner_t* comes,
                             const char* name) {
  char domain[TENON_OFFER_NAME_LIMIT + 1];
  domain_of(name, domain);
  const int order = compare(there, comes, domain);
  const bool is_home = strcmp(there->plugin, domain) == 0;
  return order == 0 && is_home != (strcmp(comes->plugin, domain) == 0)
             ? is_home
             : stays(there, comes, domain);
}

const tenon__owner_t* tenon__catalog_domain_owner(const tenon__catalog_t* catalog,
                                                  const char* name) {
  char domain[TENON_OFFER_NAME_LIMIT + 1];
  domain_of(name, domain);
  const tenon__owner_t* home = NULL;
  for (size_t i = 0; i < catalog->owner_count; ++i) {
    const tenon__owner_slot_t* slot = catalog->owners[i];
    const uint32_t kinds = slot->promised_kinds | slot->offered_kinds;
    const bool failed = slot->readiness == TENON_READINESS_DONE && slot->status != TENON_OK;
    if ((kinds & 1u << (unsigned)TENON_OFFER_OPERATOR) != 0 && !failed &&
        strcmp(slot->owner->plugin, domain) == 0 &&
        (home == NULL || !stays(home, slot->owner, domain))) {
      home = slot->owner;
    }
  }
  return home;
}

bool tenon__catalog_defines_otherwise(const tenon__catalog_t* catalog, const tenon__owner_t* owner,
                                      const char* name) {
  const tenon__definition_t* definition = tenon__string_map_pointer(&catalog->definitions, name);
  const tenon__rejected_t* item = definition == NULL ? NULL : definition->rejected;
  bool is_other = false;
  for (; item != NULL && !is_other; item = item->next) {
    is_other = item->owner == owner && !tenon__operators_agree(item->op, definition->op);
  }
  return is_other;
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
  return there->owner == comes->owner ||
         offer_stays(there->owner, comes->owner, comes->converter.format);
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
    const bool it_stays = offer_stays(other.owner, mine.owner, name);
    const tenon__owner_t* winner = it_stays ? other.owner : mine.owner;
    char message[512];
    (void)snprintf(message, sizeof(message), "plugin %s (%s) offers one of that name",
                   winner->plugin, winner->path);
    resolve(catalog, kind, name, it_stays ? &mine : &other, message, sink);
  }
}
