/* Any bytes as a network: the text up to the first NUL, and the rest as the weights. Built in Tenon's
 * tree alone, with its fake host. */
#include <stdlib.h>
#include <string.h>

#include "darknet.h"
#include "tests/support/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tenon_offering_t* const layers[] = {&darknet_layers};
  const tenon_plugin_t* plugin = tenon_plugin_query(NULL);
  const tenon_offering_t* const* offerings = plugin->offerings.items;
  const tenon_parser_t* parser = offerings[0]->items.items;
  const tenon__fake_parser_t under_test = {parser->format, parser->parse, layers, 1};
  const uint8_t* end = size > 0 ? memchr(data, 0, size) : NULL;
  const size_t length = end != NULL ? (size_t)(end - data) : size;
  tenon__fake_t* fake = malloc(sizeof(*fake));
  if (fake == NULL) {
    abort();
  }
  (void)parser->sniff(NULL, data, size < 4096 ? size : 4096, "network.cfg");
  tenon__fake_initialize(fake, &under_test);
  tenon__fake_add_part(fake, data, length);
  if (end != NULL) {
    tenon__fake_add_part(fake, end + 1, size - length - 1);
  }
  (void)tenon__fake_parse(fake);
  tenon__fake_deinitialize(fake);
  free(fake);
  return 0;
}
