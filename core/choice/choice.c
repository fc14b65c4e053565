/*
 * Which nodes together. The plain covering comes first; then one alternative after the other is
 * tried in its place, in order of what it could save at best, and the whole graph, layouts and
 * copies included, is costed with it and without it. What is better stays. First all claims of a
 * kernel, and all fusions, are tried at once: a layout that pays only where everybody has it is
 * found like that; then one by one, and what was taken is given up again where it does not pay for
 * itself.
 *
 * Where times that were measured but once decide, they are measured again, and the whole begins
 * anew: so the same times always give the same choice.
 */
#include "core/choice/choice.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/status.h"
#include "core/choice/explain.h"
#include "core/choice/savings.h"
#include "core/fusion/claims.h"
#include "core/fusion/regions.h"

enum { MOST_SWEEPS = 3, LEAST_TRIES = 4 };
/* Coverings to try, times nodes: what a large network may cost. */
static const double most_work = 200e3;

typedef enum option_kind_t {
  OPTION_TAKE,      /* a class of claims, after those that are taken */
  OPTION_PREFER,    /* before them */
  OPTION_LEAVE,     /* a class that is taken */
  OPTION_APART,     /* an epilogue or a prologue */
  OPTION_SHORTER,   /* one that is apart, less its last node alone */
  OPTION_WHOLE,     /* one that is apart */
  OPTION_FUSE,      /* one that is apart from the beginning */
  OPTION_TAKE_ALL,  /* classes of the kernel that claims class `index` */
  OPTION_ALL_APART, /* those that are faster so on their own */
} option_kind_t;

typedef struct option_t {
  option_kind_t kind;
  uint32_t index; /* of the class, or of the fusion */
  double saving;  /* at best */
} option_t;

/* Decisions, to come back to. */
typedef struct decisions_t {
  uint32_t* taken;
  uint32_t taken_count;
  uint32_t* limits;
  uint32_t limit_count;
} decisions_t;

typedef struct choosing_t {
  grouping_t* grouping;
  alternatives_t* alternatives;
  tenon__arena_t arenas[2]; /* of what is tried, and of the best but the plain one */
  covering_t best;
  uint8_t* marks; /* of nodes */
  uint32_t tries_left;
  bool has_looked_again;
} choosing_t;

/* ---- Deciding ---- */

static tenon_status_t keep_decisions(const alternatives_t* a, tenon__arena_t* arena,
                                     decisions_t* out_decisions) {
  *out_decisions = (decisions_t){.taken_count = a->taken_count, .limit_count = a->fusion_count};
  out_decisions->taken =
      tenon__arena_copy(arena, a->taken, (a->class_count + 1u) * sizeof(*a->taken));
  out_decisions->limits =
      tenon__arena_allocate(arena, a->fusion_count + 1u, sizeof(*out_decisions->limits));
  TENON_TRY_MEMORY(out_decisions->taken != NULL && out_decisions->limits != NULL);
  for (uint32_t k = 0; k < a->fusion_count; ++k) {
    out_decisions->limits[k] = a->fusions[k].limit;
  }
  return TENON_OK;
}

/* Fusions that were found since are as they are found. */
static void restore_decisions(alternatives_t* a, const decisions_t* decisions) {
  a->taken_count = decisions->taken_count;
  memcpy(a->taken, decisions->taken, decisions->taken_count * sizeof(*a->taken));
  for (uint32_t k = 0; k < a->fusion_count; ++k) {
    a->fusions[k].limit =
        k < decisions->limit_count ? decisions->limits[k] : a->fusions[k].first_limit;
  }
}

static bool is_taken(const alternatives_t* a, uint32_t class_index) {
  return tenon__list_holds(a->taken, a->taken_count, class_index);
}

static void leave(alternatives_t* a, uint32_t class_index) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < a->taken_count; ++k) {
    if (a->taken[k] != class_index) {
      a->taken[kept++] = a->taken[k];
    }
  }
  a->taken_count = kept;
}

