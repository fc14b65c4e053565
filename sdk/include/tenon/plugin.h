/*
 * tenon/plugin.h - the contract between the Tenon core and a shared object.
 *
 * This header stands alone: it needs standard C headers and nothing of ours to link with. A plugin
 * is a shared object that carries a manifest (an ELF note, see TENON_PLUGIN_MANIFEST) and exports
 * one symbol, `tenon_plugin_query`. It imports nothing from Tenon: everything it may call reaches
 * it as a table of function pointers.
 *
 * The header is longer than our usual limit because it must be usable as a single file.
 *
 *   1. Versions, status, diagnostics        7. Device
 *   2. Data types, tensors, arguments       8. Parser and source-node table
 *   3. Programs (checked expressions)       9. Converter, rewrite
 *   4. Operator                            10. Builder
 *   5. Region, layout, tactic, numerics    11. Plugin, offerings, host offer, manifest
 *   6. Kernel and its life
 *
 * Stability. Version 0.x may change. It is frozen as 1.0 once CPU, CUDA, a parser, a rewrite and
 * three third-party plugins use it. tests/abi/plugin.lock locks the layouts, and
 * sdk/docs/contract-changes.md lists the changes of each version. Pointers have 64 bits.
 *
 * Three classes of structure:
 *   [growing]  Begins with `size`, the structure's sizeof. Fields are only ever appended.
 *              The host copies it once into a zero-filled structure of its own, so a field that an
 *              old plugin lacks reads as zero, which is always the default. Arrays of growing
 *              structures carry their stride. An older host ignores a newer field. If a plugin
 *              gives wrong results without this field, it raises `needed` to the field's version.
 *   [frozen]   Is passed in every call. Never changes within this major version.
 *   [opaque]   A handle. Only its owner reads it.
 * Enumerations are open. The host never passes a kernel a value newer than the plugin's `built`
 * version: it refuses such a region on the kernel's behalf (DTYPE, SLOT or OTHER).
 *
 * Ownership. The side that allocates memory frees it. The host keeps ownership of its arguments.
 * Unless a comment says otherwise, a pointer passed into a call is valid for that call, and a
 * pointer inside a descriptor is valid for the life of the process (descriptors are static data).
 * Strings are UTF-8 and end with NUL. On failure, outputs are untouched.
 *
 * Errors are statuses. Neither side may throw an exception or call longjmp through a call of the
 * other side.
 *
 * Alignment. allocator.resize, prepare.allocate, prepare.pack, bind.allocate, run.zeroed and
 * run.persistent give addresses at multiples of 64 bytes, on devices too. run.scratch gives
 * multiples of 64 on the host and of 256 on other devices. device.allocate gives multiples of 256,
 * and parse.allocate of 16. Tensors and constants are aligned to their element, or as the tactic's
 * rule requests.
 *
 * Thread contracts, written in brackets before a function:
 *   [any]    any thread, at any time, concurrently.
 *   [start]  one thread, while the plugin is started or stopped.
 *   [build]  one thread per build; several builds may run at once. May allocate, log and take time.
 *   [load]   one thread per engine, while a plan is prepared. May allocate.
 *   [bind]   one thread per context, when its shapes change. May allocate.
 *   [run]    one thread per context, between two kernels. Must not allocate, lock, log or block,
 *            other than through the host's tables.
 *   [parse]  one thread per parse.
 * Wherever the host calls, the thread has the C locale: strtod and printf read and write 1.5.
 *
 * Plugins keep no mutable globals: several hosts may load one image into one process. Data of one
 * host is stored in the state that `start` returns. Every callback receives it.
 *
 * Forbidden in the three long phases:
 *   [build]  nothing but to change the program's state behind its back (locale, signals, working
 *            directory). Other builds run at the same time: the state of a plugin is read alone, or
 *            guarded by a lock of its own.
 *   [parse]  to build anything but the network at hand, to open files by other means than
 *            parse.open_file (a model's folder is a border), and to go on after a failed call as if
 *            it had succeeded.
 *   [run]    to allocate, free, lock, wait, log, read files or clocks in a loop, start threads, or
 *            keep a pointer of the call: a run costs microseconds, and is on a thread that may not
 *            be kept waiting. Memory comes from the tactic's declarations, threads from
 *            run.parallel, words go through run.fail.
 *
 * A whole plugin, one operator that runs on every device that has an expression kernel:
 *
 *     static const tenon_port_t x[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "f32"}};
 *     static const tenon_port_t y[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "f32"}};
 *     static const tenon_case_t swish[] = {
 *         {.size = sizeof(tenon_case_t), .text = "y = x * sigmoid(x)"}};
 *     static const tenon_operator_t operators[] = {
 *         {.size = sizeof(tenon_operator_t), .name = "acme.swish/1", .inputs = TENON_LIST(x),
 *          .outputs = TENON_LIST(y), .cases = TENON_LIST(swish)}};
 *     static const tenon_offering_t* const offerings[] = {
 *         TENON_OFFERING("operator/1", operators)};
 *     static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme",
 *                                           .version = "1.0.0",
 *                                           .offerings = TENON_LIST(offerings)};
 *     TENON_PLUGIN_MANIFEST("acme", "1.0.0", "offers: operator acme.swish/1\n");
 *     const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) { return &plugin; }
 */
#ifndef TENON_PLUGIN_H_
#define TENON_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX != UINT64_MAX
#error "the plugin contract needs 64-bit pointers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * 1. Versions, status, diagnostics
 * ------------------------------------------------------------------------------------------- */

#define TENON_ABI_MAJOR 0u
#define TENON_ABI_MINOR 7u
#define TENON_ABI_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define TENON_ABI_CURRENT TENON_ABI_VERSION(TENON_ABI_MAJOR, TENON_ABI_MINOR)
/* The least version for a plugin that calls TENON_HAS before it uses a newer member. */
#define TENON_ABI_NEEDED TENON_ABI_VERSION(0, 7)
#define TENON_ABI_NEEDED_TEXT "0.7"

/* "none" wherever an index, an id or a count is optional. */
#define TENON_NONE UINT32_MAX

/* True if a growing structure of the host, such as a table, contains `member`. A plugin that runs
 * on older hosts too calls this before it uses a newer member. For structures of the plugin the
 * host needs no such check: it fills them up with zeros. */
#define TENON_HAS(pointer, type, member) \
  ((pointer)->size >= offsetof(type, member) + sizeof((pointer)->member))

#if defined(__GNUC__)
#define TENON_EXPORT __attribute__((visibility("default")))
#define TENON_USED __attribute__((used))
#else
#define TENON_EXPORT
#define TENON_USED
#endif

/* An array in a descriptor. [frozen] Zeros: an empty one. TENON_LIST(array) initialises a member of
 * this type in C11 and in C++20:
 *   .inputs = TENON_LIST(ports)
 *
 * items   The first element.
 * count   The number of elements.
 * stride  The size of one element in bytes in the compiled plugin. Elements are growing structures,
 *         so a host of another version steps by this size. */
typedef struct tenon_list_t {
  const void* items;
  uint32_t count;
  uint32_t stride;
} tenon_list_t;
/* The number of items and the size of one. clang-tidy takes sizeof((array)[0]), by itself and of a
 * pointer, for a mistake. */
#define TENON_LIST_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TENON_LIST(array)                                   \
  {                                                         \
    (array), (uint32_t)TENON_LIST_COUNT(array),             \
        (uint32_t)(sizeof(array) / TENON_LIST_COUNT(array)) \
  }

/* Whose fault a failure is, and so what mends it. 0 is success. A function that returns another one
 * has said why on the sink it was given, in one message that names the thing and its values; where
 * it says nothing the host says that it said nothing. UNSUPPORTED in place of INVALID_DATA matters:
 * the first means that another plugin could do it, and the host asks the next converter. A status
 * that a plugin gets from a table is what it returns itself, unless it can do without. */
typedef int32_t tenon_status_t;
enum {
  TENON_OK = 0,
  TENON_ERROR_INVALID_ARGUMENT = 1, /* the caller: an argument is wrong */
  TENON_ERROR_INVALID_STATE = 2,    /* the caller: not now, or not in this order */
  TENON_ERROR_INVALID_DATA = 3,     /* the file or model: broken or contradictory */
  TENON_ERROR_UNSUPPORTED = 4,      /* the file or model: right, but nobody here can do it */
  TENON_ERROR_NOT_FOUND = 5,        /* the caller or machine: a file, name or plugin is absent */
  TENON_ERROR_OUT_OF_MEMORY = 6,    /* the machine */
  TENON_ERROR_IO = 7,               /* the machine: reading or writing failed */
  TENON_ERROR_DEVICE = 8,           /* the machine: a device or its library failed */
  TENON_ERROR_DENIED = 9,           /* policy or permission refused it */
  TENON_ERROR_CANCELLED = 10,       /* the caller asked to stop, or a time budget ended */
  TENON_ERROR_INTERNAL = 11         /* us, or the plugin: a defect */
};

/* How much a message matters. Errors go with a status that is not OK, and nothing else does: they
 * are what tenon_last_message gives. A warning is for what worked otherwise than asked for. */
enum {
  TENON_SEVERITY_DEBUG = 0,
  TENON_SEVERITY_INFO = 1,
  TENON_SEVERITY_WARNING = 2,
  TENON_SEVERITY_ERROR = 3
};

/* A receiver of messages. [frozen] The place that knows the values writes the message; the host
 * adds plugin, operator and node. `message` has no trailing newline, and the callee copies it. Text
 * beyond 2 KiB may be cut. If `report` is NULL, messages are discarded. [any] */
typedef struct tenon_sink_t {
  void* user;
  void (*report)(void* user, int32_t severity, const char* message);
} tenon_sink_t;

/* Memory by one function. [frozen] `resize(user, NULL, 0, n)` allocates n bytes aligned to 64,
 * `resize(user, p, old, n)` moves, `resize(user, p, old, 0)` frees and returns NULL. Failure
 * returns NULL and leaves the old block as it was. [any] */
typedef struct tenon_allocator_t {
  void* user;
  void* (*resize)(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes);
} tenon_allocator_t;

/* ---------------------------------------------------------------------------------------------
 * 2. Data types, tensors, arguments
 * ------------------------------------------------------------------------------------------- */

/* NAME, mnemonic, bits of one element, class. Mnemonics are the names used in every text of this
 * contract. Classes: b bool, i signed, u unsigned, f float, c complex, s string. A string element
 * is a tenon_string_view_t. Elements of less than 8 bits are packed, lowest bits first. */
#define TENON_DTYPES(X)                   \
  X(UNDEFINED, "undefined", 0, 'x')       \
  X(BOOL, "bool", 8, 'b')                 \
  X(INT8, "i8", 8, 'i')                   \
  X(INT16, "i16", 16, 'i')                \
  X(INT32, "i32", 32, 'i')                \
  X(INT64, "i64", 64, 'i')                \
  X(UINT8, "u8", 8, 'u')                  \
  X(UINT16, "u16", 16, 'u')               \
  X(UINT32, "u32", 32, 'u')               \
  X(UINT64, "u64", 64, 'u')               \
  X(FLOAT16, "f16", 16, 'f')              \
  X(BFLOAT16, "bf16", 16, 'f')            \
  X(FLOAT32, "f32", 32, 'f')              \
  X(FLOAT64, "f64", 64, 'f')              \
  X(STRING, "str", 128, 's')              \
  X(INT4, "i4", 4, 'i')                   \
  X(UINT4, "u4", 4, 'u')                  \
  X(INT2, "i2", 2, 'i')                   \
  X(UINT2, "u2", 2, 'u')                  \
  X(FLOAT8E4M3FN, "f8e4m3fn", 8, 'f')     \
  X(FLOAT8E4M3FNUZ, "f8e4m3fnuz", 8, 'f') \
  X(FLOAT8E5M2, "f8e5m2", 8, 'f')         \
  X(FLOAT8E5M2FNUZ, "f8e5m2fnuz", 8, 'f') \
  X(FLOAT8E8M0, "f8e8m0", 8, 'f')         \
  X(FLOAT4E2M1, "f4e2m1", 4, 'f')         \
  X(COMPLEX64, "c64", 64, 'c')            \
  X(COMPLEX128, "c128", 128, 'c')

#define TENON_DTYPE_ENTRY(name, mnemonic, bits, kind) TENON_DTYPE_##name,
enum { TENON_DTYPES(TENON_DTYPE_ENTRY) TENON_DTYPE_COUNT };
typedef uint32_t tenon_dtype_t;

/* [frozen] A text that is not terminated by NUL and may hold NULs: an element of a string tensor.
 * Its maker defines the lifetime of `data`; in outputs of a run, run.copy_string does.
 */
typedef struct tenon_string_view_t {
  const char* data;
  size_t size;
} tenon_string_view_t;

/* Maximum number of axes of a tensor and of an expression's space: a mask of axes has 64 bits. A
 * network with more is refused, so arrays of this many never overflow. */
enum { TENON_RANK_LIMIT = 64 };

/* Maximum product of the extents of a tensor; extents of 0 are left out. A network, a profile or a
 * run with more is refused, so that a kernel may multiply what it has of elements by some
 * thousands, and add paddings, in 64 bits. */
#define TENON_ELEMENT_LIMIT (INT64_C(1) << 48)

/* A tensor as a kernel sees it. [frozen] Dimensions are logical; `strides` count elements, may be 0
 * (broadcast) or negative. Element (i0, i1, ...) stands at data + sum(i_k * strides[k]) elements.
 * `bit_offset` is 0 except for elements of less than 8 bits. `layout` is TENON_NONE if the strides
 * describe the layout completely, and 0 if the layout of this argument's rule does. In this version
 * it is always TENON_NONE.
 * `device_extents`, if not NULL, points (in device memory) to the actual extents, one for each
 * axis, of a tensor whose `dims` are only a bound: see TENON_RULE_EXTENTS. Unused (host) dims of a
 * rank 0 tensor may be NULL. */
typedef struct tenon_tensor_view_t {
  void* data;
  const int64_t* dims;
  const int64_t* strides;
  int64_t* device_extents;
  uint32_t rank;
  tenon_dtype_t dtype;
  uint32_t layout;
  uint32_t bit_offset;
} tenon_tensor_view_t;

/* Kinds of arguments. A kernel gets kinds other than ABSENT and TENSOR only if its operator's ports
 * have SEQUENCE or OPTIONAL_TYPE, or if a shape rule has `fresh`. */
