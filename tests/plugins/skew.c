/*
 * The fixture as another version of the contract would have compiled it.
 *
 *   SKEW_SHRUNKEN  an older one: every structure ends before the members that came last, and the
 *                  arrays have that stride; one byte more would be outside of the object
 *   otherwise      a newer one: every structure has a tail of members that this host does not know,
 *                  filled with values that would crash a host that used them
 */
#include <string.h>

#include "tenon/plugin.h"

#ifdef SKEW_SHRUNKEN
#define NAME "older"
#define ABI "0.7"
#define BUILT TENON_ABI_VERSION(0, 7)
/* The last member that the oldest contract which is served could do without. */
#define SIZE(type, last) (offsetof(type, last) + sizeof(((type*)NULL)->last))
#else
#define NAME "newer"
#define ABI "0.8"
#define BUILT TENON_ABI_VERSION(0, 8)
#define TAIL 72
#define SIZE(type, last) (sizeof(type) + TAIL)
#endif

#define ROOT_SIZE SIZE(tenon_plugin_t, start)
#define OFFERING_SIZE SIZE(tenon_offering_t, items)
#define OPERATOR_SIZE SIZE(tenon_operator_t, traits)
#define KERNEL_SIZE SIZE(tenon_kernel_t, enqueue)
#define SLOT_SIZE SIZE(tenon_slot_t, broadcasts)

#define ALIGN_UP(size) (((size) + 7u) & ~(size_t)7u)

#define TEXT                                                  \
  "name: " NAME "\nversion: 1.0.0\nabi: " ABI                 \
  "\nneeded: 0.7\nfuture-key: whatever it says\n"             \
  "offers: operator " NAME ".twice/1\noffers: operator " NAME \
  ".same/1\n"                                                 \
  "offers: kernel " NAME "_kernel " NAME ".twice/1 cpu\noffers: oracle a b c d e f\n"

static const struct {
  tenon_note_header_t header;
  char text[sizeof(TEXT)];
} manifest TENON_NOTE_ATTRIBUTES = {
    {sizeof(TENON_NOTE_NAME), sizeof(TEXT), TENON_NOTE_TYPE, TENON_NOTE_NAME}, TEXT};

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
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
static const tenon_case_t twice[] = {{.size = sizeof(tenon_case_t), .text = "y = x + x"}};
static const tenon_case_t same[] = {{.size = sizeof(tenon_case_t), .text = "y = x * 1"}};
static const char* const computes[] = {NAME ".twice/1", NULL};

/* The objects, exactly as large as that version's. */
static _Alignas(8) unsigned char root_bytes[ROOT_SIZE];
static _Alignas(8) unsigned char offering_bytes[2][OFFERING_SIZE];
static _Alignas(8) unsigned char operator_bytes[2][ALIGN_UP(OPERATOR_SIZE)];
static _Alignas(8) unsigned char kernel_bytes[KERNEL_SIZE];
static _Alignas(8) unsigned char slot_bytes[2][ALIGN_UP(SLOT_SIZE)];

static void place(void* target, size_t target_size, const void* source, size_t full_size,
                  size_t size) {
  memset(target, 0xa5, target_size);
  memcpy(target, source, size < full_size ? size : full_size);
  memcpy(target, &size, sizeof(size));
}

static tenon_operator_t make_operator(const char* name, const tenon_case_t* meaning) {
  return (tenon_operator_t){.name = name,
                            .types = TENON_LIST(types),
                            .inputs = TENON_LIST(inputs),
                            .outputs = TENON_LIST(outputs),
                            .cases = {meaning, 1, sizeof(*meaning)}};
}

static void make_items(void) {
  const tenon_operator_t operators[2] = {make_operator(NAME ".twice/1", twice),
                                         make_operator(NAME ".same/1", same)};
  const tenon_slot_t slot = {.kind = TENON_SLOT_EPILOGUE, .max_operands = 5};
  const tenon_kernel_t kernel = {.name = NAME "_kernel",
                                 .device = "cpu",
                                 .operators = computes,
                                 .slots = TENON_LIST(slot_bytes),
                                 .version = 9,
                                 .prepare = prepare,
                                 .enqueue = enqueue};
  for (int i = 0; i < 2; ++i) {
    place(operator_bytes[i], sizeof(operator_bytes[i]), &operators[i], sizeof(operators[i]),
          OPERATOR_SIZE);
    place(slot_bytes[i], sizeof(slot_bytes[i]), &slot, sizeof(slot), SLOT_SIZE);
  }
  place(kernel_bytes, sizeof(kernel_bytes), &kernel, sizeof(kernel), KERNEL_SIZE);
}

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  const tenon_offering_t offerings[2] = {
      {.kind = "operator/1", .items = TENON_LIST(operator_bytes)},
      {.kind = "kernel/1", .items = {kernel_bytes, 1, sizeof(kernel_bytes)}}};
  static const tenon_offering_t* const list[2] = {
      (const tenon_offering_t*)(const void*)offering_bytes[0],
      (const tenon_offering_t*)(const void*)offering_bytes[1]};
  const tenon_plugin_t root = {.built = BUILT,
                               .needed = TENON_ABI_VERSION(0, 7),
                               .name = NAME,
                               .version = "1.0.0",
                               .offerings = TENON_LIST(list)};
  (void)host;
  make_items();
  for (int i = 0; i < 2; ++i) {
    place(offering_bytes[i], sizeof(offering_bytes[i]), &offerings[i], sizeof(offerings[i]),
          OFFERING_SIZE);
  }
  place(root_bytes, sizeof(root_bytes), &root, sizeof(root), ROOT_SIZE);
  return (const tenon_plugin_t*)(const void*)root_bytes;
}
