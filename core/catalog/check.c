/* Texts over several operators, checked once all plugins can be asked: the patterns of rewrites and
 * kernels, what replaces them, and guards. */
#include "core/catalog/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/lists.h"
#include "core/base/nearest.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "core/catalog/contest.h"
#include "core/catalog/left_out.h"
#include "core/catalog/state.h"
#include "core/language/text.h"
#include "core/operator/attribute.h"
#include "core/operator/operator_admit.h"
#include "core/tensor/dtype.h"

/* One rewrite or kernel. */
typedef struct check_t {
  tenon__catalog_t* catalog;
  const tenon_sink_t* sink;
  tenon__arena_t arena;
  const char* what;   /* "pattern" */
  const char* source; /* its text */
  const tenon__owner_t* owner;
  tenon__calls_t pattern;
  bool is_out_of_memory;
  bool is_told;       /* with the operator */
  char message[1024]; /* the first fault; "": none */
} check_t;

/* ---- Words ---- */

__attribute__((format(printf, 3, 4))) static void fault_at(check_t* check, uint32_t position,
                                                           const char* format, ...) {
  char text[640];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  (void)snprintf(check->message, sizeof(check->message), "its %s \"%.256s\": column %u: %s",
                 check->what, check->source, position + 1, text);
}

/* What the parsers report: it begins with the column. */
static void hear(void* user, int32_t severity, const char* message) {
  check_t* check = user;
  if (severity >= TENON_SEVERITY_ERROR && check->message[0] == '\0') {
    (void)snprintf(check->message, sizeof(check->message), "its %s \"%.256s\": %s", check->what,
                   check->source, message);
  }
}

static bool has_failed(check_t* check, tenon_status_t status) {
  check->is_out_of_memory = check->is_out_of_memory || status == TENON_ERROR_OUT_OF_MEMORY;
  return status != TENON_OK;
}

/* ---- Names ---- */

static bool is_result(const tenon__call_statement_t* call, const char* name) {
  return tenon__words_hold(call->results, call->result_count, name);
}

/* A value that the pattern names: an input of it, or what it makes. */
static bool is_value(const check_t* check, const char* name) {
  for (uint32_t s = 0; s < check->pattern.statement_count; ++s) {
    if (tenon__words_hold(check->pattern.statements[s].arguments,
                          check->pattern.statements[s].argument_count, name) ||
        is_result(&check->pattern.statements[s], name)) {
      return true;
    }
  }
  return false;
}