enum {
  /* An optional input that is not there, or an output that nobody reads: not to be written. */
  TENON_ARGUMENT_ABSENT = 0,
  TENON_ARGUMENT_TENSOR = 1,
  /* `items`: `count` tensors. An output begins empty and is filled by run.append_output. */
  TENON_ARGUMENT_SEQUENCE = 2,
  /* count 0 or 1, `items` as for a sequence. */
  TENON_ARGUMENT_OPTIONAL = 3,
  /* An output whose extents the kernel finds: its `dims` and `data` say nothing, and the kernel
   * calls run.allocate_output once for it in each call. */
  TENON_ARGUMENT_ALLOCATE = 4,
  /* count 0 or 1, the item is a sequence. Containers nest no further. */
  TENON_ARGUMENT_OPTIONAL_SEQUENCE = 5
};

/* One input or output of a call. [frozen] All of it, `dims` and `strides` included, is valid for
 * the call alone: the same step may be given other addresses, and other threads other arguments, in
 * the next one. Data of an input is never written; it may overlap an output only as in_place
 * permits. */
typedef struct tenon_argument_t {
  uint32_t kind;
  uint32_t count;
  const struct tenon_argument_t* items;
  tenon_tensor_view_t tensor;
} tenon_argument_t;

/* ---------------------------------------------------------------------------------------------
 * 3. Programs: checked expressions
 *
 * An expression is text that an operator declares (sdk/docs/expressions.md). The core parses and
 * checks it at admission and composes neighbours. What crosses the border is a program:
 * single assignment instructions in a normal form, over an iteration space of `rank` axes.
 *
 * Operands and outputs reach a kernel as views that the host has aligned: each has exactly `rank`
 * dimensions, extent 1 or stride 0 on axes along which it is broadcast, extent 1 on axes reduced
 * away. So a kernel needs no broadcasting or reshaping rules of its own.
 * ------------------------------------------------------------------------------------------- */

/* NAME, spelling, operands, meaning. `T` is the instruction's arithmetic type. Integer arithmetic
 * wraps; div of integers truncates (floor_div and mod floor, as `/` and `%` in texts do); min and
 * max return NaN when either operand is NaN. Functions of accuracy are within 4 ulp of the
 * arithmetic type. */
#define TENON_OPCODES(X)                                                      \
  X(NOP, "nop", 0, "nothing")                                                 \
  X(INPUT, "input", 0, "operand `immediate`, at this point, converted to T")  \
  X(CONSTANT, "constant", 0, "the immediate")                                 \
  X(INDEX, "index", 0, "coordinate on axis `immediate`")                      \
  X(SIZE, "size", 0, "extent of axis `immediate`, see tenon_program_t")       \
  X(LOAD, "load", 0, "operand at computed coordinates, see tenon_program_t")  \
  X(CAST, "cast", 1, "convert to T, saturating floats to ints, NaN to 0")     \
  X(ADD, "add", 2, "a + b")                                                   \
  X(SUB, "sub", 2, "a - b")                                                   \
  X(MUL, "mul", 2, "a * b")                                                   \
  X(DIV, "div", 2, "a / b; integers truncate, x/0 is 0")                      \
  X(FLOOR_DIV, "floor_div", 2, "floor(a / b)")                                \
  X(MOD, "mod", 2, "a - b * floor(a / b); a zero has the sign of b")          \
  X(FMOD, "fmod", 2, "C remainder, sign of a")                                \
  X(POW, "pow", 2, "a to the power of b")                                     \
  X(MIN, "min", 2, "smaller, NaN if either is")                               \
  X(MAX, "max", 2, "larger, NaN if either is")                                \
  X(ATAN2, "atan2", 2, "angle of (b, a)")                                     \
  X(NEG, "neg", 1, "-a")                                                      \
  X(ABS, "abs", 1, "absolute value")                                          \
  X(SIGN, "sign", 1, "-1, 0, 1; NaN stays")                                   \
  X(FLOOR, "floor", 1, "round down")                                          \
  X(CEIL, "ceil", 1, "round up")                                              \
  X(ROUND, "round", 1, "nearest, halves to even")                             \
  X(TRUNC, "trunc", 1, "towards zero")                                        \
  X(SQRT, "sqrt", 1, "square root")                                           \
  X(RSQRT, "rsqrt", 1, "1 / sqrt(a)")                                         \
  X(RECIP, "recip", 1, "1 / a")                                               \
  X(EXP, "exp", 1, "e^a")                                                     \
  X(EXPM1, "expm1", 1, "e^a - 1")                                             \
  X(LOG, "log", 1, "natural logarithm")                                       \
  X(LOG1P, "log1p", 1, "log(1 + a)")                                          \
  X(ERF, "erf", 1, "error function")                                          \
  X(SIN, "sin", 1, "")                                                        \
  X(COS, "cos", 1, "")                                                        \
  X(TAN, "tan", 1, "")                                                        \
  X(ASIN, "asin", 1, "")                                                      \
  X(ACOS, "acos", 1, "")                                                      \
  X(ATAN, "atan", 1, "")                                                      \
  X(SINH, "sinh", 1, "")                                                      \
  X(COSH, "cosh", 1, "")                                                      \
  X(TANH, "tanh", 1, "")                                                      \
  X(ASINH, "asinh", 1, "")                                                    \
  X(ACOSH, "acosh", 1, "")                                                    \
  X(ATANH, "atanh", 1, "")                                                    \
  X(SIGMOID, "sigmoid", 1, "1 / (1 + exp(-a)), no overflow")                  \
  X(SOFTPLUS, "softplus", 1, "log(1 + exp(a)), no overflow")                  \
  X(IS_NAN, "is_nan", 1, "bool")                                              \
  X(IS_INF, "is_inf", 1, "bool, either sign")                                 \
  X(EQ, "eq", 2, "bool; T is the type compared")                              \
  X(NE, "ne", 2, "bool")                                                      \
  X(LT, "lt", 2, "bool")                                                      \
  X(LE, "le", 2, "bool")                                                      \
  X(GT, "gt", 2, "bool")                                                      \
  X(GE, "ge", 2, "bool")                                                      \
  X(AND, "and", 2, "bitwise; logical on bool")                                \
  X(OR, "or", 2, "bitwise; logical on bool")                                  \
  X(XOR, "xor", 2, "bitwise; logical on bool")                                \
  X(NOT, "not", 1, "bitwise; logical on bool")                                \
  X(SHL, "shl", 2, "a << b, 0 past the width")                                \
  X(SHR, "shr", 2, "a >> b, logical on unsigned")                             \
  X(SELECT, "select", 3, "a (bool) ? b : c")                                  \
  X(RANDOM, "random", 2, "uniform [0,1): Philox4x32-10 of key a, counter b")  \
  X(SUM, "sum", 1, "over the axes in the mask `immediate`; extent 1 remains") \
  X(PROD, "prod", 1, "likewise")                                              \
  X(REDUCE_MIN, "reduce_min", 1, "likewise")                                  \
  X(REDUCE_MAX, "reduce_max", 1, "likewise")                                  \
  X(MEAN, "mean", 1, "likewise: sum divided by the number of elements")       \
  X(EXTENT, "extent", 0, "extent of an operand's own axis, see tenon_program_t")

#define TENON_OPCODE_ENTRY(name, spelling, operands, meaning) TENON_OPCODE_##name,
enum { TENON_OPCODES(TENON_OPCODE_ENTRY) TENON_OPCODE_COUNT };

/* [frozen] `operands` are indices of earlier instructions. Comparisons produce bool but `dtype`
 * tells the type compared. INDEX, SIZE and EXTENT have an integer dtype. The immediate is `f` for a
 * float CONSTANT, `i` for everything else (bool constants are 0 and 1). For LOAD, immediate.i is
 * the operand's number, operands[0] the first entry of `coordinates` and operands[1] their count:
 * one integer instruction for each dimension of that operand. A LOAD outside its operand's extents
 * is an error that the host reports, unless it is guarded by a SELECT on a condition that excludes
 * it; evaluators clamp coordinates before reading, so a guarded value is never garbage memory. For
 * EXTENT, immediate.i is the number of an `indexed` operand and operands[0] an axis of it: the
 * extent that its view has there, which bind knows and which is the same at every point. */
typedef struct tenon_instruction_t {
  uint16_t opcode;
  uint16_t dtype;
  uint32_t operands[3];
  union {
    double f;
    int64_t i;
  } immediate;
} tenon_instruction_t;

/* Where an operand of a program comes from. */
enum {
  /* The region's input number `index`: so inputs[index] of the call, aligned to the space. */
  TENON_OPERAND_ARGUMENT = 0,
  /* In a slot: the value that the kernel itself produced, in its own registers or tile; in a
   * prologue, the value in the input's place. `index` says nothing; a program may read it more than
   * once. */
  TENON_OPERAND_SLOT_VALUE = 1
};

/* [frozen] One operand of a program. `broadcast_axes`: bit k set when the operand does not vary
 * along axis k of the space (extent known to be 1 while the space's may not be). `indexed`: read by
 * LOAD and EXTENT alone; its view keeps its own rank. */
typedef struct tenon_operand_t {
  uint32_t kind;
  uint32_t index;
  tenon_dtype_t dtype; /* as stored */
  uint32_t indexed;
  uint64_t broadcast_axes;
} tenon_operand_t;

/* [frozen] One output of a program: the value of `instruction`, converted to `dtype` when stored.
 * `reduced_axes`: axes with extent 1 in this output because a reduction removed them. `index` is
 * the region's output number; in a prologue, the number of the input that it stands for. `reserved`
 * is the host's. */
typedef struct tenon_program_output_t {
  uint32_t instruction;
  tenon_dtype_t dtype;
  uint32_t index;
  uint32_t reserved;
  uint64_t reduced_axes;
} tenon_program_output_t;

/* [frozen] At most 64 axes. A kernel walks the instructions once at prepare, in order, and makes of
 * them whatever it likes; each is read after it was made, so one pass is enough:
 *
 *     for (uint32_t k = 0; k < program->instruction_count; ++k) {
 *       const tenon_instruction_t* in = &program->instructions[k];
 *       value[k] = in->opcode == TENON_OPCODE_ADD ? value[in->operands[0]] + value[in->operands[1]]
 *                                                 : ...;
 *     }
 *
 * Equal computations are one instruction, nothing is computed that no output needs, and constants
 * are folded. An opcode that a kernel does not know is refused by its match (SLOT, or OTHER for an
 * expression kernel): TENON_OPCODES grows. Extents of the space are no part of it: bind.space. */
typedef struct tenon_program_t {
  const tenon_instruction_t* instructions;
  const tenon_operand_t* operands;
  const tenon_program_output_t* outputs;
  const uint32_t* coordinates; /* for LOAD */
  uint32_t instruction_count;
  uint32_t operand_count;
  uint32_t output_count;
  uint32_t coordinate_count;
  uint32_t rank;
  uint32_t reserved;
} tenon_program_t;

/* A move in pieces. [frozen] An index map that is affine moves boxes: for every point p of the box
 * [begin, begin + extent) of the output, out[p] = input[offset + sum((p_k - begin_k) *
 * strides[k])], where offset and strides count elements of the input's view as it is given to the
 * call. Boxes do not overlap. Points in no box get the fill: `fill_argument` (a region input with
 * one element) or, if TENON_NONE, zero. The arrays have `rank` entries (the output's rank) and
 * belong to the binding. */
typedef struct tenon_move_piece_t {
  uint32_t input;
  uint32_t reserved;
  const int64_t* begin;
  const int64_t* extent;
  const int64_t* strides;
  int64_t offset;
} tenon_move_piece_t;

/* All pieces of a move at the shapes of one binding. [frozen] Pieces may be copied in any order and
 * by several threads, because they do not overlap; the rest is filled unless `covers_output`. */
typedef struct tenon_move_t {
  uint32_t rank;
  uint32_t piece_count;
  uint32_t fill_argument;
  uint32_t covers_output; /* 1 when no point is left to the fill */
  const tenon_move_piece_t* pieces;
} tenon_move_t;

/* ---------------------------------------------------------------------------------------------
 * 4. Operator: definition of a function on tensors
 *
 * Five steps of openness, all in one descriptor, all optional: T0 call (attributes, types, shape
 * rule), T1 traits, T2 decomposition, T3 expression or move. T4, slots, belongs to kernels.
 * Texts are parsed and checked when the plugin is admitted; a text with a fault disables that
 * operator, with the position of the fault, and nothing else.
 * ------------------------------------------------------------------------------------------- */

/* Types of attributes. In the texts of an operator integers, lists of them and strings can be
 * computed with; a kernel reads any but the last two through the region table. */
enum {
  TENON_ATTRIBUTE_INT = 1,
  TENON_ATTRIBUTE_FLOAT = 2,
  TENON_ATTRIBUTE_STRING = 3,
  TENON_ATTRIBUTE_INTS = 4,
  TENON_ATTRIBUTE_FLOATS = 5,
  TENON_ATTRIBUTE_STRINGS = 6,
  TENON_ATTRIBUTE_DTYPE = 7, /* texts: a mnemonic */
  TENON_ATTRIBUTE_TENSOR = 8,
  TENON_ATTRIBUTE_BODY = 9 /* a graph; only control forms take them */
};

enum { TENON_ATTRIBUTE_REQUIRED = 1u << 0 };

/* [growing] `default_text`: "1", "0.5", "[1, 1]", "[]", "'relu'", "f32"; NULL with REQUIRED.
 * `choices`: NULL, or "none|relu|tanh" for a string, or "0..8" for an integer's range. */
typedef struct tenon_attribute_descriptor_t {
  size_t size;
  const char* name;
  const char* default_text;
  const char* choices;
  const char* summary;
  uint32_t kind;
  uint32_t flags;
} tenon_attribute_descriptor_t;

/* Kinds of values at a port. */
enum {
  /* It may be absent: present(port) asks in the operator's texts; a kernel gets ARGUMENT_ABSENT. */
  TENON_PORT_OPTIONAL = 1u << 0,
  /* The last input or output only: one or more of them, none at all where it is OPTIONAL too. All
   * have the port's type. */
  TENON_PORT_VARIADIC = 1u << 1,
  /* Its elements take part in shapes (a target shape, axes): an integer tensor of rank 0 or 1 whose
   * contents the network follows, symbols included, as far as they are known. It is always stored
   * on the host. */
  TENON_PORT_SHAPE_OPERAND = 1u << 2,
  /* A value of the type sequence(...); without it, or OPTIONAL_TYPE, a tensor is meant. */
  TENON_PORT_SEQUENCE = 1u << 3,
  /* A value of the type optional(...): present, but perhaps empty. Not the same as OPTIONAL. With
   * SEQUENCE: of the type optional(sequence(...)). */
  TENON_PORT_OPTIONAL_TYPE = 1u << 4,
  /* An output whose rank no rule can tell: see "Extents that the kernel finds" below. */
  TENON_PORT_UNBOUNDED = 1u << 5,
  /* With VARIADIC: each item has a type of its own, and the type variable binds none. */
  TENON_PORT_HETEROGENEOUS = 1u << 6
};

