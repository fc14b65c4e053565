/*
 * Recordings: pieces of work in rows, lanes, which replay puts on a stream as one. A piece comes
 * behind those before it on its lane, and where a lane waited for an event behind that. Pieces of
 * different lanes come in the order that is least expected: once what is on the last lane as early
 * as it may be, once as late.
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_RECORDING_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_RECORDING_H_

#include "stream.h"

/* Appends a piece, whose payload's `release` is then the recording's to call. What cannot be
 * recorded spoils it: INVALID_STATE. Under the lock. */
tenon_status_t far_recording_add(far_recording_t* recording, size_t lane, const far_work_t* work,
                                 const void* payload, size_t size);
/* How many pieces there are, and a number of its own. Under the lock. */
size_t far_recording_count(const far_recording_t* recording);
uint64_t far_recording_serial(const far_recording_t* recording);
/* The one with that number that some stream still records; NULL. Under the lock. */
far_recording_t* far_recording_find(const tenon_device_t* device, uint64_t serial);
/* What the stream is asked for next is recorded, on its lane or a new one, behind piece `after`.
 * Under the lock. */
tenon_status_t far_recording_join(far_queue_t* queue, far_recording_t* recording, size_t after);
/* It ends in a failure. Under the lock. */
void far_recording_spoil(far_recording_t* recording);
/* Not under the lock. */
void far_recording_release(far_recording_t* recording);

/* Of the descriptor. */
tenon_status_t far_begin_record(tenon_device_t* device, tenon_stream_t* stream);
tenon_status_t far_end_record(tenon_device_t* device, tenon_stream_t* stream, void** out_recording);
tenon_status_t far_replay(tenon_device_t* device, tenon_stream_t* stream, void* recording);
void far_destroy_recording(tenon_device_t* device, void* recording);

#endif
