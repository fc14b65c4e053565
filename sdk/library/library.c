/* Version, status, options, the call that a thread is in, and where plugins are installed. */
#include "sdk/library/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/bytes.h"
#include "core/base/call.h"
#include "core/base/escape.h"
#include "core/tensor/dtype.h"

const char* tenon_version(void) {
  return TENON_VERSION;
}

const char* tenon_status_text(tenon_status_t status) {
  return tenon__status_text(status);
}

const char* tenon_dtype_name(tenon_dtype_t dtype) {
  return tenon__dtype_name(dtype);
}

uint32_t tenon_dtype_bits(tenon_dtype_t dtype) {
  return tenon__dtype_bits(dtype);
}

int32_t tenon_current_call(tenon_call_info_t* out_call) {
  const tenon__call_t* call = tenon__call_get();
  if (call == NULL || out_call == NULL) {
    return 0;
  }
  const tenon_call_info_t info = {sizeof(info), call->plugin, call->function, call->item,
                                  call->node};
  return tenon__structure_fill(&info, sizeof(info), out_call) ? 1 : 0;
}

tenon_status_t tenon__fail_null(const tenon_sink_t* sink, const char* function,
                                const char* argument) {
  return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "%s: argument '%s' is NULL", function,
                     argument);
}

tenon_status_t tenon__options_copy(const tenon_sink_t* sink, const char* name, const void* options,
                                   void* out_options, size_t own_size) {
  size_t size = 0;
  if (options != NULL) {
    memcpy(&size, options, sizeof(size));
    if (size < sizeof(size)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "%s: 'size' is %zu; begin with TENON_OPTIONS(%s)", name, size, name);
    }
  }
  memset(out_options, 0, own_size);
  memcpy(out_options, options != NULL ? options : &size, size < own_size ? size : own_size);
  return TENON_OK;
}

tenon_status_t tenon__result_fill(const tenon_sink_t* sink, const char* function,
                                  const tenon__result_t* result, void* out_result) {
  TENON_TRY(tenon__need(sink, function, result->argument, out_result != NULL));
  return tenon__structure_fill(result->data, result->size, out_result)
             ? TENON_OK
             : tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                           "%s: %s->size is not set; begin with TENON_OPTIONS(%s)", function,
                           result->argument, result->name);
}

tenon_status_t tenon__check_list(const tenon_sink_t* sink, const char* function, const char* name,
                                 const tenon_list_t* list) {
  if (list->count == 0) {
    return TENON_OK;
  }
  if (list->items == NULL) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "%s: %s has %u items at NULL", function,
                       name, list->count);
  }
  return list->stride >= sizeof(void*) && list->stride % sizeof(void*) == 0
             ? TENON_OK
             : tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                           "%s: the stride of %s is %u; make the list with TENON_LIST", function,
                           name, list->stride);
}

static bool is_directory(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

const char* tenon__installed_directory(tenon__arena_t* arena) {
  static const char* const places[] = {"tenon/plugins", "../plugins"};
  const char* (*const inside)(void) = tenon_version;
  void* address = NULL;
  Dl_info info;
  memcpy(&address, &inside, sizeof(address));
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
    return NULL;
  }
  char* library = realpath(info.dli_fname, NULL);
  char* slash = library != NULL ? strrchr(library, '/') : NULL;
  const char* found = NULL;
  for (size_t i = 0; slash != NULL && found == NULL && i < sizeof(places) / sizeof(places[0]);
       ++i) {
    *slash = '\0';
    char* path = tenon__arena_format(arena, "%s/%s", library, places[i]);
    char* real = path != NULL && is_directory(path) ? realpath(path, NULL) : NULL;
    found = real != NULL ? tenon__arena_copy_string(arena, real) : NULL;
    free(real);
  }
  free(library);
  return found;
}

/* ---- JSON ---- */

void tenon__write_json_text(tenon_write_t write, void* user, const char* text) {
  write(user, "\"");
  while (*text != '\0') {
    char piece[256];
    size_t used = 0;
    for (; *text != '\0' && used < sizeof(piece) - 8; ++text) {
      const unsigned char c = (unsigned char)*text;
      if (c == '"' || c == '\\') {
        piece[used++] = '\\';
        piece[used++] = (char)c;
      } else if (c < 0x20 || c == 0x7F) {
        used += (size_t)snprintf(piece + used, sizeof(piece) - used, "\\u%04x", c);
      } else if (tenon__character_size(text) == 0) { /* JSON is UTF-8: as messages show it */
        used += (size_t)snprintf(piece + used, sizeof(piece) - used, "\\\\x%02x", c);
      } else {
        const size_t size = tenon__character_size(text);
        memcpy(piece + used, text, size);
        used += size;
        text += size - 1;
      }
    }
    piece[used] = '\0';
    write(user, piece);
  }
  write(user, "\"");
}

void tenon__write_json_field(tenon_write_t write, void* user, bool first, const char* key,
                             const char* text) {
  write(user, first ? "\"" : ", \"");
  write(user, key);
  write(user, "\": ");
  tenon__write_json_text(write, user, text != NULL ? text : "");
}
