/* A manifest of more than 64 KiB: lines of 8 bytes after the first ones. Nothing else is ever
 * looked at. */
#include "tenon/plugin.h"

#define EIGHT(x) x x x x x x x x
#define LINES                       \
  EIGHT(                            \
      EIGHT(EIGHT(EIGHT("a: xxxx\n" \
                        "a: xxxx\n"))))
#define TEXT "name: huge\nversion: 1\nabi: 0.1\nneeded: 0.1\n" LINES

static const struct {
  tenon_note_header_t header;
  char text[sizeof(TEXT)];
} manifest TENON_NOTE_ATTRIBUTES = {
    {sizeof(TENON_NOTE_NAME), sizeof(TEXT), TENON_NOTE_TYPE, TENON_NOTE_NAME}, TEXT};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return NULL;
}
