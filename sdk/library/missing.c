/* The list of node types that nobody converts, with what would be needed. */
#include <stdio.h>
#include <string.h>

#include "sdk/library/description.h"
#include "sdk/library/parse.h"

#include "core/catalog/catalog.h"

enum { CONVERTER_LIMIT = 4096, LISTED_LIMIT = 200 };

/* " (there is one for versions 13 to 21)": a converter of the same type for other versions. */
static const char* other_versions(tenon_parse_t* parse, const tenon_node_type_t* missing,
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
static const char* refused_plugin(tenon_parse_t* parse, const tenon_node_type_t* missing) {
  tenon__registry_t* plugins = parse->network->registry->plugins;
  const char* wanted = tenon__arena_format(&parse->arena, "converter %s:%s:%s\n", parse->format,
                                           missing->domain, missing->type);
  for (uint32_t i = 0; i < tenon__registry_candidate_count(plugins) && wanted != NULL; ++i) {
    tenon__candidate_info_t info;
    if (tenon__registry_candidate(plugins, i, &info) == TENON_OK &&
        info.state == TENON_CANDIDATE_REFUSED && strstr(info.offers, wanted) != NULL) {
      return tenon__arena_format(&parse->arena, "; plugin '%s' (%s) offers it, but %s", info.name,
                                 info.path, info.message);
    }
  }
  return "";
}

/* "needs a plugin with a converter for it; plugin 'c' has one from version 2 on" */
static const char* need_of(tenon_parse_t* parse, const tenon_node_type_t* missing,
                           const tenon__converter_entry_t** entries, uint32_t count) {
  const char* versions = other_versions(parse, missing, entries, count);
  const char* refused = refused_plugin(parse, missing);
  const char* by_name = "";
  if (missing->domain[0] != '\0') {
    by_name = tenon__arena_format(&parse->arena, ", or with operator %s.%s/1", missing->domain,
                                  missing->type);
  }
  return tenon__arena_format(&parse->network->arena, "needs a plugin with a converter for it%s%s%s",
                             by_name != NULL ? by_name : "", versions != NULL ? versions : "",
                             refused != NULL ? refused : "");
}

static const char* describe(tenon_parse_t* parse, const tenon_node_type_t* missing) {
  char more[48] = "";
  if (missing->count > 1) {
    (void)snprintf(more, sizeof(more), " and %u more", missing->count - 1);
  }
  return tenon__arena_format(&parse->arena, "\n  %s%s%s (version %lld), used by '%s'%s: %s",
                             missing->domain, missing->domain[0] != '\0' ? "::" : "", missing->type,
                             (long long)missing->version, missing->node, more, missing->message);
}

/* The list, prefix first; NULL when memory is out. */
static const char* list_missing(tenon_parse_t* parse, uint32_t missing_count) {
  uint32_t listed = 0;
  const char* text =
      tenon__arena_format(&parse->arena, "%s%u operator%s missing:", parse->network->sink.prefix,
                          missing_count, missing_count == 1 ? " is" : "s are");
  const tenon__description_t* description = &parse->network->description;
  for (uint32_t i = 0; i < description->type_count && text != NULL && listed < LISTED_LIMIT; ++i) {
    if (description->types[i].info.is_missing != 0) {
      const char* line = describe(parse, &description->types[i].info);
      text = line == NULL ? NULL : tenon__arena_format(&parse->arena, "%s%s", text, line);
      ++listed;
    }
  }
  return text != NULL && missing_count > LISTED_LIMIT
             ? tenon__arena_format(&parse->arena, "%s\n  and more", text)
             : text;
}

tenon_status_t tenon__missing_report(tenon_parse_t* parse) {
  uint32_t missing_count = 0;
  const tenon__converter_entry_t** entries =
      tenon__arena_allocate(&parse->arena, CONVERTER_LIMIT, sizeof(const void*));
  uint32_t count = entries == NULL
                       ? 0
                       : tenon__catalog_all(parse->network->registry->catalog,
                                            TENON_OFFER_CONVERTER, NULL, entries, CONVERTER_LIMIT);
  count = count < CONVERTER_LIMIT ? count : CONVERTER_LIMIT;
  for (uint32_t i = 0; i < parse->network->description.type_count; ++i) {
    tenon_node_type_t* type = &parse->network->description.types[i].info;
    if (type->is_missing != 0) {
      const char* message = need_of(parse, type, entries, count);
      type->message = message != NULL ? message : "";
      ++missing_count;
    }
  }
  const char* text = list_missing(parse, missing_count);
  if (text == NULL) {
    return tenon__fail_memory(&parse->network->sink.sink);
  }
  /* Not through the prefix sink: the list may be longer than its limit. */
  const tenon_sink_t* sink = parse->network->sink.next;
  if (sink->report != NULL) {
    sink->report(sink->user, TENON_SEVERITY_ERROR, text);
  }
  return TENON_ERROR_UNSUPPORTED;
}
