//! checksums.crc32: the CRC-32 of each row of bytes, as in zlib and PNG. No expression defines it, so
//! the operator has a shape rule, and a kernel for the CPU in Rust without crates.

#[macro_use]
#[allow(dead_code, unused_macros)]
mod tenon {
    include!(concat!(env!("TENON_INCLUDE"), "/tenon/plugin.rs"));
}

use std::ffi::c_void;
use std::slice;
use tenon::*;

// ---- Operator ----

static INPUTS: [Port; 1] = [Port { name: text!("x"), kind: text!("u8"), ..Port::SIZED }];
static OUTPUTS: [Port; 1] = [Port { name: text!("y"), kind: text!("i64"), ..Port::SIZED }];
static CHECKS: [Check; 1] =
    [Check { condition: text!("rank(x) > 0"), message: text!("x has no rows"), ..Check::SIZED }];
static OPERATORS: [Operator; 1] = [Operator {
    name: text!("checksums.crc32/1"),
    summary: text!("CRC-32 of each row of bytes"),
    inputs: List::of(&INPUTS),
    outputs: List::of(&OUTPUTS),
    checks: List::of(&CHECKS),
    shape: text!("y.rank = rank(x) - 1; y[d] = dim(x, d)"),
    ..Operator::SIZED
}];

// ---- Kernel ----

/// The remainders of all bytes, for the reversed polynomial.
const TABLE: [u32; 256] = make_table();

const fn make_table() -> [u32; 256] {
    let mut table = [0u32; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 != 0 { 0xEDB8_8320 ^ (remainder >> 1) } else { remainder >> 1 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8))
}

/// The rows of one call.
struct Rows {
    x: *const u8,
    y: *mut i64,
    width: usize,
}

extern "C" fn compute_row(user: *mut c_void, index: u32, _thread: u32) {
    // Each row is one call, so no two threads write the same element.
    unsafe {
        let rows = &*(user as *const Rows);
        // The address of a tensor without elements may be null.
        let row: &[u8] = match rows.width {
            0 => &[],
            width => slice::from_raw_parts(rows.x.add(index as usize * width), width),
        };
        *rows.y.add(index as usize) = i64::from(crc32(row));
    }
}

/// A run: no allocation, no lock, no message, no panic.
extern "C" fn enqueue(call: *const EnqueueCall) -> i32 {
    unsafe {
        let call = &*call;
        let (x, y) = (&(*call.inputs).tensor, &(*call.outputs).tensor);
        let dims = slice::from_raw_parts(x.dims, x.rank as usize);
        let count = dims[..dims.len() - 1].iter().product::<i64>();
        let mut rows =
            Rows { x: x.data as *const u8, y: y.data as *mut i64, width: dims[dims.len() - 1] as usize };
        let user = &mut rows as *mut Rows as *mut c_void;
        match u32::try_from(count) {
            Ok(count) => ((*call.host).parallel)(call.run, count, compute_row, user),
            Err(_) => return UNSUPPORTED,
        }
    }
    OK
}

static KERNELS: [Kernel; 1] = [Kernel {
    name: text!("crc32"),
    device: text!("cpu"),
    operators: texts!("checksums.crc32/1"),
    version: 1,
    enqueue: Some(enqueue),
    ..Kernel::SIZED
}];

// ---- Plugin ----

plugin!(
    "checksums",
    "1.0.0",
    "licence: Apache-2.0\noffers: operator checksums.crc32/1\noffers: kernel crc32 checksums.crc32/1 cpu\n",
    "operator/1": OPERATORS,
    "kernel/1": KERNELS,
);
