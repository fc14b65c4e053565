/* Recordings: work that is collected in place of being done, and done at each replay. */
#include "device_world.h"

TENON_TEST(a_recording_is_done_at_each_replay) {
  world_t w;
  void* recording = NULL;
  char source = 'a';
  char result[3] = {0};
  REQUIRE(world_open(&w, 0));
  char* data = world_allocate(&w, 8);
  char* other = world_allocate(&w, 8);
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  EXPECT_STATUS(w.table->copy(w.device, w.stream, TENON_COPY_WITHIN, data + 1, data, 1), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, '-', 1), TENON_OK);
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_OK);
  EXPECT_INT(world_calls(&w, FAR_CALL_WORK), 0);
  for (int round = 0; round < 2; ++round) {
    source = (char)('a' + round);
    EXPECT_STATUS(world_write(&w, w.stream, data, &source, 1), TENON_OK);
    EXPECT_STATUS(w.table->replay(w.device, w.stream, recording), TENON_OK);
    EXPECT_STATUS(world_read(&w, w.stream, result, data, 2), TENON_OK);
    EXPECT_STATUS(world_synchronize(&w), TENON_OK);
    EXPECT_TEXT(result, round == 0 ? "-a" : "-b");
  }
  EXPECT_INT(world_calls(&w, FAR_CALL_WORK), 8);
  EXPECT_INT(world_counts(&w).live_recordings, 1);
  /* It may go while the stream still has it. */
  world_set(&w, FAR_SETTING_LAZY, 1);
  EXPECT_STATUS(w.table->replay(w.device, w.stream, recording), TENON_OK);
  w.table->destroy_recording(w.device, recording);
  EXPECT_STATUS(world_synchronize(&w), TENON_OK);
  EXPECT_INT(world_calls(&w, FAR_CALL_WORK), 10);
  world_free(&w, data, 8);
  world_free(&w, other, 8);
  world_close(&w);
}

TENON_TEST(events_in_a_recording_are_marked_at_its_replay) {
  world_t w;
  void* recording = NULL;
  tenon_event_t* begin = NULL;
  tenon_event_t* end = NULL;
  double seconds = -1;
  REQUIRE(world_open(&w, 0));
  world_set(&w, FAR_SETTING_LAZY, 1);
  char* data = world_allocate(&w, 8);
  EXPECT_STATUS(w.table->create_event(w.device, &begin), TENON_OK);
  EXPECT_STATUS(w.table->create_event(w.device, &end), TENON_OK);
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, begin), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 3, 8), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, end), TENON_OK);
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_OK);
  for (int round = 0; round < 3; ++round) {
    world_set(&w, FAR_SETTING_LAZY, 1);
    EXPECT_STATUS(w.table->fill(w.device, NULL, data, 0, 8), TENON_OK);
    EXPECT_STATUS(w.table->replay(w.device, w.stream, recording), TENON_OK);
    EXPECT_STATUS(w.table->elapsed(w.device, begin, end, &seconds), TENON_ERROR_INVALID_STATE);
    EXPECT_STATUS(w.table->wait_event(w.device, NULL, end), TENON_OK);
    EXPECT_INT(world_byte(&w, data), 3);
    EXPECT_STATUS(w.table->elapsed(w.device, begin, end, &seconds), TENON_OK);
    EXPECT(seconds >= 0);
  }
  /* Also when what is before it failed: nobody waits for ever. */
  w.far->fail(0, FAR_CALL_WORK, 1, TENON_ERROR_INTERNAL);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, 4, 8), TENON_OK);
  EXPECT_STATUS(w.table->replay(w.device, w.stream, recording), TENON_OK);
  EXPECT_STATUS(w.table->wait_event(w.device, NULL, end), TENON_ERROR_CANCELLED);
  EXPECT_STATUS(world_synchronize(&w), TENON_ERROR_INTERNAL);
  w.table->destroy_recording(w.device, recording);
  w.table->destroy_event(w.device, begin);
  w.table->destroy_event(w.device, end);
  world_free(&w, data, 8);
  world_close(&w);
}

