/* Reads a manifest in two passes: the first counts lines and checks characters, the second takes
 * each line. */
#include "plugin_registry/manifest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/catalog/kinds.h"

#define NAME_LIMIT 64u
#define VERSION_LIMIT 64u
#define WORD_LIMIT 4u

typedef struct parser_t {
  tenon__arena_t* arena;
  tenon__manifest_t manifest;
  tenon__manifest_offer_t* offers;
  tenon__manifest_library_t* libraries;
  const char** isas;
  const char** services;
  tenon__manifest_requirement_t* requirements;
  char* offers_text;
  size_t offers_text_size;
  bool has_built;
  bool has_needed;
  bool has_threads;
  uint32_t line;
  tenon__finding_t fault;
} parser_t;

__attribute__((format(printf, 2, 3))) static bool fail(parser_t* parser, const char* format, ...) {
  char words[256];
  va_list arguments;
  va_start(arguments, format);
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
  (void)vsnprintf(words, sizeof(words), format, arguments);
  va_end(arguments);
  const char* detail = parser->line == 0
                           ? tenon__arena_copy_string(parser->arena, words)
                           : tenon__arena_format(parser->arena, "line %u: %s", parser->line, words);
  parser->fault = (tenon__finding_t){TENON_PLUGIN_REASON_MANIFEST, detail == NULL ? "" : detail};
  return false;
}

static bool fail_memory(parser_t* parser) {
  parser->fault = TENON_FINDING_MEMORY;
  return false;
}

/* ---- Characters ---- */

/* Length of the UTF-8 sequence at text[0], 0 when it is none (overlong forms and surrogates
 * included). Table 3-7 of the Unicode standard. */
static size_t utf8_length(const unsigned char* text, size_t size, uint32_t* out_point) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char first = text[0];
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || length > size) {
    return 0;
  }
  uint32_t point = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0u) != 0x80) {
      return 0;
    }
    point = point << 6 | (text[i] & 0x3fu);
  }
  if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
    return 0;
  }
  *out_point = point;
  return length;
}

/* What would change how a terminal or an editor shows the rest. */
static bool is_control(uint32_t point) {
  return (point < 0x20 && point != '\n') || (point >= 0x7f && point < 0xa0) ||
         (point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069);
}

static bool check_characters(parser_t* parser, const char* text, size_t size) {
  parser->line = 1;
  for (size_t i = 0; i < size;) {
    uint32_t point = 0;
    const size_t length = utf8_length((const unsigned char*)text + i, size - i, &point);
    if (length == 0) {
      return fail(parser, "it is not UTF-8");
    }
    if (is_control(point)) {
      return fail(parser, "it has the control character U+%04X", (unsigned)point);
    }
    parser->line += point == '\n';
    i += length;
  }
  parser->line = 0;
  return true;
}

/* ---- Values ---- */

static bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool check_name(parser_t* parser, const char* value) {
  for (const char* c = value; *c != '\0'; ++c) {
    if (!is_letter_or_digit(*c) && *c != '_' && *c != '-') {
      return fail(parser, "a name has letters, digits, _ and - alone: '%s'", value);
    }
  }
  if (strlen(value) > NAME_LIMIT) {
    return fail(parser, "a name has at most %u characters", NAME_LIMIT);
  }
  return true;
}

static bool check_version(parser_t* parser, const char* value) {
  if (strlen(value) > VERSION_LIMIT || strchr(value, ' ') != NULL) {
    return fail(parser, "a version has at most %u characters and no space", VERSION_LIMIT);
  }
  return true;
}

/* "MAJOR.MINOR", each at most 65535. */
static bool take_abi(parser_t* parser, const char* value, uint32_t* out_abi) {
  uint32_t numbers[2] = {0, 0};
  const char* c = value;
  for (int i = 0; i < 2; ++i) {
    const char* start = c;
    for (; *c >= '0' && *c <= '9' && c - start < 6; ++c) {
      numbers[i] = numbers[i] * 10 + (uint32_t)(*c - '0');
    }
    const char end = i == 0 ? '.' : '\0';
    if (c == start || numbers[i] > 65535 || *c != end) {
      return fail(parser, "'%s' is not a version of the contract, such as " TENON_ABI_NEEDED_TEXT,
                  value);
    }
    c += i == 0;
  }
  *out_abi = TENON_ABI_VERSION(numbers[0], numbers[1]);
  return true;
}

/* Splits at single or repeated spaces, in place. False with more than WORD_LIMIT words. */
static bool split(char* text, char* out_message[WORD_LIMIT], size_t* out_count) {
  size_t count = 0;
  char* rest = NULL;
  for (char* word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    if (count == WORD_LIMIT) {
      return false;
    }
    out_message[count++] = word;
  }
  *out_count = count;
  return true;
}

static void add_offer(parser_t* parser, const tenon__manifest_offer_t* offer) {
  parser->offers[parser->manifest.offer_count++] = *offer;
  const size_t length = strlen(offer->text);
  memcpy(parser->offers_text + parser->offers_text_size, offer->text, length);
  parser->offers_text[parser->offers_text_size + length] = '\n';
  parser->offers_text_size += length + 1;
}