static bool can_be_taken(const alternatives_t* a, uint32_t class_index) {
  return a->classes[class_index].candidates->count > 0 && !is_taken(a, class_index);
}

static bool is_of_kernel(const claim_class_t* one, const claim_class_t* other) {
  return one->entry == other->entry &&
         (one->entry != NULL || one->candidates->count == 0 || other->candidates->count == 0 ||
          one->candidates->items[0].kernel == other->candidates->items[0].kernel);
}

static bool seems_better_apart(const fusion_t* fusion) {
  return tenon__time_compare(fusion->apart, fusion->fused->items[0].time) < 0;
}

/* In one place, at best: what one step saves. */
static double fusing_saves(const fusion_t* fusion) {
  const tenon__time_t fused = fusion->fused->items[0].time;
  return fusion->apart.figure == fused.figure  ? fusion->apart.seconds - fused.seconds
         : fusion->apart.figure < fused.figure ? TENON_CERTAIN_SAVING
                                               : 0;
}

static void decide(alternatives_t* a, const option_t* option) {
  switch (option->kind) {
    case OPTION_TAKE:
      a->taken[a->taken_count++] = option->index;
      break;
    case OPTION_PREFER:
      leave(a, option->index);
      memmove(a->taken + 1, a->taken, a->taken_count * sizeof(*a->taken));
      a->taken[0] = option->index;
      a->taken_count += 1;
      break;
    case OPTION_LEAVE:
      leave(a, option->index);
      break;
    case OPTION_APART:
      a->fusions[option->index].limit = 0;
      break;
    case OPTION_SHORTER:
      a->fusions[option->index].limit = a->fusions[option->index].node_count - 1;
      break;
    case OPTION_WHOLE:
    case OPTION_FUSE:
      a->fusions[option->index].limit = TENON_NONE;
      break;
    case OPTION_TAKE_ALL:
      for (uint32_t k = 0; k < a->class_count; ++k) {
        if (can_be_taken(a, k) && is_of_kernel(&a->classes[option->index], &a->classes[k])) {
          a->taken[a->taken_count++] = k;
        }
      }
      break;
    case OPTION_ALL_APART:
      for (uint32_t k = 0; k < a->fusion_count; ++k) {
        a->fusions[k].limit = seems_better_apart(&a->fusions[k]) ? 0 : a->fusions[k].first_limit;
      }
      break;
  }
}

/* ---- Trying ---- */

static void note_totals(choosing_t* c, const option_t* option, const covering_t* tried) {
  alternatives_t* a = c->alternatives;
  const double with = tried->seconds;
  const double without = c->best.seconds;
  if (option->kind == OPTION_TAKE || option->kind == OPTION_PREFER) {
    a->classes[option->index].with_seconds = with;
    a->classes[option->index].without_seconds = without;
  } else if (option->kind == OPTION_APART) {
    a->fusions[option->index].apart_seconds = with;
    a->fusions[option->index].fused_seconds = without;
  } else if (option->kind == OPTION_FUSE || option->kind == OPTION_WHOLE) {
    a->fusions[option->index].fused_seconds = with;
    a->fusions[option->index].apart_seconds = without;
  }
}

static bool measures(const choosing_t* c) {
  return !c->grouping->tuning->options.no_measuring;
}

/* What gives a decision up again has nothing to prove: the decision has. */
static opinion_t judge(const choosing_t* c, const covering_t* tried, const option_t* option) {
  const bool looks_again = tenon__tuning_may_measure(c->grouping->tuning);
  if (option->kind != OPTION_LEAVE && option->kind != OPTION_WHOLE) {
    return tenon__covering_compare(&c->best, tried, looks_again);
  }
  const opinion_t opinion = tenon__covering_compare(tried, &c->best, looks_again);
  return opinion == OPINION_KEEP     ? OPINION_CHANGE
         : opinion == OPINION_CHANGE ? OPINION_KEEP
                                     : OPINION_LOOK_AGAIN;
}

