//! acme.rms_norm: each row divided by the root of its mean square. The expression defines the
//! operator on all devices. The kernel computes it faster on the CPU; builds measure both.

#[macro_use]
#[allow(dead_code, unused_macros)]
mod tenon {
    include!(concat!(env!("TENON_INCLUDE"), "/tenon/plugin.rs"));
}

use std::ffi::c_void;
use std::slice;
use tenon::*;

// ---- Operator ----

static ATTRIBUTES: [Attribute; 1] = [Attribute {
    name: text!("epsilon"),
    default_text: text!("1e-5"),
    kind: ATTRIBUTE_FLOAT,
    ..Attribute::SIZED
}];
static TYPES: [TypeVariable; 1] = [TypeVariable { name: text!("T"), allowed: text!("float"), ..TypeVariable::SIZED }];
static INPUTS: [Port; 1] = [Port { name: text!("x"), kind: text!("T"), ..Port::SIZED }];
static OUTPUTS: [Port; 1] = [Port { name: text!("y"), kind: text!("T"), ..Port::SIZED }];
static CASES: [Case; 1] = [Case { text: text!("y = x / sqrt(mean(x * x, [-1]) + epsilon)"), ..Case::SIZED }];
static CHECKS: [Check; 1] =
    [Check { condition: text!("rank(x) > 0"), message: text!("x has no rows"), ..Check::SIZED }];
static OPERATORS: [Operator; 1] = [Operator {
    name: text!("acme.rms_norm/1"),
    summary: text!("x / sqrt(mean(x * x, -1) + epsilon)"),
    attributes: List::of(&ATTRIBUTES),
    types: List::of(&TYPES),
    inputs: List::of(&INPUTS),
    outputs: List::of(&OUTPUTS),
    checks: List::of(&CHECKS),
    cases: List::of(&CASES),
    ..Operator::SIZED
}];

// ---- Kernel ----

struct Instance {
    epsilon: f32,
}

/// The host asks before it measures. It has checked operator, attributes and layout already.
extern "C" fn matches(
    _state: *mut c_void,
    region: *const Region,
    table: *const RegionTable,
    out_refusal: *mut Refusal,
) -> i32 {
    // The host's pointers are valid for the call.
    let (dtype, refusal) = unsafe {
        let value = ((*table).value)(region, ((*table).input)(region, 0));
        ((*value).dtype, &mut *out_refusal)
    };
    if dtype != FLOAT32 {
        *refusal = Refusal { reason: REFUSAL_DTYPE, reserved: 0, detail: std::ptr::null() };
        return 0;
    }
    1
}

/// Tolerances follow from the numerics: sums in another order than the operator's.
extern "C" fn tactics(
    _state: *mut c_void,
    _region: *const Region,
    _table: *const RegionTable,
    emit: *mut c_void,
    add: extern "C" fn(*mut c_void, *const Tactic) -> i32,
) -> i32 {
    let numerics = Numerics { reassociates: 1, ..Numerics::SIZED };
    let tactic = Tactic { name: text!("rows"), numerics: &numerics, ..Tactic::SIZED };
    add(emit, &tactic)
}

extern "C" fn prepare(call: *const PrepareCall, out_instance: *mut *mut c_void) -> i32 {
    let mut epsilon = 0.0;
    unsafe {
        let call = &*call;
        let status = ((*call.table).attribute_float)(call.region, 0, text!("epsilon"), &mut epsilon);
        if status != OK {
            return status;
        }
        let memory = ((*call.host).allocate)(call.preparation, std::mem::size_of::<Instance>());
        if memory.is_null() {
            return OUT_OF_MEMORY;
        }
        (memory as *mut Instance).write(Instance { epsilon: epsilon as f32 });
        *out_instance = memory;
    }
    OK
}

fn compute_row(x: &[f32], y: &mut [f32], epsilon: f32) {
    let mut sums = [0f32; 8]; // independent sums, so that the compiler uses vectors
    let chunks = x.chunks_exact(8);
    for value in chunks.remainder() {
        sums[0] += value * value;
    }
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value * value;
        }
    }
    let factor = 1.0 / (sums.iter().sum::<f32>() / x.len() as f32 + epsilon).sqrt();
    for (to, from) in y.iter_mut().zip(x) {
        *to = from * factor;
    }
}

/// The rows of one call.
struct Rows {
    x: *const f32,
    y: *mut f32,
    count: usize,
    width: usize,
    part: usize,
    epsilon: f32,
}

extern "C" fn compute_part(user: *mut c_void, index: u32, _thread: u32) {
    let rows = unsafe { &*(user as *const Rows) };
    let begin = index as usize * rows.part;
    for row in begin..(begin + rows.part).min(rows.count) {
        // Each row belongs to one part, so no two threads write the same elements.
        let (x, y) = unsafe {
            (
                slice::from_raw_parts(rows.x.add(row * rows.width), rows.width),
                slice::from_raw_parts_mut(rows.y.add(row * rows.width), rows.width),
            )
        };
        compute_row(x, y, rows.epsilon);
    }
}

/// A run: no allocation, no lock, no message, no panic.
extern "C" fn enqueue(call: *const EnqueueCall) -> i32 {
    unsafe {
        let call = &*call;
        let (x, y) = (&(*call.inputs).tensor, &(*call.outputs).tensor);
        let dims = slice::from_raw_parts(x.dims, x.rank as usize);
        let width = dims[dims.len() - 1] as usize;
        let count = dims[..dims.len() - 1].iter().product::<i64>() as usize;
        // Parts of at least 16 Ki elements: a smaller one takes less time than waking a thread.
        let part = 16384 / (width + 1) + 1 + count / ((*call.host).thread_count)(call.run) as usize;
        let epsilon = (*(call.instance as *const Instance)).epsilon;
        let mut rows =
            Rows { x: x.data as *const f32, y: y.data as *mut f32, count, width, part, epsilon };
        let parts = (count + part - 1) / part;
        let user = &mut rows as *mut Rows as *mut c_void;
        ((*call.host).parallel)(call.run, parts as u32, compute_part, user);
    }
    OK
}

static KERNELS: [Kernel; 1] = [Kernel {
    name: text!("rms_norm"),
    device: text!("cpu"),
    operators: texts!("acme.rms_norm/1"),
    attributes: texts!("epsilon"),
    version: 1, // raise it with each change of the code
    matches: Some(matches),
    tactics: Some(tactics),
    prepare: Some(prepare),
    enqueue: Some(enqueue),
    ..Kernel::SIZED
}];

// ---- Plugin ----

plugin!(
    "acme",
    "1.0.0",
    "licence: your licence\noffers: operator acme.rms_norm/1\noffers: kernel rms_norm acme.rms_norm/1 cpu\n",
    "operator/1": OPERATORS,
    "kernel/1": KERNELS,
);
