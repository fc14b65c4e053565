/*
 * Converters as parsers get them. The parser calls the host's function. That function asks the
 * plugins' converters of the node type one after the other: UNSUPPORTED passes to the next one. It
 * adds the file and the node to messages, and reports a converter that fails without a message.
 * A node type without a converter may be an operator (convert_by_name.c).
 */
#include <stdio.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "core/network/builder.h"
#include "core/network/builder_bodies.h"
#include "sdk/library/parse.h"

enum { NAME_SIZE = 512 };

/* One node type. In the parse's arena. */
typedef struct conversion_t {
  tenon_converter_t converter; /* for the parser */
  tenon_parse_t* parse;
  uint32_t entry_count;                     /* 0: by name */
  const tenon__converter_entry_t** entries; /* in the order in which they are asked */
  const tenon__operator_t* op;              /* by name */
} conversion_t;

/* A message that waits for the end of a converter. */
typedef struct message_t {
  struct message_t* next;
  int32_t severity;
  const char* text;
} message_t;

/* A node that is being converted, and the messages about it. */
typedef struct node_t {
  tenon_sink_t sink;
  const tenon_sink_t* next;
  const char* type;
  const char* name;
  tenon__arena_t* arena;
  bool keeps; /* messages wait: another converter could do it */
  message_t* first;
  message_t* last;
  uint32_t error_count;
} node_t;

/* ---- Messages ---- */

static void pass_on(const node_t* node, int32_t severity, const char* message) {
  if (node->name[0] == '\0' || strstr(message, node->name) != NULL) {
    tenon__report(node->next, severity, "%s", message);
  } else {
    tenon__report(node->next, severity, "%s '%s': %s", node->type, node->name, message);
  }
}

static bool keep(node_t* node, int32_t severity, const char* message) {
  const message_t made = {NULL, severity, tenon__arena_copy_string(node->arena, message)};
  message_t* copy = made.text == NULL ? NULL : tenon__arena_copy(node->arena, &made, sizeof(made));
  if (copy == NULL) {
    return false;
  }
  *(node->last == NULL ? &node->first : &node->last->next) = copy;
  node->last = copy;
  return true;
}

static void hear(void* user, int32_t severity, const char* message) {
  node_t* node = user;
  node->error_count += severity >= TENON_SEVERITY_ERROR ? 1 : 0;
  if (!node->keeps || !keep(node, severity, message)) {
    pass_on(node, severity, message);
  }
}

static void forget_messages(node_t* node) {
  node->first = NULL;
  node->last = NULL;
  node->error_count = 0;
}

static void pass_messages_on(const node_t* node) {
  for (const message_t* message = node->first; message != NULL; message = message->next) {
    pass_on(node, message->severity, message->text);
  }
}

/* The errors of a converter that declined, without the node; NULL if memory is out. */
static const char* decline_text(const node_t* node) {
  const char* prefix = tenon__arena_format(node->arena, "%s '%s': ", node->type, node->name);
  const char* text = prefix == NULL ? NULL : "";
  for (const message_t* m = node->first; m != NULL && text != NULL; m = m->next) {
    if (m->severity >= TENON_SEVERITY_ERROR) {
      const size_t length = strlen(prefix);
      text = tenon__arena_format(node->arena, "%s%s%s", text, text[0] == '\0' ? "" : "; ",
                                 m->text + (strncmp(m->text, prefix, length) == 0 ? length : 0));
    }
  }
  return text != NULL && text[0] == '\0' ? "it does not say why" : text;
}

static tenon_status_t end_conversion(const node_t* node, const tenon__owner_t* owner,
                                     tenon_status_t status) {
  pass_messages_on(node);
  if (status == TENON_OK || status == TENON_ERROR_OUT_OF_MEMORY || node->error_count > 0) {
    return status;
  }
  return tenon__fail(node->next, status,
                     "%s '%s': the converter of plugin %s failed and did not say why: %s",
                     node->type, node->name, owner->plugin, tenon__status_text(status));
}

/* ---- Asking ---- */

/* Converters count by the one or by the other. */
static tenon_status_t check_counts(const conversion_t* conversion,
                                   const tenon_conversion_t* given) {
  const uint32_t inputs = given->table->input_count(given->source);
  const uint32_t outputs = given->table->output_count(given->source);
  return inputs == given->input_count && outputs == given->output_count
             ? TENON_OK
             : tenon__fail(given->build->sink(given->builder), TENON_ERROR_INTERNAL,
                           "the parser for format '%s' gives %u inputs and %u outputs of a node "
                           "that by its table has %u and %u",
                           conversion->parse->format, given->input_count, given->output_count,
                           inputs, outputs);
}

static tenon_status_t ask(const tenon__converter_entry_t* entry, const node_t* node,
                          tenon_conversion_t* inout_given) {
  const tenon__call_t running = {entry->owner->plugin, "convert", node->type, node->name};
  const tenon__call_t* outer = tenon__call_enter(&running);
  inout_given->state = entry->owner->state;
  const tenon_status_t status = entry->converter.convert(inout_given);
  tenon__call_leave(outer);
  return status;
}