/* The covering with the option, if that is better. */
static tenon_status_t try_option(choosing_t* c, const option_t* option, bool* out_changed) {
  tenon__tuning_t* tuning = c->grouping->tuning;
  tenon__arena_t* arena = c->best.arena == &c->arenas[0] ? &c->arenas[1] : &c->arenas[0];
  decisions_t before;
  covering_t tried;
  *out_changed = false;
  if (c->tries_left == 0) {
    return TENON_OK;
  }
  c->tries_left -= 1;
  tenon__arena_deinitialize(arena);
  tenon__arena_initialize(arena, tuning->allocator);
  TENON_TRY(keep_decisions(c->alternatives, arena, &before));
  decide(c->alternatives, option);
  TENON_TRY(tenon__covering_make(c->grouping, arena, &tried));
  note_totals(c, option, &tried);
  const opinion_t opinion = judge(c, &tried, option);
  if (opinion == OPINION_CHANGE) {
    c->best = tried;
    *out_changed = true;
    return TENON_OK;
  }
  const bool looks_again = opinion == OPINION_LOOK_AGAIN;
  restore_decisions(c->alternatives, &before);
  c->has_looked_again = c->has_looked_again || looks_again;
  return looks_again ? tenon__covering_look_again(tuning, &c->best, &tried) : TENON_OK;
}

/* ---- Sweeps ---- */

static int compare_options(const void* a, const void* b) {
  const option_t* left = a;
  const option_t* right = b;
  if (left->saving != right->saving) {
    return left->saving < right->saving ? 1 : -1;
  }
  return left->kind != right->kind ? (left->kind < right->kind ? -1 : 1)
                                   : (left->index > right->index) - (left->index < right->index);
}

/* What one class or fusion alone could change. */
static tenon_status_t list_options(const choosing_t* c, tenon__arena_t* arena,
                                   option_t** out_options, uint32_t* out_count) {
  const alternatives_t* a = c->alternatives;
  uint32_t count = 0;
  covered_t best;
  option_t* options =
      tenon__arena_allocate(arena, a->class_count + a->fusion_count + 1u, sizeof(*options));
  TENON_TRY_MEMORY(options != NULL);
  TENON_TRY(tenon__covering_by_nodes(&c->best, c->grouping->g->node_count, arena, &best));
  for (uint32_t k = 0; k < a->class_count; ++k) {
    option_t option = {.kind = OPTION_TAKE, .index = k};
    if (can_be_taken(a, k)) {
      TENON_TRY(tenon__saving_of_class(a, &best, k, arena, &option.saving));
    } else if (is_taken(a, k)) {
      option = (option_t){.kind = OPTION_LEAVE, .index = k, .saving = TENON_CERTAIN_SAVING};
    }
    if (option.saving > 0) {
      options[count++] = option;
    }
  }
  const uint32_t measured_count = measures(c) ? a->fusion_count : 0;
  for (uint32_t k = 0; k < measured_count; ++k) {
    option_t option = {.kind = OPTION_APART, .index = k};
    const fusion_t* fusion = &a->fusions[k];
    if (fusion->first_limit == 0 && fusion->limit == 0) {
      option = (option_t){.kind = OPTION_FUSE, .index = k, .saving = fusing_saves(fusion)};
    } else if (fusion->first_limit == 0 || fusion->limit == TENON_NONE) {
      TENON_TRY(tenon__saving_of_fusion(a, &c->best, k, arena, &option.saving));
    } else {
      option = (option_t){.kind = OPTION_WHOLE, .index = k, .saving = TENON_CERTAIN_SAVING};
    }
    if (option.saving > 0) {
      options[count++] = option;
    }
  }
  qsort(options, count, sizeof(*options), compare_options);
  *out_options = options;
  *out_count = count;
  return TENON_OK;
}

