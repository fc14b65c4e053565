/*
 * A small good plugin, and by definitions given on the command line a plugin with one thing wrong.
 * Each fault is one macro; CMakeLists.txt lists the plugins and tests say what must become of each.
 *
 *   FIXTURE_NAME "good"      identity; operators and kernels carry it too
 *   FIXTURE_VERSION "1.0.0"
 *   FIXTURE_OPERATOR         identity of its operator, when two plugins define the same
 *   FIXTURE_CASE             what the operator computes
 *   FIXTURE_OFFERS           more lines of the manifest
 *   FIXTURE_MANIFEST         0: none; 1: the SDK's macro; else see raw_manifest below
 */
#include <stdlib.h>
#include <string.h>

#include "tenon/plugin.h"

#ifndef FIXTURE_NAME
#define FIXTURE_NAME "good"
#endif
#ifndef FIXTURE_VERSION
#define FIXTURE_VERSION "1.0.0"
#endif
#ifndef FIXTURE_OPERATOR
#define FIXTURE_OPERATOR FIXTURE_NAME ".twice/1"
#endif
#ifndef FIXTURE_CASE
#define FIXTURE_CASE "y = x + x"
#endif
#ifndef FIXTURE_OFFERS
#define FIXTURE_OFFERS ""
#endif
#ifndef FIXTURE_PROMISE
#define FIXTURE_PROMISE                     \
  "vendor: Fixtures & Sons\nlicence: MIT\n" \
  "offers: operator " FIXTURE_OPERATOR      \
  "\n"                                      \
  "offers: kernel " FIXTURE_NAME "_kernel " FIXTURE_OPERATOR " cpu\n"
#endif
#ifndef FIXTURE_BUILT
#define FIXTURE_BUILT TENON_ABI_CURRENT
#endif
#ifndef FIXTURE_NEEDED
#define FIXTURE_NEEDED TENON_ABI_NEEDED
#endif

/* ---- The manifest ---- */

#if !defined(FIXTURE_MANIFEST)
TENON_PLUGIN_MANIFEST(FIXTURE_NAME, FIXTURE_VERSION, FIXTURE_PROMISE FIXTURE_OFFERS)
#ifdef FIXTURE_TWO_MANIFESTS
    ;
#define tenon_plugin_manifest second_manifest /* NOLINT(readability-identifier-naming) */
TENON_PLUGIN_MANIFEST(FIXTURE_NAME, "1.0.1", "")
#undef tenon_plugin_manifest
#endif
    ;
#elif FIXTURE_MANIFEST == 2
/* The text alone, as FIXTURE_TEXT gives it. */
static const struct {
  tenon_note_header_t header;
  char text[sizeof(FIXTURE_TEXT)];
} raw_manifest TENON_NOTE_ATTRIBUTES = {
    {sizeof(TENON_NOTE_NAME), sizeof(FIXTURE_TEXT), TENON_NOTE_TYPE, TENON_NOTE_NAME},
    FIXTURE_TEXT};
#endif

/* ---- What it offers ---- */

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  (void)call;
  *out_instance = NULL;
  return TENON_OK;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_OK;
}

static const tenon_type_variable_t types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "float int"}};
static const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
static const tenon_case_t cases[] = {{.size = sizeof(tenon_case_t), .text = FIXTURE_CASE}};
#ifdef FIXTURE_BROKEN_OPERATOR
static const tenon_case_t broken[] = {{.size = sizeof(tenon_case_t), .text = "y = x +* x"}};
#endif

#define OPERATOR(identity, meaning)                                                            \
  {                                                                                            \
    .size = sizeof(tenon_operator_t), .name = (identity), .types = TENON_LIST(types),          \
    .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs), .cases = TENON_LIST(meaning) \
  }

static const tenon_operator_t operators[] = {
    OPERATOR(FIXTURE_OPERATOR, cases),
#ifdef FIXTURE_BROKEN_OPERATOR
    OPERATOR(FIXTURE_NAME ".broken/1", broken),
#endif
#ifdef FIXTURE_MORE
    OPERATOR(FIXTURE_NAME ".more/1", cases),
#endif
};

static const char* const computes[] = {FIXTURE_OPERATOR, NULL};
static const tenon_slot_t slots[] = {
    {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_EPILOGUE, .max_operands = 7}};
static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = FIXTURE_NAME "_kernel",
                                          .device = "cpu",
                                          .operators = computes,
                                          .slots = TENON_LIST(slots),
                                          .version = 3,
                                          .prepare = prepare,
                                          .enqueue = enqueue}};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#ifdef FIXTURE_STRIDE
