/* Rejected offers as a list in the catalogue, and as lines of text for a report. */
#include "core/catalog/left_out.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/escape.h"
#include "core/base/status.h"

enum { LINE_SIZE = 2400 };

void tenon__catalog_leave_out(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                              const tenon_sink_t* sink) {
  tenon__report(sink, TENON_SEVERITY_WARNING, "plugin %s (%s): %s '%s': %s; it is left out",
                item->owner->plugin, item->owner->path, item->kind, item->name, item->message);
  const char* name = tenon__arena_copy_string(&catalog->arena, item->name);
  const char* message = tenon__arena_copy_string(&catalog->arena, item->message);
  if (name == NULL || message == NULL ||
      !TENON_GROW(catalog->allocator, catalog->left_out, catalog->left_out_capacity,
                  catalog->left_out_count + 1)) {
    return; /* the warning was reported; only the list lacks it */
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

/* ---- Lists ---- */

uint32_t tenon__catalog_left_out(tenon__catalog_t* catalog, tenon__left_out_t* out_items,
                                 uint32_t capacity) {
  (void)pthread_mutex_lock(&catalog->mutex);
  const uint32_t count = (uint32_t)catalog->left_out_count;
  for (uint32_t i = 0; i < count && i < capacity; ++i) {
    out_items[i] = catalog->left_out[i];
  }
  (void)pthread_mutex_unlock(&catalog->mutex);
  return count;
}

/* Names and texts are a plugin's: they make no second line. */
static void describe_left_out(const tenon__left_out_t* item, char* out_line, size_t size) {
  char line[LINE_SIZE];
  (void)snprintf(line, sizeof(line), "%s %s: %s", item->kind, item->name, item->message);
  for (char* c = line; *c != '\0'; ++c) {
    if (*c == '\n') {
      *c = ' ';
    }
  }
  (void)tenon__escape(line, out_line, size);
}

static const char* make_lines(tenon__catalog_t* catalog, const tenon__owner_t* owner) {
  const char* lines = "";
  for (size_t i = 0; i < catalog->left_out_count && lines != NULL; ++i) {
    if (catalog->left_out[i].owner == owner) {
      char line[LINE_SIZE];
      describe_left_out(&catalog->left_out[i], line, sizeof(line));
      lines = tenon__arena_format(&catalog->arena, "%s%s\n", lines, line);
    }
  }
  return lines == NULL ? "" : lines;
}

const char* tenon__catalog_left_out_lines(tenon__catalog_t* catalog, const char* path) {
  const char* lines = "";
  (void)pthread_mutex_lock(&catalog->mutex);
  for (size_t i = 0; i < catalog->owner_count; ++i) {
    tenon__owner_slot_t* slot = catalog->owners[i];
    if (strcmp(slot->owner->path, path) != 0) {
      continue;
    }
    if (slot->lines == NULL || slot->lines_count < catalog->left_out_count) {
      slot->lines = make_lines(catalog, slot->owner);
      slot->lines_count = catalog->left_out_count;
    }
    lines = slot->lines;
  }
  (void)pthread_mutex_unlock(&catalog->mutex);
  return lines;
}
