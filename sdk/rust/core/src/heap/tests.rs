//! Tests the allocator on memory that the test owns instead of a component's.

use std::cell::Cell;

use super::*;

/// Bytes that each test has.
const MAX: usize = 1 << 20;

/// Memory that grows by as much as is requested, up to [`MAX`].
struct Arena {
    first: usize,
    bytes: Cell<usize>,
    /// Whether added memory is not adjacent to the existing memory.
    leaves_gaps: bool,
}

// SAFETY: the bytes are leaked, so nothing else uses them; they begin at a multiple of a page.
unsafe impl Source for Arena {
    fn first(&self) -> (usize, usize) {
        (self.first, self.first + self.bytes.get())
    }

    fn more(&self, bytes: usize) -> Option<(usize, usize)> {
        let gap = if self.leaves_gaps { GRAIN } else { 0 };
        let before = self.bytes.get() + gap;
        let bytes = bytes.next_multiple_of(GRAIN);
        let end = before.checked_add(bytes).filter(|end| *end <= MAX)?;
        self.bytes.set(end);
        Some((self.first + before, self.first + end))
    }
}

fn heap(bytes: usize, leaves_gaps: bool) -> Heap<Arena> {
    let layout = Layout::from_size_align(MAX, KERNEL_PAGE).unwrap();
    // SAFETY: the layout is not empty.
    let first = unsafe { std::alloc::alloc(layout) }.expose_provenance();
    Heap::new(Arena { first, bytes: Cell::new(bytes), leaves_gaps })
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 1).unwrap()
}

impl Heap<Arena> {
    fn take(&self, bytes: usize) -> *mut u8 {
        // SAFETY: the layout is not empty.
        unsafe { self.alloc(layout(bytes)) }
    }

    fn put(&self, place: *mut u8, bytes: usize) {
        // SAFETY: the tests free what they took.
        unsafe { self.dealloc(place, layout(bytes)) };
    }
}

#[test]
fn each_size_has_room_for_what_takes_it_and_wastes_an_eighth_at_most() {
    for bytes in (1..5000).chain([65_535, 65_536, 65_537, (1 << 31) - 1, 1 << 31]) {
        let size = size_for(bytes);
        assert!(size < SIZES);
        assert!(bytes_of(size) >= bytes && bytes_of(size).is_multiple_of(GRAIN), "{bytes}");
        assert!(bytes_of(size) - bytes < GRAIN.max(bytes / 8), "{bytes}: {}", bytes_of(size));
        assert_eq!(size_for(bytes_of(size)), size);
    }
}

#[test]
fn a_freed_block_is_the_next_of_its_size() {
    let heap = heap(4096, false);
    let (first, second) = (heap.take(100), heap.take(20));
    heap.put(first, 100);
    assert_ne!(heap.take(50), first);
    assert_eq!(heap.take(99), first);
    // The last block rejoins the rest, from which any size can be taken.
    let last = heap.take(500);
    heap.put(last, 500);
    assert_eq!(heap.take(16), last);
    assert_ne!(second, last);
}

#[test]
fn the_last_block_grows_and_shrinks_where_it_is() {
    let heap = heap(64, false);
    let place = heap.take(10);
    // SAFETY: the block was taken with these layouts.
    unsafe {
        assert_eq!(heap.realloc(place, layout(10), 100_000), place);
        assert_eq!(heap.realloc(place, layout(100_000), 1000), place);
    }
    let behind = heap.take(16);
    assert_eq!(behind.addr() - place.addr(), 1024);
    // SAFETY: as above.
    let moved = unsafe { heap.realloc(place, layout(1000), 2000) };
    assert_ne!(moved, place);
    assert_eq!(heap.take(1000), place);
}

#[test]
fn any_other_block_shrinks_where_it_is_and_frees_its_end() {
    let heap = heap(4096, false);
    let place = heap.take(1000);
    let behind = heap.take(16);
    // SAFETY: the block was taken with this layout.
    assert_eq!(unsafe { heap.realloc(place, layout(1000), 100) }, place);
    let end = heap.take(896);
    assert_eq!(end.addr() - place.addr(), 128 - 16);
    assert!(end.addr() + 896 <= behind.addr());
    heap.put(place, 100);
    assert_eq!(heap.take(112), place);
}

#[test]
fn without_more_memory_larger_blocks_are_split_until_none_is_left() {
    let heap = heap(MAX, false);
    let large = heap.take(MAX / 2);
    let other = heap.take(MAX / 2);
    assert!(!large.is_null() && !other.is_null());
    assert!(heap.take(1).is_null());
    heap.put(large, MAX / 2);
    let blocks: Vec<_> = (0..512).map(|_| heap.take(1000)).collect();
    assert!(blocks.iter().all(|block| !block.is_null()));
    assert!(heap.take(1000).is_null());
    // SAFETY: the block has this layout, and stays if it cannot grow.
    assert!(unsafe { heap.realloc(other, layout(MAX / 2), MAX) }.is_null());
}