static bool holds_marked(const claim_t* claim, const uint8_t* marks) {
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    if (marks[claim->nodes[k]] != 0) {
      return true;
    }
  }
  return false;
}

/* Do places of the class hold nodes that taken ones hold? */
static bool is_contested(const choosing_t* c, uint32_t class_index) {
  const alternatives_t* a = c->alternatives;
  bool is_contested = false;
  memset(c->marks, 0, c->grouping->g->node_count);
  for (uint32_t k = 0; k < a->claim_count; ++k) {
    const claim_t* claim = &a->claims[k];
    for (uint32_t n = 0; n < claim->node_count && is_taken(a, claim->class_index); ++n) {
      c->marks[claim->nodes[n]] = 1;
    }
  }
  for (uint32_t k = 0; k < a->claim_count && !is_contested; ++k) {
    is_contested = a->claims[k].class_index == class_index && holds_marked(&a->claims[k], c->marks);
  }
  return is_contested;
}

/* The option, and what only makes sense after it. */
static tenon_status_t try_all_of(choosing_t* c, const option_t* option, bool* inout_changed) {
  bool changed = false;
  bool more = false;
  TENON_TRY(try_option(c, option, &changed));
  if (option->kind == OPTION_TAKE && !changed && is_contested(c, option->index)) {
    const option_t prefer = {.kind = OPTION_PREFER, .index = option->index};
    TENON_TRY(try_option(c, &prefer, &changed));
  }
  const bool fewer_may_do =
      (option->kind == OPTION_APART && changed) || (option->kind == OPTION_FUSE && !changed);
  if (fewer_may_do && c->alternatives->fusions[option->index].node_count > 1) {
    const option_t shorter = {.kind = OPTION_SHORTER, .index = option->index};
    TENON_TRY(try_option(c, &shorter, &more));
  }
  *inout_changed = *inout_changed || changed;
  return TENON_OK;
}

static tenon_status_t sweep(choosing_t* c, bool* out_changed) {
  tenon__arena_t arena;
  option_t* options = NULL;
  uint32_t count = 0;
  tenon__arena_initialize(&arena, c->grouping->tuning->allocator);
  tenon_status_t status = list_options(c, &arena, &options, &count);
  for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
    status = try_all_of(c, &options[k], out_changed);
  }
  tenon__arena_deinitialize(&arena);
  return status;
}

/* What pays only where it is done everywhere. */
static tenon_status_t try_together(choosing_t* c) {
  const alternatives_t* a = c->alternatives;
  uint32_t better_apart = 0;
  bool changed = false;
  for (uint32_t k = 0; k < a->class_count; ++k) {
    bool is_first = can_be_taken(a, k);
    uint32_t alike = 0;
    for (uint32_t i = 0; i < a->class_count && is_first; ++i) {
      const bool is_alike = can_be_taken(a, i) && is_of_kernel(&a->classes[k], &a->classes[i]);
      is_first = !(is_alike && i < k);
      alike += is_alike ? 1 : 0;
    }
    if (is_first && alike > 1) {
      const option_t option = {.kind = OPTION_TAKE_ALL, .index = k};
      TENON_TRY(try_option(c, &option, &changed));
    }
  }
  const uint32_t measured_count = measures(c) ? a->fusion_count : 0;
  for (uint32_t k = 0; k < measured_count; ++k) {
    better_apart += a->fusions[k].limit != 0 && seems_better_apart(&a->fusions[k]) ? 1 : 0;
  }
  const option_t apart = {.kind = OPTION_ALL_APART};
  return better_apart > 1 ? try_option(c, &apart, &changed) : TENON_OK;
}

static tenon_status_t begin_pass(choosing_t* c, tenon__arena_t* arena) {
  TENON_TRY(tenon__alternatives_renew(c->grouping->tuning, c->alternatives));
  c->has_looked_again = false;
  return tenon__covering_make(c->grouping, arena, &c->best);
}

