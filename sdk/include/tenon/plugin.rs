// tenon/plugin.rs - the part of plugin.h that operators and kernels for the CPU use, in its layout.
//
// plugin.h is the manual of all members. This file is source and no part of the binary contract. It needs rustc 1.63
// and no crates. tenon_plugin() sets TENON_INCLUDE:
//
//     #[macro_use]
//     #[allow(dead_code, unused_macros)]
//     mod tenon {
//         include!(concat!(env!("TENON_INCLUDE"), "/tenon/plugin.rs"));
//     }
//     use tenon::*;
//
// A descriptor is written with the members that it needs, and the rest from SIZED, which has zeros and the size:
//
//     static INPUTS: [Port; 1] = [Port { name: text!("x"), kind: text!("T"), ..Port::SIZED }];
//     static KERNELS: [Kernel; 1] = [Kernel { ..., enqueue: Some(enqueue), ..Kernel::SIZED }];
//     plugin!("acme", "1.0.0", "licence: MIT\noffers: kernel ...\n", "operator/1": OPERATORS, "kernel/1": KERNELS);
//
// A panic must not unwind into the host: tenon_plugin() compiles with panic=abort.

use std::ffi::c_void;
use std::os::raw::c_char;

pub const ABI: u32 = 7; // 0.7
pub const OK: i32 = 0;
pub const UNSUPPORTED: i32 = 4;
pub const OUT_OF_MEMORY: i32 = 6;
pub const INT64: u32 = 5;
pub const UINT8: u32 = 6;
pub const FLOAT32: u32 = 12;
pub const FLOAT64: u32 = 13;
pub const ATTRIBUTE_FLOAT: u32 = 2;
pub const REFUSAL_DTYPE: u32 = 2;

/// A text of a descriptor.
pub type Text = *const c_char;
/// A function or a pointer that this file does not describe.
pub type Unused = *const c_void;
pub const NONE: Unused = std::ptr::null();

macro_rules! text {
    ($text:expr) => {
        concat!($text, "\0").as_ptr() as *const std::os::raw::c_char
    };
}

/// A list of texts that ends with NULL: texts!("acme.rms_norm/1").
macro_rules! texts {
    ($($text:literal),+) => {{
        static TEXTS: tenon::Pointers<std::os::raw::c_char, { [$($text),+].len() + 1 }> =
            tenon::Pointers([$(text!($text),)+ std::ptr::null()]);
        TEXTS.first()
    }};
}

impl List {
    pub const EMPTY: List = List { items: NONE, count: 0, stride: 0 };
    pub const fn of<T, const N: usize>(array: &'static [T; N]) -> List {
        List {
            items: array as *const [T; N] as *const c_void,
            count: N as u32,
            stride: std::mem::size_of::<T>() as u32,
        }
    }
}

