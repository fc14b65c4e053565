/* Streams, events and recordings of a device, against the words of the contract. */
#include "conformance.h"

enum { SIZE = 1 << 20 };

void conformance_begin(conformance_buffer_t* out, const tenon_device_descriptor_t* t,
                       tenon_device_t* device, size_t size_bytes) {
  *out = (conformance_buffer_t){
      .size_bytes = size_bytes, .host = malloc(size_bytes + 1), .back = malloc(size_bytes + 1)};
  EXPECT(out->host != NULL && out->back != NULL);
  EXPECT(t->create_stream(device, NULL, &out->stream) == TENON_OK);
  EXPECT(t->allocate(device, out->stream, size_bytes, &out->one) == TENON_OK);
  EXPECT(t->allocate(device, out->stream, size_bytes, &out->two) == TENON_OK);
  /* For cases that use the blocks on other streams too. */
  EXPECT(t->synchronize(device, out->stream) == TENON_OK);
}

void conformance_end(conformance_buffer_t* buffer, const tenon_device_descriptor_t* t,
                     tenon_device_t* device) {
  t->free(device, buffer->stream, buffer->one, buffer->size_bytes);
  t->free(device, buffer->stream, buffer->two, buffer->size_bytes);
  EXPECT(t->synchronize(device, buffer->stream) == TENON_OK);
  t->destroy_stream(device, buffer->stream);
  free(buffer->host);
  free(buffer->back);
}

void conformance_pattern(uint8_t* bytes, size_t count, unsigned seed) {
  uint32_t state = seed * 2654435761u + 1u;
  for (size_t k = 0; k < count; k++) {
    state = state * 1664525u + 1013904223u;
    bytes[k] = (uint8_t)(state >> 24);
  }
}

void conformance_record_once(const tenon_device_descriptor_t* t, tenon_device_t* device,
                             const conformance_buffer_t* buffer, size_t size_bytes) {
  void* recording = NULL;
  EXPECT(t->begin_record(device, buffer->stream) == TENON_OK);
  EXPECT(t->fill(device, buffer->stream, buffer->one, 0x77, size_bytes) == TENON_OK);
  EXPECT(t->copy(device, buffer->stream, TENON_COPY_WITHIN, buffer->two, buffer->one, size_bytes) ==
         TENON_OK);
  EXPECT(t->end_record(device, buffer->stream, &recording) == TENON_OK);
  EXPECT(t->replay(device, buffer->stream, recording) == TENON_OK);
  EXPECT(t->copy(device, buffer->stream, TENON_COPY_TO_HOST, buffer->back, buffer->two,
                 size_bytes) == TENON_OK);
  EXPECT(t->synchronize(device, buffer->stream) == TENON_OK);
  EXPECT(buffer->back[0] == 0x77 && buffer->back[size_bytes - 1] == 0x77);
  t->destroy_recording(device, recording);
}

/* ---- Streams and events ---- */

/* One stream is kept busy for a while; the other may not go on before it has the event. */
static void waits_for_events(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  enum { BUSY = 64 << 20, ROUNDS = 8 };
  conformance_buffer_t first;
  conformance_buffer_t second;
  conformance_begin(&first, t, device, BUSY);
  conformance_begin(&second, t, device, SIZE);
  tenon_event_t* event = NULL;
  EXPECT(t->create_event(device, &event) == TENON_OK);
  for (int round = 1; round <= ROUNDS; round++) {
    for (int k = 0; k < 10; k++) {
      EXPECT(t->fill(device, first.stream, first.two, 0, BUSY) == TENON_OK);
    }
    EXPECT(t->fill(device, first.stream, first.one, round, SIZE) == TENON_OK);
    EXPECT(t->record_event(device, first.stream, event) == TENON_OK);
    EXPECT(t->wait_event(device, second.stream, event) == TENON_OK);
    EXPECT(t->copy(device, second.stream, TENON_COPY_WITHIN, second.one, first.one, SIZE) ==
           TENON_OK);
    EXPECT(t->copy(device, second.stream, TENON_COPY_TO_HOST, second.back, second.one, SIZE) ==
           TENON_OK);
    EXPECT(t->synchronize(device, second.stream) == TENON_OK);
    EXPECT(second.back[0] == round && second.back[SIZE - 1] == round);
  }
  t->destroy_event(device, event);
  conformance_end(&second, t, device);
  conformance_end(&first, t, device);
}