#define STRIDE(type) FIXTURE_STRIDE
#else
#define STRIDE(type) ((uint32_t)sizeof(type))
#endif

static const tenon_offering_t offered[] = {
    {sizeof(tenon_offering_t),
     "operator/1",
     {operators, COUNT(operators), STRIDE(tenon_operator_t)}},
    {sizeof(tenon_offering_t), "kernel/1", {kernels, COUNT(kernels), STRIDE(tenon_kernel_t)}},
    {sizeof(tenon_offering_t), "oracle/7", {kernels, 1, sizeof(tenon_kernel_t)}},
};

static const tenon_offering_t* const offerings[] = {&offered[0], &offered[1], &offered[2]};

/* ---- Its life ---- */

/* What a test reads through a kernel entry's owner: how often this state was used. */
typedef struct state_t {
  const tenon_allocator_t* allocator;
  const tenon_sink_t* sink;
  uint32_t magic;
  uint32_t started;
} state_t;

#ifdef FIXTURE_OPENS
static tenon_status_t open_library(const tenon_host_offer_t* host) {
  const tenon_library_table_t* library = host->table(host->host, "library/1");
  void* handle = NULL;
  if (library == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  return library->open(library->host, FIXTURE_OPENS, &handle);
}
#endif

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  const tenon_allocator_t* allocator = host->table(host->host, "allocator/1");
  const tenon_sink_t* sink = host->table(host->host, "sink/1");
  if (host->table(host->host, "no_such_thing/1") != NULL || allocator == NULL || sink == NULL) {
    return TENON_ERROR_INTERNAL;
  }
#ifdef FIXTURE_START_FAILS
  sink->report(sink->user, TENON_SEVERITY_ERROR, "the moon is in the wrong phase");
  return TENON_ERROR_DEVICE;
#endif
#ifdef FIXTURE_OPENS
  const tenon_status_t status = open_library(host);
  if (status != TENON_OK) {
    return status;
  }
#endif
  state_t* state = allocator->resize(allocator->user, NULL, 0, sizeof(*state));
  if (state == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *state = (state_t){allocator, sink, 0x7e707u, 1};
  *out_state = state;
  return TENON_OK;
}

static void stop(void* user) {
  state_t* state = user;
  state->sink->report(state->sink->user, TENON_SEVERITY_DEBUG, "stopped");
  (void)state->allocator->resize(state->allocator->user, state, sizeof(*state), 0);
}

#ifndef FIXTURE_ROOT_NAME
#define FIXTURE_ROOT_NAME FIXTURE_NAME
#endif
#ifndef FIXTURE_ROOT_SIZE
#define FIXTURE_ROOT_SIZE sizeof(tenon_plugin_t)
#endif

static const tenon_plugin_t plugin = {.size = FIXTURE_ROOT_SIZE,
                                      .built = FIXTURE_BUILT,
                                      .needed = FIXTURE_NEEDED,
                                      .name = FIXTURE_ROOT_NAME,
                                      .version = FIXTURE_VERSION,
                                      .offerings = TENON_LIST(offerings),
                                      .start = start,
                                      .stop = stop};

#ifdef FIXTURE_EXTRA_EXPORT
TENON_EXPORT int fixture_second_door(void);
int fixture_second_door(void) {
  return 1;
}
#endif

#ifdef FIXTURE_IMPORTS_TENON
/* A function of the host, as if plugins were linked to it. */
extern int tenon_version_of_the_host(void);
#endif

#ifdef FIXTURE_LINKS
extern int fixture_neighbour(void);
#endif

#ifdef FIXTURE_NO_QUERY
#define QUERY not_the_query
const tenon_plugin_t* not_the_query(const tenon_host_offer_t* host);
#else
#define QUERY tenon_plugin_query
#endif

const tenon_plugin_t* QUERY(const tenon_host_offer_t* host) {
  if (host->abi_major != TENON_ABI_MAJOR || host->abi_max_minor < 1) {
    return NULL;
  }
#ifdef FIXTURE_IMPORTS_TENON
  if (tenon_version_of_the_host() == 0) {
    return NULL;
  }
#endif
#ifdef FIXTURE_LINKS
  if (fixture_neighbour() == 0) {
    return NULL;
  }
#endif
#ifdef FIXTURE_DECLINES
  return host->abi_major == TENON_ABI_MAJOR ? NULL : &plugin;
#else
  return &plugin;
#endif
}
