/* See words.h. */
#include "page/format.h"

#include <stdio.h>
#include <string.h>

void tool_format_time(double seconds, char out_text[32]) {
  if (seconds < 0.9995e-3) {
    (void)snprintf(out_text, 32, "%.3g \xC2\xB5s", seconds * 1e6);
  } else if (seconds < 0.9995) {
    (void)snprintf(out_text, 32, "%.3g ms", seconds * 1e3);
  } else {
    (void)snprintf(out_text, 32, "%.3g s", seconds);
  }
}

void tool_format_bytes(double bytes, char out_text[32]) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  uint32_t unit = 0;
  for (; bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0]); ++unit) {
    bytes /= 1024;
  }
  (void)snprintf(out_text, 32, "%.3g %s", bytes, units[unit]);
}

void tool_format_amount(double amount, const char* unit, char out_text[32]) {
  static const char* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  uint32_t prefix = 0;
  for (; amount >= 999.5 && prefix + 1 < sizeof(prefixes) / sizeof(prefixes[0]); ++prefix) {
    amount /= 1000;
  }
  (void)snprintf(out_text, 32, "%.3g %s%s", amount, prefixes[prefix], unit);
}

void tool_format_colour(double share, char out_colour[32]) {
  const double strength = share > 1 ? 1 : share;
  (void)snprintf(out_colour, 32, "hsl(%.0f,%.0f%%,%.0f%%)", 48 - 30 * strength, 20 + 70 * strength,
                 97 - 27 * strength);
}

/* Bytes after the first of a character in UTF-8. */
static bool continues(char byte) {
  return ((unsigned char)byte & 0xC0) == 0x80;
}

const char* tool_format_tail(const char* name, size_t limit) {
  size_t count = 0;
  for (const char* at = name; *at != '\0'; ++at) {
    count += continues(*at) ? 0 : 1;
  }
  for (size_t drop = count > limit ? count - limit + 1 : 0; drop > 0; --drop) {
    do {
      ++name;
    } while (continues(*name));
  }
  return name;
}

void tool_format_tensor(const char* list, char out_text[TOOL_FORMAT_BYTES]) {
  const char* at = strchr(list, '[');
  bool inside = true;
  size_t used = 0;
  while (at != NULL && at > list && at[-1] != ' ') {
    --at;
  }
  for (; at != NULL && *at != '\0' && used + 1 < TOOL_FORMAT_BYTES; ++at) {
    if (*at == ',' && !inside) {
      break;
    }
    if (*at == ']') {
      inside = false;
    } else {
      out_text[used++] = (char)(*at == '[' ? ' ' : *at == ',' ? 'x' : *at);
    }
  }
  out_text[used] = '\0';
}

/* After the name stands one word, with its extents where it is a tensor: names may hold blanks. */
static bool is_described(const char* text) {
  const size_t length = text[0] == ' ' ? strcspn(text + 1, " [,") : 0;
  return length > 0 && text[1 + length] != ' ';
}

bool tool_format_has_tensor(const char* list, const char* name) {
  const size_t length = strlen(name);
  if (length > 0) {
    for (const char* at = list; (at = strstr(at, name)) != NULL; ++at) {
      const bool begins = at == list || (at - list >= 2 && strncmp(at - 2, ", ", 2) == 0);
      if (begins && is_described(at + length)) {
        return true;
      }
    }
  }
  return false;
}

void tool_format_others(const tenon_step_info_t* step, char out_text[TOOL_FORMAT_BYTES]) {
  size_t used = 0;
  bool skipped = false;
  out_text[0] = '\0';
  for (const char* at = step->nodes; *at != '\0'; at += strspn(at, ", ")) {
    const size_t length = strcspn(at, ",");
    const char* end = at + length;
    const char* last = end; /* component of a path */
    while (last > at && last[-1] != '/') {
      --last;
    }
    const size_t size = (size_t)(end - last);
    if (!skipped && length == strlen(step->name) && strncmp(at, step->name, length) == 0) {
      skipped = true;
    } else if (used + size + 4 < TOOL_FORMAT_BYTES) {
      used += (size_t)snprintf(out_text + used, TOOL_FORMAT_BYTES - used, "%s%.*s",
                               used == 0 ? "+ " : ", ", (int)size, last);
    }
    at = end;
  }
}