static tenon_status_t improve(choosing_t* c) {
  bool changed = true;
  TENON_TRY(try_together(c));
  for (uint32_t k = 0; k < MOST_SWEEPS && changed; ++k) {
    changed = false;
    TENON_TRY(sweep(c, &changed));
  }
  return TENON_OK;
}

/* The best covering, in the tuning's arena. */
static tenon_status_t choose(choosing_t* c) {
  tenon__tuning_t* tuning = c->grouping->tuning;
  const double most_tries = most_work / (c->grouping->order_count + 1u);
  c->has_looked_again = true;
  while (c->has_looked_again) { /* each look leaves fewer times to look at */
    c->tries_left = most_tries < LEAST_TRIES ? LEAST_TRIES : (uint32_t)most_tries;
    TENON_TRY(begin_pass(c, tuning->arena));
    TENON_TRY(improve(c));
  }
  return c->best.arena == tuning->arena
             ? TENON_OK
             : tenon__covering_make(c->grouping, tuning->arena, &c->best);
}

/* A unit that nobody computes ends the build. */
static tenon_status_t check(const choosing_t* c) {
  tenon__tuning_t* tuning = c->grouping->tuning;
  for (uint32_t u = 0; u < c->best.units.count; ++u) {
    const tenon__unit_t* unit = &c->best.units.items[u];
    if (unit->kind == TENON_UNIT_REGION && unit->chosen.is_forbidden) {
      return tenon__fail(tuning->sink, TENON_ERROR_UNSUPPORTED,
                         "%s: its kernels need its arguments in narrower types than they may "
                         "be in",
                         tenon__region_text(tuning, unit->chosen.region));
    }
    if (unit->kind == TENON_UNIT_REGION && unit->chosen.candidates->count == 0) {
      const char* why = unit->chosen.candidates->refusals;
      return tenon__fail(tuning->sink, TENON_ERROR_UNSUPPORTED,
                         "%s: no kernel on device '%s' takes it%s%s",
                         tenon__region_text(tuning, unit->chosen.region),
                         tuning->devices[unit->chosen.region->device].source.descriptor->name,
                         why == NULL ? "" : ":\n", why == NULL ? "" : why);
    }
  }
  return TENON_OK;
}

static tenon_status_t choose_with(choosing_t* c, alternatives_t* alternatives) {
  c->grouping->alternatives = alternatives;
  TENON_TRY(tenon__claims_find(c->grouping));
  alternatives->taken = tenon__arena_allocate(&c->grouping->scratch, alternatives->class_count + 1u,
                                              sizeof(*alternatives->taken));
  c->marks = tenon__arena_allocate(&c->grouping->scratch, c->grouping->g->node_count + 1u, 1);
  TENON_TRY_MEMORY(alternatives->taken != NULL && c->marks != NULL);
  TENON_TRY(choose(c));
  TENON_TRY(check(c));
  return tenon__covering_explain(c->grouping, &c->best);
}

tenon_status_t tenon__units_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   tenon__units_t* out_units) {
  grouping_t grouping;
  alternatives_t alternatives;
  choosing_t c = {.grouping = &grouping, .alternatives = &alternatives};
  tenon__alternatives_initialize(&alternatives, tuning->allocator);
  tenon__arena_initialize(&c.arenas[0], tuning->allocator);
  tenon__arena_initialize(&c.arenas[1], tuning->allocator);
  tenon_status_t status = tenon__grouping_begin(tuning, graph, &grouping);
  if (status == TENON_OK) {
    status = choose_with(&c, &alternatives);
  }
  if (status == TENON_OK) {
    *out_units = c.best.units;
  }
  tenon__grouping_end(&grouping);
  tenon__arena_deinitialize(&c.arenas[0]);
  tenon__arena_deinitialize(&c.arenas[1]);
  tenon__alternatives_deinitialize(&alternatives);
  return status;
}