/* What each refuses, and that the recording is spoilt by it. */
static void expect_spoilt(world_t* world, int which, char* data) {
  const tenon_device_descriptor_t* table = world->table;
  tenon_event_t* event = NULL;
  void* more = NULL;
  char here = 0;
  tenon_status_t status = TENON_OK;
  EXPECT_STATUS(table->create_event(world->device, &event), TENON_OK);
  EXPECT_STATUS(table->begin_record(world->device, world->stream), TENON_OK);
  switch (which) {
    case 0:
      status = world_synchronize(world);
      break;
    case 1:
      status = table->allocate(world->device, world->stream, 8, &more);
      break;
    case 2:
      status = world_write(world, world->stream, data, &here, 1);
      break;
    case 3:
      status = world_read(world, world->stream, &here, data, 1);
      break;
    case 4:
      status = table->wait_event(world->device, world->stream, event);
      break;
    case 5:
      status = table->begin_record(world->device, world->stream);
      break;
    default:
      /* Free has no status. */
      EXPECT_STATUS(table->allocate(world->device, NULL, 8, &more), TENON_OK);
      table->free(world->device, world->stream, more, 8);
      status = TENON_ERROR_INVALID_STATE;
      break;
  }
  EXPECT_STATUS(status, TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(table->end_record(world->device, world->stream, &more), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(table->fill(world->device, world->stream, data, which, 1), TENON_OK);
  EXPECT_STATUS(world_synchronize(world), TENON_OK);
  EXPECT_INT(world_byte(world, data), which);
  table->destroy_event(world->device, event);
}

TENON_TEST(what_cannot_be_recorded_spoils_the_recording) {
  world_t w;
  REQUIRE(world_open(&w, 0));
  char* data = world_allocate(&w, 1);
  for (int which = 0; which < 7; ++which) {
    expect_spoilt(&w, which, data);
  }
  void* recording = NULL;
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(w.table->begin_record(w.device, NULL), TENON_ERROR_INVALID_STATE);
  world_free(&w, data, 1);
  world_close(&w);
}

/* `data` becomes '+' on one stream while another one copies what it was; or did. */
TENON_TEST(lanes_come_in_either_order) {
  world_t w;
  void* recording = NULL;
  tenon_stream_t* side = NULL;
  tenon_event_t* event = NULL;
  tenon_event_t* join = NULL;
  bool seen[2] = {false};
  REQUIRE(world_open(&w, 0));
  char* data = world_allocate(&w, 2);
  EXPECT_STATUS(w.table->create_stream(w.device, NULL, &side), TENON_OK);
  EXPECT_STATUS(w.table->create_event(w.device, &event), TENON_OK);
  EXPECT_STATUS(w.table->create_event(w.device, &join), TENON_OK);
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, '-', 2), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, event), TENON_OK);
  EXPECT_STATUS(w.table->wait_event(w.device, side, event), TENON_OK);
  EXPECT_STATUS(w.table->copy(w.device, side, TENON_COPY_WITHIN, data + 1, data, 1), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, side, join), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, w.stream, data, '+', 1), TENON_OK);
  EXPECT_STATUS(w.table->wait_event(w.device, w.stream, join), TENON_OK);
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_OK);
  for (int round = 0; round < 2; ++round) {
    EXPECT_STATUS(w.table->replay(w.device, w.stream, recording), TENON_OK);
    EXPECT_STATUS(world_synchronize(&w), TENON_OK);
    seen[world_byte(&w, data + 1) == '+' ? 1 : 0] = true;
    EXPECT_INT(world_byte(&w, data), '+');
  }
  EXPECT(seen[0] && seen[1]);
  w.table->destroy_recording(w.device, recording);
  /* One whose end is not waited for. */
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  EXPECT_STATUS(w.table->record_event(w.device, w.stream, event), TENON_OK);
  EXPECT_STATUS(w.table->wait_event(w.device, side, event), TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, side, data, '-', 1), TENON_OK);
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(w.table->fill(w.device, side, data, '*', 1), TENON_OK); /* at once again */
  EXPECT_STATUS(w.table->synchronize(w.device, side), TENON_OK);
  EXPECT_INT(world_byte(&w, data), '*');
  w.table->destroy_event(w.device, event);
  w.table->destroy_event(w.device, join);
  w.table->destroy_stream(w.device, side);
  world_free(&w, data, 2);
  world_close(&w);
}

TENON_TEST(recording_and_replaying_fail_as_asked) {
  world_t w;
  void* recording = NULL;
  REQUIRE(world_open(&w, 0));
  w.far->fail(0, FAR_CALL_BEGIN_RECORD, 1, TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_ERROR_OUT_OF_MEMORY);
  w.far->fail(0, FAR_CALL_END_RECORD, 1, TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  EXPECT_STATUS(w.table->end_record(w.device, w.stream, &recording), TENON_OK);
  w.far->fail(0, FAR_CALL_REPLAY, 1, TENON_ERROR_DEVICE);
  EXPECT_STATUS(w.table->replay(w.device, w.stream, recording), TENON_ERROR_DEVICE);
  w.table->destroy_recording(w.device, recording);
  /* A stream may end while it records. */
  EXPECT_STATUS(w.table->begin_record(w.device, w.stream), TENON_OK);
  world_close(&w);
}
