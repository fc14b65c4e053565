#include "core/base/call.h"

_Thread_local const tenon__call_t* volatile tenon__call_now TENON_STATIC_TLS;
