/* A device whose memory is not the host's and whose streams work later, for tests of the host. */
#include "copy.h"
#include "event.h"
#include "offering.h"
#include "recording.h"
#include "report.h"
#include "watch.h"

TENON_PLUGIN_MANIFEST("far_device", "0.1.0",
                      "licence: Apache-2.0\n"
                      "offers: device far\n"
                      "offers: kernel *\n"
                      "threads: own\n");

static uint32_t count(void* state, const tenon_sink_t* sink) {
  (void)state;
  if (far_device_count() == 0 && sink != NULL && sink->report != NULL) {
    sink->report(sink->user, TENON_SEVERITY_INFO, "FAR_DEVICE_COUNT is 0");
  }
  return far_device_count();
}

static int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  return strcmp(name, "far") == 0;
}

static void* service(tenon_device_t* device, const char* name) {
  return strcmp(name, FAR_CONTROL_KIND) == 0     ? (void*)far_control_offering.items.items
         : strcmp(name, TENON_DEVICE_WATCH) == 0 ? (void*)far_watch(device)
                                                 : NULL;
}

static const tenon_device_descriptor_t devices[] = {{
    .size = sizeof(tenon_device_descriptor_t),
    .name = "far",
    .summary = "memory that the host cannot touch, for tests",
    .flags = TENON_DEVICE_RECORDS | TENON_DEVICE_RECORDS_STREAMS,
    .count = count,
    .open = far_open,
    .close = far_close,
    .fingerprint = far_fingerprint,
    .has = has,
    .allocate = far_allocate,
    .free = far_free,
    .copy = far_copy,
    .fill = far_fill,
    .create_stream = far_create_stream,
    .destroy_stream = far_destroy_stream,
    .synchronize = far_synchronize,
    .create_event = far_create_event,
    .destroy_event = far_destroy_event,
    .record_event = far_record_event,
    .wait_event = far_wait_event,
    .elapsed = far_elapsed,
    .begin_record = far_begin_record,
    .end_record = far_end_record,
    .replay = far_replay,
    .destroy_recording = far_destroy_recording,
    .native = far_native,
    .service = service,
    .health = far_health,
}};

static const tenon_offering_t device_offering = TENON_OFFERING_OF("device/1", devices);
static const tenon_offering_t* const offerings[] = {&device_offering, &far_kernel_offering,
                                                    &far_control_offering};

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  (void)host;
  far_begin();
  *out_state = NULL;
  return TENON_OK;
}

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER, .name = "far_device",
    .version = "0.1.0",  .offerings = TENON_LIST(offerings),
    .start = start,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
