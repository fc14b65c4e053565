/* Events: marked with the time when a stream gets to them. One that is recorded again stands for
 * its last recording; who waits, waits for the recording that was the last when it began to. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_EVENT_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_EVENT_H_

#include "stream.h"

/* Of a piece that is about to be replayed: if it marks an event, that is not marked until then. */
void far_event_expect(const far_item_t* item);

/* Of the descriptor. */
tenon_status_t far_create_event(tenon_device_t* device, tenon_event_t** out_event);
void far_destroy_event(tenon_device_t* device, tenon_event_t* event);
tenon_status_t far_record_event(tenon_device_t* device, tenon_stream_t* stream,
                                tenon_event_t* event);
/* INVALID_STATE while the stream records: what is waited for is elsewhere. */
tenon_status_t far_wait_event(tenon_device_t* device, tenon_stream_t* stream, tenon_event_t* event);
/* INVALID_STATE unless both were marked. */
tenon_status_t far_elapsed(tenon_device_t* device, tenon_event_t* begin, tenon_event_t* end,
                           double* out_seconds);

#endif