/* [growing] `type`: a type variable of the operator ("T"), a mnemonic ("i64"), or "$name", the
 * DTYPE attribute `name`. `domain`: the accepted values. The host uses it to make data when it
 * times tactics. NULL, or words of this list separated by blanks, each at most once:
 *   any, finite       nothing more is asked; made floats are ordinary numbers
 *   positive          above 0
 *   nonzero           not 0
 *   [a,b]             numbers from a to b, both included: "[0,1]", "[-1,1]", "[1,inf]"
 *   sorted            never falling along the last axis
 *   index(x, axis)    integers from 0 to below the extent of input `x` along `axis`, which is
 *                     a number, negative from the end, or the name of an INT attribute
 *   coordinates(x, n) likewise, a tuple along the last axis of this port: element k is for
 *                     axis n + k
 *   distinct          with one of the two above: no place is named twice (along `axis`, for
 *                     index)
 * Anything else disables the operator. A kernel may rely on it: other data may break it, and the
 * kernel must find this, by run->fail, if it would access memory out of bounds. */
typedef struct tenon_port_t {
  size_t size;
  const char* name;
  const char* type;
  const char* domain;
  const char* summary;
  uint32_t flags;
  uint32_t reserved;
} tenon_port_t;

/* [growing] A type variable: `allowed` is a list of mnemonics and classes ("float", "int", "uint",
 * "signed", "numeric", "any"): "f32 f64 int". */
typedef struct tenon_type_variable_t {
  size_t size;
  const char* name;
  const char* allowed;
} tenon_type_variable_t;

/* [growing] A guarded text. `when`: NULL (always) or a condition over attributes, ranks and
 * present(port), as a rule: "approximate == 'tanh'". The first case that holds counts.
 */
typedef struct tenon_case_t {
  size_t size;
  const char* when;
  const char* text;
} tenon_case_t;

/* [growing] Must hold for a node to be valid: `condition`, a rule of texts; `message` for a
 * person; "{x}" in it is replaced by the value of the index expression x. */
typedef struct tenon_check_t {
  size_t size;
  const char* condition;
  const char* message;
} tenon_check_t;

enum {
  TENON_CONTROL_CHOOSE = 1, /* input 0 (bool) picks body 0 (true) or body 1 */
  TENON_CONTROL_REPEAT = 2, /* carried values through body 0, with trip count and condition */
  TENON_CONTROL_MAP = 3 /* body 0 over slices along an axis, collected; no order, nothing carried */
};

/* [growing] A control form, declared. The core executes it. For REPEAT the operands of the node
 * are: trip count (i64 scalar, may be absent), condition (bool scalar, may be absent), then carried
 * initial values (count: INT attribute `carried_attribute`), then sliced inputs (INT attribute
 * `scanned_attribute`), then captured values, passed to the body unchanged. The body's parameters:
 * [iteration i64, condition bool] if `passes_iteration`, carried, slices, captured. The body's
 * results: [condition bool] if `passes_iteration`, carried, collected. The outputs: final carried
 * values, collected. `axes_attribute`, `directions_attribute`: INTS, one entry for each sliced
 * input, then one for each collected output; direction 1 is backwards. CHOOSE: condition, then
 * captured values; each body takes all captured values and returns the outputs: values of one kind,
 * element type and rank, whichever body they come from. Only a run knows the condition, or the
 * inputs' values and extents say it when the network is built: then the other body does not matter.
 * If inference of one body fails, or it breaks a rule of its operators at build time, the network
 * is valid as long as the other body is: the build warns, and a run of that body fails with the
 * reason. */
typedef struct tenon_control_t {
  size_t size;
  uint32_t form;
  uint32_t passes_iteration;
  const char* carried_attribute;
  const char* scanned_attribute;
  const char* axes_attribute;
  const char* directions_attribute;
} tenon_control_t;

typedef struct tenon_shape_builder_t tenon_shape_builder_t; /* [opaque] */
typedef struct tenon_shape_node_t tenon_shape_node_t;       /* [opaque] */

/* A dimension while shapes are inferred: an integer expression over symbols. [frozen] by value. */
typedef struct tenon_dim_t {
  uint32_t id;
} tenon_dim_t;

/* For operators whose shape rule does not fit a text. Called once per node, on symbols. [growing]
 */
typedef struct tenon_shape_table_t {
  size_t size;
  /* All [build]. Failed operations poison the builder; `infer` may ignore them until it returns. */
  tenon_dim_t (*constant)(tenon_shape_builder_t* builder, int64_t value);
  /* opcode: ADD SUB MUL FLOOR_DIV MOD MIN MAX EQ LT (of TENON_OPCODES) on two dimensions. */
  tenon_dim_t (*combine)(tenon_shape_builder_t* builder, uint32_t opcode, tenon_dim_t a,
                         tenon_dim_t b);
  tenon_dim_t (*select)(tenon_shape_builder_t* builder, tenon_dim_t condition, tenon_dim_t a,
                        tenon_dim_t b);
  /* A new extent in [0, bound], which the kernel finds when it runs; bound.id TENON_NONE:
   * unbounded. */
  tenon_dim_t (*fresh)(tenon_shape_builder_t* builder, tenon_dim_t bound);
  /* 1 and the value when the dimension is a known number, else 0. */
  int32_t (*known)(tenon_shape_builder_t* builder, tenon_dim_t dim, int64_t* out_value);

  uint32_t (*input_count)(tenon_shape_builder_t* builder);
  uint32_t (*output_count)(tenon_shape_builder_t* builder);
  int32_t (*present)(tenon_shape_builder_t* builder, uint32_t input);
  tenon_dtype_t (*input_dtype)(tenon_shape_builder_t* builder, uint32_t input);
  uint32_t (*rank)(tenon_shape_builder_t* builder, uint32_t input);
  tenon_dim_t (*dim)(tenon_shape_builder_t* builder, uint32_t input, uint32_t axis);
  /* Contents of a shape operand: how many elements, TENON_NONE if that is not known now. */
  uint32_t (*content_count)(tenon_shape_builder_t* builder, uint32_t input);
  tenon_dim_t (*content)(tenon_shape_builder_t* builder, uint32_t input, uint32_t index);
  /* Attributes: NOT_FOUND when the node lacks it and it has no default. */
  tenon_status_t (*attribute_int)(tenon_shape_builder_t* builder, const char* name,
                                  int64_t* out_value);
  tenon_status_t (*attribute_ints)(tenon_shape_builder_t* builder, const char* name,
                                   const int64_t** out_values, size_t* out_count);
  tenon_status_t (*attribute_string)(tenon_shape_builder_t* builder, const char* name,
                                     const char** out_value);
  tenon_status_t (*set_output)(tenon_shape_builder_t* builder, uint32_t output, tenon_dtype_t dtype,
                               uint32_t rank, const tenon_dim_t* dims);
  /* Says why the node is invalid; infer then returns INVALID_DATA. */
  void (*refuse)(tenon_shape_builder_t* builder, const char* message);
  /* The condition (a dimension) must not be 0. A known condition is checked at once, as by
   * `refuse`. An unknown one is checked by each run, before a kernel is called. `message` describes
   * the error if it is 0. */
  void (*require)(tenon_shape_builder_t* builder, tenon_dim_t condition, const char* message);
} tenon_shape_table_t;

/* Extents that the kernel finds. A shape rule says `fresh(bound)` (by `infer`: `fresh`) where only
 * running tells an extent; `bound` is the most that it can be, and without one nothing is known. An
 * output with such an extent of its own, bounded or not, reaches the kernel as
 * TENON_ARGUMENT_ALLOCATE, also while tactics are timed: enqueue calls allocate_output with all
 * extents, none above its bound. Readers of the output get it as a tensor of the extents found. A
 * port has PORT_UNBOUNDED where no rule could say even the rank; beside a rule it repeats, for
 * people, what `fresh` says.
 *
 * Extents that stay on the device. To read an extent, the host waits for the step that finds it. It
 * does not wait if the kernel's tactic sets TENON_RULE_EXTENTS for that output, if all open extents
 * of the output have bounds, and if all its readers on the device accept it. The output then
 * reaches the kernel as a tensor at its bound: `dims` and `strides` are the bound's, so that no
 * element's place depends on what is found, and the call puts on its stream a work that writes all
 * of its extents to `device_extents`. Elements beyond them are never read. A kernel whose tactic
 * sets it for an input may get such a tensor there, and then writes the extents of its own outputs
 * that depend on them, for which its tactic sets it too; arguments of programs have the axes of
 * their space. The same tactic is also called as ever, with ARGUMENT_ALLOCATE, and with inputs
 * whose `device_extents` are NULL: when it is timed, on the host, and where something needs the
 * extents at once. Nothing above its bound may be written; a kernel that finds more writes the
 * extent as it found it, and the run fails, naming the step, when the host reads it: once somebody
 * on the host needs an extent, or at the latest when it waits for the run. A call is made also
 * where a bound is 0. The trait `extents` repeats, for people, that kernels of the operator can do
 * it. */

/* An operator. [growing]
 *
 * name      "domain.name/major": "acme.swish/1". A change of meaning is a new major. A domain
 *           belongs to the plugin of that name, if it offers operators: operators of other plugins
 *           in it are left out, except equal definitions. In a domain without such a plugin, the
 *           first plugin on the search path defines an identity. A different definition of it is
 *           left out with a warning, and so are the kernels, patterns and rewrites of its plugin
 *           that name it. Equal definitions are one.
 * shape     shape rule: "y = x", "y = broadcast(a, b)",
 *           "y.rank = rank(x); y[d] = d == axis ? 1 : dim(x, d)". Not needed when an expression
 *           says enough: outputs then have the broadcast shape of the inputs, less what is reduced.
 * contents  for outputs that are themselves shapes: "y[i] = dim(x, i)". Needs no kernel.
 * traits    Properties separated by "; ". The checker can refute each of them. An unknown trait
 *           gives a warning and is ignored.
 *             pure              Same inputs give the same outputs. This is the default.
 *             impure            Outputs may differ from call to call: such nodes are neither merged
 *                               nor computed when building.
 *             not_foldable      Not computed when building, even if all inputs are constants.
 *             linear(input=1, axis=0, output_axis=1, bias=2)
 *                               Scaling output 0 along `output_axis` equals scaling input `input`
 *                               along `axis`. `bias`, optional: this input, if present, is added
 *                               along output_axis and scales too.
 *             concatenable(axis=0, output_axis=1, single=groups)
 *                               Nodes with equal input 0 can be merged: their other inputs are
 *                               concatenated along `axis`, and output 0 is the concatenation of
 *                               theirs along `output_axis`. `single`, optional: only if this INT
 *                               attribute is 1.
 *             in_place(input=0) Output 0 may overwrite this input: element k is read only for
 *                               element k. For people in this version.
 *             transparent       Quantisation passes through unchanged. For people in this version.
 *             extents           Kernels may leave extents on the device, see above. For people.
 * cases     T3: an expression, "y = x * sigmoid(x)".
 * moves     T3: an index map, "x[d] = o(index_of(perm, d))".
 * decompositions
 *           T2: "t = standard.mat_mul/1(a, b); y = standard.add/1(t, c)".
 *           An operator has cases or moves, not both.
 * infer     [build] Instead of `shape`. `state` is the result of the plugin's start.
 * operations
 *           The amount of arithmetic of a node, for reports: an index expression over the inputs,
 *           the outputs and the attributes. A multiply-add counts 2:
 *           "2 * elements(y) * dim(a, -1)". NULL: unknown. The core counts cases and moves itself.
 *           Not part of the contract of the operator. */
typedef struct tenon_operator_t {
  size_t size;
  const char* name;
  const char* summary;
  tenon_list_t attributes;     /* of tenon_attribute_descriptor_t */
  tenon_list_t types;          /* of tenon_type_variable_t */
  tenon_list_t inputs;         /* of tenon_port_t */
  tenon_list_t outputs;        /* of tenon_port_t */
  tenon_list_t checks;         /* of tenon_check_t */
  tenon_list_t cases;          /* of tenon_case_t */
  tenon_list_t moves;          /* of tenon_case_t */
  tenon_list_t decompositions; /* of tenon_case_t */
  const tenon_control_t* control;
  const char* shape;
  const char* contents;
  const char* traits;
  tenon_status_t (*infer)(void* state, tenon_shape_builder_t* builder,
                          const tenon_shape_table_t* table);
  const char* operations;
} tenon_operator_t;

/* [growing] A state: persists between executions, one per context. A state is declared by the
 * network (builder.add_state) with name, type (none of strings), initial value and update. */
typedef struct tenon_state_descriptor_t {
  size_t size;
  const char* name;
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  const void* initial_data; /* dense, or NULL for zeros; copied */
} tenon_state_descriptor_t;

/* ---------------------------------------------------------------------------------------------
 * 5. Region, layout, tactic, numerics
 * ------------------------------------------------------------------------------------------- */

/* A region: connected nodes that one kernel could compute at once, read-only. [opaque] Its values
 * are numbered; its inputs and outputs are some of them, in the order in which a call passes
 * arguments. Node 0 is the node that the kernel's `operators` or pattern matched; nodes whose
 * arithmetic fills a slot are not listed as nodes: they are the slot's program.
 *
 * Its life. The host makes many regions and asks many kernels: what match, tactics and propose read
 * is valid for that call. The region that `prepare` gets stays until that instance's `destroy`,
 * with its programs, names and attributes, so an instance may keep `table->program(region)` and
 * need not copy it. Only constant_data changes: a refit replaces it. To read the bytes of a
 * constant after prepare, read it as an argument of the call, or pack it.
 *
 *     const uint32_t weights = table->node_input(region, 0, 1);           the node's input 1
 *     if (weights == TENON_NONE) return refuse(...);                      absent
 *     const tenon_value_info_t* w = table->value(region, weights);
 *     if (w->constant_data == NULL) return refuse(CONSTANT_REQUIRED);     made by another step */
typedef struct tenon_region_t tenon_region_t;

/* What else is known of a value. */
enum {
  /* The same in every run, also where `constant_data` is NULL. */
  TENON_VALUE_CONSTANT = 1u << 0,
  /* One of the region's nodes reads it by a port that is a SHAPE_OPERAND. */
  TENON_VALUE_SHAPE_OPERAND = 1u << 1
};

/* [frozen] What is known of a value when building. Dimensions are those of the profile: minimum,
 * optimum (at which tactics are timed) and maximum; equal where static. If no profile gives the
 * optimum, dims_opt is 1. -1 in dims_max: unbounded.
 * A kernel that needs an extent to be a number compares dims_min with dims_max, and refuses with
 * DYNAMIC_SHAPE; scratch is declared for dims_max. */
