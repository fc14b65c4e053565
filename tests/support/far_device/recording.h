/* Recordings: pieces of work in a row, which replay puts on a stream as one. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_RECORDING_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_RECORDING_H_

#include "stream.h"

/* Appends a piece, whose payload's `release` is then the recording's to call. What cannot be
 * recorded spoils it: INVALID_STATE. Under the lock. */
tenon_status_t far_recording_add(far_recording_t* recording, const far_work_t* work,
                                 const void* payload, size_t size);
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