static double time_of_fills(const tenon_device_descriptor_t* t, tenon_device_t* device,
                            const conformance_buffer_t* buffer, int count) {
  tenon_event_t* begin = NULL;
  tenon_event_t* end = NULL;
  double seconds = -1.0;
  EXPECT(t->create_event(device, &begin) == TENON_OK);
  EXPECT(t->create_event(device, &end) == TENON_OK);
  EXPECT(t->record_event(device, buffer->stream, begin) == TENON_OK);
  for (int k = 0; k < count; k++) {
    EXPECT(t->fill(device, buffer->stream, buffer->one, k, buffer->size_bytes) == TENON_OK);
  }
  EXPECT(t->record_event(device, buffer->stream, end) == TENON_OK);
  EXPECT(t->synchronize(device, buffer->stream) == TENON_OK);
  EXPECT(t->elapsed(device, begin, end, &seconds) == TENON_OK);
  t->destroy_event(device, begin);
  t->destroy_event(device, end);
  return seconds;
}

/* No bound on the figures, which are the machine's: only that they are times. */
static void tells_times(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  conformance_buffer_t buffer;
  conformance_begin(&buffer, t, device, (size_t)16 << 20);
  const double few = time_of_fills(t, device, &buffer, 1);
  const double many = time_of_fills(t, device, &buffer, 50);
  EXPECT(few >= 0.0 && few < 10.0);
  EXPECT(many > 0.0 && many < 10.0);
  conformance_end(&buffer, t, device);
}

static void says_that_an_event_was_never_recorded(const tenon_device_descriptor_t* t,
                                                  tenon_device_t* device) {
  tenon_event_t* event = NULL;
  double seconds = 42.0;
  EXPECT(t->create_event(device, &event) == TENON_OK);
  EXPECT(t->elapsed(device, event, event, &seconds) != TENON_OK);
  EXPECT(seconds == 42.0); /* NOLINT: untouched */
  t->destroy_event(device, event);
  EXPECT(t->health(device, &opened_sink) == TENON_OK);
}

/* By the handle that the device itself gives, if it gives any under this name. */
static void adopts_streams(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  char name[64];
  conformance_buffer_t buffer;
  conformance_begin(&buffer, t, device, SIZE);
  (void)snprintf(name, sizeof(name), "%s.stream/1", t->name);
  void* handle = t->native == NULL ? NULL : t->native(device, buffer.stream, name);
  if (handle != NULL) {
    tenon_stream_t* adopted = NULL;
    EXPECT(t->create_stream(device, handle, &adopted) == TENON_OK);
    EXPECT(t->native(device, adopted, name) == handle);
    /* One order: no event between them. */
    EXPECT(t->fill(device, adopted, buffer.one, 0x21, SIZE) == TENON_OK);
    EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, buffer.one, SIZE) ==
           TENON_OK);
    EXPECT(t->synchronize(device, adopted) == TENON_OK);
    EXPECT(buffer.back[0] == 0x21 && buffer.back[SIZE - 1] == 0x21);
    t->destroy_stream(device, adopted);
    EXPECT(t->fill(device, buffer.stream, buffer.one, 0x22, SIZE) == TENON_OK);
    EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  } else {
    (void)printf("  (%s has no native streams)\n", t->name);
  }
  conformance_end(&buffer, t, device);
}

/* ---- Recordings ---- */

static bool records(const tenon_device_descriptor_t* t) {
  return (t->flags & TENON_DEVICE_RECORDS) != 0;
}

/* The first and the last byte of `two` on the device are `byte`. */
static bool holds(const tenon_device_descriptor_t* t, tenon_device_t* device,
                  const conformance_buffer_t* buffer, int byte) {
  const size_t size = buffer->size_bytes;
  EXPECT(t->copy(device, buffer->stream, TENON_COPY_TO_HOST, buffer->back, buffer->two, size) ==
         TENON_OK);
  EXPECT(t->synchronize(device, buffer->stream) == TENON_OK);
  return buffer->back[0] == byte && buffer->back[size - 1] == byte;
}

