/* See kinds.h. */
#include "page/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "page/format.h"
#include "text/memory.h"

/* A step with what tells its kind. */
typedef struct member_t {
  char* key;           /* kernel, shape, name with a star for each number */
  const char* pattern; /* the name's part of the key */
  uint32_t step;
} member_t;

static member_t describe(const tool_facts_t* facts, uint32_t step) {
  const tenon_step_info_t* info = &facts->steps[step].info;
  char shape[TOOL_FORMAT_BYTES];
  tool_format_tensor(info->outputs, shape);
  char* key = tool_format("%s:%s|%s|%s", info->plugin, info->kernel, shape, info->name);
  char* pattern = key + strlen(key) - strlen(info->name);
  char* to = pattern;
  for (const char* at = pattern; *at != '\0';) {
    const size_t digits = strspn(at, "0123456789");
    *to++ = (char)(digits > 0 ? '*' : *at);
    at += digits > 0 ? digits : 1;
  }
  *to = '\0';
  return (member_t){key, pattern, step};
}

static int compare_members(const void* a, const void* b) {
  const member_t* x = a;
  const member_t* y = b;
  const int order = strcmp(x->key, y->key);
  return order != 0 ? order : (x->step > y->step) - (x->step < y->step);
}

static int compare_kinds(const void* a, const void* b) {
  const tool_kind_t* x = a;
  const tool_kind_t* y = b;
  return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void add_member(const tool_facts_t* facts, const member_t* member, tool_kind_t* kind) {
  const tool_fact_t* fact = &facts->steps[member->step];
  if (kind->count == 0) {
    *kind = (tool_kind_t){.name = fact->info.name, .slowest = member->step};
  } else if (kind->count == 1) {
    kind->pattern = tool_copy_text(member->pattern);
    kind->name = kind->pattern;
  }
  const bool all_known = kind->operations >= 0 && fact->operations >= 0;
  const bool all_bound = (kind->count == 0 || kind->floor_seconds > 0) && fact->floor_seconds > 0;
  kind->operations = all_known ? kind->operations + fact->operations : -1;
  kind->floor_seconds = all_bound ? kind->floor_seconds + fact->floor_seconds : 0;
  kind->slowest =
      fact->seconds > facts->steps[kind->slowest].seconds ? member->step : kind->slowest;
  kind->seconds += fact->seconds;
  kind->bytes += fact->bytes;
  ++kind->count;
}

uint32_t tool_kinds_find(const tool_facts_t* facts, tool_kind_t** out_kinds) {
  member_t* members = tool_allocate(facts->count, sizeof(*members));
  tool_kind_t* kinds = tool_allocate(facts->count, sizeof(*kinds));
  uint32_t member_count = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < facts->count; ++i) {
    if (facts->steps[i].info.depth == 0) {
      members[member_count++] = describe(facts, i);
    }
  }
  if (member_count > 0) {
    qsort(members, member_count, sizeof(*members), compare_members);
  }
  for (uint32_t m = 0; m < member_count; ++m) {
    count += m == 0 || strcmp(members[m].key, members[m - 1].key) != 0 ? 1 : 0;
    add_member(facts, &members[m], &kinds[count - 1]);
  }
  if (count > 0) {
    qsort(kinds, count, sizeof(*kinds), compare_kinds);
  }
  for (uint32_t m = 0; m < member_count; ++m) {
    tool_free(members[m].key);
  }
  tool_free(members);
  *out_kinds = kinds;
  return count;
}

void tool_kinds_free(tool_kind_t* kinds, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    tool_free(kinds[k].pattern);
  }
  tool_free(kinds);
}
