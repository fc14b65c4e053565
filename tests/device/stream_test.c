/* Streams and events: what is enqueued is done later, in order, and who waits waits for it. */
#include <time.h>

#include "device_world.h"

/* A lazy device does nothing before somebody waits, so "later" needs no clock. */
static bool open_lazy(world_t* world) {
  const bool open = world_open(world, 0);
  if (open) {
    world_set(world, FAR_SETTING_LAZY, 1);
  }
  return open;
}

TENON_TEST(work_is_done_when_somebody_waits) {
  world_t w;
  REQUIRE(open_lazy(&w));
  char* data = world_allocate(&w, 4);
  char source[2] = {'a', 0};
  char target[2] = {'-', 0};
  EXPECT_STATUS(world_write(&w, w.stream, data, source, 1), TENON_OK);
  EXPECT_STATUS(w.table->copy(w.device, w.stream, TENON_COPY_WITHIN, data + 1, data, 1), TENON_OK);
  EXPECT_STATUS(world_read(&w, w.stream, target, data + 1, 1), TENON_OK);
  /* Time enough for a thread that does not wait to be asked. */
  const struct timespec time = {.tv_nsec = 5000000};
  (void)nanosleep(&time, NULL);
  EXPECT_INT(world_calls(&w, FAR_CALL_WORK), 0);
  EXPECT_INT(world_byte(&w, data), 0xDA);
  EXPECT_TEXT(target, "-");
  /* A host that writes too early is seen: the copy reads what is there when it is done. */
  source[0] = 'b';
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  EXPECT_TEXT(target, "b");
  EXPECT_INT(world_byte(&w, data), 'b');
  world_free(&w, data, 4);
  world_close(&w);
}

TENON_TEST(a_stream_keeps_its_order) {
  enum { MOST = 20000 };
  world_t w;
  REQUIRE(world_open(&w, 0));
  uint32_t* numbers = calloc(MOST, sizeof(*numbers));
  char* data = world_allocate(&w, sizeof(uint32_t));
  REQUIRE(numbers != NULL);
  /* More than the queue holds at once. */
  for (uint32_t k = 0; k < MOST; ++k) {
    numbers[k] = k;
    EXPECT_STATUS(world_write(&w, w.stream, data, &numbers[k], sizeof(numbers[k])), TENON_OK);
  }
  uint32_t last = 0;
  EXPECT_STATUS(world_read(&w, w.stream, &last, data, sizeof(last)), TENON_OK);
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  EXPECT_INT(last, MOST - 1);
  free(numbers);
  world_free(&w, data, sizeof(uint32_t));
  world_close(&w);
}

TENON_TEST(memory_comes_and_goes_by_the_streams_order) {
  world_t w;
  REQUIRE(open_lazy(&w));
  world_set(&w, FAR_SETTING_MEMORY, 256);
  char* data = world_allocate(&w, 256);
  char result = 0;
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 'q', 256), TENON_OK);
  EXPECT_STATUS(world_read(&w, w.stream, &result, data + 255, 1), TENON_OK);
  w.table->free(w.device, w.stream, data, 256);
  EXPECT_INT(world_counts(&w).live_allocations, 1);
  void* none = NULL;
  EXPECT_STATUS(w.table->allocate(w.device, NULL, 256, &none), TENON_ERROR_OUT_OF_MEMORY);
  /* On the stream it is there, for that is behind what frees it. */
  void* again = NULL;
  EXPECT_STATUS(w.table->allocate(w.device, w.stream, 256, &again), TENON_OK);
  EXPECT(again == data);
  EXPECT_INT(result, 'q');
  world_free(&w, again, 256);
  world_close(&w);
}

TENON_TEST(events_order_streams) {
  world_t w;
  tenon_stream_t* second = NULL;
  tenon_event_t* written = NULL;
  tenon_event_t* never = NULL;
  REQUIRE(open_lazy(&w));
  EXPECT_STATUS(w.table->create_stream(w.device, NULL, &second), TENON_OK);
  EXPECT_STATUS(w.table->create_event(w.device, &written), TENON_OK);
  EXPECT_STATUS(w.table->create_event(w.device, &never), TENON_OK);
  char* data = world_allocate(&w, 1 << 20);
  for (int round = 0; round < 50; ++round) {
    char result = 0;
    EXPECT_STATUS(w.table->fill(w.device, w.stream, data, round, 1 << 20), TENON_OK);
    EXPECT_STATUS(w.table->record_event(w.device, w.stream, written), TENON_OK);
    EXPECT_STATUS(w.table->wait_event(w.device, second, written), TENON_OK);
    EXPECT_STATUS(world_read(&w, second, &result, data + (1 << 20) - 1, 1), TENON_OK);
    EXPECT_STATUS(w.table->synchronize(w.device, second), TENON_OK);
    EXPECT_INT(result, round);
  }
  /* The host waits, too; for an event that was never recorded nobody does. */
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 77, 1), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, written), TENON_OK);
  EXPECT_STATUS(w.table->wait_event(w.device, NULL, never), TENON_OK);
  EXPECT(world_byte(&w, data) != 77);
  EXPECT_STATUS(w.table->wait_event(w.device, NULL, written), TENON_OK);
  EXPECT_INT(world_byte(&w, data), 77);
  w.table->destroy_event(w.device, never);
  /* What the stream still has to mark may be destroyed. */
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, written), TENON_OK);
  w.table->destroy_event(w.device, written);
  world_free(&w, data, 1 << 20);
  w.table->destroy_stream(w.device, second);
  world_close(&w);
}

