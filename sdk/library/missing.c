/* The list of node types that nobody converts, with what would be needed. */
#include <stdio.h>
#include <string.h>

#include "sdk/library/parse.h"

enum { CONVERTER_LIMIT = 4096, LISTED_LIMIT = 200 };

void tenon__missing_add(tenon_parse_t* parse, const char* domain, const char* type, int64_t version,
                        const char* node) {
  tenon__missing_t** link = &parse->missing;
  for (; *link != NULL; link = &(*link)->next) {
    tenon__missing_t* known = *link;
    if (known->version == version && strcmp(known->type, type) == 0 &&
        strcmp(known->domain, domain) == 0) {
      ++known->count;
      return;
    }
  }
  parse->missing_count += 1;
  tenon__missing_t* made = parse->missing_count > LISTED_LIMIT
                               ? NULL
                               : tenon__arena_allocate(&parse->arena, 1, sizeof(*made));
  if (made == NULL) {
    return;
  }
  *made = (tenon__missing_t){.domain = tenon__arena_copy_string(&parse->arena, domain),
                             .type = tenon__arena_copy_string(&parse->arena, type),
                             .node = tenon__arena_copy_string(&parse->arena, node),
                             .version = version,
                             .count = 1};
  if (made->domain != NULL && made->type != NULL && made->node != NULL) {
    *link = made;
  }
}

/* " (there is one for versions 13 to 21)": a converter of the same type for other versions. */
static const char* other_versions(tenon_parse_t* parse, const tenon__missing_t* missing,
                                  const tenon__converter_entry_t** entries, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const tenon_converter_t* converter = &entries[i]->converter;
    if (strcmp(converter->format, parse->format) != 0 ||
        strcmp(converter->domain, missing->domain) != 0 ||
        strcmp(converter->type, missing->type) != 0) {
      continue;
    }
    return converter->until == 0
               ? tenon__arena_format(&parse->arena, "; plugin '%s' has one from version %lld on",
                                     entries[i]->owner->plugin, (long long)converter->since)
               : tenon__arena_format(&parse->arena,
                                     "; plugin '%s' has one for versions %lld to %lld",
                                     entries[i]->owner->plugin, (long long)converter->since,
                                     (long long)converter->until - 1);
  }
  return "";
}

/* A plugin that would have it, but is refused. */
static const char* refused_plugin(tenon_parse_t* parse, const tenon__missing_t* missing) {
  tenon__registry_t* plugins = parse->network->registry->plugins;
  const char* wanted = tenon__arena_format(&parse->arena, "converter %s:%s:%s\n", parse->format,
                                           missing->domain, missing->type);
  for (uint32_t i = 0; i < tenon__registry_candidate_count(plugins) && wanted != NULL; ++i) {
    tenon__candidate_info_t info;
    if (tenon__registry_candidate(plugins, i, &info) == TENON_OK &&
        info.state == TENON_CANDIDATE_REFUSED && strstr(info.offers, wanted) != NULL) {
      return tenon__arena_format(&parse->arena, "; plugin '%s' (%s) offers it, but %s", info.name,
                                 info.path, info.words);
    }
  }
  return "";
}

static const char* describe(tenon_parse_t* parse, const tenon__missing_t* missing,
                            const tenon__converter_entry_t** entries, uint32_t count) {
  const char* versions = other_versions(parse, missing, entries, count);
  const char* refused = refused_plugin(parse, missing);
  char more[48] = "";
  if (missing->count > 1) {
    (void)snprintf(more, sizeof(more), " and %u more", missing->count - 1);
  }
  const char* by_name = "";
  if (missing->domain[0] != '\0') {
    by_name = tenon__arena_format(&parse->arena, ", or with operator %s.%s/1", missing->domain,
                                  missing->type);
  }
  return tenon__arena_format(
      &parse->arena,
      "\n  %s%s%s (version %lld), used by '%s'%s: needs a plugin with a converter for "
      "it%s%s%s",
      missing->domain, missing->domain[0] != '\0' ? "::" : "", missing->type,
      (long long)missing->version, missing->node, more, by_name != NULL ? by_name : "",
      versions != NULL ? versions : "", refused != NULL ? refused : "");
}

tenon_status_t tenon__missing_report(tenon_parse_t* parse) {
  const tenon_sink_t* sink = &parse->network->sink.sink;
  const tenon__converter_entry_t** entries =
      tenon__arena_allocate(&parse->arena, CONVERTER_LIMIT, sizeof(const void*));
  uint32_t count = entries == NULL ? 0
                                   : tenon__catalog_converters(parse->network->registry->catalog,
                                                               NULL, entries, CONVERTER_LIMIT);
  count = count < CONVERTER_LIMIT ? count : CONVERTER_LIMIT;
  const char* text =
      tenon__arena_format(&parse->arena, "%s%u operator%s missing:", parse->network->sink.prefix,
                          parse->missing_count, parse->missing_count == 1 ? " is" : "s are");
  for (const tenon__missing_t* m = parse->missing; m != NULL && text != NULL; m = m->next) {
    const char* line = describe(parse, m, entries, count);
    text = line == NULL ? NULL : tenon__arena_format(&parse->arena, "%s%s", text, line);
  }
  if (text != NULL && parse->missing_count > LISTED_LIMIT) {
    text = tenon__arena_format(&parse->arena, "%s\n  and more", text);
  }
  if (text == NULL) {
    return tenon__fail_memory(sink);
  }
  /* Not through the prefix sink: the list may be longer than its limit. */
  sink = parse->network->sink.next;
  if (sink->report != NULL) {
    sink->report(sink->user, TENON_SEVERITY_ERROR, text);
  }
  return TENON_ERROR_UNSUPPORTED;
}
