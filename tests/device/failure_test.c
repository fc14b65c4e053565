/* Failures that tests ask for, and the loss of a device. */
#include "device_world.h"

TENON_TEST(the_nth_call_fails_as_asked) {
  world_t w;
  void* data = NULL;
  tenon_event_t* event = NULL;
  tenon_stream_t* stream = NULL;
  REQUIRE(world_open(&w, 0));
  w.far->fail(0, FAR_CALL_ALLOCATE, 2, TENON_ERROR_OUT_OF_MEMORY);
  char* first = world_allocate(&w, 1);
  EXPECT_STATUS(w.table->allocate(w.device, NULL, 1, &data), TENON_ERROR_OUT_OF_MEMORY);
  char* third = world_allocate(&w, 1);
  EXPECT_INT(world_calls(&w, FAR_CALL_ALLOCATE), 3);
  w.far->fail(0, FAR_CALL_COPY, 1, TENON_ERROR_DEVICE);
  EXPECT_STATUS(world_write(&w, NULL, first, "x", 1), TENON_ERROR_DEVICE);
  EXPECT_INT(world_byte(&w, first), 0xDA);
  w.far->fail(0, FAR_CALL_FILL, 1, TENON_ERROR_IO);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, first, 0, 1), TENON_ERROR_IO);
  w.far->fail(0, FAR_CALL_CREATE_STREAM, 1, TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_STATUS(w.table->create_stream(w.device, NULL, &stream), TENON_ERROR_OUT_OF_MEMORY);
  w.far->fail(0, FAR_CALL_CREATE_EVENT, 1, TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_STATUS(w.table->create_event(w.device, &event), TENON_ERROR_OUT_OF_MEMORY);
  w.far->fail(0, FAR_CALL_SYNCHRONIZE, 1, TENON_ERROR_DEVICE);
  EXPECT_STATUS(world_synchronize(&w), TENON_ERROR_DEVICE);
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  world_free(&w, first, 1);
  world_free(&w, third, 1);
  world_close(&w);
}

/* A failure on the stream is told at synchronize, once; what is behind it is not done. */
TENON_TEST(work_that_fails_is_told_by_synchronize) {
  world_t w;
  tenon_event_t* event = NULL;
  REQUIRE(world_open(&w, 0));
  char* data = world_allocate(&w, 1);
  EXPECT_STATUS(w.table->create_event(w.device, &event), TENON_OK);
  w.far->fail(0, FAR_CALL_WORK, 2, TENON_ERROR_INTERNAL);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 1, 1), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 2, 1), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 3, 1), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, event), TENON_OK);
  EXPECT_STATUS(w.table->wait_event(w.device, NULL, event), TENON_ERROR_CANCELLED);
  EXPECT_STATUS(world_synchronize(&w), TENON_ERROR_INTERNAL);
  EXPECT_INT(world_byte(&w, data), 1);
  EXPECT_STATUS(w.table->health(w.device, NULL), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 4, 1), TENON_OK);
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  EXPECT_INT(world_byte(&w, data), 4);
  w.table->destroy_event(w.device, event);
  world_free(&w, data, 1);
  world_close(&w);
}

TENON_TEST(a_lost_device_fails_and_can_be_left) {
  world_t w;
  world_t other;
  tenon_event_t* event = NULL;
  tenon_event_t* more = NULL;
  tenon__test_messages_t messages;
  void* none = NULL;
  REQUIRE(world_open(&w, 0) && world_open(&other, 1));
  w.far->reset();
  char* data = world_allocate(&w, 8);
  char* late = world_allocate(&w, 8);
  EXPECT_STATUS(w.table->create_event(w.device, &event), TENON_OK);
  w.far->lose(0, 2);
  EXPECT_STATUS(w.table->health(w.device, NULL), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 1, 8), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, event), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 2, 8), TENON_OK);
  w.table->free(w.device, w.stream, late, 8);
  EXPECT_STATUS(world_synchronize(&w), TENON_ERROR_DEVICE);
  EXPECT_STATUS(world_synchronize(&w), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->allocate(w.device, NULL, 8, &none), TENON_ERROR_DEVICE);
  EXPECT_STATUS(world_write(&w, w.stream, data, "", 1), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->fill(w.device, NULL, data, 0, 1), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->create_event(w.device, &more), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->wait_event(w.device, NULL, event), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->open(NULL, 0, NULL, &w.device), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->health(w.device, tenon__test_listen(&messages)), TENON_ERROR_DEVICE);
  EXPECT_CONTAINS(messages.text, "far device 0 was lost at work 2");
  EXPECT_INT(messages.severity, TENON_SEVERITY_ERROR);
  EXPECT_STATUS(other.table->health(other.device, NULL), TENON_OK);
  w.table->destroy_event(w.device, event);
  world_free(&w, data, 8);
  world_close(&w);
  world_close(&other);
  w.far->reset();
  REQUIRE(world_open(&w, 0));
  world_close(&w);
}
