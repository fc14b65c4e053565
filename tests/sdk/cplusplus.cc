/* Both headers as C++ reads them; what C's macros make, C++'s make too. */
#include "tenon/plugin.h"
#include "tenon/tenon.h"

TENON_PLUGIN_MANIFEST("cplusplus", "1.0.0", "licence: Apache-2.0\n");

#if TENON_VERSION_MAJOR == 0 && TENON_VERSION_MINOR < 1
#error "the version cannot be asked for"
#endif

static bool are_options_right() {
  const tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  const tenon_registry_options_t registry = TENON_OPTIONS(tenon_registry_options_t);
  return build.size == sizeof(tenon_build_options_t) && build.profiles == nullptr &&
         build.time_budget_seconds == 0 && build.keep_refusals == 0 &&
         registry.size == sizeof(tenon_registry_options_t) && registry.logger.report == nullptr;
}

static bool are_attributes_right() {
  static const int64_t pads[] = {1, 2, 3};
  const tenon_attribute_t attributes[] = {
      TENON_INT("axis", -1), TENON_FLOAT("alpha", 0.5), TENON_TEXT("mode", "edge"),
      TENON_INTS("pads", pads), TENON_TYPE("to", TENON_DTYPE_FLOAT32)};
  return attributes[0].kind == TENON_ATTRIBUTE_INT && attributes[0].integer == -1 &&
         attributes[1].kind == TENON_ATTRIBUTE_FLOAT && attributes[1].number == 0.5 &&
         attributes[2].kind == TENON_ATTRIBUTE_STRING && attributes[2].string[0] == 'e' &&
         attributes[3].kind == TENON_ATTRIBUTE_INTS && attributes[3].count == 3 &&
         attributes[3].integers == pads && attributes[4].kind == TENON_ATTRIBUTE_DTYPE &&
         attributes[4].integer == TENON_DTYPE_FLOAT32;
}

static bool is_library_there() {
  tenon_registry_t* registry = nullptr;
  tenon_network_t* network = nullptr;
  const bool good = tenon_registry_create(nullptr, &registry) == TENON_OK &&
                    tenon_registry_plugin_count(registry) > 0 &&
                    tenon_network_create(registry, &network) == TENON_OK &&
                    tenon_version()[0] == '0' + TENON_VERSION_MAJOR;
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return good;
}

int main() {
  return !are_options_right() ? 1 : !are_attributes_right() ? 2 : !is_library_there() ? 3 : 0;
}
