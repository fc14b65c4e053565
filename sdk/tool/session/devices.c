/* See devices.h. */
#include "session/devices.h"

#include <stdio.h>
#include <string.h>

#include "text/memory.h"

/* The text that stands for `key` in a line of JSON that the library printed; "" when there is
 * none. Escapes stay as they are. */
static void find_json_text(const char* line, const char* key, char* out_text, size_t size) {
  char mark[64];
  (void)snprintf(mark, sizeof(mark), "\"%s\": ", key);
  const char* at = strstr(line, mark);
  out_text[0] = '\0';
  if (at != NULL) {
    at += strlen(mark);
    const bool quoted = *at == '"';
    at += quoted ? 1 : 0;
    (void)snprintf(out_text, size, "%.*s", (int)strcspn(at, quoted ? "\"" : ",}"), at);
  }
}

/* One that is not there has no index. */
static char* write_sentence(const char* line) {
  static const char* const keys[] = {"name", "index", "fingerprint", "plugin", "health"};
  char texts[5][256];
  for (size_t i = 0; i < 5; ++i) {
    find_json_text(line, keys[i], texts[i], sizeof(texts[i]));
  }
  return texts[1][0] == '\0'
             ? tool_format("%s: not used: %s (plugin %s)", texts[0], texts[4], texts[3])
             : tool_format("%s %s: %s (plugin %s), %s", texts[0], texts[1], texts[2], texts[3],
                           texts[4]);
}

bool tool_devices_tell(tenon_registry_t* registry, void (*tell)(const char* sentence)) {
  tool_text_t printed = {0};
  (void)tenon_registry_print_devices(registry, tool_text_add, &printed);
  char* lines = tool_text_take(&printed);
  const bool any_works = strstr(lines, "\"health\": \"ok\"") != NULL;
  const char* rest = lines;
  char* line = NULL;
  while ((line = tool_take_line(&rest)) != NULL) {
    char* sentence = write_sentence(line);
    tell(sentence);
    tool_free(sentence);
    tool_free(line);
  }
  tool_free(lines);
  return any_works;
}

const char* tool_devices_used(const tenon_engine_t* engine, const tenon_engine_info_t* info) {
  static const char host[] = "cpu";
  const char* used = host;
  const uint32_t count = tenon_engine_step_count(engine);
  for (uint32_t k = 0; k < count && used == host; ++k) {
    tenon_step_info_t step = {.size = sizeof(step)};
    const bool is_known = tenon_engine_get_step(engine, k, &step) == TENON_OK;
    used = is_known && strcmp(step.device, host) != 0 ? info->device : host;
  }
  return used;
}