TENON_TEST(events_order_devices) {
  world_t a;
  world_t b;
  tenon_event_t* written = NULL;
  char source = 'x';
  char result = 0;
  REQUIRE(world_open(&a, 0) && world_open(&b, 1));
  world_set(&a, FAR_SETTING_LAZY, 1);
  world_set(&b, FAR_SETTING_LAZY, 1);
  char between = 0;
  char* in_a = world_allocate(&a, 1);
  char* in_b = world_allocate(&b, 1);
  EXPECT_STATUS(a.table->create_event(a.device, &written), TENON_OK);
  EXPECT_STATUS(world_write(&a, a.stream, in_a, &source, 1), TENON_OK);
  EXPECT_STATUS(world_read(&a, a.stream, &between, in_a, 1), TENON_OK);
  EXPECT_STATUS(a.table->record_event(a.device, a.stream, written), TENON_OK);
  EXPECT_STATUS(b.table->wait_event(b.device, b.stream, written), TENON_OK);
  EXPECT_STATUS(world_write(&b, b.stream, in_b, &between, 1), TENON_OK);
  EXPECT_STATUS(world_read(&b, b.stream, &result, in_b, 1), TENON_OK);
  EXPECT_STATUS(world_synchronize(&b), TENON_OK);
  EXPECT_INT(result, 'x');
  a.table->destroy_event(a.device, written);
  world_free(&a, in_a, 1);
  world_free(&b, in_b, 1);
  world_close(&a);
  world_close(&b);
}

TENON_TEST(events_tell_the_time_between_them) {
  world_t w;
  tenon_event_t* begin = NULL;
  tenon_event_t* end = NULL;
  double seconds = -1;
  REQUIRE(world_open(&w, 0));
  world_set(&w, FAR_SETTING_DELAY, 2000);
  EXPECT_STATUS(w.table->create_event(w.device, &begin), TENON_OK);
  EXPECT_STATUS(w.table->create_event(w.device, &end), TENON_OK);
  EXPECT_STATUS(w.table->elapsed(w.device, begin, end, &seconds), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, begin), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, end), TENON_OK);
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  EXPECT_STATUS(w.table->elapsed(w.device, begin, end, &seconds), TENON_OK);
  EXPECT(seconds >= 0.002); /* the delay before the second, which sleeps at least as long */
  w.table->destroy_event(w.device, begin);
  w.table->destroy_event(w.device, end);
  world_close(&w);
}

TENON_TEST(a_stream_is_adopted) {
  world_t w;
  tenon_stream_t* same = NULL;
  char result = 0;
  REQUIRE(open_lazy(&w));
  EXPECT(w.table->native(w.device, w.stream, "other.stream/1") == NULL);
  void* native = w.table->native(w.device, w.stream, "far.stream/1");
  EXPECT_STATUS(w.table->create_stream(w.device, native, &same), TENON_OK);
  char* data = world_allocate(&w, 1);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 5, 1), TENON_OK);
  EXPECT_STATUS(world_read(&w, same, &result, data, 1), TENON_OK);
  EXPECT_STATUS(w.table->synchronize(w.device, same), TENON_OK);
  EXPECT_INT(result, 5);
  w.table->destroy_stream(w.device, same);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 6, 1), TENON_OK);
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  EXPECT_INT(world_byte(&w, data), 6);
  world_free(&w, data, 1);
  world_close(&w);
}

TENON_TEST(what_is_enqueued_is_done_before_a_stream_ends) {
  world_t w;
  tenon_stream_t* second = NULL;
  REQUIRE(open_lazy(&w));
  EXPECT_STATUS(w.table->create_stream(w.device, NULL, &second), TENON_OK);
  char* data = world_allocate(&w, 1);
  EXPECT_STATUS(w.table->fill(w.device, second, data, 9, 1), TENON_OK);
  w.table->destroy_stream(w.device, second);
  EXPECT_INT(world_byte(&w, data), 9);
  world_free(&w, data, 1);
  world_close(&w);
}