typedef struct tenon_value_info_t {
  /* The network's, for messages: not unique, perhaps "". */
  const char* name;
  const int64_t* dims_min;
  const int64_t* dims_opt;
  const int64_t* dims_max;
  /* Dense row-major, in the host's memory whatever the device; NULL when not constant, and in
   * `prepare` at load where the plan keeps the packed form alone. */
  const void* constant_data;
  tenon_dtype_t dtype;
  uint32_t rank;
  /* Its number among the region's inputs, and outputs: where enqueue finds it. TENON_NONE: it is
   * made and used up inside, and is no argument. */
  uint32_t input;
  uint32_t output;
  /* TENON_ARGUMENT_TENSOR, or what containers are; `rank` and `dims_*` are a tensor's. */
  uint32_t kind;
  /* TENON_VALUE_*. */
  uint32_t flags;
} tenon_value_info_t;

/* What tenon_region_table_t.kind gives. */
enum {
  TENON_REGION_OPERATOR = 1,   /* node 0 is an operator's node, perhaps with slots filled */
  TENON_REGION_EXPRESSION = 2, /* `program` says all */
  TENON_REGION_MOVE = 3        /* an affine move (`move` at bind) */
};

/* Reading a region. [growing] All [build] and [load]. An index past its count gives
 * NULL, "" or TENON_NONE. Pointers live as long as the region, see there. Numbers of nodes
 * and values are the region's own: a value's number is what node_input, node_output, input, output
 * give and `value` takes. */
typedef struct tenon_region_table_t {
  size_t size;
  uint32_t (*kind)(const tenon_region_t* region);
  uint32_t (*node_count)(const tenon_region_t* region);
  const char* (*node_operator)(const tenon_region_t* region, uint32_t node); /* "domain.name/1" */
  const char* (*node_name)(const tenon_region_t* region, uint32_t node);
  uint32_t (*node_input_count)(const tenon_region_t* region, uint32_t node);
  uint32_t (*node_output_count)(const tenon_region_t* region, uint32_t node);
  /* -> value; TENON_NONE where an optional input is absent, or nobody reads the output. */
  uint32_t (*node_input)(const tenon_region_t* region, uint32_t node, uint32_t index);
  uint32_t (*node_output)(const tenon_region_t* region, uint32_t node, uint32_t index);
  /* Attributes; defaults apply; NOT_FOUND for a name the operator does not declare. */
  tenon_status_t (*attribute_int)(const tenon_region_t* region, uint32_t node, const char* name,
                                  int64_t* out_value);
  tenon_status_t (*attribute_float)(const tenon_region_t* region, uint32_t node, const char* name,
                                    double* out_value);
  tenon_status_t (*attribute_string)(const tenon_region_t* region, uint32_t node, const char* name,
                                     const char** out_value);
  tenon_status_t (*attribute_ints)(const tenon_region_t* region, uint32_t node, const char* name,
                                   const int64_t** out_values, size_t* out_count);
  tenon_status_t (*attribute_floats)(const tenon_region_t* region, uint32_t node, const char* name,
                                     const double** out_values, size_t* out_count);
  tenon_status_t (*attribute_strings)(const tenon_region_t* region, uint32_t node, const char* name,
                                      const char* const** out_values, size_t* out_count);
  uint32_t (*value_count)(const tenon_region_t* region);
  const tenon_value_info_t* (*value)(const tenon_region_t* region, uint32_t value);
  uint32_t (*input_count)(const tenon_region_t* region);
  uint32_t (*output_count)(const tenon_region_t* region);
  /* The value of argument `index` of a call, or TENON_NONE if it is absent or unused. Operands of a
   * slot's program are inputs too, after the nodes' own. */
  uint32_t (*input)(const tenon_region_t* region, uint32_t index);
  uint32_t (*output)(const tenon_region_t* region, uint32_t index);
  /* What fills the kernel's slot number `slot`, NULL if empty. */
  const tenon_program_t* (*slot_program)(const tenon_region_t* region, uint32_t slot);
  /* REGION_EXPRESSION: the whole. */
  const tenon_program_t* (*program)(const tenon_region_t* region);
  /* The computation of a node, for kernels of several nodes that accept any arithmetic: a program
   * over the shape of the node's only output. `index` of an operand is the node's input. Operands
   * are broadcast: they are aligned at the last dimension, and do not vary along missing dimensions
   * and those of extent 1. NULL: the node has no expression, or one of another form. */
  const tenon_program_t* (*node_program)(const tenon_region_t* region, uint32_t node);
} tenon_region_table_t;

/* The layout of a tensor in memory: contiguous, with its dimensions in some order. [growing]
 *
 * name   For reports: "channels last".
 * order  `rank` dimensions from the outermost to the innermost. NULL: 0, 1, 2 ...
 * rank   The rank of the tensor, at most TENON_RANK_LIMIT. */
typedef struct tenon_layout_t {
  size_t size;
  const char* name;
  const uint32_t* order;
  uint32_t rank;
  uint32_t reserved;
} tenon_layout_t;

/* How a tactic wants an argument to lie. The host puts copies between steps where two do not agree,
 * and counts their time: asking for more than is needed makes a tactic lose. */
enum {
  /* Row-major. The default, and the layout of the application's tensors. */
  TENON_LAYOUT_ROW_MAJOR = 0,
  /* As `layout` says: for kernels that are fast in one order alone (channels last). */
  TENON_LAYOUT_EXACT = 1,
  /* Dense in any order of dimensions: for kernels that go by the strides they are given. Inputs
   * that say it may come in orders that differ from one another. A tactic has one time, measured
   * row-major: a kernel that is much slower in another order needs a tactic for each intended
   * order. */
  TENON_LAYOUT_ANY = 2,
  /* Dense, same order of dimensions as region input `argument`: for outputs of kernels that walk
   * input and output together. */
  TENON_LAYOUT_FOLLOWS = 3
};

/* What else a tactic asks of an argument. */
enum {
  /* Gaps, zero (inputs) and negative (inputs) strides are welcome, so that a slice or a broadcast
   * is read where it lies, and an output is written into the box of a concatenation that it belongs
   * to (with EXACT in its order, the innermost dimension without gaps; not where the rule asks for
   * more alignment than an element's). Without it a step whose arguments are otherwise fails to
   * bind, so the host copies before or after it. Arguments of programs are aligned to their space
   * and may always be strided. */
  TENON_RULE_STRIDED = 1u << 0,
  /* Inputs: numbers that `enqueue` reads itself. They are in the host's memory for kernels of every
   * device, and complete before the call. They may be gone when it returns. No step that asks it is
   * recorded. */
  TENON_RULE_HOST = 1u << 1,
  /* The argument may come at its bound with `device_extents`, an output instead of as
   * ARGUMENT_ALLOCATE: see "Extents that the kernel finds". */
  TENON_RULE_EXTENTS = 1u << 2
};

/* Requirements of a tactic for one input or output. [frozen] Zeros: dense rows, in memory of its
 * own. Constants lie in rows unless the rule is EXACT or FOLLOWS: then each run copies them, which
 * is why kernels pack them (constant_data is rows whatever the rule says). Copies for HOST or
 * alignment are not counted in the cost of a choice. */
typedef struct tenon_argument_rule_t {
  /* TENON_LAYOUT_*. The host refuses a tactic (LAYOUT) if a rule has an unknown kind, flag, input,
   * alignment or extension. */
  uint32_t kind;
  /* FOLLOWS: which input. */
  uint32_t argument;
  /* EXACT; copied by the host. */
  const tenon_layout_t* layout;
  /* TENON_RULE_*. */
  uint32_t flags;
  /* Outputs: 1 + the region's input that it may overwrite; 0: none. A permission: the call may find
   * both at one address, or not. Element by element, nothing read after its place was written. */
  uint32_t in_place;
  /* 0, or the value's own: as it is. Else in what type it is to be read or written: f16 or bf16 for
   * a value of f32, where the build permits it; others are refused (LAYOUT). The region still says
   * f32, the views of a call say this. The host converts: in the expression, slot or move that
   * makes or reads the value, or in a step of its own, and takes the tactic where the whole gets
   * faster. Programs need no such rule: they are offered again with operands and outputs of other
   * types. */
  tenon_dtype_t dtype;
  /* Of the address of the first element, in bytes: a power of two, at most 64. 0: an element's.
   * Where a tensor may lie otherwise (a part of another, an application's own) the host copies. */
  uint32_t alignment;
  /* NULL. Later versions extend the rule through this pointer. */
  const void* more;
} tenon_argument_rule_t;

/* The arithmetic of a tactic. [growing] Zeros: exactly the operator's definition, in fp32.
 *
 * If the products have fewer bits of the fraction or of the exponent than the region's first input,
 * in one part and with no error_bound, the tactic needs the permission for reduced precision. So do
 * products of integers of a region that computes with floats. Without the permission the host
 * refuses the tactic (ACCURACY).
 *
 * product_mantissa_bits  Bits of the fraction of the multiplied operands: f16 10, bf16 7, tf32 10,
 *                        f32 23. 0: those of product_dtype.
 * product_exponent_bits  Bits of their exponent: f16 5, bf16 8, tf32 8, f32 8. 0: those of
 *                        product_dtype.
 * accumulator_dtype      The type in which products are added. 0: fp32 for floats up to 32 bits.
 * product_dtype          The type in which the operands are multiplied. 0: that of the tensors.
 * parts                  Number of parts into which an operand is split (fp32 as three bf16).
 *                        0 or 1: it is not split.
 * reassociates           1: the order of sums differs from the operator's. The accepted difference
 *                        between tactics follows from the type and the number of terms.
 * nondeterministic       1: two runs may differ.
 * flushes_denormals      1: denormals become zero.
 * error_bound            Largest error of the results, as a multiple of the error of fp32. 0: 1.
 *                        A value above 2 needs the permission too. */
typedef struct tenon_numerics_t {
  size_t size;
  uint32_t product_mantissa_bits;
  uint32_t product_exponent_bits;
  tenon_dtype_t accumulator_dtype;
  tenon_dtype_t product_dtype;
  uint32_t parts;
  uint32_t reassociates;
  uint32_t nondeterministic;
  uint32_t flushes_denormals;
  double error_bound;
} tenon_numerics_t;

/* Properties of a tactic. */
enum {
  /* Valid at the optimum's shapes alone: refused (DYNAMIC_SHAPE) unless the profile has no others.
   */
  TENON_TACTIC_EXACT_SHAPES = 1u << 0,
  /* enqueue waits for the device (it reads a result to go on): the step cannot be recorded, and is
   * timed by the host's clock. With RECORDABLE: calls whose outputs have `device_extents` do not
   * wait, and are recorded. */
  TENON_TACTIC_HOST_WAITS = 1u << 1,
  /* The work that follows on the stream may begin before this work ends: see run.edge. */
  TENON_TACTIC_RELEASES_EARLY = 1u << 2,
  /* enqueue may be called between begin_record and end_record. It was called once outside of a
   * recording since bind, so what the kernel or its library loads lazily is loaded. Each replay
   * works with the arguments of this call, and only their data differ. In a recording enqueue must
   * not wait, allocate, copy from pageable host memory, use the device's default stream or query an
   * event. */
  TENON_TACTIC_RECORDABLE = 1u << 3
};

/* What stands directly before a step's work on its stream; see run.edge. */
enum {
  /* A kernel's step, enqueued by the same context. */
  TENON_EDGE_KERNEL = 1u << 0,
  /* It lets this one begin before it ends (RELEASES_EARLY). */
  TENON_EDGE_RELEASES_EARLY = 1u << 1
};

/* One kernel with one configuration. [growing] Emitted through a callback, copied by the host.
 *
 * Scratch is what a call may use while it runs: scratch_bytes and, behind them,
 * scratch_bytes_per_thread for each thread of the context that runs it, which need not be as many
 * as the build had. So what thread t writes begins at scratch + scratch_bytes + t *
 * scratch_bytes_per_thread; multiples of 64 keep parts on cache lines of their own. Both are the
 * largest need over the profile.
 *
 * All tactics of a region get the same data when they are timed, and their outputs are compared:
 * what one of them does not write, or computes otherwise than the others and the operator's
 * definition (its reference kernel, its expression), is refused (WRONG). They may differ by
 * rounding: by as much as `numerics` and the number of terms that an output adds up give reason
 * for. */
typedef struct tenon_tactic_t {
  size_t size;
  /* For people and for the timing cache: "tile 14x32, channels last". Unlike names for unlike
   * tactics of a kernel: a time is remembered under kernel, version, name and configuration. */
  const char* name;
  /* Opaque bytes, no pointers; kept in the plan and given back to prepare, perhaps in another
   * process on another day, so never the address or index of anything. */
  const void* configuration;
  /* One for each region input; NULL: all row-major. */
  const tenon_argument_rule_t* inputs;
  /* Likewise for its outputs. */
  const tenon_argument_rule_t* outputs;
  /* NULL: zeros. */
  const tenon_numerics_t* numerics;
  size_t configuration_size;
  /* For all threads together. More than the build's workspace limit: refused (WORKSPACE). Shared
   * with the other steps of a context: what it holds is gone with the call. */
  uint64_t scratch_bytes;
  /* Zero when the context is made; the kernel leaves it zero. After a run that failed, whoever
   * failed, the host fills it with zeros again before the next. */
  uint64_t zeroed_bytes;
  /* This step's and context's own: zero when the context is made, and as the kernel left it from
   * then on. Not cleared after a failure, and not a state of the network: results must not depend
   * on it. */
  uint64_t persistent_bytes;
  /* At the optimum; 0: no idea. Counts where nothing could be measured: what was measured comes
   * first, then what is estimated, then the rest. */
  double estimate_seconds;
  uint32_t flags;
  /* How many operations a call puts on its stream; 0: no idea. For reports. */
  uint32_t launches;
  /* See above. */
  uint64_t scratch_bytes_per_thread;
} tenon_tactic_t;

/* Why a kernel does not take a region: a closed list. Not an error. The words follow the kernel's
 * name, and then `detail`, where a build that keeps refusals, or finds nobody, tells them:
 * "cpu:convolution: needs a constant operand: the weights". The first that holds is enough. */
