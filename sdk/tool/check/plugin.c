/* See plugin.h. Descriptors are static data of loaded files: query gives them again. */
#include "check/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "text/console.h"

/* ---- The registry ---- */

static void hear(void* user, int32_t severity, const char* message) {
  check_plugin_t* plugin = user;
  if (severity >= TENON_SEVERITY_WARNING) {
    tool_text_add(&plugin->warnings, message);
    tool_text_add(&plugin->warnings, "\n");
  }
}

/* *out_found false: no folder of the search path has the file. */
static tenon_status_t find_info(check_plugin_t* plugin, const char* path, bool* out_found) {
  const uint32_t count = tenon_registry_plugin_count(plugin->registry);
  *out_found = false;
  for (uint32_t i = 0; i < count && !*out_found; ++i) {
    /* Without left_out: nothing is loaded. */
    tenon_plugin_info_t info = {.size = offsetof(tenon_plugin_info_t, left_out)};
    TOOL_TRY(tenon_registry_get_plugin(plugin->registry, i, &info));
    char* real = realpath(info.path, NULL);
    *out_found = real != NULL && strcmp(real, path) == 0;
    plugin->info = *out_found ? info : plugin->info;
    free(real);
  }
  return TENON_OK;
}

/* Other files of the folder that the registry does not know. */
static void set_aside_others(const check_plugin_t* plugin, const char* path, const char* folder,
                             tool_list_t* out_paths) {
  DIR* entries = opendir(folder);
  const struct dirent* entry = NULL;
  while (entries != NULL && (entry = readdir(entries)) != NULL) {
    char* other = tool_format("%s/%s", folder, entry->d_name);
    bool keeps = strcmp(other, path) == 0 || strstr(entry->d_name, ".so") == NULL;
    const uint32_t count = tenon_registry_plugin_count(plugin->registry);
    for (uint32_t i = 0; i < count && !keeps; ++i) {
      tenon_plugin_info_t info = {.size = offsetof(tenon_plugin_info_t, left_out)};
      keeps = tenon_registry_get_plugin(plugin->registry, i, &info) == TENON_OK &&
              strcmp(info.path, other) == 0;
    }
    if (keeps) {
      tool_free(other);
    } else {
      tool_list_add(out_paths, other);
    }
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
}

/* Other plugins with the name of the file's. False: there is none. */
static bool set_aside_namesakes(const check_plugin_t* plugin, tool_list_t* out_paths) {
  const uint32_t count = tenon_registry_plugin_count(plugin->registry);
  const size_t before = out_paths->count;
  for (uint32_t i = 0; i < count; ++i) {
    tenon_plugin_info_t info = {.size = offsetof(tenon_plugin_info_t, left_out)};
    if (tenon_registry_get_plugin(plugin->registry, i, &info) == TENON_OK && info.name[0] != '\0' &&
        strcmp(info.name, plugin->info.name) == 0 && strcmp(info.path, plugin->info.path) != 0) {
      tool_list_add(out_paths, tool_copy_text(info.path));
    }
  }
  return out_paths->count > before;
}

static tenon_status_t open_registry(const check_t* check, const char* folder,
                                    const tool_list_t* set_aside,
                                    const tenon_allocator_t* allocator, check_plugin_t* plugin) {
  const char* paths[64] = {folder};
  size_t count = folder != NULL ? 1 : 0;
  for (size_t i = 0; i < check->common->plugins.count && count + 1 < 64; ++i) {
    paths[count] = realpath(check->common->plugins.items[i], NULL);
    count += paths[count] != NULL ? 1 : 0;
  }
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = count > 0 ? paths : NULL;
  options.only_paths = check->common->only_plugins ? 1 : 0;
  options.logger = (tenon_sink_t){plugin, hear};
  options.set_aside = set_aside->items;
  options.allocator = allocator;
  const tenon_status_t status = tenon_registry_create(&options, &plugin->registry);
  for (size_t i = folder != NULL ? 1 : 0; i < count; ++i) {
    free((void*)paths[i]);
  }
  return status;
}

tenon_status_t check_plugin_find(const check_t* check, const tenon_allocator_t* allocator,
                                 check_plugin_t* out_plugin) {
  tool_list_t set_aside = {0};
  bool found = false;
  *out_plugin = (check_plugin_t){0};
  tenon_status_t status = open_registry(check, NULL, &set_aside, allocator, out_plugin);
  if (status == TENON_OK) {
    status = find_info(out_plugin, check->path, &found);
  }
  if (status == TENON_OK && !found) {
    char* folder = tool_copy_text(check->path);
    *strrchr(folder, '/') = '\0';
    const char* searched = folder[0] == '\0' ? "/" : folder;
    set_aside_others(out_plugin, check->path, searched, &set_aside);
    check_plugin_close(out_plugin);
    status = open_registry(check, searched, &set_aside, allocator, out_plugin);
    /* One of the same name, perhaps newer, would take its place. */
    if (status == TENON_OK && find_info(out_plugin, check->path, &found) == TENON_OK && found &&
        set_aside_namesakes(out_plugin, &set_aside)) {
      check_plugin_close(out_plugin);
      status = open_registry(check, searched, &set_aside, allocator, out_plugin);
    }
    found = false;
    tool_free(folder);
  }
  if (status == TENON_OK && !found) {
    status = find_info(out_plugin, check->path, &found);
    if (status == TENON_OK && !found) {
      status = tool_fail(TENON_ERROR_NOT_FOUND,
                         "%s: is no plugin file: name it with the suffix .so, in a folder that "
                         "only its owner can write to",
                         check->path);
    }
  }
  for (size_t i = 0; i < set_aside.count; ++i) {
    tool_free((void*)set_aside.items[i]);
  }
  tool_list_free(&set_aside);
  return status;
}

/* ---- Descriptors ---- */

static void copy_item(void* to, size_t size, const void* from) {
  size_t own = 0;
  memcpy(&own, from, sizeof(own));
  memset(to, 0, size);
  memcpy(to, from, own < size ? own : size);
}

static void add_offering(check_plugin_t* plugin, const char* name,
                         const tenon_offering_t* offering) {
  for (uint32_t i = 0; i < offering->items.count; ++i) {
    const char* item = (const char*)offering->items.items + (size_t)i * offering->items.stride;
    if (strcmp(offering->kind, "operator/1") == 0) {
      plugin->operators = tool_grow(plugin->operators, &plugin->operator_capacity,
                                    plugin->operator_count + 1, sizeof(*plugin->operators));
      check_operator_t* to = &plugin->operators[plugin->operator_count++];
      copy_item(&to->op, sizeof(to->op), item);
      to->plugin = name;
    } else if (strcmp(offering->kind, "kernel/1") == 0) {
      plugin->kernels = tool_grow(plugin->kernels, &plugin->kernel_capacity,
                                  plugin->kernel_count + 1, sizeof(*plugin->kernels));
      check_kernel_t* to = &plugin->kernels[plugin->kernel_count++];
      copy_item(&to->kernel, sizeof(to->kernel), item);
      to->plugin = name;
    }
  }
}

static bool has_line(const char* lines, const char* begin) {
  const char* at = lines != NULL ? strstr(lines, begin) : NULL;
  return at != NULL && (at == lines || at[-1] == '\n');
}

/* By the list, or by the message about a text with a fault. */
static bool is_left_out(const check_plugin_t* plugin, const tenon_plugin_info_t* info,
                        const char* kind, const char* name) {
  char* line = tool_format("%s %s: ", kind, name);
  char* message = tool_format("%s %s of %s: ", kind, name, info->name);
  const bool is = has_line(info->left_out, line) || has_line(plugin->warnings.data, message);
  tool_free(message);
  tool_free(line);
  return is;
}

static void drop_left_out(check_plugin_t* plugin, const tenon_plugin_info_t* info) {
  size_t kept = 0;
  for (size_t i = 0; i < plugin->operator_count; ++i) {
    const check_operator_t* o = &plugin->operators[i];
    if (o->plugin != info->name || !is_left_out(plugin, info, "operator", o->op.name)) {
      plugin->operators[kept++] = *o;
    }
  }
  plugin->operator_count = kept;
  kept = 0;
  for (size_t i = 0; i < plugin->kernel_count; ++i) {
    const check_kernel_t* k = &plugin->kernels[i];
    if (k->plugin != info->name || !is_left_out(plugin, info, "kernel", k->kernel.name)) {
      plugin->kernels[kept++] = *k;
    }
  }
  plugin->kernel_count = kept;
}

/* Loaded and admitted before: its lists can be trusted as far as the registry did. */
static void add_plugin(check_plugin_t* plugin, const tenon_plugin_info_t* info) {
  const tenon_host_offer_t host = {.abi_major = TENON_ABI_MAJOR,
                                   .abi_min_minor = TENON_ABI_MINOR,
                                   .abi_max_minor = TENON_ABI_MINOR};
  void* file = dlopen(info->path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  tenon_plugin_query_t query = NULL;
  void* symbol = file != NULL ? dlsym(file, TENON_PLUGIN_QUERY_SYMBOL) : NULL;
  memcpy((void*)&query, (void*)&symbol, sizeof(query));
  const tenon_plugin_t* from = query != NULL ? query(&host) : NULL;
  if (from == NULL) {
    return;
  }
  tenon_plugin_t root;
  copy_item(&root, sizeof(root), from);
  for (uint32_t i = 0; i < root.offerings.count; ++i) {
    tenon_offering_t offering;
    copy_item(&offering, sizeof(offering), ((const void* const*)root.offerings.items)[i]);
    add_offering(plugin, info->name, &offering);
  }
  drop_left_out(plugin, info);
}

static void ignore(void* user, const char* text) {
  (void)user;
  (void)text;
}

tenon_status_t check_plugin_load(check_plugin_t* plugin) {
  bool found = false;
  char* path = realpath(plugin->info.path, NULL);
  tenon_status_t status = tenon_registry_print_index(plugin->registry, ignore, NULL);
  const uint32_t count = tenon_registry_plugin_count(plugin->registry);
  for (uint32_t i = 0; i < count && status == TENON_OK; ++i) {
    tenon_plugin_info_t info = {.size = sizeof(info)};
    status = tenon_registry_get_plugin(plugin->registry, i, &info);
    char* real = realpath(info.path, NULL);
    const bool is_it = path != NULL && real != NULL && strcmp(real, path) == 0;
    plugin->info = is_it ? info : plugin->info;
    found = found || is_it;
    free(real);
    if (status == TENON_OK && info.state == TENON_PLUGIN_LOADED) {
      add_plugin(plugin, &info);
    }
  }
  free(path);
  return status;
}

void check_plugin_close(check_plugin_t* plugin) {
  tenon_registry_release(plugin->registry);
  tool_free(plugin->warnings.data);
  tool_free(plugin->operators);
  tool_free(plugin->kernels);
  *plugin = (check_plugin_t){0};
}

const check_operator_t* check_plugin_operator(const check_plugin_t* plugin, const char* name) {
  for (size_t i = 0; i < plugin->operator_count; ++i) {
    if (strcmp(plugin->operators[i].op.name, name) == 0) {
      return &plugin->operators[i];
    }
  }
  return NULL;
}
