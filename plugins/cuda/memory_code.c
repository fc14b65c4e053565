/*
 * The kernels that set and copy memory, in the assembly that the driver itself translates: the
 * run-time compiler takes 200 ms for the first kernel of a process, and a recording has no plan at
 * hand that would keep what it made.
 */
#include "memory_nodes.h"

#include "compiler.h"

/* Each is one unit of a thread; see tenon__cuda_piece_t. %rd6: the target, %rd7: the source, %r5:
 * what is set. */
#define ENTRY(name, unit_bytes, body)     \
  ".visible .entry tenon_" name           \
  "(.param .align 8 .b8 piece[40])\n"     \
  "{\n"                                   \
  ".reg .pred %p<2>;\n"                   \
  ".reg .b32 %r<10>;\n"                   \
  ".reg .b64 %rd<10>;\n"                  \
  "mov.u32 %r1, %ctaid.x;\n"              \
  "mov.u32 %r2, %ntid.x;\n"               \
  "mov.u32 %r3, %tid.x;\n"                \
  "cvt.u64.u32 %rd1, %r3;\n"              \
  "mad.wide.u32 %rd1, %r1, %r2, %rd1;\n"  \
  "ld.param.u64 %rd2, [piece+16];\n"      \
  "setp.ge.u64 %p1, %rd1, %rd2;\n"        \
  "@%p1 bra DONE;\n"                      \
  "ld.param.u64 %rd3, [piece];\n"         \
  "ld.param.u64 %rd4, [piece+8];\n"       \
  "ld.param.u64 %rd5, [piece+24];\n"      \
  "ld.param.u32 %r5, [piece+32];\n"       \
  "mov.u32 %r4, %ctaid.y;\n"              \
  "cvt.u64.u32 %rd8, %r4;\n"              \
  "mad.lo.u64 %rd3, %rd8, %rd5, %rd3;\n"  \
  "mad.lo.u64 %rd6, %rd1, " unit_bytes    \
  ", %rd3;\n"                             \
  "mad.lo.u64 %rd7, %rd1, " unit_bytes    \
  ", %rd4;\n"                             \
  "cvta.to.global.u64 %rd6, %rd6;\n"      \
  "cvta.to.global.u64 %rd7, %rd7;\n" body \
  "DONE:\n"                               \
  "ret;\n"                                \
  "}\n"

#define SET_16 ENTRY("set_16", "16", "st.global.v4.b32 [%rd6], {%r5, %r5, %r5, %r5};\n")
#define SET_4 ENTRY("set_4", "4", "st.global.b32 [%rd6], %r5;\n")
#define SET_1 ENTRY("set_1", "1", "st.global.b8 [%rd6], %r5;\n")
#define COPY_16                                            \
  ENTRY("copy_16", "16",                                   \
        "ld.global.v4.b32 {%r6, %r7, %r8, %r9}, [%rd7];\n" \
        "st.global.v4.b32 [%rd6], {%r6, %r7, %r8, %r9};\n")
#define COPY_4 ENTRY("copy_4", "4", "ld.global.b32 %r6, [%rd7];\nst.global.b32 [%rd6], %r6;\n")
#define COPY_1 ENTRY("copy_1", "1", "ld.global.b8 %r6, [%rd7];\nst.global.b8 [%rd6], %r6;\n")

const char tenon__cuda_memory_assembly[] =
    ".version 6.4\n.target sm_75\n.address_size 64\n" SET_16 SET_4 SET_1 COPY_16 COPY_4 COPY_1;

/* Under the device's lock. What fails is told by the next `health`. */
static tenon_status_t load(tenon_device_t* device, tenon__cuda_memory_code_t* code) {
  const tenon__cuda_wanted_t wanted[] = {
      {"tenon_set_16", &code->set[0]},  {"tenon_set_4", &code->set[1]},
      {"tenon_set_1", &code->set[2]},   {"tenon_copy_16", &code->copy[0]},
      {"tenon_copy_4", &code->copy[1]}, {"tenon_copy_1", &code->copy[2]},
  };
  tenon_status_t status =
      TENON_CUDA_CALL(device, cuLibraryLoadData, &code->library, tenon__cuda_memory_assembly, NULL,
                      NULL, 0, NULL, NULL, 0);
  for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted) && status == TENON_OK; k++) {
    status = tenon__cuda_find_kernel(device, code->library, &wanted[k]);
  }
  return status;
}

const tenon__cuda_memory_code_t* tenon__cuda_memory_code(tenon_device_t* device) {
  tenon__cuda_memory_code_t* found = &device->memory_code;
  (void)pthread_mutex_lock(&device->lock);
  if (found->library == NULL && !found->failed) {
    found->failed = load(device, found) != TENON_OK;
  }
  (void)pthread_mutex_unlock(&device->lock);
  return found->failed ? NULL : found;
}

void tenon__cuda_memory_code_close(tenon_device_t* device) {
  if (device->memory_code.library != NULL) {
    (void)device->driver->cuLibraryUnload(device->memory_code.library);
  }
}
