//! What a score could leave for the next one: in a static, on the heap, on the unused stack, in memory that is not in
//! use yet. Also checks whether any of that is found.

use std::{
    arch::wasm32,
    hint::black_box,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

const MARK: u64 = 0x7ace_7ace_7ace_7ace;
const PAGE: usize = 64 << 10;
/// How far below the stack pointer a mark is left.
const DEEP: usize = 32;

static STATIC: AtomicU64 = AtomicU64::new(0);
static HEAP: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Leaves the mark everywhere.
pub fn leave() {
    STATIC.store(MARK, Ordering::Relaxed);
    if let Ok(mut heap) = HEAP.lock() {
        heap.push(MARK);
    }
    black_box(stack([MARK; DEEP]));
    let page = wasm32::memory_grow::<0>(1);
    if page != usize::MAX {
        write(page * PAGE);
    }
}

/// Describes where there is a mark.
pub fn found() -> String {
    let static_mark = STATIC.load(Ordering::Relaxed) == MARK;
    let heap_mark = HEAP.lock().is_ok_and(|heap| heap.contains(&MARK));
    let old = memory_bytes();
    // New memory must be zero, whatever it contained before.
    wasm32::memory_grow::<0>(1);
    let marked = |range: Range<usize>| range.step_by(8).any(|address| read(address) == MARK);
    format!(
        "static: {static_mark}, heap: {heap_mark}, memory: {}, new memory: {}, pages: {}",
        marked(PAGE..old),
        marked(old..memory_bytes()),
        old / PAGE
    )
}

#[inline(never)]
fn stack(marks: [u64; DEEP]) -> u64 {
    black_box(marks).iter().fold(0, |sum, mark| sum ^ mark)
}

fn memory_bytes() -> usize {
    wasm32::memory_size::<0>() * PAGE
}

/// SAFETY: the callers ensure that the address is in memory, and a `u64` may have any bits.
#[allow(unsafe_code)]
fn read(address: usize) -> u64 {
    unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u64>(address)) }
}

/// SAFETY: nothing else uses the page yet.
#[allow(unsafe_code)]
fn write(address: usize) {
    unsafe { std::ptr::write_volatile(std::ptr::without_provenance_mut::<u64>(address), MARK) };
}
