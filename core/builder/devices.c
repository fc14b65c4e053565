/* Names of devices in the options, looked up in the catalogue and opened. Device 0 always has the
 * memory of the host. */
#include "core/builder/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"

/* One of the options' devices. */
typedef struct wish_t {
  const char* name;
  size_t length;
  uint32_t index;
} wish_t;

/* What is on offer, and what is made of it. */
typedef struct opening_t {
  const tenon__build_options_t* options;
  tenon__plan_t* plan;
  tenon__build_devices_t* devices;
  const tenon__device_entry_t** offers;
  uint32_t offer_count;
} opening_t;

static bool has_host_memory(const tenon__device_entry_t* entry) {
  return (entry->device.flags & TENON_DEVICE_HOST_MEMORY) != 0;
}

/* A plan's first device: the host looks at what it did as soon as a call has returned. */
static bool is_host(const tenon__device_entry_t* entry) {
  return has_host_memory(entry) && (entry->device.flags & TENON_DEVICE_INLINE_STREAM) != 0;
}

static uint32_t count_here(const tenon__device_entry_t* entry, const tenon_sink_t* sink) {
  const tenon__call_t call = {entry->owner->plugin, "count", entry->device.name, ""};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const uint32_t count = entry->device.count(entry->owner->state, sink);
  tenon__call_leave(outer);
  return count;
}

/* ---- What is wanted ---- */

/* "name" or "name:index", and what follows the comma; false where it is neither. */
static bool read_wish(const char** inout_text, wish_t* out_wish) {
  const char* text = *inout_text;
  const size_t size = strcspn(text, ",");
  const size_t length = strcspn(text, ",:");
  char* end = NULL;
  *out_wish = (wish_t){.name = text, .length = length};
  *inout_text = text[size] == ',' ? text + size + 1 : text + size;
  if (length == size) {
    return length > 0;
  }
  const char* digits = text + length + 1;
  const unsigned long index = strtoul(digits, &end, 10);
  out_wish->index = (uint32_t)index;
  return length > 0 && *digits >= '0' && *digits <= '9' && end == text + size && index < 1024;
}

static tenon_status_t no_such_device(const opening_t* o, const wish_t* wish) {
  char others[512] = "";
  for (uint32_t k = 0; k < o->offer_count; ++k) {
    const size_t used = strlen(others);
    (void)snprintf(others + used, sizeof others - used, "%s%s",
                   used > 0 ? ", " : "; there are: ", o->offers[k]->device.name);
  }
  return tenon__fail(o->options->sink, TENON_ERROR_NOT_FOUND, "no plugin offers device '%.*s'%s",
                     (int)wish->length, wish->name, others);
}

static const tenon__device_entry_t* find_wish(const opening_t* o, const wish_t* wish) {
  for (uint32_t k = 0; k < o->offer_count; ++k) {
    const char* name = o->offers[k]->device.name;
    if (strlen(name) == wish->length && strncmp(name, wish->name, wish->length) == 0) {
      return o->offers[k];
    }
  }
  return NULL;
}

/* ---- Opening ---- */

