/* Checks of the file as a whole: the registry's admission, what it loads, hosts of other versions. */
#include "check/file_checks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "check/plugin.h"
#include "text/console.h"

/* ---- admission ---- */

char check_admission(check_t* check, check_text_t* text) {
  check_plugin_t plugin;
  if (check_plugin_find(check, NULL, &plugin) != TENON_OK) {
    check_text_add(
        text, "%s",
        tool_console_last_error()[0] != '\0' ? tool_console_last_error() : tenon_last_message());
    return CHECK_FAILED;
  }
  const bool is_refused = plugin.info.state == TENON_PLUGIN_REFUSED;
  if (is_refused) {
    check_text_add(text, "%s", plugin.info.reason);
  } else {
    check_text_add(text, "%s %s%s%s", plugin.info.name, plugin.info.version,
                   plugin.info.licence[0] != '\0' ? ", " : "", plugin.info.licence);
  }
  check_plugin_close(&plugin);
  return is_refused ? CHECK_FAILED : CHECK_OK;
}

/* ---- load ---- */

/* Lines about the file or the plugin; others are about other plugins, or name it as the reason. */
static bool add_own_lines(const check_plugin_t* plugin, const char* lines, check_text_t* text) {
  char* owner = tool_format(" of %s: ", plugin->info.name);
  char* file = tool_format("plugin candidate '%s'", plugin->info.path);
  char* vendor = tool_format("(%s)", plugin->info.path);
  bool any = false;
  char* line = NULL;
  while (lines != NULL && (line = tool_take_line(&lines)) != NULL) {
    if (strstr(line, file) == line || strstr(line, vendor) != NULL || strstr(line, owner) != NULL) {
      check_text_add(text, "%s%s", any ? "; " : "", line);
      any = true;
    }
    tool_free(line);
  }
  tool_free(vendor);
  tool_free(file);
  tool_free(owner);
  return any;
}

/* Identities that nothing refers to: an operator without a version, a kernel for no operator. */
static bool check_identities(const check_plugin_t* plugin, check_text_t* text) {
  for (size_t i = 0; i < plugin->operator_count; ++i) {
    const check_operator_t* o = &plugin->operators[i];
    if (strcmp(o->plugin, plugin->info.name) == 0 && strchr(o->op.name, '/') == NULL) {
      check_text_add(text, "operator %s has no version: name it %s/1", o->op.name, o->op.name);
      return false;
    }
  }
  for (size_t i = 0; i < plugin->kernel_count; ++i) {
    const check_kernel_t* k = &plugin->kernels[i];
    const bool is_own = strcmp(k->plugin, plugin->info.name) == 0;
    const char* const* names = is_own ? k->kernel.operators : NULL;
    for (; names != NULL && *names != NULL; ++names) {
      if (check_plugin_operator(plugin, *names) == NULL) {
        check_text_add(text, "kernel %s computes %s, which no plugin offers", k->kernel.name,
                       *names);
        return false;
      }
    }
  }
  return true;
}

char check_load(check_t* check, check_text_t* text) {
  check_plugin_t plugin;
  if (check_plugin_find(check, NULL, &plugin) != TENON_OK ||
      check_plugin_load(&plugin) != TENON_OK) {
    check_text_add(text, "%s", tenon_last_message());
    return CHECK_FAILED;
  }
  char code = CHECK_FAILED;
  if (plugin.info.state == TENON_PLUGIN_REFUSED) {
    check_text_add(text, "%s", plugin.info.reason);
  } else if (plugin.info.left_out[0] != '\0') {
    const char* lines = plugin.info.left_out;
    char* line = NULL;
    for (bool any = false; (line = tool_take_line(&lines)) != NULL; any = true) {
      check_text_add(text, "%s%s", any ? "; " : "left out: ", line);
      tool_free(line);
    }
  } else if (!add_own_lines(&plugin, plugin.warnings.data, text)) {
    code = check_identities(&plugin, text) ? CHECK_OK : CHECK_FAILED;
  }
  check_plugin_close(&plugin);
  return code;
}

/* ---- hosts ---- */

static const void* no_table(void* host, const char* name) {
  (void)host;
  (void)name;
  return NULL;
}

/* A host, and what the query must do there. */
typedef struct host_case_t {
  const char* name;
  uint32_t major;
  uint32_t min_minor;
  uint32_t max_minor;
  bool must_serve;
} host_case_t;

static tenon_plugin_query_t find_query(const char* path, check_text_t* text) {
  tenon_plugin_query_t query = NULL;
  void* file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = file != NULL ? dlsym(file, TENON_PLUGIN_QUERY_SYMBOL) : NULL;
  if (symbol == NULL) {
    check_text_add(text, "cannot be loaded: %s", dlerror());
  }
  memcpy((void*)&query, (void*)&symbol, sizeof(query));
  return query;
}

static bool try_host(tenon_plugin_query_t query, const host_case_t* h, check_text_t* text) {
  const tenon_host_offer_t host = {h->major, h->min_minor, h->max_minor, 0, NULL, no_table};
  const tenon_plugin_t* first = query(&host);
  if (first == NULL && h->must_serve) {
    check_text_add(text,
                   "query returns NULL for %s (contract %u.%u to %u.%u), which `needed` permits: "
                   "raise `needed`, or serve this host",
                   h->name, h->major, h->min_minor, h->major, h->max_minor);
    return false;
  }
  if (query(&host) != first) {
    check_text_add(text,
                   "query returns another descriptor when %s asks again: return the address of "
                   "static data",
                   h->name);
    return false;
  }
  return true;
}

/* A host that grants no table: start may fail, and must not crash. */
static void start_without_tables(const tenon_plugin_t* from) {
  const tenon_host_offer_t host = {TENON_ABI_MAJOR, 0, TENON_ABI_MINOR, 0, NULL, no_table};
  tenon_plugin_t root = {0};
  void* state = NULL;
  memcpy(&root, from, from->size < sizeof(root) ? from->size : sizeof(root));
  if (root.start != NULL && root.start(&host, &state) == TENON_OK && root.stop != NULL) {
    root.stop(state);
  }
}

char check_hosts(check_t* check, check_text_t* text) {
  const tenon_plugin_query_t query = find_query(check->path, text);
  if (query == NULL) {
    return CHECK_FAILED;
  }
  const tenon_host_offer_t present = {TENON_ABI_MAJOR, 0, TENON_ABI_MINOR, 0, NULL, no_table};
  const tenon_plugin_t* root = query(&present);
  if (root == NULL) {
    check_text_add(text, "query returns NULL for this host, contract %s", TENON_ABI_TEXT);
    return CHECK_FAILED;
  }
  const uint32_t needed = root->needed & 0xFFFFu;
  const uint32_t built = root->built & 0xFFFFu;
  const host_case_t hosts[] = {
      {"the oldest host", root->needed >> 16, needed, needed, true},
      {"a newer host", root->built >> 16, built, built + 5, true},
      {"a host of the next major version", (root->built >> 16) + 1, 0, 0, false},
      {"a host before all versions", 0, 0, 0, false},
  };
  for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); ++i) {
    if (!try_host(query, &hosts[i], text)) {
      return CHECK_FAILED;
    }
  }
  start_without_tables(root);
  return CHECK_OK;
}