static bool take_offer(parser_t* parser, char* value) {
  tenon__manifest_offer_t offer = {value, "", "", ""};
  char* copy = tenon__arena_copy_string(parser->arena, value);
  char* words[WORD_LIMIT];
  size_t count = 0;
  if (copy == NULL) {
    return fail_memory(parser);
  }
  const bool is_split = split(copy, words, &count);
  offer.kind = copy; /* its first word, even when there are too many */
  if (tenon__offer_kind_of_word(offer.kind) == TENON_OFFER_COUNT) {
    add_offer(parser, &offer); /* a later version's */
    return true;
  }
  const bool is_any = count > 1 && strcmp(words[1], "*") == 0;
  const bool is_kernel = strcmp(offer.kind, "kernel") == 0;
  if (!is_split || count != (is_kernel && !is_any ? 4 : 2)) {
    return fail(parser, is_kernel ? "a kernel is offered as: kernel NAME OPERATOR DEVICE"
                                  : "an offer is a kind and a name");
  }
  offer.name = words[1];
  offer.op = !is_kernel ? "" : is_any ? "*" : words[2];
  offer.text = is_kernel && !is_any
                   ? tenon__arena_format(parser->arena, "%s %s %s %s", words[0], words[1], words[2],
                                         words[3])
                   : tenon__arena_format(parser->arena, "%s %s", words[0], words[1]);
  if (offer.text == NULL) {
    return fail_memory(parser);
  }
  add_offer(parser, &offer);
  return true;
}

static bool take_library(parser_t* parser, char* value) {
  char* words[WORD_LIMIT];
  size_t count = 0;
  if (!split(value, words, &count) || count != 2) {
    return fail(parser, "a library is given as: needs-library: SONAME linked|opened");
  }
  const bool opened = strcmp(words[1], "opened") == 0;
  if (!opened && strcmp(words[1], "linked") != 0) {
    return fail(parser, "a library is linked or opened, not '%s'", words[1]);
  }
  if (strchr(words[0], '/') != NULL) {
    return fail(parser, "a library is named by its soname, not by a path: '%s'", words[0]);
  }
  parser->libraries[parser->manifest.library_count++] =
      (tenon__manifest_library_t){words[0], opened};
  return true;
}

/* "PLUGIN" or "PLUGIN >= VERSION". */
static bool take_requirement(parser_t* parser, char* value) {
  char* words[WORD_LIMIT];
  size_t count = 0;
  const bool is_split = split(value, words, &count);
  if (!is_split || (count != 1 && (count != 3 || strcmp(words[1], ">=") != 0))) {
    return fail(parser, "a plugin is required as: requires: PLUGIN [>= VERSION]");
  }
  const char* version = count == 3 ? words[2] : "";
  parser->requirements[parser->manifest.requirement_count++] =
      (tenon__manifest_requirement_t){words[0], version};
  return check_name(parser, words[0]) && check_version(parser, version);
}

/* ---- Lines ---- */

/* Keys that may come once: where the value goes. NULL for any other. */
static const char** single_text(parser_t* parser, const char* key) {
  tenon__manifest_t* manifest = &parser->manifest;
  return strcmp(key, "name") == 0      ? &manifest->name
         : strcmp(key, "version") == 0 ? &manifest->version
         : strcmp(key, "vendor") == 0  ? &manifest->vendor
         : strcmp(key, "licence") == 0 ? &manifest->licence
         : strcmp(key, "url") == 0     ? &manifest->url
                                       : NULL;
}

static bool take_single(parser_t* parser, const char* key, const char* value, const char** target) {
  if (*target != NULL) {
    return fail(parser, "'%s' is given twice", key);
  }
  *target = value;
  return strcmp(key, "name") == 0      ? check_name(parser, value)
         : strcmp(key, "version") == 0 ? check_version(parser, value)
                                       : true;
}

static bool take_abi_line(parser_t* parser, const char* key, const char* value) {
  const bool is_built = strcmp(key, "abi") == 0;
  bool* seen = is_built ? &parser->has_built : &parser->has_needed;
  if (*seen) {
    return fail(parser, "'%s' is given twice", key);
  }
  *seen = true;
  return take_abi(parser, value, is_built ? &parser->manifest.built : &parser->manifest.needed);
}

static bool take_threads(parser_t* parser, const char* value) {
  if (parser->has_threads || strcmp(value, "own") != 0) {
    return fail(parser, "threads are 'own', once");
  }
  parser->has_threads = true;
  parser->manifest.own_threads = true;
  return true;
}