static void replays_with_changed_data(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  if (!records(t)) {
    return;
  }
  conformance_buffer_t buffer;
  void* recording = NULL;
  tenon_stream_t* other = NULL;
  conformance_begin(&buffer, t, device, SIZE);
  EXPECT(t->create_stream(device, NULL, &other) == TENON_OK);
  EXPECT(t->fill(device, buffer.stream, buffer.two, 9, SIZE) == TENON_OK);
  EXPECT(t->begin_record(device, buffer.stream) == TENON_OK);
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_WITHIN, buffer.two, buffer.one, SIZE) ==
         TENON_OK);
  EXPECT(t->end_record(device, buffer.stream, &recording) == TENON_OK);
  EXPECT(holds(t, device, &buffer, 9)); /* what is recorded does not run */
  for (int round = 1; round <= 5; round++) {
    EXPECT(t->fill(device, buffer.stream, buffer.one, round, SIZE) == TENON_OK);
    EXPECT(t->replay(device, buffer.stream, recording) == TENON_OK);
    EXPECT(holds(t, device, &buffer, round));
  }
  EXPECT(t->fill(device, buffer.stream, buffer.one, 0x61, SIZE) == TENON_OK);
  EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  EXPECT(t->replay(device, other, recording) == TENON_OK); /* and on another stream */
  EXPECT(t->synchronize(device, other) == TENON_OK);
  EXPECT(holds(t, device, &buffer, 0x61));
  t->destroy_recording(device, recording);
  t->destroy_stream(device, other);
  conformance_end(&buffer, t, device);
}

static void keeps_recordings_apart(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  if (!records(t)) {
    return;
  }
  conformance_buffer_t buffer;
  void* recordings[3] = {NULL};
  conformance_begin(&buffer, t, device, SIZE);
  for (int k = 0; k < 2; k++) {
    EXPECT(t->begin_record(device, buffer.stream) == TENON_OK);
    EXPECT(t->fill(device, buffer.stream, buffer.two, 0x40 + k, SIZE) == TENON_OK);
    EXPECT(t->end_record(device, buffer.stream, &recordings[k]) == TENON_OK);
  }
  EXPECT(t->begin_record(device, buffer.stream) == TENON_OK); /* of nothing */
  EXPECT(t->end_record(device, buffer.stream, &recordings[2]) == TENON_OK);
  EXPECT(t->replay(device, buffer.stream, recordings[0]) == TENON_OK);
  EXPECT(t->replay(device, buffer.stream, recordings[2]) == TENON_OK);
  EXPECT(holds(t, device, &buffer, 0x40));
  t->destroy_recording(device, recordings[0]);
  EXPECT(t->replay(device, buffer.stream, recordings[1]) == TENON_OK);
  EXPECT(holds(t, device, &buffer, 0x41));
  t->destroy_recording(device, recordings[1]);
  t->destroy_recording(device, recordings[2]);
  conformance_end(&buffer, t, device);
}

enum {
  PLACE = 256,
  PLACES = 17 * 20,
  LARGE = 64 << 10,
  PIECES = PLACES + 3,
  PIECES_BYTES = PLACES * PLACE + 3 * LARGE
};

/* Piece k of them is filled and copied, here and on the host. */
static void put_piece(const tenon_device_descriptor_t* t, tenon_device_t* device,
                      const conformance_buffer_t* buffer, size_t k, uint8_t* two) {
  const bool large = k >= PLACES;
  const size_t begin = large ? PLACES * (size_t)PLACE + (k - PLACES) * LARGE : k * PLACE;
  const size_t at = begin + (large ? 16 : k % 17);
  const size_t from = begin + (large ? 32 : k * 7 % 17);
  const size_t size = large ? LARGE - 64 - (k - PLACES) * 2 : 1 + k / 17 + k % 3 * 64;
  const uint8_t byte = (uint8_t)(k * 37 + 1);
  EXPECT(t->fill(device, buffer->stream, (uint8_t*)buffer->one + at, byte, size) == TENON_OK);
  EXPECT(t->copy(device, buffer->stream, TENON_COPY_WITHIN, (uint8_t*)buffer->two + at,
                 (uint8_t*)buffer->one + from, size) == TENON_OK);
  memset(buffer->host + at, byte, size);
  memcpy(two + at, buffer->host + from, size);
}

/* Of every remainder and at every place: a device may have kernels for some of them alone. Each
 * piece has 256 bytes of its own, the last ones some thousand, and what lies between stays as it
 * was. */