#define TENON_REFUSALS(X)                                           \
  X(NONE, "accepted")                                               \
  X(OPERATOR, "is for another operator")                            \
  X(DTYPE, "does not take this element type")                       \
  X(RANK, "does not take this rank")                                \
  X(SHAPE, "does not take these extents")                           \
  X(DYNAMIC_SHAPE, "needs shapes that are known when building")     \
  X(ATTRIBUTE, "does not take this attribute's value")              \
  X(UNKNOWN_ATTRIBUTE, "does not know an attribute of the node")    \
  X(UNKNOWN_INPUT, "does not know an input of the node")            \
  X(CONSTANT_REQUIRED, "needs a constant operand")                  \
  X(SLOT, "cannot take the neighbours' arithmetic")                 \
  X(LAYOUT, "cannot read or write the layout")                      \
  X(STRIDES, "needs dense tensors")                                 \
  X(ACCURACY, "exceeds the numerics that the build permits")        \
  X(WORKSPACE, "needs more workspace than the build permits")       \
  X(INSTRUCTION_SET, "needs an instruction set this machine lacks") \
  X(LIBRARY, "needs a library that is absent")                      \
  X(DEVICE, "is for another device")                                \
  X(POLICY, "is excluded by the build's policy")                    \
  X(SLOWER, "was slower")                                           \
  X(FAILED, "failed when it was tried")                             \
  X(WRONG, "is wrong")                                              \
  X(EMPTY, "nothing to do: the region has no elements")             \
  X(OTHER, "see the detail")

#define TENON_REFUSAL_ENTRY(name, text) TENON_REFUSAL_##name,
enum { TENON_REFUSALS(TENON_REFUSAL_ENTRY) TENON_REFUSAL_COUNT };

/* [frozen] `detail` is NULL or static text, told behind the reason's words. */
typedef struct tenon_refusal_t {
  uint32_t reason;
  uint32_t reserved;
  const char* detail;
} tenon_refusal_t;

/* ---------------------------------------------------------------------------------------------
 * 6. Kernel and its life
 *
 * match -> tactics -> prepare (at build, and again at load) -> bind (for each set of shapes) ->
 * enqueue ... -> unbind -> destroy. Only prepare and bind may allocate.
 *
 *   call     when                                                          thread
 *   propose  for each operator's node of a graph, in a build               [build]
 *   match    for each region that the kernel could take; again when a      [build], [load]
 *            plan with it is loaded, where a refusal makes the plan broken
 *   tactics  after a match that accepts; again at load, where the plan's   [build], [load]
 *            tactic must be among them
 *   begin_prepare
 *            before tactics are timed, or steps of a plan prepared         [build]
 *   prepare  for each tactic that is timed; for each step of a plan when   [build], [load]
 *            it is written, when it is loaded, and when weights are
 *            replaced (then the new instance comes before the old one goes)
 *   bind     for each context and step before its first run, and when an   [bind]
 *            extent changed; in the middle of a run where a step before
 *            it found the extents
 *   enqueue  for each run; not at all where every output is absent or      [run]
 *            has no elements
 *   unbind   before the next bind, and when the context ends               [bind]
 *   destroy  when neither engine nor context needs the instance, after     [load], or the thread
 *            all its unbinds                                               that lets go last
 *
 * Lifetimes. match, tactics and propose keep nothing but their results. prepare makes an instance,
 * which may keep the region (see there), memory of prepare.allocate and prepare.pack, and services;
 * it is read by all contexts at once and so never changed after. bind makes what belongs to one
 * context, with memory of bind.allocate. enqueue keeps nothing.
 *
 * Errors. match refuses; all others return a status after they have sent the reason to their sink,
 * which adds node, operator, plugin and kernel. A failure of tactics, or of prepare, bind or
 * enqueue while a tactic is timed, is that tactic's refusal (FAILED) and the build goes on; of a
 * plan's step it fails the load or the run. A function that fails leaves nothing behind: neither
 * destroy nor unbind is called for what prepare or bind did not make.
 *
 * A kernel of one operator, complete, for f32 in rows on the host:
 *
 *     static tenon_status_t enqueue(const tenon_enqueue_t* call) {
 *       const tenon_tensor_view_t* x = &call->inputs[0].tensor;
 *       float* y = call->outputs[0].tensor.data;
 *       for (int64_t k = 0; k < count_of(x); ++k) y[k] = swish(((const float*)x->data)[k]);
 *       return TENON_OK;
 *     }
 *     static const char* const names[] = {"acme.swish/1", NULL};
 *     static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t), .name = "swish",
 *         .device = "cpu", .operators = names, .version = 1, .enqueue = enqueue}};
 * ------------------------------------------------------------------------------------------- */

/* Where a slot is. Hosts of this version fill prologues of any input, epilogues and sides of output
 * 0; other slots stay empty, and so do prologues and sides of regions of several nodes. */
enum {
  /* On an input of the operator: the kernel computes with the program's value, element by element,
   * in place of that input. The slot's own value (SLOT_VALUE) takes the input's place among the
   * region's inputs: `table->input(region, index)`, of the input's shape, which is the program's
   * space, but perhaps of another element type, plain, and laid out as the tactic's rule for it
   * says. So `table->node_input(region, 0, index)` is no argument then. The kernel may evaluate the
   * program for an element as often as it reads it. The result is no argument, and stays inside the
   * kernel. The host fills it where the network as a whole is found to be faster so, not for being
   * able to. */
  TENON_SLOT_PROLOGUE = 1,
  /* On an output of the operator: the program's output takes that output's place among the
   * region's. The operator's own result is not stored. */
  TENON_SLOT_EPILOGUE = 2,
  /* A further output, derived from output `index` as the operator itself makes it, before any
   * epilogue, for other readers of the arithmetic after it. It stands behind the operator's own
   * outputs among the region's, in the order of the slots' numbers; program->outputs[0].index says
   * where. Its shape is that of output `index`. With the epilogue of `index` empty, both are
   * written. */
  TENON_SLOT_SIDE = 3
};

/* How an operand of a slot varies along the axes of the slot's space. Axes with the known extent 1
 * are ignored, so several flags may hold; one that the slot accepts is sufficient. */
enum {
  /* Along none. */
  TENON_BROADCAST_SCALAR = 1u << 0,
  /* Along `channel_axis` alone: a bias. */
  TENON_BROADCAST_CHANNEL = 1u << 1,
  /* Along all axes but the last: a scale for each row. */
  TENON_BROADCAST_ROW = 1u << 2,
  /* Along all: the slot's own shape, a residual. */
  TENON_BROADCAST_FULL = 1u << 3,
  /* Anything else, and operands that are read at computed coordinates (LOAD). */
  TENON_BROADCAST_OTHER = 1u << 4
};

/* A fusion slot: a point where a kernel applies the arithmetic of adjacent nodes. [growing] The
 * host composes neighbouring expressions into one program over the slot value's space and asks
 * `match`, but only if the program is within the limits below. Otherwise the host refuses it (SLOT)
 * for the kernel, and offers fewer neighbours. So zeros mean: no operands, no limit of
 * instructions, any element type. The program has one output and no reductions, and the kernel
 * evaluates it; its operands' arguments follow the operator's own inputs. A kernel finds the
 * program by region.slot_program and its extents by bind.space, under the slot's number: its place
 * in the kernel's list. Several slots of one region may be filled, each with a program of its own:
 * a kernel that takes them one at a time says so in `match`. */
typedef struct tenon_slot_t {
  size_t size;
  /* TENON_SLOT_* */
  uint32_t kind;
  /* Which input or output of the matched operator. */
  uint32_t index;
  /* How many operands besides the slot's own value. */
  uint32_t max_operands;
  /* Of the program, INPUT and CONSTANT among them; 0: any. */
  uint32_t max_instructions;
  /* TENON_BROADCAST_* that those operands may have. */
  uint32_t broadcasts;
  /* Of the slot's space, counted from its first axis. */
  uint32_t channel_axis;
  /* The one type in which instructions may compute, bool apart; 0: any, match decides. */
  tenon_dtype_t arithmetic;
  uint32_t reserved;
} tenon_slot_t;

/* What work on a device found wrong in data, long after enqueue returned: an index out of range.
 * [frozen] All zeros: nothing. See run.fault. */
typedef struct tenon_fault_t {
  uint32_t code; /* 1 for the first of the kernel's `faults`, and so on */
  uint32_t reserved;
  int64_t value; /* of the text's "{value}": the index */
} tenon_fault_t;

typedef struct tenon_emit_t tenon_emit_t;               /* [opaque] */
typedef struct tenon_preparation_t tenon_preparation_t; /* [opaque] */
typedef struct tenon_binding_t tenon_binding_t;         /* [opaque] */
typedef struct tenon_run_t tenon_run_t;                 /* [opaque] */
typedef struct tenon_device_t tenon_device_t;           /* [opaque] a device plugin's */
typedef struct tenon_stream_t tenon_stream_t;           /* [opaque] likewise */

/* Weights as a kernel wants them. [growing] The kernel's, read while `pack` is called. */
typedef struct tenon_packing_t {
  size_t size;
  /* Names the packing and its version: "gemm.panel32/1". */
  const char* format;
  /* Its configuration as text; NULL: it has none. */
  const char* parameters;
  /* The region's values that the packing reads: the kernel does not read them when it runs. */
  const uint32_t* sources;
  size_t source_count;
  /* Of the packed bytes. */
  size_t size_bytes;
} tenon_packing_t;

/* [growing] What `prepare` may call. All [load]. Only before it returns; memory that it got stays.
 * NULL from allocate is OUT_OF_MEMORY, which is then what prepare returns. */
typedef struct tenon_prepare_table_t {
  size_t size;
  /* Memory that lives as long as the instance, freed by the host after destroy; zero-filled. */
  void* (*allocate)(tenon_preparation_t* preparation, size_t size_bytes);
  /* Packed weights: memory of the host for their bytes, aligned to 64, kept in the plan and shared
   * by equal (source values, format, parameters). *out_ready is 1 when the bytes are there already
   * (loaded from the plan, or packed by another tactic): then do not write. At load the
   * constant_data of the sources may be NULL. */
  tenon_status_t (*pack)(tenon_preparation_t* preparation, const tenon_packing_t* packing,
                         void** out_data, int32_t* out_ready);
  /* A blob that only saves time (a compiled program): out_data NULL when there is none, or it is
   * stale. It is found under plugin, `key` and `validity`, the text of all that it was made with
   * (versions of a compiler, of a driver): another text, another blob. Written into the plan beside
   * the packed weights. Whoever made the plan made the blob: no more trustworthy than the plan. */
  tenon_status_t (*load_blob)(tenon_preparation_t* preparation, const char* key,
                              const char* validity, const void** out_data, size_t* out_size);
  tenon_status_t (*save_blob)(tenon_preparation_t* preparation, const char* key,
                              const char* validity, const void* data, size_t size_bytes);
  /* A device's service by versioned string, NULL if absent. */
  void* (*service)(tenon_preparation_t* preparation, const char* name);
  const tenon_sink_t* (*sink)(tenon_preparation_t* preparation);
} tenon_prepare_table_t;

/* [growing] What `bind` may call. All [bind]. Only before it returns; memory that it got stays. */
typedef struct tenon_bind_table_t {
  size_t size;
  /* Freed by the host after unbind; zero-filled. */
  void* (*allocate)(tenon_binding_t* binding, size_t size_bytes);
  /* The shapes and strides of the calls' arguments, which stay the same until unbind. The data
   * pointers of constants do too. Those of other arguments may differ in each call. NULL past the
   * count. */
  const tenon_argument_t* (*input)(tenon_binding_t* binding, uint32_t index);
  const tenon_argument_t* (*output)(tenon_binding_t* binding, uint32_t index);
  /* REGION_MOVE: the pieces for these shapes. Valid until unbind. NULL: fail; whatever status bind
   * gives then, the host knows better why. */
  const tenon_move_t* (*move)(tenon_binding_t* binding);
  /* Expression regions and slots: extents of the iteration space (slot TENON_NONE: the program).
   * NULL: out of memory. */
  const int64_t* (*space)(tenon_binding_t* binding, uint32_t slot);
  const tenon_sink_t* (*sink)(tenon_binding_t* binding);
  /* How many threads `parallel` has in this context. Contexts of one engine need not have equally
   * many, so `prepare`, which serves all of them, has no such number. */
  uint32_t (*thread_count)(tenon_binding_t* binding);
  /* Returns the bytes that `prepare` packed, in the memory of the kernel's device. `index` counts
   * the calls of `pack` from 0. The address is valid until unbind. The host copies the bytes once
   * for an engine, when the first of its contexts binds, and steps with equal packing share them.
   * Returns NULL if `index` is too large or the device is out of memory: `bind` then fails. */
  const void* (*packed)(tenon_binding_t* binding, uint32_t index);
} tenon_bind_table_t;

/* [growing] What `enqueue` may call. All [run], in the thread that called it; bodies of `parallel`
 * may call `cancelled` and `thread_count` too. */
typedef struct tenon_run_table_t {
  size_t size;
  /* scratch_bytes + thread_count * scratch_bytes_per_thread, see "Alignment" */
  void* (*scratch)(tenon_run_t* run);
  /* As many bytes as the tactic requests; see there for their contents. */
  void* (*zeroed)(tenon_run_t* run);
  void* (*persistent)(tenon_run_t* run);
  /* The device's, on which the kernel enqueues; NULL on devices with INLINE_STREAM. */
  tenon_stream_t* (*stream)(tenon_run_t* run);
  /* Runs body(user, i) for each i in [0, count), on the host's threads, and waits. `thread` is in
   * [0, thread_count). Bodies must not call parallel: that runs nothing and makes the call fail
   * with INVALID_STATE. Host devices alone. */
  void (*parallel)(tenon_run_t* run, uint32_t count,
                   void (*body)(void* user, uint32_t index, uint32_t thread), void* user);
  uint32_t (*thread_count)(tenon_run_t* run);
  /* An output of kind ARGUMENT_ALLOCATE: memory of the kernel's device for these extents, dense
   * row-major; must be called once for each such output and call. The one [run] function that may
   * allocate. */
  tenon_status_t (*allocate_output)(tenon_run_t* run, uint32_t output, uint32_t rank,
                                    const int64_t* dims, void** out_data);
  /* Sequence and optional outputs: begins empty; appends a dense copy of `item`, which is
   * UNSUPPORTED where it is not what the output holds. */
  tenon_status_t (*append_output)(tenon_run_t* run, uint32_t output, const tenon_argument_t* item);
  /* Keeps a copy of a string until the output that holds it is overwritten. */
  tenon_status_t (*copy_string)(tenon_run_t* run, uint32_t output, tenon_string_view_t text,
                                tenon_string_view_t* out_copy);
  /* An error found in data (an index out of range): written to the sink, with node and kernel. */
  tenon_status_t (*fail)(tenon_run_t* run, tenon_status_t status, const char* message);
  /* 1 if the run has been cancelled. The kernel may stop at once, with outputs and zeroed memory
   * written in part, and return any status. The call costs one load: long work calls it about once
   * per millisecond, also in bodies of parallel. */
  int32_t (*cancelled)(tenon_run_t* run);
  /* TENON_EDGE_*: the work directly before this call's work on its stream. 0: no kernel (a copy,
   * the beginning, another context's work). In a recording it is the step before this one there.
   * For launches that depend on their predecessor's signal. If RELEASES_EARLY is set, this work may
   * begin before its predecessor ends. It must then wait for the predecessor before it writes
   * anything, and before it reads anything except constants. Its end implies the end of the
   * predecessor. This makes chains of such launches safe: step n + 2 cannot read memory that step n
   * has not written yet. */
  uint32_t (*edge)(tenon_run_t* run);
  /* Memory of the kernel's device in which the call's work reports a data error. It belongs to this
   * step and context, and its address never changes. NULL if the host does not read it: for kernels
   * without `faults`, for tactics that are tried, and for devices with INLINE_STREAM, which have
   * `fail`. Work that finds an error while `code` is 0 writes both members, and goes on or ends.
   * Only later work reads its outputs. The host reads the memory when it waits for the run or for
   * extents. The run then fails with INVALID_DATA, the step's name and the kernel's text, and the
   * host fills the memory with zeros before the next run. */
  tenon_fault_t* (*fault)(tenon_run_t* run);
} tenon_run_table_t;

