/* See network_states.h. */
#include "session/network_states.h"

#include <string.h>

#include "session/feed.h"
#include "text/console.h"
#include "text/memory.h"

/* "past.*.key" in two; what stands behind the * is NULL where there is none. */
typedef struct pattern_t {
  char* before;
  const char* behind;
} pattern_t;

/* The text is the pattern's own. */
static pattern_t read_pattern(char* text) {
  char* star = strchr(text, '*');
  if (star != NULL) {
    *star = '\0';
  }
  return (pattern_t){text, star == NULL ? NULL : star + 1};
}

/* What the * stands for in a name, to be freed; NULL: it does not fit. */
static char* match(const pattern_t* pattern, const char* name) {
  const size_t before = strlen(pattern->before);
  const size_t length = strlen(name);
  const size_t behind = pattern->behind == NULL ? 0 : strlen(pattern->behind);
  if (pattern->behind == NULL) {
    return strcmp(pattern->before, name) == 0 ? tool_copy_text("") : NULL;
  }
  const bool fits = length >= before + behind && strncmp(name, pattern->before, before) == 0 &&
                    strcmp(name + length - behind, pattern->behind) == 0;
  return fits ? tool_copy_bytes(name + before, length - before - behind) : NULL;
}

/* The next input that fits, and what the * is in it. Those that were made states are gone. */
static char* find_input(const tenon_network_t* network, const pattern_t* pattern,
                        tenon_io_info_t* out_input) {
  char* middle = NULL;
  for (uint32_t i = 0; i < tenon_network_input_count(network) && middle == NULL; ++i) {
    if (tenon_network_get_input(network, i, out_input) == TENON_OK) {
      middle = match(pattern, out_input->name);
    }
  }
  return middle;
}

static tenon_status_t no_input(const tenon_network_t* network, const char* text) {
  tenon_io_info_t* inputs = NULL;
  TOOL_TRY(tool_network_inputs(network, &inputs));
  char* names = tool_input_names(inputs, tenon_network_input_count(network));
  const tenon_status_t status =
      tool_misuse("--state %s: no input fits; the inputs are: %s", text, names);
  tool_free(names);
  tool_free(inputs);
  return status;
}

static tenon_status_t make_states(tenon_network_t* network, const char* text, const pattern_t* from,
                                  const pattern_t* to) {
  tenon_status_t status = TENON_OK;
  tenon_io_info_t input = {.size = sizeof(input)};
  char* middle = find_input(network, from, &input);
  if (middle == NULL) {
    return no_input(network, text);
  }
  while (middle != NULL && status == TENON_OK) {
    char* name = tool_copy_text(input.name);
    char* output = tool_format("%s%s%s", to->before, middle, to->behind == NULL ? "" : to->behind);
    status = tenon_network_make_state(network, name, output);
    tool_free(output);
    tool_free(name);
    tool_free(middle);
    middle = status == TENON_OK ? find_input(network, from, &input) : NULL;
  }
  return status;
}

static tenon_status_t make_of_text(tenon_network_t* network, const char* text) {
  const char* equals = strrchr(text, '=');
  char* input = tool_copy_bytes(text, equals == NULL ? 0 : (size_t)(equals - text));
  char* output = tool_copy_text(equals == NULL ? "" : equals + 1);
  const pattern_t from = read_pattern(input);
  const pattern_t to = read_pattern(output);
  const bool is_one = from.behind == NULL && to.behind == NULL;
  const bool are_two = from.behind != NULL && to.behind != NULL &&
                       strchr(from.behind, '*') == NULL && strchr(to.behind, '*') == NULL;
  const bool is_empty = is_one && (from.before[0] == '\0' || to.before[0] == '\0');
  const tenon_status_t status =
      is_empty || !(is_one || are_two)
          ? tool_misuse(
                "--state %s: it must be INPUT=OUTPUT, such as past=present, with one * in "
                "both or in none",
                text)
          : make_states(network, text, &from, &to);
  tool_free(input);
  tool_free(output);
  return status;
}

tenon_status_t tool_network_make_states(tenon_network_t* network, const tool_list_t* texts) {
  for (size_t i = 0; i < texts->count; ++i) {
    TOOL_TRY(make_of_text(network, texts->items[i]));
  }
  return TENON_OK;
}