/* The next one is asked of the node as the first one was. */
static tenon_status_t pass_to_next(const conversion_t* conversion, uint32_t index, node_t* node,
                                   const tenon_conversion_t* given, const char** inout_declines) {
  const char* plugin = conversion->entries[index]->owner->plugin;
  const char* reason = decline_text(node);
  const char* declines =
      reason == NULL ? NULL
                     : tenon__arena_format(node->arena, "%s%splugin %s: %s", *inout_declines,
                                           index == 0 ? "" : "; ", plugin, reason);
  TENON_TRY_MEMORY(declines != NULL);
  *inout_declines = declines;
  forget_messages(node);
  memset(given->outputs, 0, given->output_count * sizeof(*given->outputs));
  if (index + 1 < conversion->entry_count) {
    tenon__report(node->next, TENON_SEVERITY_INFO,
                  "%s '%s': plugin %s does not convert it: %s; plugin %s is asked next", node->type,
                  node->name, plugin, reason, conversion->entries[index + 1]->owner->plugin);
  }
  return TENON_OK;
}

static tenon_status_t ask_all(const conversion_t* conversion, node_t* node,
                              tenon_conversion_t* given) {
  tenon_builder_t* own = conversion->parse->network->builder;
  const tenon__builder_mark_t mark = tenon__builder_mark(own);
  const char* declines = "";
  node->keeps = conversion->entry_count > 1;
  for (uint32_t i = 0; i < conversion->entry_count; ++i) {
    const tenon__converter_entry_t* entry = conversion->entries[i];
    const tenon_status_t status = ask(entry, node, given);
    if (status != TENON_ERROR_UNSUPPORTED || !node->keeps || !tenon__builder_undo(own, mark)) {
      return end_conversion(node, entry->owner, status);
    }
    TENON_TRY(pass_to_next(conversion, i, node, given, &declines));
  }
  return tenon__fail(node->next, TENON_ERROR_UNSUPPORTED, "%s '%s': no plugin converts it: %s",
                     node->type, node->name, declines);
}

static tenon_status_t convert(const tenon_conversion_t* call) {
  tenon_conversion_t given = {0};
  memcpy(&given, call, call->size < sizeof given ? call->size : sizeof given);
  given.size = sizeof given;
  const conversion_t* conversion = given.state;
  node_t node = {.type = given.table->type(given.source),
                 .name = given.table->name(given.source),
                 .arena = &conversion->parse->arena};
  node.sink = (tenon_sink_t){&node, hear};
  tenon_builder_t* own = conversion->parse->network->builder;
  node.next = tenon__builder_divert(own, &node.sink);
  const tenon__builder_mark_t mark = tenon__builder_mark(own);
  tenon_status_t status = check_counts(conversion, &given);
  if (status == TENON_OK) {
    status = conversion->entry_count > 0
                 ? ask_all(conversion, &node, &given)
                 : tenon__parse_convert_by_name(conversion->parse, conversion->op, &given);
  }
  (void)tenon__builder_divert(own, node.next);
  if (status != TENON_OK) {
    tenon__builder_unwind(own, mark);
  }
  return status;
}

/* ---- Finding them ---- */

/* Found once for each node type of a parse. */
static conversion_t* make_conversion(tenon_parse_t* parse, const char* domain, const char* type,
                                     int64_t version) {
  tenon__catalog_t* catalog = parse->network->registry->catalog;
  const tenon_sink_t* sink = &parse->network->sink.sink;
  const tenon__node_key_t key = {parse->format, domain, type, version};
  conversion_t found = {.parse = parse};
  found.entry_count = tenon__catalog_converters(catalog, &key, sink, NULL, 0);
  found.entries = tenon__arena_allocate(&parse->arena, found.entry_count + 1u, sizeof(const void*));
  if (found.entries == NULL) {
    return NULL;
  }
  (void)tenon__catalog_converters(catalog, &key, sink, found.entries, found.entry_count);
  if (found.entry_count > 0) {
    found.converter = found.entries[0]->converter;
  } else {
    found.op = tenon__parse_find_operator(parse, domain, type, version);
    found.converter = (tenon_converter_t){.size = sizeof(found.converter),
                                          .format = parse->format,
                                          .domain = tenon__arena_copy_string(&parse->arena, domain),
                                          .type = tenon__arena_copy_string(&parse->arena, type),
                                          .since = version};
  }
  found.converter.convert = convert;
  const bool is_there = found.entry_count > 0 || found.op != NULL;
  return is_there ? tenon__arena_copy(&parse->arena, &found, sizeof(found)) : NULL;
}

const tenon_converter_t* tenon__parse_find_converter(tenon_parse_t* parse, const char* domain,
                                                     const char* type, int64_t version,
                                                     void** out_state) {
  char key[NAME_SIZE];
  const int length = snprintf(key, sizeof(key), "%lld:%s:%s", (long long)version, domain, type);
  const bool is_short = length >= 0 && (size_t)length < sizeof(key);
  const tenon__map_value_t* known =
      is_short ? tenon__string_map_find(&parse->conversions, key) : NULL;
  conversion_t* conversion =
      known != NULL ? known->pointer : make_conversion(parse, domain, type, version);
  if (known == NULL && is_short) {
    /* Where memory is out it is looked for again. */
    (void)tenon__string_map_set(&parse->conversions, key,
                                (tenon__map_value_t){.pointer = conversion});
  }
  if (conversion == NULL) {
    return NULL;
  }
  *out_state = conversion;
  return &conversion->converter;
}

const char* tenon__parse_find_plugin(tenon_parse_t* parse, const char* domain, const char* type,
                                     int64_t version) {
  void* state = NULL;
  if (tenon__parse_find_converter(parse, domain, type, version, &state) == NULL) {
    return NULL;
  }
  const conversion_t* conversion = state;
  return conversion->entry_count > 0 ? conversion->entries[0]->owner->plugin
                                     : conversion->op->plugin;
}