/* What prepare and enqueue are given comes in one structure each (as what convert and rewrite are),
 * so that a later version can give more (which device, what stream) to kernels that know of it, and
 * the others need not be compiled again. A kernel that reads a newer member calls TENON_HAS first.
 * The host makes both; they hold for the call alone and are never written to. What their
 * members point to lives as is said there, and none of it is the kernel's to free. */

/* What `prepare` is given. [growing] */
typedef struct tenon_prepare_t {
  size_t size;
  /* The result of the plugin's `start`. */
  void* state;
  /* Stays until the instance's `destroy`, see tenon_region_t. */
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  /* The chosen or tried tactic as the kernel emitted it. Never NULL. Valid for the call: keep what
   * is needed later in the instance. */
  const tenon_tactic_t* tactic;
  /* Argument for the functions of `host`, until prepare returns. */
  tenon_preparation_t* preparation;
  const tenon_prepare_table_t* host;
} tenon_prepare_t;

/* What `enqueue` is given. [growing] */
typedef struct tenon_enqueue_t {
  size_t size;
  /* What prepare made: every thread that runs the step finds the same. */
  void* instance;
  /* What bind made: this context's, so this thread's alone. */
  void* bound;
  /* Argument for the functions of `host`, until enqueue returns. */
  tenon_run_t* run;
  const tenon_run_table_t* host;
  /* As many as the region has, in its order; see tenon_argument_t. */
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  uint32_t input_count;
  uint32_t output_count;
} tenon_enqueue_t;

/* What sort of kernel it is. */
enum {
  /* An expression kernel: REGION_EXPRESSION, no operator. A device without one runs no operators
   * that are declared by an expression, which most of the standard ones are, except those that its
   * kernels list in `operators`. */
  TENON_KERNEL_EXPRESSIONS = 1u << 0,
  /* Likewise REGION_MOVE: also what copies tensors from one layout into another. */
  TENON_KERNEL_MOVES = 1u << 1,
  /* The oracle: plain, right and slow. Chosen when nothing else accepts, or on demand
   * (reference_only), and what other kernels' results are judged by. */
  TENON_KERNEL_REFERENCE = 1u << 2
};

/* A kernel. [growing]
 *
 * name         unique in its plugin; `version` rises with every change of its code: a cache key
 * device       name of the device it runs on
 * operators    identities it computes, NULL-terminated; NULL for expression kernels and for those
 *              with `pattern` or `propose` alone. Where the operator has an expression or a map
 *              too, the kernel competes with that as a pattern does
 * pattern      NULL, or a decomposition text over several operators, whose last result is the
 *              output: "t = standard.mat_mul/1(a, b); y = standard.softmax/1(t)". Where it matches
 *              and nobody else reads what is made on the way, the nodes are offered as one region:
 *              node 0 is that of the last statement, the inputs are the pattern's in the order in
 *              which they occur. It competes with whatever else computes the nodes, fused with
 *              their neighbours or not: the network as a whole, copies into other layouts
 *              included, must be faster with it, or no slower and of fewer steps. An operator that
 *              no kernel computes is decomposed before and matches no more. A kernel whose pattern
 *              cannot be read, or names what there is not, is left out.
 * attributes   names it understands, NULL-terminated; a node that sets another one to a value other
 *              than its default is refused on its behalf. Regions of one node.
 * input_limit  number of the operator's inputs that it understands (0: all that are declared)
 * isa          NULL, or a name that the device must report (device.has). Each device has its own
 *              names: "avx512" on the CPU, "sm_90" on CUDA
 */
typedef struct tenon_kernel_t {
  size_t size;
  const char* name;
  const char* device;
  const char* const* operators;
  const char* pattern;
  const char* const* attributes;
  const char* isa;
  tenon_list_t slots; /* of tenon_slot_t */
  uint32_t version;
  uint32_t flags;
  uint32_t input_limit;
  uint32_t reserved;
  /* [build], and [load] again: 1 accepts, 0 refuses and says why (NONE counts as OTHER). NULL
   * accepts all. Reads, decides, allocates nothing. At load, constants whose bytes the plan does
   * not hold read as zeros. */
  int32_t (*match)(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                   tenon_refusal_t* out_refusal);
  /* [build] Emits one or more tactics. The host tries the 64 with the lowest estimates. NULL: one,
   * without configuration, row-major. None, or a failure: the kernel is refused. [load] again: a
   * plan's tactic is used if one of the same name, configuration and rules is emitted still; it is
   * then given the memory that this one asks for. At load, constants are as for match. */
  tenon_status_t (*tactics)(void* state, const tenon_region_t* region,
                            const tenon_region_table_t* table, tenon_emit_t* emit,
                            tenon_status_t (*add)(tenon_emit_t* emit,
                                                  const tenon_tactic_t* tactic));
  /* [load] Makes an instance: immutable afterwards, shared by contexts and threads. NULL: none. */
  tenon_status_t (*prepare)(const tenon_prepare_t* call, void** out_instance);
  /* [bind] Makes what depends on shapes; NULL: nothing does. */
  tenon_status_t (*bind)(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                         void** out_bound);
  /* [run] Computes, or enqueues on the run's stream. */
  tenon_status_t (*enqueue)(const tenon_enqueue_t* call);
  /* [bind] NULL: nothing to do; memory of bind.allocate goes by itself. */
  void (*unbind)(void* instance, void* bound);
  /* [load] NULL: nothing to do; memory of prepare.allocate goes by itself. Constants may be gone.
   */
  void (*destroy)(void* instance);
  /* [build] NULL, or: given the operators of a whole graph as a region and a seed node, writes the
   * nodes that it would compute at once, the main one first. Returns their number, less than 2 for
   * none. Their region's inputs are what they read from outside, in the order in which they read
   * it, each once; outputs what others read of theirs. */
  uint32_t (*propose)(void* state, const tenon_region_t* graph, const tenon_region_table_t* table,
                      uint32_t seed, uint32_t* out_nodes, uint32_t capacity);
  /* [build], [load] Returns a text for the software that the meaning and the times of the tactics
   * depend on, besides the kernel's code and the device's fingerprint: "cudnn 9.14.0". The text
   * does not change while the plugin is loaded. Times are kept for this text. A plan with a step
   * that was chosen for another text is retuned if that is allowed, else refused. NULL: no such
   * software. */
  const char* (*validity)(void* state, tenon_device_t* device);
  /* The texts of the errors that the kernel's work reports by run.fault: "index {value} is out of
   * range". NULL-terminated. Adds one small copy per run. NULL: none. */
  const char* const* faults;
  /* [build] Starts the long part of `prepare`, such as a compilation, in threads of the plugin, and
   * returns at once. `prepare` may follow with the same arguments. This function makes no instance
   * and reports no errors: `prepare` does. `call`, its members and allocated memory are valid until
   * it returns. A build calls it for all tactics of a region before it times them, and for all
   * steps of a plan before it prepares them. NULL: nothing takes long. */
  void (*begin_prepare)(const tenon_prepare_t* call);
} tenon_kernel_t;

/* ---------------------------------------------------------------------------------------------
 * 7. Device: memory, copies, streams, events
 * ------------------------------------------------------------------------------------------- */

typedef struct tenon_event_t tenon_event_t; /* [opaque] the plugin's */

/* Properties of a device. */
enum {
  /* Its memory is the host's: no copies needed. With INLINE_STREAM it can be a build's host; a
   * build that names no device uses only that one. */
  TENON_DEVICE_HOST_MEMORY = 1u << 0,
  /* enqueue returns when the work is done: there are no streams, and the host's clock measures. */
  TENON_DEVICE_INLINE_STREAM = 1u << 1,
  /* The device has begin_record, end_record, replay and destroy_recording. */
  TENON_DEVICE_RECORDS = 1u << 2,
  /* With RECORDS: a stream that waits, between begin_record and end_record, for an event that was
   * recorded on the stream that is being recorded, or on one that joined so, is recorded with it
   * from there on. Before end_record the first stream waits for each of the others in the same way.
   * Work of a replay follows the work it waited for, and runs in parallel with the rest; all of it
   * is done when the stream of the replay has come that far. */
  TENON_DEVICE_RECORDS_STREAMS = 1u << 3
};

/* Between whose memory `copy` copies. */
enum { TENON_COPY_TO_DEVICE = 1, TENON_COPY_TO_HOST = 2, TENON_COPY_WITHIN = 3 };

/* A device. [growing] Functions that a simple device does not need may be NULL as marked; one that
 * lacks others is left out, with a message.
 *
 * A plan has up to eight devices. The first has HOST_MEMORY and INLINE_STREAM: it has the
 * application's tensors, values of shapes, strings, sequences and control. Each of the others has
 * memory of its own: the host gives its kernels addresses of that memory alone, copies tensors in
 * and out, uploads constants once for an engine, and orders all of it on one stream for each
 * context. After a failure with DEVICE it asks `health`: where that fails the device is lost, and
 * destroy, free and close are all that is still called.
 *
 * Steps whose tactics are RECORDABLE and whose extents are known before a run are recorded, the
 * second time that they run with these extents, and replayed from then on.
 *
 * With RECORDS_STREAMS steps that do not need one another may be recorded on several streams.
 *
 * Where this version stops: a device with HOST_MEMORY and streams of its own is not used. Of
 * several plugins that offer one name, the library's own stays, else the first on the search
 * path. */
typedef struct tenon_device_descriptor_t {
  size_t size;
  const char* name;
  const char* summary;
  uint32_t flags;
  uint32_t reserved;
  /* [load] How many of them this machine has; 0 with a reason on the sink when none. */
  uint32_t (*count)(void* state, const tenon_sink_t* sink);
  /* [load] Each build and each engine opens it for itself, perhaps several at a time. Share
   * expensive resources, such as a driver's context, inside the plugin and count references. */
  tenon_status_t (*open)(void* state, uint32_t index, const tenon_sink_t* sink,
                         tenon_device_t** out_device);
  /* [load] After everything that was made on it is gone. */
  void (*close)(tenon_device_t* device);
  /* [any] Text that identifies what was measured on it, for caches: model, instruction sets,
   * library versions. Lives as long as the device. */
  const char* (*fingerprint)(tenon_device_t* device);
  /* [any] 1 if the device has the instruction set or capability `name`. */
  int32_t (*has)(tenon_device_t* device, const char* name);
  /* [any] Bytes; aligned to 256. Stream-ordered when `stream` is not NULL. */
  tenon_status_t (*allocate)(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                             void** out_data);
  void (*free)(tenon_device_t* device, tenon_stream_t* stream, void* data, size_t size_bytes);
  /* [any] NULL for a device with HOST_MEMORY. Asynchronous on the stream. The host's memory is the
   * caller's again when the stream has reached the end of the copy. */
  tenon_status_t (*copy)(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                         void* target, const void* source, size_t size_bytes);
  tenon_status_t (*fill)(tenon_device_t* device, tenon_stream_t* stream, void* target, int32_t byte,
                         size_t size_bytes);
  /* [any] Streams. With INLINE_STREAM these may be NULL. `native` adopts a caller's stream. */
  tenon_status_t (*create_stream)(tenon_device_t* device, void* native,
                                  tenon_stream_t** out_stream);
  void (*destroy_stream)(tenon_device_t* device, tenon_stream_t* stream);
  tenon_status_t (*synchronize)(tenon_device_t* device, tenon_stream_t* stream);
  /* [any] Events with time. NULL with INLINE_STREAM: the host's clock serves. An event belongs to
   * one device. wait_event makes `stream` wait, or the calling thread if `stream` is NULL. */
  tenon_status_t (*create_event)(tenon_device_t* device, tenon_event_t** out_event);
  void (*destroy_event)(tenon_device_t* device, tenon_event_t* event);
  tenon_status_t (*record_event)(tenon_device_t* device, tenon_stream_t* stream,
                                 tenon_event_t* event);
  tenon_status_t (*wait_event)(tenon_device_t* device, tenon_stream_t* stream,
                               tenon_event_t* event);
  tenon_status_t (*elapsed)(tenon_device_t* device, tenon_event_t* begin, tenon_event_t* end,
                            double* out_seconds);
  /* [bind] Recording, with RECORDS. */
  tenon_status_t (*begin_record)(tenon_device_t* device, tenon_stream_t* stream);
  tenon_status_t (*end_record)(tenon_device_t* device, tenon_stream_t* stream,
                               void** out_recording);
  tenon_status_t (*replay)(tenon_device_t* device, tenon_stream_t* stream, void* recording);
  void (*destroy_recording)(tenon_device_t* device, void* recording);
  /* [any] "cuda.stream/1": the native handle behind `stream`; NULL: none of that name. */
  void* (*native)(tenon_device_t* device, tenon_stream_t* stream, const char* name);
  /* [any] A service by versioned string, NULL: none. */
  void* (*service)(tenon_device_t* device, const char* name);
  /* [any] OK, or the failure of the device. */
  tenon_status_t (*health)(tenon_device_t* device, const tenon_sink_t* sink);
} tenon_device_descriptor_t;

/* State of a device at one moment, for measurements. [growing] The host sets `size` and zeros; the
 * device leaves 0 in unknown members. */