static tenon_status_t open_device(opening_t* o, uint32_t number, const tenon__device_entry_t* entry,
                                  uint32_t index) {
  const tenon__device_source_t source = {.descriptor = &entry->device,
                                         .state = entry->owner->state,
                                         .plugin = entry->owner->plugin,
                                         .index = index};
  tenon__device_t* device = &o->devices->items[number];
  TENON_TRY(tenon__device_open(&source, o->options->sink, device));
  o->devices->entries[number] = entry;
  o->devices->count = number + 1;
  o->plan->device_count = o->devices->count;
  TENON_TRY(tenon__device_create_stream(device, NULL, &o->devices->streams[number]));
  o->plan->devices[number] = (tenon__plan_device_t){
      .name = entry->device.name,
      .index = index,
      .fingerprint = tenon__arena_copy_string(&o->plan->arena, device->fingerprint)};
  if (tenon__device_records_streams(device)) {
    const uint32_t limit = o->options->stream_limit;
    o->plan->devices[number].lane_limit = limit == 0 ? TENON__STREAM_LIMIT : limit;
  }
  return o->plan->devices[number].fingerprint == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* The first that the options name; NULL. */
static const tenon__device_entry_t* find_named_host(const opening_t* o) {
  const char* rest = o->options->device == NULL ? "" : o->options->device;
  const tenon__device_entry_t* host = NULL;
  while (*rest != '\0' && host == NULL) {
    wish_t wish;
    const tenon__device_entry_t* named = read_wish(&rest, &wish) ? find_wish(o, &wish) : NULL;
    host = named != NULL && is_host(named) ? named : NULL;
  }
  return host;
}

/* Else the first of all: that a plugin is there says nothing of what it is to be used for. */
static const tenon__device_entry_t* find_host(const opening_t* o) {
  const tenon_sink_t* sink = o->options->sink;
  const tenon__device_entry_t* best = NULL;
  for (uint32_t k = 0; k < o->offer_count; ++k) {
    const tenon__device_entry_t* entry = o->offers[k];
    if (!is_host(entry) || count_here(entry, sink) == 0) {
      continue;
    }
    if (best == NULL) {
      best = entry;
      continue;
    }
    tenon__report(sink, TENON_SEVERITY_WARNING,
                  "devices '%s' (plugin %s) and '%s' (plugin %s) are both the host's memory; the "
                  "build is for the first, unless it names one",
                  best->device.name, best->owner->plugin, entry->device.name, entry->owner->plugin);
  }
  return best;
}

static tenon_status_t open_wish(opening_t* o, const wish_t* wish) {
  const tenon_sink_t* sink = o->options->sink;
  const tenon__device_entry_t* entry = find_wish(o, wish);
  const uint32_t count = entry == NULL ? 0 : count_here(entry, sink);
  if (entry == NULL) {
    return no_such_device(o, wish);
  }
  if (count == 0) { /* the plugin has said why */
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND, "this machine has no device '%.*s' that works",
                       (int)wish->length, wish->name);
  }
  if (wish->index >= count) {
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                       "there is no device '%.*s:%u': this machine has %u of them, the first is 0",
                       (int)wish->length, wish->name, wish->index, count);
  }
  if (is_host(entry)) {
    return TENON_OK; /* number 0 */
  }
  if (has_host_memory(entry)) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                       "device '%s' has the host's memory and streams of its own: no plan of this "
                       "version can use both",
                       entry->device.name);
  }
  if (o->devices->count == TENON_DEVICE_LIMIT) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED, "a build is for at most %d devices",
                       TENON_DEVICE_LIMIT - 1);
  }
  return open_device(o, o->devices->count, entry, wish->index);
}

static tenon_status_t open_wishes(opening_t* o) {
  const char* rest = o->options->device == NULL ? "" : o->options->device;
  while (*rest != '\0') {
    wish_t wish;
    if (!read_wish(&rest, &wish)) {
      return tenon__fail(o->options->sink, TENON_ERROR_INVALID_ARGUMENT,
                         "'%s' names no devices; write \"cpu\", \"name:1\" or \"name:0,name:1\"",
                         o->options->device);
    }
    TENON_TRY(open_wish(o, &wish));
  }
  return TENON_OK;
}

tenon_status_t tenon__build_devices_open(tenon__catalog_t* catalog,
                                         const tenon__build_options_t* options, tenon__plan_t* plan,
                                         tenon__build_devices_t* out_devices) {
  const tenon_sink_t* sink = options->sink;
  const uint32_t room = tenon__catalog_all(catalog, TENON_OFFER_DEVICE, sink, NULL, 0);
  opening_t o = {.options = options,
                 .plan = plan,
                 .devices = out_devices,
                 .offers = tenon__arena_allocate(&plan->arena, room + 1u, sizeof(void*))};
  TENON_TRY_MEMORY(o.offers != NULL);
  const uint32_t found = tenon__catalog_all(catalog, TENON_OFFER_DEVICE, sink, o.offers, room);
  o.offer_count = found < room ? found : room;
  const tenon__device_entry_t* named = find_named_host(&o);
  const tenon__device_entry_t* host = named != NULL ? named : find_host(&o);
  if (host == NULL) {
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                       "no plugin offers a device whose memory is the host's, which every build "
                       "needs");
  }
  TENON_TRY(open_device(&o, 0, host, 0));
  TENON_TRY(open_wishes(&o));
  return tenon__plan_name_devices(plan);
}

void tenon__build_devices_close(tenon__build_devices_t* devices) {
  for (uint32_t d = devices->count; d-- > 0;) {
    tenon__device_destroy_stream(&devices->items[d], devices->streams[d]);
    tenon__device_close(&devices->items[d]);
  }
  devices->count = 0;
}