static bool take_value(parser_t* parser, const char* key, char* value) {
  const char** single = single_text(parser, key);
  if (single != NULL) {
    return take_single(parser, key, value, single);
  }
  if (strcmp(key, "abi") == 0 || strcmp(key, "needed") == 0) {
    return take_abi_line(parser, key, value);
  }
  if (strcmp(key, "offers") == 0) {
    return take_offer(parser, value);
  }
  if (strcmp(key, "needs-library") == 0) {
    return take_library(parser, value);
  }
  if (strcmp(key, "requires") == 0) {
    return take_requirement(parser, value);
  }
  if (strcmp(key, "needs-isa") == 0) {
    parser->isas[parser->manifest.isa_count++] = value;
  } else if (strcmp(key, "host-service") == 0) {
    parser->services[parser->manifest.service_count++] = value;
  } else if (strcmp(key, "threads") == 0) {
    return take_threads(parser, value);
  }
  return true;
}

/* `line` ends with NUL and is ours to cut. */
static bool take_line(parser_t* parser, char* line) {
  if (strlen(line) > TENON_MANIFEST_LINE_LIMIT) {
    return fail(parser, "it has more than %d bytes", TENON_MANIFEST_LINE_LIMIT);
  }
  char* value = line;
  while ((*value >= 'a' && *value <= 'z') || *value == '-') {
    ++value;
  }
  if (value == line || value[0] != ':' || value[1] != ' ') {
    return fail(parser, "it is not of the form 'key: value'");
  }
  *value = '\0';
  value += 2;
  while (*value == ' ') {
    ++value;
  }
  for (char* end = value + strlen(value); end > value && end[-1] == ' '; --end) {
    end[-1] = '\0';
  }
  if (*value == '\0') {
    return fail(parser, "'%s' has no value", line);
  }
  return take_value(parser, line, value);
}

static bool take_lines(parser_t* parser, char* text) {
  for (char* line = text; line != NULL;) {
    char* end = strchr(line, '\n');
    if (end != NULL) {
      *end = '\0';
    }
    ++parser->line;
    if (*line != '\0' && !take_line(parser, line)) {
      return false;
    }
    line = end == NULL ? NULL : end + 1;
  }
  parser->line = 0;
  return true;
}

/* ---- The whole ---- */

/* Arrays large enough for one entry from each line. */
static bool make_room(parser_t* parser, const char* text, size_t size) {
  size_t lines = 1;
  for (size_t i = 0; i < size; ++i) {
    lines += text[i] == '\n';
  }
  parser->offers = tenon__arena_allocate(parser->arena, lines, sizeof(*parser->offers));
  parser->libraries = tenon__arena_allocate(parser->arena, lines, sizeof(*parser->libraries));
  parser->isas = tenon__arena_allocate(parser->arena, lines, sizeof(*parser->isas));
  parser->services = tenon__arena_allocate(parser->arena, lines, sizeof(*parser->services));
  parser->requirements = tenon__arena_allocate(parser->arena, lines, sizeof(*parser->requirements));
  parser->offers_text = tenon__arena_allocate(parser->arena, 1, size + 1);
  return (parser->offers != NULL && parser->libraries != NULL && parser->isas != NULL &&
          parser->services != NULL && parser->requirements != NULL &&
          parser->offers_text != NULL) ||
         fail_memory(parser);
}

static bool check_whole(parser_t* parser) {
  tenon__manifest_t* manifest = &parser->manifest;
  if (manifest->name == NULL || manifest->version == NULL || !parser->has_built ||
      !parser->has_needed) {
    return fail(parser, "it lacks '%s'",
                manifest->name == NULL      ? "name"
                : manifest->version == NULL ? "version"
                : !parser->has_built        ? "abi"
                                            : "needed");
  }
  if (manifest->needed > manifest->built) {
    return fail(parser, "it needs a later version of the contract than it was built with");
  }
  manifest->vendor = manifest->vendor == NULL ? "" : manifest->vendor;
  manifest->licence = manifest->licence == NULL ? "" : manifest->licence;
  manifest->url = manifest->url == NULL ? "" : manifest->url;
  manifest->offers = parser->offers;
  manifest->offers_text = parser->offers_text;
  manifest->libraries = parser->libraries;
  manifest->isas = parser->isas;
  manifest->services = parser->services;
  manifest->requirements = parser->requirements;
  return true;
}

tenon__finding_t tenon__manifest_parse(tenon__arena_t* arena, const char* text, size_t size,
                                       tenon__manifest_t* out_manifest) {
  parser_t parser = {.arena = arena};
  if (size > TENON_MANIFEST_LIMIT) {
    (void)fail(&parser, "it has %zu bytes, the limit is %d", size, TENON_MANIFEST_LIMIT);
    return parser.fault;
  }
  if (size == 0 || memchr(text, '\0', size) != text + size - 1) {
    (void)fail(&parser, "its text does not end with its first NUL");
    return parser.fault;
  }
  if (!check_characters(&parser, text, size - 1) || !make_room(&parser, text, size)) {
    return parser.fault;
  }
  char* copy = tenon__arena_copy_text(arena, text, size - 1);
  if (copy == NULL) {
    return TENON_FINDING_MEMORY;
  }
  if (take_lines(&parser, copy) && check_whole(&parser)) {
    *out_manifest = parser.manifest;
  }
  return parser.fault;
}