typedef struct tenon_device_reading_t {
  size_t size;
  /* At which its processors and its memory run now. */
  double clock_hertz;
  double memory_clock_hertz;
  /* What `allocate` gave to this process and was not freed, and the most that this ever was. */
  uint64_t used_bytes;
  uint64_t peak_bytes;
  /* Of the device, for all processes. */
  uint64_t free_bytes;
  uint64_t total_bytes;
} tenon_device_reading_t;

/* The service under this name, which a device need not have: for people who measure it, and for
 * the tools of its maker that show what ran when. Nothing is computed otherwise with it. [growing]
 * Lives as long as the device; functions may be NULL. */
#define TENON_DEVICE_WATCH "device.watch/1"
typedef struct tenon_device_watch_t {
  size_t size;
  /* [any] Fills in the known members. May take milliseconds: not during a run that is timed. */
  tenon_status_t (*read)(tenon_device_t* device, tenon_device_reading_t* out_reading);
  /* [run] Both NULL unless such a tool is attached: then each step runs between them, with its name
   * (valid for the call only). Work that the calling thread enqueues meanwhile belongs to that
   * step. They nest. A step that is recorded has its range while it is recorded; a replay has one
   * for all its steps. */
  void (*begin_range)(tenon_device_t* device, const char* name);
  void (*end_range)(tenon_device_t* device);
} tenon_device_watch_t;

/* ---------------------------------------------------------------------------------------------
 * 8. Parser and source-node table
 *
 * A parser reads a file format and walks its nodes. It shows each one to converters, its own and
 * anyone's, as a source: a tree of typed fields.
 * ------------------------------------------------------------------------------------------- */

typedef struct tenon_source_t tenon_source_t; /* [opaque] one node of a model file */

enum {
  TENON_FIELD_NONE = 0,
  TENON_FIELD_INT = 1,
  TENON_FIELD_FLOAT = 2,
  TENON_FIELD_STRING = 3,
  TENON_FIELD_TENSOR = 4,
  TENON_FIELD_INTS = 5,
  TENON_FIELD_FLOATS = 6,
  TENON_FIELD_STRINGS = 7,
  TENON_FIELD_TREE = 8, /* a nested message: another source */
  TENON_FIELD_TREES = 9,
  TENON_FIELD_BODY = 10, /* a subgraph, convertible with builder and parse table */
  TENON_FIELD_TYPE = 11,
  TENON_FIELD_TENSORS = 12
};

/* A value of the network being built. [opaque by value] id 0 is "absent". */
typedef struct tenon_value_t {
  uint32_t id;
} tenon_value_t;

typedef struct tenon_builder_t tenon_builder_t; /* [opaque] see section 10 */
typedef struct tenon_builder_table_t tenon_builder_table_t;
typedef struct tenon_value_type_t tenon_value_type_t; /* see section 10 */

/* [frozen] A subgraph that became a body, and its captured values: those of enclosing graphs, in
 * the order in which the body's last parameters take them. They live as long as the parse, and may
 * be passed straight to builder.add_input. */
typedef struct tenon_converted_body_t {
  uint32_t body;
  uint32_t captured_count;
  const tenon_value_t* captured;
} tenon_converted_body_t;

/* Implemented by a parser, used by converters. [growing] All [parse]. Pointers live as long as the
 * parse. Names of fields are the format's own ("kernel_shape", "convolution_param"). A field that
 * is present with another kind gives INVALID_DATA, an absent one NOT_FOUND. */
typedef struct tenon_source_table_t {
  size_t size;
  const char* (*type)(const tenon_source_t* source); /* the format's operator name */
  const char* (*domain)(const tenon_source_t* source);
  const char* (*name)(const tenon_source_t* source); /* made readable when the file has none */
  int64_t (*version)(const tenon_source_t* source);  /* of the operator set that is imported */
  uint32_t (*input_count)(const tenon_source_t* source);
  uint32_t (*output_count)(const tenon_source_t* source);
  const char* (*input_name)(const tenon_source_t* source, uint32_t index);  /* "" when absent */
  const char* (*output_name)(const tenon_source_t* source, uint32_t index); /* "" when unwanted */
  uint32_t (*field_count)(const tenon_source_t* source);
  const char* (*field_name)(const tenon_source_t* source, uint32_t index);
  uint32_t (*field_kind)(const tenon_source_t* source, const char* name);
  tenon_status_t (*get_int)(const tenon_source_t* source, const char* name, int64_t* out_value);
  tenon_status_t (*get_float)(const tenon_source_t* source, const char* name, double* out_value);
  tenon_status_t (*get_string)(const tenon_source_t* source, const char* name,
                               tenon_string_view_t* out_value);
  tenon_status_t (*get_ints)(const tenon_source_t* source, const char* name,
                             const int64_t** out_values, size_t* out_count);
  tenon_status_t (*get_floats)(const tenon_source_t* source, const char* name,
                               const double** out_values, size_t* out_count);
  tenon_status_t (*get_strings)(const tenon_source_t* source, const char* name,
                                const tenon_string_view_t** out_values, size_t* out_count);
  tenon_status_t (*get_tensor)(const tenon_source_t* source, const char* name,
                               tenon_tensor_view_t* out_value);
  tenon_status_t (*get_tree)(const tenon_source_t* source, const char* name, uint32_t index,
                             const tenon_source_t** out_value);
  uint32_t (*tree_count)(const tenon_source_t* source, const char* name);
  /* Converts a subgraph into a body of the network that the parse builds. The body's own parameters
   * come first and have the types given; NULL types: as the file declares. */
  tenon_status_t (*convert_body)(const tenon_source_t* source, const char* name,
                                 const tenon_value_t* parameter_types,
                                 uint32_t parameter_type_count, tenon_converted_body_t* out_body);
  /* Formats with weights at the node (Caffe): how many blobs, and each: dense, of a float type,
   * perhaps not aligned for it (read it by memcpy). */
  uint32_t (*blob_count)(const tenon_source_t* source);
  tenon_status_t (*get_blob)(const tenon_source_t* source, uint32_t index,
                             tenon_tensor_view_t* out_value);
  /* Returns 1 if these bytes, from get_tensor or get_blob, are in a file that stays mapped until
   * the network is destroyed: builder.constant may borrow them. May be NULL. */
  int32_t (*can_borrow)(const tenon_source_t* source, const void* data);
  /* Writes made-up weights of these extents, contiguous, for a blob that the file lacks. Returns
   * NOT_FOUND if the user did not request this. May be NULL. */
  tenon_status_t (*make_blob)(const tenon_source_t* source, uint32_t index, uint32_t rank,
                              const int64_t* dims, float* out_values);
} tenon_source_table_t;

/* [growing] Lent by the host to a parser while it parses. All [parse]. */
typedef struct tenon_parse_t tenon_parse_t; /* [opaque] */
typedef struct tenon_converter_t tenon_converter_t;
typedef struct tenon_parse_table_t {
  size_t size;
  /* A file beside the model, mapped read-only until the parse and the build end; asked for again,
   * it is the same mapping. `path` is relative and confined to the model's folder: "..", absolute
   * paths, and links that lead outside are DENIED. NULL: the model itself. */
  tenon_status_t (*open_file)(tenon_parse_t* parse, const char* path, const void** out_data,
                              size_t* out_size);
  /* The files that make up the model: a prototxt and a caffemodel are two. */
  tenon_status_t (*part)(tenon_parse_t* parse, uint32_t index, const char** out_name,
                         const void** out_data, size_t* out_size);
  uint32_t (*part_count)(tenon_parse_t* parse);
  /* The converter for a node type, NULL if there is none. `out_state`: what its convert is to be
   * given. It calls the plugin's, and sees to it that what is said names the node. */
  const tenon_converter_t* (*find_converter)(tenon_parse_t* parse, const char* domain,
                                             const char* type, int64_t version, void** out_state);
  /* Memory until the parse ends; zero-filled. */
  void* (*allocate)(tenon_parse_t* parse, size_t size_bytes);
  /* Collects what is missing; the host reports all of them at once and fails the parse. */
  void (*report_missing)(tenon_parse_t* parse, const char* domain, const char* type,
                         int64_t version, const char* node);
  /* Extents that the caller gave for an input whose file leaves them (or its rank) open:
   * NOT_FOUND, or the rank and dimensions (-1: stays symbolic). */
  tenon_status_t (*input_shape)(tenon_parse_t* parse, const char* input, uint32_t* out_rank,
                                const int64_t** out_dims);
  const tenon_sink_t* (*sink)(tenon_parse_t* parse);
  /* Returns the value of the caller's setting of that name, NULL if it is not set. A setting that
   * the parse does not read is an error of the caller's. */
  const char* (*setting)(tenon_parse_t* parse, const char* name);
  /* Report the contents of the file before anything is built, so that users can inspect a model
   * that cannot be built. declare_value: each output (`is_output` 1) and each input (without
   * constants) of the main graph, with the names of open extents (NULL: none). declare_node: each
   * node that needs a converter. These functions do not fail. */
  void (*declare_value)(tenon_parse_t* parse, int32_t is_output, const char* name,
                        const tenon_value_type_t* type, const char* const* symbols);
  void (*declare_node)(tenon_parse_t* parse, const char* domain, const char* type, int64_t version,
                       const char* node);
} tenon_parse_table_t;

/* [growing] A file format. Where two plugins offer one, the library's own stays, else that of the
 * first plugin on the search path; the other one is left out, with a message. */
typedef struct tenon_parser_t {
  size_t size;
  const char* format; /* "onnx": the name converters refer to */
  const char* summary;
  const char* extensions; /* ".onnx;.pb": for people; sniff decides */
  /* [any] Confidence from 0 (no match) to 100 (certain); larger numbers count as 100. Looks at the
   * first bytes alone: at most 4096 are given. If two parsers have equal confidence, the library's
   * own reads the file, else the first on the search path. */
  int32_t (*sniff)(void* state, const void* data, size_t size_bytes, const char* file_name);
  tenon_status_t (*parse)(void* state, tenon_parse_t* parse, const tenon_parse_table_t* host,
                          tenon_builder_t* builder, const tenon_builder_table_t* build);
} tenon_parser_t;

/* ---------------------------------------------------------------------------------------------
 * 9. Converter, rewrite
 * ------------------------------------------------------------------------------------------- */

/* What `convert` is given: a node of the file, and where to build. [growing] Made by the parser; it
 * holds for the call alone. `state` is what find_converter gave with the converter: its convert,
 * the host's, puts the state of the converter's plugin there. */
typedef struct tenon_conversion_t {
  size_t size;
  void* state;
  const tenon_source_t* source;
  const tenon_source_table_t* table;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  /* One for each input of the source, id 0 where it is absent. */
  const tenon_value_t* inputs;
  /* Likewise of its outputs; convert sets those that are wanted. */
  tenon_value_t* outputs;
  uint32_t input_count;
  uint32_t output_count;
} tenon_conversion_t;

/* [growing] Turns one node type of a format into nodes of a network.
 *
 * domain   as the source table gives it: the format's own is "" (in ONNX also where a file says
 *          "ai.onnx"); NULL is ""
 * since, until   since <= version < until (0: no end), of the operator set that the file imports.
 *          Of one plugin's ranges that hold, the newest counts. If several plugins convert one
 *          version, the host asks the library's own plugin first, then the others in the order of
 *          the search path
 * convert  [parse] UNSUPPORTED passes the node to the next plugin's converter. Before, the host
 *          removes the nodes and values that the call has added, and clears `outputs`. Errors that
 *          the converter has reported become information; if all converters decline, one error
 *          names the node and each plugin's reason. Another failure ends the chain. So does
 *          UNSUPPORTED after the converter has made a body, input, output or state: decline before.
 *          Fields that the converter does not read are ignored. To refuse unknown fields, compare
 *          the names from field_name with the known ones. The host puts the file before a message to
 *          builder.sink, and the node if the message does not name it. It reports a failure without
 *          a message with the plugin and the node.
 *
 * An operator of one's own needs no converter. A node of a domain, but the format's own, that
 * nobody converts is the operator "domain.Type/major", or the one with its type in lower case, of
 * the highest major that is not above the version of the domain that the file imports (1 where it
 * says none). Fields are its attributes by name: whole numbers may stand for floats, a string for a
 * dtype; a field that is no attribute is an error. Inputs and outputs are its own, in order. */
struct tenon_converter_t {
  size_t size;
  const char* format;
  const char* domain;
  const char* type;
  int64_t since;
  int64_t until;
  tenon_status_t (*convert)(const tenon_conversion_t* call);
};

/* Arguments of a rewrite's function. [growing] They belong to the host and are valid for the call
 * only. */
typedef struct tenon_rewriting_t {
  size_t size;
  /* The result of the plugin's `start`. */
  void* state;
  /* The pattern's nodes, the last statement's first. */
  const tenon_region_t* match;
  const tenon_region_table_t* table;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  /* The match's, in the order in which a walk from the pattern's last statement meets them: of "m =
   * mul(c, x); y = mul(x, m)" x and then c. */
  const tenon_value_t* inputs;
  uint32_t input_count;
  uint32_t reserved;
} tenon_rewriting_t;

/* [growing] A pattern and its replacement, with equal meaning.
 *
 * name         unique in its plugin; a manifest's lines hold no blanks, so a rewrite whose name has
 *              some is promised as "offers: rewrite *"
 * pattern      a decomposition text. Names in it that nothing defines are its inputs, the same
 *              value wherever they occur. Operators match by identity, arguments by place: nothing
 *              commutes, so x * s and s * x are two rewrites. "_", and inputs that the text does
 *              not reach, must be absent. An attribute in braces has that value; a name there
 *              stands for its value in guard and replacement; others may have any value.
 *              Intermediate values of the pattern must have no other readers
 * when         NULL, or a condition over the pattern's names. What is not
 *              known when building (an extent, the contents of an input) does not hold
 * replacement  NULL, or a text over the pattern's names. The result of its last statement, whatever
 *              its name, stands for the pattern's: of the same type and extents, else nothing
 *              happens. It consists of operators: to return an input itself, use `rewrite`
 * rewrite      [build] NULL, or builds it by code: returns 0 to decline, 1 when *out holds the
 *              replacing value (an input of the match, or a new one). It is called for
 *              networks of the host's own making as well
 *
 * At a node the first that applies counts, in the order of plugins' names and then their own; what
 * it made is looked at again, until nothing changes. A rewrite that matches what it made is left
 * out, two that undo one another are stopped.
 *
 * Both sides must be equal but for roundings: before it is applied for the first time, the host
 * tries it on small networks of random types, shapes, attributes and elements (from the ports'
 * domains), as far as expressions, moves and decompositions let it compute them. One that changes a
 * result is left out, with the numbers. Users exclude it as "plugin:name". */