#[test]
fn a_place_is_a_multiple_of_what_its_layout_asks() {
    let heap = heap(64, false);
    for align in [1, 2, 8, 16, 32, 64, 4096] {
        heap.take(1);
        let layout = Layout::from_size_align(align * 3, align).unwrap();
        // SAFETY: the layout is not empty.
        let place = unsafe { heap.alloc(layout) };
        assert!(place.addr().is_multiple_of(align));
        // SAFETY: the block was taken with this layout, and is no longer used.
        unsafe { heap.dealloc(place, layout) };
        // SAFETY: as above.
        assert_eq!(unsafe { heap.alloc(layout) }, place);
    }
}

#[test]
fn blocks_keep_what_is_written_whatever_is_taken_and_freed_beside_them() {
    for leaves_gaps in [false, true] {
        let heap = heap(100 * GRAIN, leaves_gaps);
        let mut live: Vec<(*mut u8, usize, u8)> = Vec::new();
        let mut state = 7_u32;
        let mut random = |most: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % most
        };
        for round in 0..20_000_u32 {
            let mark = (round % 251) as u8;
            let bytes = 1 + random(if round % 50 == 0 { 20_000 } else { 300 });
            match random(4) {
                0 if !live.is_empty() => {
                    let (place, bytes, mark) = live.swap_remove(random(live.len()));
                    check(place, bytes, mark);
                    heap.put(place, bytes);
                }
                1 if !live.is_empty() => {
                    let one = random(live.len());
                    let (place, old, mark) = live[one];
                    // SAFETY: the block was taken with this layout.
                    let moved = unsafe { heap.realloc(place, layout(old), bytes) };
                    if !moved.is_null() {
                        check(moved, old.min(bytes), mark);
                        fill(moved, bytes, mark);
                        live[one] = (moved, bytes, mark);
                    }
                }
                _ => {
                    let place = heap.take(bytes);
                    if !place.is_null() {
                        fill(place, bytes, mark);
                        live.push((place, bytes, mark));
                    }
                }
            }
        }
        assert!(live.len() > 100);
        live.iter().for_each(|(place, bytes, mark)| check(*place, *bytes, *mark));
    }
}

fn fill(place: *mut u8, bytes: usize, mark: u8) {
    // SAFETY: the block has room for this many bytes.
    unsafe { place.write_bytes(mark, bytes) };
}

fn check(place: *mut u8, bytes: usize, mark: u8) {
    // SAFETY: this many bytes of the block were written.
    let content = unsafe { std::slice::from_raw_parts(place, bytes) };
    assert!(content.iter().all(|byte| *byte == mark));
}

#[test]
fn a_reserve_is_taken_from_memory_that_is_there_already() {
    for leaves_gaps in [false, true] {
        let heap = heap(4096, leaves_gaps);
        heap.reserve(4096);
        assert_eq!(heap.source.bytes.get(), 4096, "the memory that there was is enough");
        heap.take(1000);
        heap.reserve(4096);
        let reserved = heap.source.bytes.get();
        assert!(reserved > 4096, "{reserved}");
        (0..4).for_each(|_| _ = heap.take(1000));
        assert_eq!(heap.source.bytes.get(), reserved);
        heap.reserve(2 * MAX);
        assert_eq!(heap.source.bytes.get(), reserved, "more than there is");
    }
}

#[test]
fn a_reserve_begins_with_a_page_and_what_is_before_it_is_not_lost() {
    let heap = heap(3 * KERNEL_PAGE, false);
    let place = heap.take(16).addr();
    heap.reserve(KERNEL_PAGE);
    assert_eq!(heap.take(16).addr(), place + KERNEL_PAGE);
    assert_eq!(heap.source.bytes.get(), 3 * KERNEL_PAGE);
    heap.take(7000);
    assert_eq!(heap.take(1000).addr() / KERNEL_PAGE, place / KERNEL_PAGE);
    assert_eq!(heap.source.bytes.get(), 3 * KERNEL_PAGE);
}

#[test]
fn blocks_that_were_freed_before_a_reserve_are_taken_when_it_is_used_up() {
    let heap = heap(4096, false);
    let (early, _behind) = (heap.take(1000), heap.take(16));
    heap.put(early, 1000);
    heap.reserve(MAX / 2);
    let first = heap.take(1000);
    assert_ne!(first, early);
    heap.put(first, 1000);
    assert_eq!(heap.take(1000), first, "one that was freed since is taken first");
    while heap.source.bytes.get() - (heap.take(1000).addr() - heap.source.first) >= 2048 {}
    let reserved = heap.source.bytes.get();
    assert_eq!(heap.take(1000), early);
    assert_eq!(heap.source.bytes.get(), reserved, "no more is asked for before");
}