macro_rules! structures {
    ($($(#[$note:meta])* struct $name:ident { $($member:ident: $kind:ty,)* })*) => {$(
        $(#[$note])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name { $(pub $member: $kind,)* }
        // Descriptors are static data that nobody writes.
        unsafe impl Sync for $name {}
    )*};
}

// Structures whose first member is their size. Zeros are valid for each of their members.
macro_rules! descriptors {
    ($(struct $name:ident { $($member:ident: $kind:ty,)* })*) => {
        structures! { $(struct $name { $($member: $kind,)* })* }
        $(impl $name {
            pub const SIZED: $name = {
                const SIZE: usize = std::mem::size_of::<$name>();
                let mut zeros: $name = unsafe { std::mem::transmute([0u8; SIZE]) };
                zeros.size = SIZE;
                zeros
            };
        })*
    };
}

type Match = extern "C" fn(*mut c_void, *const Region, *const RegionTable, *mut Refusal) -> i32;
type Add = extern "C" fn(*mut c_void, *const Tactic) -> i32;
type Tactics = extern "C" fn(*mut c_void, *const Region, *const RegionTable, *mut c_void, Add) -> i32;
type Prepare = extern "C" fn(*const PrepareCall, *mut *mut c_void) -> i32;
type Enqueue = extern "C" fn(*const EnqueueCall) -> i32;
pub type Body = extern "C" fn(*mut c_void, u32, u32);

descriptors! {
    struct Plugin {
        size: usize, built: u32, needed: u32, name: Text, version: Text, offerings: List, start: Unused, stop: Unused,
    }
    struct Offering { size: usize, kind: Text, items: List, }
    struct Attribute {
        size: usize, name: Text, default_text: Text, choices: Text, summary: Text, kind: u32, flags: u32,
    }
    struct TypeVariable { size: usize, name: Text, allowed: Text, }
    struct Port { size: usize, name: Text, kind: Text, domain: Text, summary: Text, flags: u32, reserved: u32, }
    struct Case { size: usize, when: Text, text: Text, }
    struct Check { size: usize, condition: Text, message: Text, }
    struct Operator {
        size: usize, name: Text, summary: Text, attributes: List, types: List, inputs: List, outputs: List,
        checks: List, cases: List, moves: List, decompositions: List, control: Unused, shape: Text, contents: Text,
        traits: Text, infer: Unused, operations: Text,
    }
    struct Kernel {
        size: usize, name: Text, device: Text, operators: *const Text, pattern: Text, attributes: *const Text,
        isa: Text, slots: List, version: u32, flags: u32, input_limit: u32, reserved: u32, matches: Option<Match>,
        tactics: Option<Tactics>, prepare: Option<Prepare>, bind: Unused, enqueue: Option<Enqueue>, unbind: Unused, destroy: Unused,
        propose: Unused, validity: Unused, faults: Unused, begin_prepare: Unused,
    }
    struct Numerics {
        size: usize, product_mantissa_bits: u32, product_exponent_bits: u32, accumulator_dtype: u32,
        product_dtype: u32, parts: u32, reassociates: u32, nondeterministic: u32, flushes_denormals: u32,
        error_bound: f64,
    }
    struct Tactic {
        size: usize, name: Text, configuration: Unused, inputs: Unused, outputs: Unused, numerics: *const Numerics,
        configuration_size: usize, scratch_bytes: u64, zeroed_bytes: u64, persistent_bytes: u64,
        estimate_seconds: f64, flags: u32, launches: u32, scratch_bytes_per_thread: u64,
    }
}

structures! {
    struct List { items: *const c_void, count: u32, stride: u32, }
    struct Refusal { reason: u32, reserved: u32, detail: Text, }
    struct Region { opaque: u8, }
    struct ValueInfo {
        name: Text, dims_min: *const i64, dims_opt: *const i64, dims_max: *const i64, constant_data: Unused,
        dtype: u32, rank: u32, input: u32, output: u32, kind: u32, flags: u32,
    }
    /// The first members of the table.
    struct RegionTable {
        size: usize, kind: Unused, node_count: Unused, node_operator: Unused, node_name: Unused,
        node_input_count: Unused, node_output_count: Unused, node_input: Unused, node_output: Unused,
        attribute_int: Unused,
        attribute_float: extern "C" fn(*const Region, u32, Text, *mut f64) -> i32,
        attribute_string: Unused, attribute_ints: Unused, attribute_floats: Unused, attribute_strings: Unused,
        value_count: Unused,
        value: extern "C" fn(*const Region, u32) -> *const ValueInfo,
        input_count: Unused, output_count: Unused,
        input: extern "C" fn(*const Region, u32) -> u32,
    }
    struct PrepareTable { size: usize, allocate: extern "C" fn(*mut c_void, usize) -> *mut c_void, }
    struct PrepareCall {
        size: usize, state: *mut c_void, region: *const Region, table: *const RegionTable, tactic: *const Tactic,
        preparation: *mut c_void, host: *const PrepareTable,
    }
    struct TensorView {
        data: *mut c_void, dims: *const i64, strides: *const i64, device_extents: *mut i64, rank: u32, dtype: u32,
        layout: u32, bit_offset: u32,
    }
    struct Argument { kind: u32, count: u32, items: *const Argument, tensor: TensorView, }
    struct RunTable {
        size: usize, scratch: Unused, zeroed: Unused, persistent: Unused, stream: Unused,
        parallel: extern "C" fn(*mut c_void, u32, Body, *mut c_void),
        thread_count: extern "C" fn(*mut c_void) -> u32,
    }
    struct EnqueueCall {
        size: usize, instance: *mut c_void, bound: *mut c_void, run: *mut c_void, host: *const RunTable,
        inputs: *const Argument, outputs: *const Argument, input_count: u32, output_count: u32,
    }
}

/// A list of texts that ends with NULL, or the offerings of a plugin.
#[repr(transparent)]
pub struct Pointers<T, const N: usize>(pub [*const T; N]);
unsafe impl<T, const N: usize> Sync for Pointers<T, N> {}

impl<T, const N: usize> Pointers<T, N> {
    pub const fn first(&'static self) -> *const *const T {
        self as *const Self as *const *const T
    }
}

impl<const N: usize> Pointers<Offering, N> {
    pub const fn of(offered: &'static [Offering; N]) -> Self {
        let mut pointers = [std::ptr::null(); N];
        let mut k = 0;
        while k < N {
            pointers[k] = &offered[k] as *const Offering;
            k += 1;
        }
        Pointers(pointers)
    }
}

/// The manifest: an ELF note.
#[repr(C)]
pub struct Manifest<const N: usize> {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 8],
    text: [u8; N],
}

impl<const N: usize> Manifest<N> {
    pub const fn of(text: &str) -> Manifest<N> {
        let mut bytes = [0u8; N];
        let mut k = 0;
        while k < text.len() {
            bytes[k] = text.as_bytes()[k];
            k += 1;
        }
        Manifest { name_size: 6, text_size: N as u32, kind: 1, name: *b"Tenon\0\0\0", text: bytes }
    }
}

/// The manifest, the descriptor and the function that the host looks up: plugin!(NAME, VERSION, lines of the manifest that
/// end with \n, KIND: static array, ...).
macro_rules! plugin {
    ($name:literal, $version:literal, $manifest:literal, $($kind:literal: $items:ident),+ $(,)?) => {
        const MANIFEST_TEXT: &str =
            concat!("name: ", $name, "\nversion: ", $version, "\nabi: 0.7\nneeded: 0.7\n", $manifest, "\0");
        #[used]
        #[link_section = ".note.tenon"]
        static MANIFEST: tenon::Manifest<{ MANIFEST_TEXT.len() }> = tenon::Manifest::of(MANIFEST_TEXT);

        const OFFERED_COUNT: usize = [$($kind),+].len();
        static OFFERED: [tenon::Offering; OFFERED_COUNT] = [$(tenon::Offering {
            kind: text!($kind),
            items: tenon::List::of(&$items),
            ..tenon::Offering::SIZED
        }),+];
        static OFFERINGS: tenon::Pointers<tenon::Offering, OFFERED_COUNT> = tenon::Pointers::of(&OFFERED);
        static PLUGIN: tenon::Plugin = tenon::Plugin {
            built: tenon::ABI,
            needed: tenon::ABI,
            name: text!($name),
            version: text!($version),
            offerings: tenon::List::of(&OFFERINGS.0),
            ..tenon::Plugin::SIZED
        };

        #[no_mangle]
        pub extern "C" fn tenon_plugin_query(_host: *const std::ffi::c_void) -> *const tenon::Plugin {
            &PLUGIN
        }
    };
}