typedef struct tenon_rewrite_t {
  size_t size;
  const char* name;
  const char* pattern;
  const char* when;
  const char* replacement;
  int32_t (*rewrite)(const tenon_rewriting_t* call, tenon_value_t* out);
} tenon_rewrite_t;

/* ---------------------------------------------------------------------------------------------
 * 10. Builder: making a network
 *
 * Used by parsers, converters and rewrites, and behind tenon.h. Types and shapes are inferred when
 * a node ends; an invalid node gives INVALID_DATA with its name and the values on the sink.
 * ------------------------------------------------------------------------------------------- */

/* A value's type as far as it is known. [growing] The caller of builder.type sets `size`. dims[k]
 * is -1 if the dimension is symbolic. */
struct tenon_value_type_t {
  size_t size;
  uint32_t kind;         /* TENON_ARGUMENT_TENSOR, _SEQUENCE, _OPTIONAL or _OPTIONAL_SEQUENCE */
  tenon_dtype_t dtype;   /* this and what follows: of the tensors that it holds */
  uint32_t rank;         /* TENON_NONE: unknown (sequences whose items differ) */
  uint32_t has_contents; /* 1: its elements are known or symbolic: see content */
  const int64_t* dims;
  /* Dense, when the value is a constant; else NULL. In a parse perhaps not aligned, in a file that
   * is mapped: read it by memcpy. */
  const void* constant_data;
};

/* [growing] All [parse] or [build]. */
struct tenon_builder_table_t {
  size_t size;
  /* Network inputs. dims -1 with symbols[k] NULL: an unnamed symbol; equal names are equal extents.
   */
  tenon_status_t (*input)(tenon_builder_t* builder, const char* name, tenon_dtype_t dtype,
                          uint32_t rank, const int64_t* dims, const char* const* symbols,
                          tenon_value_t* out_value);
  /* Sequences and optionals as inputs: kind as in tenon_value_type_t. */
  tenon_status_t (*input_container)(tenon_builder_t* builder, const char* name, uint32_t kind,
                                    tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                                    tenon_value_t* out_value);
  tenon_status_t (*output)(tenon_builder_t* builder, tenon_value_t value, const char* name);
  /* A constant. `borrow` 1: the bytes stay valid until the network is destroyed (a mapped file), so
   * nothing is copied, wherever they lie. The view may have any strides. */
  tenon_status_t (*constant)(tenon_builder_t* builder, const char* name,
                             const tenon_tensor_view_t* view, int32_t borrow,
                             tenon_value_t* out_value);
  /* A node: begin, attributes, inputs, end. `op` is an identity. `name` may be NULL. */
  tenon_status_t (*begin)(tenon_builder_t* builder, const char* op, const char* name);
  tenon_status_t (*attribute_int)(tenon_builder_t* builder, const char* name, int64_t value);
  tenon_status_t (*attribute_float)(tenon_builder_t* builder, const char* name, double value);
  tenon_status_t (*attribute_string)(tenon_builder_t* builder, const char* name, const char* value);
  tenon_status_t (*attribute_ints)(tenon_builder_t* builder, const char* name,
                                   const int64_t* values, size_t count);
  tenon_status_t (*attribute_floats)(tenon_builder_t* builder, const char* name,
                                     const double* values, size_t count);
  tenon_status_t (*attribute_strings)(tenon_builder_t* builder, const char* name,
                                      const char* const* values, size_t count);
  tenon_status_t (*attribute_dtype)(tenon_builder_t* builder, const char* name,
                                    tenon_dtype_t value);
  tenon_status_t (*add_input)(tenon_builder_t* builder, tenon_value_t value); /* id 0: absent */
  tenon_status_t (*add_body)(tenon_builder_t* builder, uint32_t body);
  /* How many outputs a variadic output has; not needed otherwise. */
  tenon_status_t (*output_count)(tenon_builder_t* builder, uint32_t count);
  tenon_status_t (*end)(tenon_builder_t* builder, tenon_value_t* out_values, uint32_t capacity);
  void (*cancel)(tenon_builder_t* builder); /* drops the node begun */
  /* An expression node without an operator: "y = max(a, 0) * b", inputs named in order. */
  tenon_status_t (*expression)(tenon_builder_t* builder, const char* text, const char* const* names,
                               const tenon_value_t* inputs, uint32_t input_count,
                               const char* node_name, tenon_value_t* out_value);
  /* Bodies. Between begin_body and end_body all calls build the body. */
  tenon_status_t (*begin_body)(tenon_builder_t* builder, const char* name);
  tenon_status_t (*body_parameter)(tenon_builder_t* builder, const char* name, uint32_t kind,
                                   tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                                   tenon_value_t* out_value);
  /* A parameter with the type of a value of an enclosing graph, contents included if it is
   * constant. */
  tenon_status_t (*body_parameter_like)(tenon_builder_t* builder, const char* name,
                                        tenon_value_t like, tenon_value_t* out_value);
  tenon_status_t (*body_result)(tenon_builder_t* builder, tenon_value_t value);
  tenon_status_t (*end_body)(tenon_builder_t* builder, uint32_t* out_body);
  void (*cancel_body)(tenon_builder_t* builder);
  /* State: read gives the value at the start of an execution; write sets it for the next one. */
  tenon_status_t (*add_state)(tenon_builder_t* builder, const tenon_state_descriptor_t* state,
                              tenon_value_t* out_read);
  tenon_status_t (*write_state)(tenon_builder_t* builder, const char* name, tenon_value_t value);
  /* Looking at values. */
  tenon_status_t (*type)(tenon_builder_t* builder, tenon_value_t value,
                         tenon_value_type_t* out_type);
  /* Element `index` of a value with contents: 1 and the number when known, 0 when symbolic. */
  int32_t (*content)(tenon_builder_t* builder, tenon_value_t value, uint32_t index,
                     int64_t* out_value);
  tenon_status_t (*set_name)(tenon_builder_t* builder, tenon_value_t value, const char* name);
  /* 1 when an operator of that identity is on offer. */
  int32_t (*has_operator)(tenon_builder_t* builder, const char* op);
  const tenon_sink_t* (*sink)(tenon_builder_t* builder);
  /* Redirects all messages of the builder and of the parse to `sink`, and returns the sink before
   * it, which the caller sets again. For attempts that may fail: the caller decides which errors it
   * reports. */
  const tenon_sink_t* (*divert)(tenon_builder_t* builder, const tenon_sink_t* sink);
  /* Ends the current body as one that cannot run. Only its parameters are kept. It may be a body of
   * an If (TENON_CONTROL_CHOOSE) whose other body can run: that one gives the outputs their types.
   * A run that takes this body fails with `status`, which is not OK, and `message`, which is copied
   * and names the cause. An If that certainly takes it cannot be built. */
  tenon_status_t (*fail_body)(tenon_builder_t* builder, tenon_status_t status, const char* message,
                              uint32_t* out_body);
};

/* ---------------------------------------------------------------------------------------------
 * 11. Plugin, offerings, host offer, manifest
 * ------------------------------------------------------------------------------------------- */

/* [growing] An array of one kind of thing. Kinds are versioned strings, so that a new kind never
 * changes the root: "operator/1" tenon_operator_t, "kernel/1" tenon_kernel_t, "device/1"
 * tenon_device_descriptor_t, "parser/1" tenon_parser_t, "converter/1" tenon_converter_t,
 * "rewrite/1" tenon_rewrite_t. A host skips unknown kinds. */
typedef struct tenon_offering_t {
  size_t size;
  const char* kind;
  tenon_list_t items;
} tenon_offering_t;

/* The host's functions for a plugin, from its start. [frozen] `table(host, name)` returns a table
 * by versioned string, NULL if there is none or policy does not grant it. Known: "allocator/1"
 * (const tenon_allocator_t*), "sink/1" (const tenon_sink_t*), "library/1" (const
 * tenon_library_table_t*).
 */
typedef struct tenon_host_offer_t {
  uint32_t abi_major;
  uint32_t abi_min_minor;
  uint32_t abi_max_minor;
  uint32_t reserved;
  void* host;
  const void* (*table)(void* host, const char* name);
} tenon_host_offer_t;

/* "library/1": opens a shared library beside the plugin or by soname, audited like the plugin and
 * listed in its manifest as opened. [start] The handle is dlopen's and is never closed. [growing]
 */
typedef struct tenon_library_table_t {
  size_t size;
  void* host;
  tenon_status_t (*open)(void* host, const char* soname, void** out_handle);
} tenon_library_table_t;

/* The root. [growing] `needed` is the least version whose hosts can run this plugin, `built` the
 * header it was compiled with. Loaded when majors agree, needed <= host max and built >= host min.
 * start: [start] NULL: state is NULL. May fail: then everything it offers has the reason.
 * stop: [start] NULL: nothing to do. The image is never unloaded. */
typedef struct tenon_plugin_t {
  size_t size;
  uint32_t built;
  uint32_t needed;
  const char* name;
  const char* version;
  tenon_list_t offerings; /* of const tenon_offering_t*, see TENON_OFFERING */
  tenon_status_t (*start)(const tenon_host_offer_t* host, void** out_state);
  void (*stop)(void* state);
} tenon_plugin_t;

/* The one symbol. [any] Returns the descriptor (static data), or NULL when the plugin cannot serve
 * this host. Runs no other code. */
typedef const tenon_plugin_t* (*tenon_plugin_query_t)(const tenon_host_offer_t* host);
#define TENON_PLUGIN_QUERY_SYMBOL "tenon_plugin_query"
TENON_EXPORT const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host);

/*
 * The manifest: an ELF note that can be read without running anything. Section ".note.tenon", name
 * "Tenon", type 1, its descriptor a text of lines "key: value", UTF-8, at most 64 KiB:
 *
 *   name: acme_vision            [required] letters, digits, _ and -; the plugin's identity
 *   version: 1.2.0               [required] of several plugins with one name, the newest is used
 *   abi: 0.7                     [required] built
 *   needed: 0.7                  [required]
 *   vendor: Acme
 *   licence: MIT
 *   url: https://acme.example
 *   offers: operator acme.swish/1        one line for each thing on offer:
 *   offers: kernel swish_avx2 acme.swish/1 cpu   kernel NAME OPERATOR|*expressions|*moves|* DEVICE
 *   offers: device cpu / parser onnx / converter onnx:domain:Type / rewrite NAME
 *                                        names without blanks
 *   needs-library: libcudnn.so.9 linked|opened
 *   needs-isa: avx2              runs on no processor without it: refused there before it is
 *                                loaded. x86-64: sse4.2 avx avx2 fma bmi2 avx512 avx512f avx512bw
 *                                avx512dq avx512vl; aarch64: neon. A name of another list is
 *                                refused; what a device must have is the kernel's `isa`
 *   requires: acme_core >= 1.2   is refused unless a plugin of this name and of this version or a
 *                                newer one is used; one line for each. ">= VERSION" may be absent.
 *                                The required plugin is not loaded first
 *   threads: own                 brings threads of its own
 *   host-service: library/1      asks for it
 *
 * A line `offers: KIND *` stands for "load me to learn which": allowed for large tables; the
 * registry then loads the plugin when anything of that kind is looked for.
 */
#define TENON_NOTE_NAME "Tenon"
#define TENON_NOTE_TYPE 1u
#define TENON_NOTE_SECTION ".note.tenon"

typedef struct tenon_note_header_t {
  uint32_t name_size;
  uint32_t text_size;
  uint32_t type;
  char name[8];
} tenon_note_header_t;

#define TENON_STRINGIZE_(x) #x
#define TENON_STRINGIZE(x) TENON_STRINGIZE_(x)
#define TENON_ABI_TEXT \
  TENON_STRINGIZE(TENON_ABI_MAJOR_DIGIT) "." TENON_STRINGIZE(TENON_ABI_MINOR_DIGIT)
#define TENON_ABI_MAJOR_DIGIT 0
#define TENON_ABI_MINOR_DIGIT 7
#if TENON_ABI_MAJOR != TENON_ABI_MAJOR_DIGIT || TENON_ABI_MINOR != TENON_ABI_MINOR_DIGIT
#error "two versions of one contract"
#endif

/* Where the manifest lies. Nothing may stand between notes, so clang's address sanitizer must not
 * pad it. */
#if defined(__clang__)
#define TENON_NOTE_ATTRIBUTES \
  __attribute__((section(TENON_NOTE_SECTION), aligned(4), used, no_sanitize("address")))
#else
#define TENON_NOTE_ATTRIBUTES __attribute__((section(TENON_NOTE_SECTION), aligned(4), used))
#endif

/* Use once in one source file of the plugin:
 *   TENON_PLUGIN_MANIFEST("acme", "1.0.0",
 *                         "licence: MIT\n"
 *                         "offers: operator acme.swish/1\n") */
#define TENON_PLUGIN_MANIFEST(plugin_name, plugin_version, more)                                \
  static const struct {                                                                         \
    tenon_note_header_t header;                                                                 \
    char text[sizeof("name: " plugin_name "\nversion: " plugin_version "\nabi: " TENON_ABI_TEXT \
                     "\nneeded: " TENON_ABI_NEEDED_TEXT "\n" more)];                            \
  } tenon_plugin_manifest TENON_NOTE_ATTRIBUTES = {                                             \
      {sizeof(TENON_NOTE_NAME),                                                                 \
       sizeof("name: " plugin_name "\nversion: " plugin_version "\nabi: " TENON_ABI_TEXT        \
              "\nneeded: " TENON_ABI_NEEDED_TEXT "\n" more),                                    \
       TENON_NOTE_TYPE, TENON_NOTE_NAME},                                                       \
      "name: " plugin_name "\nversion: " plugin_version "\nabi: " TENON_ABI_TEXT                \
      "\nneeded: " TENON_ABI_NEEDED_TEXT "\n" more}

/* The fields of tenon_plugin_t that are the same for everyone. */
#define TENON_PLUGIN_HEADER \
  .size = sizeof(tenon_plugin_t), .built = TENON_ABI_CURRENT, .needed = TENON_ABI_NEEDED

/* An array that is on offer, as an entry of the plugin's list; or, in a plugin of several files, as
 * an object of the file that has the items, which counts them, and the list has its address:
 *   static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators)};
 *   const tenon_offering_t acme_kernels = TENON_OFFERING_OF("kernel/1", kernels);
 * TENON_OFFERING is C: in C++ each offering has a name. */
#define TENON_OFFERING_OF(offered_kind, array) \
  { .size = sizeof(tenon_offering_t), .kind = (offered_kind), .items = TENON_LIST(array) }
#define TENON_OFFERING(offered_kind, array) \
  &(const tenon_offering_t)TENON_OFFERING_OF(offered_kind, array)

#ifdef __cplusplus
}
#endif

#endif /* TENON_PLUGIN_H_ */
