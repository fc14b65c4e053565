/* Whose function a thread is in while a device is asked something that is no work. */
#include "core/device/device.h"

#include <string.h>

#include "core/base/call.h"
#include "core/base/test.h"

static const char* function_seen;

static void see(void) {
  const tenon__call_t* call = tenon__call_get();
  function_seen = call != NULL && strcmp(call->plugin, "maker") == 0 ? call->function : "";
}

static tenon_status_t health(tenon_device_t* device, const tenon_sink_t* sink) {
  (void)device;
  (void)sink;
  see();
  return TENON_OK;
}

static int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  (void)name;
  see();
  return 1;
}

static void* native(tenon_device_t* device, tenon_stream_t* stream, const char* name) {
  (void)device;
  (void)name;
  see();
  return stream;
}

TENON_TEST(says_whose_function_is_at_work) {
  const tenon_device_descriptor_t descriptor = {
      .size = sizeof descriptor, .name = "npu", .health = health, .has = has, .native = native};
  const tenon__device_t device = {.source = {.descriptor = &descriptor, .plugin = "maker"}};
  EXPECT(tenon__device_is_well(&device));
  EXPECT_TEXT(function_seen, "health");
  EXPECT(tenon__device_has(&device, "tensors"));
  EXPECT_TEXT(function_seen, "has");
  EXPECT(tenon__device_native(&device, (tenon_stream_t*)&function_seen, "npu.stream/1") ==
         (void*)&function_seen);
  EXPECT_TEXT(function_seen, "native");
  EXPECT(tenon__call_get() == NULL);
}

TENON_TEST(has_nothing_that_it_does_not_say) {
  const tenon_device_descriptor_t descriptor = {.size = sizeof descriptor, .name = "npu"};
  const tenon__device_t device = {.source = {.descriptor = &descriptor, .plugin = "maker"}};
  EXPECT(tenon__device_is_well(&device));
  EXPECT(tenon__device_has(&device, NULL));
  EXPECT(!tenon__device_has(&device, "tensors"));
  EXPECT(tenon__device_native(&device, NULL, "npu.stream/1") == NULL);
}
