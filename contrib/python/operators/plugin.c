/* The operators that a program in Python has defined, as a plugin of its process.
 *
 * The extension module is the first host: it calls tenon_plugin_query and offers the table
 * "tenon_python.plugin/1", the descriptor with the operators. Other hosts, which are the registries
 * of the process, then get this descriptor. Each later query of the module replaces it; the module
 * never frees a descriptor. Without Python the plugin offers nothing. */
#include <stdatomic.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("python", "0.1.0",
                      "licence: Apache-2.0\n"
                      "offers: operator *\n");

static _Atomic(const tenon_plugin_t*) known;

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  const tenon_plugin_t* given = host->table(host->host, "tenon_python.plugin/1");
  if (given != NULL) {
    atomic_store(&known, given);
  }
  return atomic_load(&known);
}
