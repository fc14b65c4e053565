/* Reasons for the report, and the comparison of lists of rules. */
#include "core/candidate/search.h"

#include <string.h>

#include "core/kernel/kernel_match.h"
#include "core/tensor/layout.h"

static void append(search_t* search, const char* text) {
  tenon__write_bytes(&search->refusals, text, strlen(text));
}

void tenon__search_note(search_t* search, const tenon__kernel_entry_t* entry, const char* tactic,
                        const tenon_refusal_t* refusal) {
  append(search, entry->owner->plugin);
  append(search, ":");
  append(search, entry->kernel.name);
  if (tactic != NULL) {
    append(search, " (");
    append(search, tactic);
    append(search, ")");
  }
  append(search, ": ");
  append(search, tenon__refusal_text(refusal->reason));
  append(search, refusal->detail == NULL ? "" : ": ");
  append(search, refusal->detail == NULL ? "" : refusal->detail);
  append(search, "\n");
}

bool tenon__rule_lists_alike(const tenon_argument_rule_t* a, const tenon_argument_rule_t* b,
                             uint32_t count) {
  bool same = true;
  for (uint32_t k = 0; k < count && same; ++k) {
    same = tenon__rules_alike(a == NULL ? NULL : &a[k], b == NULL ? NULL : &b[k]);
  }
  return same;
}
