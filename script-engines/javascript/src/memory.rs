//! Memory for the interpreter, from the C library that it is linked with; also remembers whether memory ran out. It
//! sets no limit: scorebox does.

use std::{cell::Cell, ffi::c_void};

use rquickjs::{CaughtError, Error, Runtime, allocator::Allocator};

/// How many bytes a script may allocate, beyond what was in use when it began, before the interpreter looks for cycles
/// of unreachable objects. Most scores stay below it, and what they leave is dropped with the sandbox.
const COLLECTED_BYTES: usize = 16 << 20;
/// Bytes of a page of WebAssembly's memory.
#[cfg(target_arch = "wasm32")]
const PAGE_BYTES: usize = 64 << 10;

thread_local! {
    /// Whether an allocation failed.
    static WAS_REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Forgets past failures.
pub(crate) fn forget() {
    WAS_REFUSED.set(false);
}

/// Whether a script ended because memory ran out. If the interpreter cannot allocate its error either, it throws null,
/// gives the error another message, or settles no promise.
pub(crate) fn ran_out(error: &CaughtError<'_>) -> bool {
    WAS_REFUSED.get()
        && match error {
            CaughtError::Exception(exception) => {
                exception.get::<_, String>("name").is_ok_and(|name| name == "InternalError")
            }
            CaughtError::Value(value) => value.is_null(),
            CaughtError::Error(error) => {
                matches!(error, Error::Allocation | Error::Unknown | Error::WouldBlock)
            }
        }
}

/// Makes the interpreter look for cycles once this many more bytes are in use than now.
pub(crate) fn collect_from_now(runtime: &Runtime) {
    #[cfg(target_arch = "wasm32")]
    let used = core::arch::wasm32::memory_size(0) * PAGE_BYTES;
    #[cfg(not(target_arch = "wasm32"))]
    let used = 0_usize;
    runtime.set_gc_threshold(used.saturating_add(COLLECTED_BYTES));
}

/// Returns the block unchanged; remembers if the allocation failed.
pub(crate) fn remembered(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        WAS_REFUSED.set(true);
        // The C library never requests more than this, but scorebox reports only the requests that it refused itself.
        #[cfg(target_arch = "wasm32")]
        if isize::try_from(size.saturating_add(PAGE_BYTES)).is_err() {
            core::arch::wasm32::memory_grow(0, size.div_ceil(PAGE_BYTES));
        }
        #[cfg(not(target_arch = "wasm32"))]
        let _ = size;
    }
    block
}

#[expect(unsafe_code, reason = "functions of C")]
unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn malloc_usable_size(block: *mut c_void) -> usize;
}

/// The C library's allocator. Without it, the interpreter does not know the size of a block on this target, and counts
/// only small blocks before it looks for cycles.
pub(crate) struct Remembering;

// SAFETY: these functions do what the trait requires.
#[expect(unsafe_code, reason = "the interpreter wants an allocator in C's manner")]
unsafe impl Allocator for Remembering {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        // SAFETY: any size may be requested.
        remembered(unsafe { malloc(size) }.cast(), size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        // SAFETY: any size may be requested.
        remembered(unsafe { calloc(count, size) }.cast(), count.saturating_mul(size))
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller's block is from `alloc`, and so from `malloc`.
        unsafe { free(block.cast()) }
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the caller's block is from `alloc`, and so from `malloc`.
        remembered(unsafe { realloc(block.cast(), size) }.cast(), size)
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller's block is from `alloc`, and so from `malloc`.
        unsafe { malloc_usable_size(block.cast()) }
    }
}
