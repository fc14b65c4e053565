/* See shape_text.h. */
#include "text/shape_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/console.h"
#include "text/memory.h"

/* One extent: digits, or "?" or "-1" for open. */
static bool parse_extent(const char* text, size_t size, int64_t* out_extent) {
  if ((size == 1 && text[0] == '?') || (size == 2 && strncmp(text, "-1", 2) == 0)) {
    *out_extent = -1;
    return true;
  }
  if (size == 0 || size > 18) {
    return false;
  }
  int64_t extent = 0;
  for (size_t i = 0; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') {
      return false;
    }
    extent = extent * 10 + (text[i] - '0');
  }
  *out_extent = extent;
  return true;
}

static bool parse_shape(const char* text, size_t size, tool_shape_t* out_shape) {
  static const char scalar[] = "scalar";
  out_shape->rank = 0;
  if (size == sizeof(scalar) - 1 && strncmp(text, scalar, size) == 0) {
    return true;
  }
  size_t begin = 0;
  for (size_t i = 0; i <= size; ++i) {
    if (i < size && text[i] != 'x' && text[i] != 'X') {
      continue;
    }
    if (out_shape->rank == TOOL_RANK_MAX ||
        !parse_extent(text + begin, i - begin, &out_shape->dims[out_shape->rank])) {
      return false;
    }
    ++out_shape->rank;
    begin = i + 1;
  }
  return true;
}

/* Shapes at the end of `text`, separated by colons: three of one rank, or one. Returns where they
 * begin (the colon before them), 0 when there is none. */
static size_t parse_shapes_at_end(const char* text, size_t size, tool_shape_t out_shapes[3]) {
  size_t begin[3];
  uint32_t count = 0;
  size_t end = size;
  while (count < 3) {
    size_t colon = end;
    while (colon > 0 && text[colon - 1] != ':') {
      --colon;
    }
    if (colon == 0 || !parse_shape(text + colon, end - colon, &out_shapes[2 - count])) {
      break;
    }
    begin[count++] = colon - 1;
    end = colon - 1;
  }
  if (count == 3 && out_shapes[0].rank == out_shapes[2].rank &&
      out_shapes[1].rank == out_shapes[2].rank) {
    return begin[2];
  }
  if (count == 0) {
    return 0;
  }
  out_shapes[0] = out_shapes[2];
  out_shapes[1] = out_shapes[2];
  return begin[0];
}

/* Where the item that begins at `text` ends: at a comma outside of quotes. */
static size_t item_length(const char* text) {
  size_t i = 0;
  if (text[0] == '\'') {
    i = 1 + strcspn(text + 1, "'");
  }
  return i + strcspn(text + i, ",");
}

tool_named_shape_t* tool_named_shapes_find(const tool_named_shapes_t* shapes, const char* name) {
  for (size_t i = 0; i < shapes->count; ++i) {
    if (strcmp(shapes->items[i].name, name) == 0) {
      return &shapes->items[i];
    }
  }
  return NULL;
}

tool_named_shape_t* tool_named_shapes_add(tool_named_shapes_t* shapes, const char* name) {
  tool_named_shape_t* found = tool_named_shapes_find(shapes, name);
  if (found != NULL) {
    return found;
  }
  shapes->items =
      tool_grow(shapes->items, &shapes->capacity, shapes->count + 1, sizeof(*shapes->items));
  found = &shapes->items[shapes->count++];
  *found = (tool_named_shape_t){.name = tool_copy_text(name)};
  return found;
}

static tenon_status_t parse_item(const char* option, const char* text, size_t size,
                                 tool_named_shapes_t* shapes) {
  tool_shape_t parsed[3];
  const size_t name_size = parse_shapes_at_end(text, size, parsed);
  if (name_size == 0) {
    return tool_misuse(
        "%s: \"%.*s\" is not NAME:SHAPE or NAME:MIN:OPT:MAX with shapes of one rank, "
        "such as image:1x3x224x224:4x3x224x224:8x3x224x224",
        option, (int)size, text);
  }
  const bool quoted = name_size >= 2 && text[0] == '\'' && text[name_size - 1] == '\'';
  char* name = tool_copy_bytes(text + (quoted ? 1 : 0), name_size - (quoted ? 2 : 0));
  const bool twice = tool_named_shapes_find(shapes, name) != NULL;
  if (!twice) {
    memcpy(tool_named_shapes_add(shapes, name)->shapes, parsed, sizeof(parsed));
  }
  tenon_status_t status = TENON_OK;
  if (twice) {
    status = tool_misuse("%s: \"%s\" stands there twice", option, name);
  }
  tool_free(name);
  return status;
}

tenon_status_t tool_named_shapes_parse(const char* option, const char* text,
                                       tool_named_shapes_t* inout_shapes) {
  for (;;) {
    const size_t length = item_length(text);
    const tenon_status_t status = parse_item(option, text, length, inout_shapes);
    if (status != TENON_OK || text[length] == '\0') {
      return status;
    }
    text += length + 1;
  }
}

void tool_named_shapes_free(tool_named_shapes_t* shapes) {
  for (size_t i = 0; i < shapes->count; ++i) {
    tool_free(shapes->items[i].name);
  }
  tool_free(shapes->items);
  *shapes = (tool_named_shapes_t){0};
}

void tool_shape_print(uint32_t rank, const int64_t* dims, char* out_text, size_t size) {
  if (rank == 0 || rank == TENON_NONE) {
    (void)snprintf(out_text, size, "%s", rank == 0 ? "scalar" : "any rank");
    return;
  }
  size_t used = 0;
  for (uint32_t i = 0; i < rank && used < size; ++i) {
    const char* times = i == 0 ? "" : "x";
    const int wrote =
        dims[i] < 0 ? snprintf(out_text + used, size - used, "%s?", times)
                    : snprintf(out_text + used, size - used, "%s%lld", times, (long long)dims[i]);
    used += wrote > 0 ? (size_t)wrote : 0;
  }
}