static void records_pieces_of_any_size(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  enum { BYTES = PIECES_BYTES, A_RECORDING = 20 };
  static uint8_t two[BYTES];
  if (!records(t)) {
    return;
  }
  conformance_buffer_t buffer;
  conformance_begin(&buffer, t, device, BYTES);
  conformance_pattern(buffer.host, BYTES, 5);
  conformance_pattern(two, BYTES, 6);
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_DEVICE, buffer.one, buffer.host, BYTES) ==
         TENON_OK);
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_DEVICE, buffer.two, two, BYTES) == TENON_OK);
  EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  for (size_t first = 0; first < PIECES; first += A_RECORDING) {
    void* recording = NULL;
    EXPECT(t->begin_record(device, buffer.stream) == TENON_OK);
    for (size_t k = first; k < first + A_RECORDING && k < PIECES; k++) {
      put_piece(t, device, &buffer, k, two);
    }
    EXPECT(t->end_record(device, buffer.stream, &recording) == TENON_OK);
    EXPECT(t->replay(device, buffer.stream, recording) == TENON_OK);
    EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
    t->destroy_recording(device, recording);
  }
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, buffer.one, BYTES) ==
         TENON_OK);
  EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  EXPECT(memcmp(buffer.back, buffer.host, BYTES) == 0);
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, buffer.two, BYTES) ==
         TENON_OK);
  EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  EXPECT(memcmp(buffer.back, two, BYTES) == 0);
  conformance_end(&buffer, t, device);
}

/* Two streams in one recording: what is on the second one lies between what the first does before
 * and after it. */
static void join_streams(const tenon_device_descriptor_t* t, tenon_device_t* device, size_t size) {
  conformance_buffer_t buffer;
  void* recording = NULL;
  tenon_stream_t* side = NULL;
  tenon_event_t* fork = NULL;
  tenon_event_t* join = NULL;
  conformance_begin(&buffer, t, device, size);
  EXPECT(t->create_stream(device, NULL, &side) == TENON_OK);
  EXPECT(t->create_event(device, &fork) == TENON_OK);
  EXPECT(t->create_event(device, &join) == TENON_OK);
  EXPECT(t->begin_record(device, buffer.stream) == TENON_OK);
  EXPECT(t->fill(device, buffer.stream, buffer.one, 0x51, size) == TENON_OK);
  EXPECT(t->record_event(device, buffer.stream, fork) == TENON_OK);
  EXPECT(t->wait_event(device, side, fork) == TENON_OK);
  EXPECT(t->copy(device, side, TENON_COPY_WITHIN, buffer.two, buffer.one, size) == TENON_OK);
  EXPECT(t->record_event(device, side, join) == TENON_OK);
  EXPECT(t->wait_event(device, buffer.stream, join) == TENON_OK);
  EXPECT(t->fill(device, buffer.stream, buffer.one, 0x52, size) == TENON_OK);
  EXPECT(t->end_record(device, buffer.stream, &recording) == TENON_OK);
  for (int round = 0; round < 4; round++) {
    EXPECT(t->fill(device, buffer.stream, buffer.two, 0, size) == TENON_OK);
    EXPECT(t->replay(device, buffer.stream, recording) == TENON_OK);
    EXPECT(holds(t, device, &buffer, 0x51));
  }
  /* Both streams do again what they are asked at once. */
  EXPECT(t->fill(device, side, buffer.two, 0x53, size) == TENON_OK);
  EXPECT(t->synchronize(device, side) == TENON_OK);
  EXPECT(holds(t, device, &buffer, 0x53));
  t->destroy_recording(device, recording);
  t->destroy_event(device, join);
  t->destroy_event(device, fork);
  t->destroy_stream(device, side);
  conformance_end(&buffer, t, device);
}

/* A device may have another way for few bytes. */
static void records_streams_that_join(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  if ((t->flags & TENON_DEVICE_RECORDS_STREAMS) != 0) {
    join_streams(t, device, SIZE);
    join_streams(t, device, 64);
  }
}

const conformance_case_t conformance_stream_cases[] = {
    {"waits_for_events", waits_for_events},
    {"tells_times", tells_times},
    {"says_that_an_event_was_never_recorded", says_that_an_event_was_never_recorded},
    {"adopts_streams", adopts_streams},
    {"replays_with_changed_data", replays_with_changed_data},
    {"keeps_recordings_apart", keeps_recordings_apart},
    {"records_pieces_of_any_size", records_pieces_of_any_size},
    {"records_streams_that_join", records_streams_that_join},
    {NULL, NULL}};