/* A name that stands for an attribute's value in the pattern. */
static bool is_attribute(const check_t* check, const char* name) {
  for (uint32_t s = 0; s < check->pattern.statement_count; ++s) {
    const tenon__call_statement_t* call = &check->pattern.statements[s];
    for (uint32_t i = 0; i < call->attribute_count; ++i) {
      const tenon__syntax_t* value = call->attributes[i].value;
      if (value->kind == TENON_SYNTAX_NAME && strcmp(value->text, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

/* In a guard. */
static bool is_name(const void* user, const char* name) {
  const check_t* check = user;
  return is_value(check, name) || is_attribute(check, name) ||
         tenon__dtype_from_name(name) != TENON_DTYPE_UNDEFINED;
}

/* ---- Statements ---- */

static bool is_variadic(const tenon_port_t* ports, uint32_t count) {
  return count > 0 && (ports[count - 1].flags & TENON_PORT_VARIADIC) != 0;
}

static void check_attribute(check_t* check, const tenon__operator_t* op,
                            const tenon__call_attribute_t* given, bool is_replacement) {
  const tenon__descriptor_t* d = &op->descriptor;
  uint32_t index = 0;
  tenon__nearest_t nearest = {0};
  for (; index < d->attribute_count && strcmp(d->attributes[index].name, given->name) != 0;
       ++index) {
    tenon__nearest_offer_word(&nearest, given->name, d->attributes[index].name);
  }
  if (index == d->attribute_count) {
    char message[TENON_NEAREST_BYTES];
    fault_at(check, given->position, "%s has no attribute '%s'%s", op->name, given->name,
             tenon__nearest_text(&nearest, message));
    return;
  }
  tenon__scope_attribute_t literal = {.name = given->name};
  if (!has_failed(check, tenon__attribute_from_syntax(&check->arena, given->value,
                                                      d->attributes[index].kind, &literal))) {
    return;
  }
  const bool is_free = given->value->kind == TENON_SYNTAX_NAME &&
                       (!is_replacement || is_attribute(check, given->value->text));
  if (!is_free) {
    fault_at(check, given->value->position,
             "attribute '%s' of %s is of kind %s; this is neither one nor the name of an attribute "
             "in the pattern",
             given->name, op->name, tenon__attribute_kind_name(d->attributes[index].kind));
  }
}

static void check_statement(check_t* check, const tenon__calls_t* calls, uint32_t s,
                            bool is_replacement) {
  const tenon__call_statement_t* call = &calls->statements[s];
  const tenon__operator_t* op = tenon__catalog_operator(check->catalog, call->op, check->sink);
  if (op == NULL) {
    char message[TENON_NEAREST_BYTES];
    tenon__nearest_t nearest = {0};
    tenon__catalog_nearest_operators(check->catalog, call->op, check->sink, &nearest);
    fault_at(check, call->op_position, "no plugin offers operator %s%s", call->op,
             tenon__nearest_text(&nearest, message));
    return;
  }
  if (tenon__catalog_defines_otherwise(check->catalog, check->owner, call->op)) {
    check->is_told = true;
    fault_at(check, call->op_position, "the plugin's definition of %s is left out", call->op);
    return;
  }
  const tenon__descriptor_t* d = &op->descriptor;
  if (call->argument_count > d->input_count && !is_variadic(d->inputs, d->input_count)) {
    fault_at(check, call->argument_positions[d->input_count], "%s has %u input%s", op->name,
             d->input_count, d->input_count == 1 ? "" : "s");
  } else if (call->result_count > d->output_count && !is_variadic(d->outputs, d->output_count)) {
    fault_at(check, call->op_position, "%s has %u output%s", op->name, d->output_count,
             d->output_count == 1 ? "" : "s");
  }
  for (uint32_t i = 0; i < call->argument_count && check->message[0] == '\0'; ++i) {
    bool is_known = !is_replacement || strcmp(call->arguments[i], "_") == 0 ||
                    is_value(check, call->arguments[i]);
    for (uint32_t k = 0; k < s && !is_known; ++k) {
      is_known = is_result(&calls->statements[k], call->arguments[i]);
    }
    if (!is_known) {
      fault_at(check, call->argument_positions[i],
               "'%s' is neither in the pattern nor an earlier result", call->arguments[i]);
    }
  }
  for (uint32_t i = 0; i < call->attribute_count && check->message[0] == '\0'; ++i) {
    check_attribute(check, op, &call->attributes[i], is_replacement);
  }
}

static void check_calls(check_t* check, const char* what, const char* source,
                        tenon__calls_t* out_calls) {
  const tenon_sink_t listener = {check, hear};
  const bool is_replacement = strcmp(what, "replacement") == 0;
  check->what = what;
  check->source = source;
  if (has_failed(check, tenon__calls_parse(&check->arena, source, &listener, out_calls))) {
    return;
  }
  if (out_calls->statement_count == 0) {
    fault_at(check, 0, "it is empty");
    return;
  }
  const tenon__call_statement_t* last = &out_calls->statements[out_calls->statement_count - 1];
  if (last->result_count != 1 && !is_replacement) {
    fault_at(check, last->op_position, "the last statement of a pattern has one result");
    return;
  }
  for (uint32_t s = 0; s < out_calls->statement_count && check->message[0] == '\0'; ++s) {
    check_statement(check, out_calls, s, is_replacement);
  }
}

static void check_guard(check_t* check, const char* source) {
  const tenon_sink_t listener = {check, hear};
  const tenon__syntax_t* condition = NULL;
  check->what = "guard";
  check->source = source;
  if (has_failed(check,
                 tenon__text_parse_expression(&check->arena, source, &listener, &condition))) {
    return;
  }
  (void)tenon__condition_check_names(condition, is_name, check, &listener);
}

static void begin(check_t* check, tenon__catalog_t* catalog, const tenon__owner_t* owner,
                  const tenon_sink_t* sink) {
  *check = (check_t){.catalog = catalog, .owner = owner, .sink = sink};
  tenon__arena_initialize(&check->arena, catalog->allocator);
}

/* ---- All ---- */

/* A fault that memory made is none: another time. */
static tenon_status_t end(check_t* check, const char* kind, const char* name,
                          const tenon__owner_t* owner, tenon__admission_t* verdict) {
  verdict->is_checked = !check->is_out_of_memory;
  if (verdict->is_checked && check->is_told) {
    verdict->fault = "the plugin's definition of an operator is left out";
  } else if (verdict->is_checked && check->message[0] != '\0') {
    const tenon__left_out_t item = {kind, name, owner, check->message};
    tenon__catalog_drop(check->catalog, &item, verdict, check->sink);
  }
  tenon__arena_deinitialize(&check->arena);
  return verdict->is_checked ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t check_rewrite(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                                    const tenon_sink_t* sink) {
  const tenon_rewrite_t* rewrite = &entry->rewrite;
  check_t check;
  tenon__calls_t replacement;
  begin(&check, catalog, entry->owner, sink);
  check_calls(&check, "pattern", rewrite->pattern, &check.pattern);
  if (check.message[0] == '\0' && rewrite->when != NULL) {
    check_guard(&check, rewrite->when);
  }
  if (check.message[0] == '\0' && rewrite->replacement != NULL) {
    check_calls(&check, "replacement", rewrite->replacement, &replacement);
  }
  return end(&check, "rewrite", rewrite->name, entry->owner, entry->verdict);
}

static tenon_status_t check_kernel(tenon__catalog_t* catalog, const tenon__kernel_entry_t* entry,
                                   const tenon_sink_t* sink) {
  check_t check;
  begin(&check, catalog, entry->owner, sink);
  check_calls(&check, "pattern", entry->kernel.pattern, &check.pattern);
  return end(&check, "kernel", entry->kernel.name, entry->owner, entry->verdict);
}

/* The list may grow while plugins are loaded: it is looked up each time. */
static const tenon__index_record_t* record_at(const tenon__catalog_t* catalog,
                                              tenon__offer_kind_t kind, const char* key,
                                              size_t index) {
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[kind], key);
  return index < list->count ? &list->records[index] : NULL;
}

static tenon_status_t check_all(tenon__catalog_t* catalog, const tenon_sink_t* sink) {
  const tenon__index_record_t* record = NULL;
  for (size_t i = 0; (record = record_at(catalog, TENON_OFFER_REWRITE, "", i)) != NULL; ++i) {
    if (!record->verdict->is_checked) {
      TENON_TRY(check_rewrite(catalog, record->entry, sink));
    }
  }
  for (size_t i = 0; (record = record_at(catalog, TENON_OFFER_KERNEL, "*", i)) != NULL; ++i) {
    const tenon__kernel_entry_t* entry = record->entry;
    if (!record->verdict->is_checked && entry->kernel.pattern != NULL) {
      TENON_TRY(check_kernel(catalog, entry, sink));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__catalog_check_texts(tenon__catalog_t* catalog, const tenon_sink_t* sink) {
  (void)tenon__catalog_all(catalog, TENON_OFFER_REWRITE, sink, NULL, 0);
  (void)tenon__catalog_kernels(catalog, "*", 0, sink, NULL, 0);
  (void)pthread_mutex_lock(&catalog->mutex);
  const tenon_status_t status = check_all(catalog, sink);
  (void)pthread_mutex_unlock(&catalog->mutex);
  return status;
}

void tenon__catalog_judge(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                          const char* fault, const tenon_sink_t* sink) {
  (void)pthread_mutex_lock(&catalog->mutex);
  if (!entry->verdict->is_tried && fault != NULL) {
    const tenon__left_out_t item = {"rewrite", entry->rewrite.name, entry->owner, fault};
    tenon__catalog_drop(catalog, &item, entry->verdict, sink);
  }
  entry->verdict->is_tried = true;
  (void)pthread_mutex_unlock(&catalog->mutex);
}

bool tenon__catalog_is_tried(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                             bool* out_refused) {
  (void)pthread_mutex_lock(&catalog->mutex);
  const bool is_tried = entry->verdict->is_tried;
  *out_refused = entry->verdict->fault != NULL;
  (void)pthread_mutex_unlock(&catalog->mutex);
  return is_tried;
}
