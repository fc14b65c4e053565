/* Names are resolved again after each round of refusals, because a refused plugin frees its name. */
#include "plugin_registry/names.h"

#include "plugin_registry/version.h"

typedef struct resolution_t {
  tenon__registry_t* registry;
  tenon__plugin_candidate_t* const* candidates;
  size_t count;
  tenon__string_map_t names; /* name -> candidate */
} resolution_t;

static bool is_in_use(const tenon__plugin_candidate_t* candidate) {
  return candidate->state == TENON_CANDIDATE_LOADED || candidate->promised;
}

/* ---- One candidate for each name ---- */

static bool give_name(resolution_t* it, tenon__plugin_candidate_t* candidate) {
  return tenon__string_map_set(&it->names, candidate->manifest->name,
                               (tenon__map_value_t){.pointer = candidate});
}

static bool refuse_for(resolution_t* it, tenon__plugin_candidate_t* candidate,
                       const tenon__plugin_candidate_t* other) {
  const char* detail = tenon__arena_format(&it->registry->arena, "%s, version %s", other->path,
                                           other->manifest->version);
  if (detail != NULL) {
    tenon__candidate_refuse(candidate, (tenon__finding_t){TENON_PLUGIN_REASON_SHADOWED, detail});
  }
  return detail != NULL;
}

static bool resolve_name(resolution_t* it, tenon__plugin_candidate_t* candidate) {
  tenon__plugin_candidate_t* other =
      tenon__string_map_pointer(&it->names, candidate->manifest->name);
  if (other == NULL) {
    return give_name(it, candidate);
  }
  const bool is_newer =
      tenon__version_compare(candidate->manifest->version, other->manifest->version) > 0;
  if (is_newer && !is_in_use(other)) {
    return refuse_for(it, other, candidate) && give_name(it, candidate);
  }
  return refuse_for(it, candidate, other);
}

/* Candidates in use come first. */
static bool resolve_all(resolution_t* it) {
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < it->count; ++i) {
      tenon__plugin_candidate_t* candidate = it->candidates[i];
      const bool is_now = is_in_use(candidate) == (round == 0);
      if (candidate->state != TENON_CANDIDATE_REFUSED && is_now && !resolve_name(it, candidate)) {
        return false;
      }
    }
  }
  return true;
}

/* ---- Requirements ---- */

/* Returns NONE or REQUIRES. */
static tenon__finding_t check_requirements(const resolution_t* it,
                                           const tenon__plugin_candidate_t* candidate) {
  const tenon__manifest_t* manifest = candidate->manifest;
  for (size_t i = 0; i < manifest->requirement_count; ++i) {
    const tenon__manifest_requirement_t* wanted = &manifest->requirements[i];
    const tenon__plugin_candidate_t* other = tenon__string_map_pointer(&it->names, wanted->name);
    const bool is_there = other != NULL && other->state != TENON_CANDIDATE_REFUSED;
    if (is_there && tenon__version_compare(other->manifest->version, wanted->version) >= 0) {
      continue;
    }
    const bool is_any = wanted->version[0] == '\0';
    const char* detail = tenon__arena_format(
        &it->registry->arena, "%s%s%s%s, but %s%s%s; install it into a folder of the search path",
        wanted->name, is_any ? "" : " ", wanted->version, is_any ? "" : " or later",
        is_there ? other->path : "no usable plugin has that name", is_there ? " has version " : "",
        is_there ? other->manifest->version : "");
    return tenon__finding(TENON_PLUGIN_REASON_REQUIRES, detail);
  }
  return TENON_FINDING_NONE;
}

/* Writes to *out_refused whether a candidate was refused. Returns false if memory is out. */
static bool refuse_unmet(const resolution_t* it, bool* out_refused) {
  *out_refused = false;
  for (size_t i = 0; i < it->count; ++i) {
    tenon__plugin_candidate_t* candidate = it->candidates[i];
    if (candidate->state != TENON_CANDIDATE_AVAILABLE) {
      continue;
    }
    const tenon__finding_t finding = check_requirements(it, candidate);
    if (finding.reason == TENON_PLUGIN_REASON_MEMORY) {
      return false;
    }
    if (finding.reason != TENON_PLUGIN_REASON_NONE) {
      tenon__candidate_refuse(candidate, finding);
      *out_refused = true;
    }
  }
  return true;
}

/* ---- Both ---- */

static void readmit_hidden(const resolution_t* it) {
  for (size_t i = 0; i < it->count; ++i) {
    tenon__plugin_candidate_t* candidate = it->candidates[i];
    if (candidate->finding.reason == TENON_PLUGIN_REASON_SHADOWED) {
      candidate->state = TENON_CANDIDATE_AVAILABLE;
      candidate->finding = TENON_FINDING_NONE;
      candidate->message = "";
    }
  }
}

bool tenon__names_resolve(tenon__registry_t* registry, tenon__plugin_candidate_t* const* candidates,
                          size_t count) {
  resolution_t it = {.registry = registry, .candidates = candidates, .count = count};
  bool is_good = true;
  bool is_refused = true;
  while (is_good && is_refused) {
    tenon__string_map_initialize(&it.names, registry->allocator);
    readmit_hidden(&it);
    is_good = resolve_all(&it) && refuse_unmet(&it, &is_refused);
    tenon__string_map_deinitialize(&it.names);
  }
  return is_good;
}
