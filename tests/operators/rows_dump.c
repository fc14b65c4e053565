/* Prints what converters make, as far as their rows say it (tenon/maker.h), one a line:
 * format, domain, type, since, operator, with tabs between. A row that builds more than one
 * operator names none, and is not printed.
 *
 *   rows_dump PLUGIN.so...      absolute paths */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tenon/maker.h"

static void print_rows(const tenon_offering_t* offering) {
  for (uint32_t i = 0; i < offering->items.count; ++i) {
    const tenon_make_row_t* row = (const tenon_make_row_t*)offering->items.items + i;
    if (row->op != NULL) {
      (void)printf("%s\t%s\t%s\t%lld\t%s\n", row->converter.format, row->converter.domain,
                   row->converter.type, (long long)row->converter.since, row->op);
    }
  }
}

/* Converters that are no rows have another stride. */
static void print_plugin(const tenon_plugin_t* plugin) {
  const tenon_offering_t* const* offerings = plugin->offerings.items;
  for (uint32_t i = 0; i < plugin->offerings.count; ++i) {
    const tenon_offering_t* offering = offerings[i];
    if (strcmp(offering->kind, "converter/1") == 0 &&
        offering->items.stride == sizeof(tenon_make_row_t)) {
      print_rows(offering);
    }
  }
}

int main(int argc, char** argv) {
  const tenon_host_offer_t host = {.abi_major = TENON_ABI_MAJOR,
                                   .abi_min_minor = TENON_ABI_MINOR,
                                   .abi_max_minor = TENON_ABI_MINOR};
  for (int i = 1; i < argc; ++i) {
    tenon_plugin_query_t query = NULL;
    void* image = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (image == NULL) {
      (void)fprintf(stderr, "rows_dump: %s\n", dlerror());
      return 1;
    }
    void* symbol = dlsym(image, TENON_PLUGIN_QUERY_SYMBOL);
    memcpy(&query, &symbol, sizeof(query));
    const tenon_plugin_t* plugin = query == NULL ? NULL : query(&host);
    if (plugin == NULL) {
      (void)fprintf(stderr, "rows_dump: %s is no plugin for this host\n", argv[i]);
      return 1;
    }
    print_plugin(plugin);
  }
  return 0;
}
