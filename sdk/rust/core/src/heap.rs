//! The memory of a component: an allocator for a program that scores one case and ends. It keeps no statistics, and
//! returns no memory to the engine, which drops all of it after the score.
//!
//! Blocks have the sizes of a fixed list, from 16 bytes up in steps of at most an eighth. A freed block rejoins the
//! unused rest of the heap if it is the last one; otherwise it goes onto the free list of its size, which is used
//! first. Taking and freeing a block cost a dozen instructions each, and a score writes to few pages.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr;

/// The alignment and the granularity of blocks, in bytes.
const GRAIN: usize = 16;
/// Up to this size, in bytes, sizes increase by one [`GRAIN`].
const SMALL: usize = 256;
/// The number of sizes between two powers of two, as a power of two.
const STEPS_LOG2: u32 = 3;
/// The size of the kernel's pages on most machines, in bytes.
const KERNEL_PAGE: usize = 4 << 10;
/// How many sizes there are: up to 2 GiB.
const SIZES: usize = SMALL / GRAIN + (23 << STEPS_LOG2);

/// Where a heap gets its memory from.
///
/// # Safety
/// The addresses are of memory that nothing else uses, and begin at a multiple of [`GRAIN`].
pub(crate) unsafe trait Source {
    /// The existing memory: its first byte, and the first byte after it.
    fn first(&self) -> (usize, usize);

    /// At least this many more bytes, preferably directly after the existing ones; `None` if there are none left.
    fn more(&self, bytes: usize) -> Option<(usize, usize)>;
}

/// The allocator.
pub(crate) struct Heap<S> {
    source: S,
    state: UnsafeCell<State>,
}

struct State {
    /// The rest that is part of no block: its first byte, and the first byte after it. 0 before the first block.
    next: usize,
    end: usize,
    /// The freed blocks of each size.
    freed: Lists,
    /// Freed blocks that are not used until the rest is used up.
    set_aside: Lists,
}

/// Free lists, one for each size: a block begins with the address of the next one, or 0.
type Lists = [usize; SIZES];

impl<S> Heap<S> {
    pub(crate) const fn new(source: S) -> Self {
        let state = State { next: 0, end: 0, freed: [0; SIZES], set_aside: [0; SIZES] };
        Self { source, state: UnsafeCell::new(state) }
    }
}

impl<S: Source> Heap<S> {
    /// Gets memory in advance, so that the next `bytes` bytes of blocks need no more. Until they are used up, blocks
    /// come from nowhere else, so that they are adjacent and on few pages. If there is no more memory, it reserves what
    /// there is.
    pub(crate) fn reserve(&self, bytes: usize) {
        // SAFETY: there is one thread, and nothing in here calls back.
        let state = unsafe { &mut *self.state.get() };
        state.reserve(bytes, &self.source);
        move_all(&mut state.freed, &mut state.set_aside);
    }
}

// SAFETY: a component has one thread; a heap in the tests is used by one thread only.
unsafe impl<S> Sync for Heap<S> {}

/// The index of the smallest size that holds this many bytes, at least 1 and at most 2 GiB.
fn size_for(bytes: usize) -> usize {
    let last = bytes - 1;
    if bytes <= SMALL {
        return last / GRAIN;
    }
    let power = last.ilog2();
    let step = (last >> (power - STEPS_LOG2)) & ((1 << STEPS_LOG2) - 1);
    SMALL / GRAIN + ((power - SMALL.ilog2()) << STEPS_LOG2) as usize + step
}

/// The size at an index, in bytes.
fn bytes_of(size: usize) -> usize {
    let Some(large) = size.checked_sub(SMALL / GRAIN) else { return (size + 1) * GRAIN };
    let step = large & ((1 << STEPS_LOG2) - 1);
    let power = SMALL.ilog2() + (large >> STEPS_LOG2) as u32;
    ((1 << STEPS_LOG2) + step + 1) << (power - STEPS_LOG2)
}

fn pointer<T>(place: usize) -> *mut T {
    ptr::with_exposed_provenance_mut(place)
}

/// Moves all blocks of some lists to others; returns whether there are any.
fn move_all(from: &mut Lists, to: &mut Lists) -> bool {
    let mut any = false;
    for (from, to) in from.iter_mut().zip(to) {
        while *from != 0 {
            let block = *from;
            // SAFETY: a block in a list begins with the address of the next one.
            unsafe {
                *from = pointer::<usize>(block).read();
                pointer::<usize>(block).write(*to);
            }
            *to = block;
            any = true;
        }
    }
    any
}

impl State {
    /// A block of at least 1 and at most [`SMALL`] bytes. Nearly all blocks are, so this takes few instructions.
    fn take_small(&mut self, bytes: usize, source: &impl Source) -> usize {
        let size = (bytes - 1) / GRAIN;
        let block = self.freed[size];
        if block != 0 {
            // SAFETY: a block in a list begins with the address of the next one.
            self.freed[size] = unsafe { pointer::<usize>(block).read() };
            return block;
        }
        let (block, bytes) = (self.next, (size + 1) * GRAIN);
        if bytes > self.end - block {
            return self.take_elsewhere(size, source);
        }
        self.next = block + bytes;
        block
    }

    /// A block of a size; 0 if there is no memory.
    fn take(&mut self, size: usize, source: &impl Source) -> usize {
        let block = self.freed[size];
        if block != 0 {
            // SAFETY: a block in a list begins with the address of the next one.
            self.freed[size] = unsafe { pointer::<usize>(block).read() };
            return block;
        }
        let bytes = bytes_of(size);
        if bytes > self.end - self.next {
            return self.take_elsewhere(size, source);
        }
        self.next += bytes;
        self.next - bytes
    }

    /// A block that does not fit into the rest.
    #[cold]
    fn take_elsewhere(&mut self, size: usize, source: &impl Source) -> usize {
        if self.end == 0 {
            (self.next, self.end) = source.first();
            return self.take(size, source);
        }
        let larger = (size + 1..SIZES).find(|larger| self.freed[*larger] != 0);
        if let Some(larger) = larger {
            let block = self.take(larger, source);
            self.put_rest(block + bytes_of(size), bytes_of(larger) - bytes_of(size));
            return block;
        }
        let is_more = move_all(&mut self.set_aside, &mut self.freed)
            || self.extend(bytes_of(size) - (self.end - self.next), bytes_of(size), source);
        match is_more {
            true => self.take(size, source),
            false => 0,
        }
    }

    /// Makes the rest `missing` bytes longer or, if the new memory is not adjacent, `whole` bytes long.
    fn extend(&mut self, missing: usize, whole: usize, source: &impl Source) -> bool {
        let Some((first, end)) = source.more(missing) else { return false };
        if first == self.end {
            self.end = end;
            return true;
        }
        let (rest, bytes) = (self.next, self.end - self.next);
        (self.next, self.end) = (first, end);
        self.put_rest(rest, bytes);
        let missing = whole.saturating_sub(end - first);
        missing == 0 || self.extend(missing, whole, source)
    }

    /// Makes the rest at least this many bytes long, starting on a page of the kernel, if there is memory.
    fn reserve(&mut self, bytes: usize, source: &impl Source) {
        if self.end == 0 {
            (self.next, self.end) = source.first();
        }
        let next = self.next.next_multiple_of(KERNEL_PAGE).min(self.end);
        self.put_rest(self.next, next - self.next);
        self.next = next;
        let missing = bytes.saturating_sub(self.end - self.next);
        if missing > 0 {
            // If there is no memory to reserve, the memory grows when a block needs it.
            let _ = self.extend(missing, bytes, source);
        }
    }

    /// Frees a block.
    fn put(&mut self, block: usize, size: usize) {
        if block + bytes_of(size) == self.next {
            self.next = block;
            return;
        }
        // SAFETY: the block is no longer used, and every block has room for an address.
        unsafe { pointer::<usize>(block).write(self.freed[size]) };
        self.freed[size] = block;
    }

    /// Frees memory that is not a single block, as the smallest number of blocks that fill it.
    fn put_rest(&mut self, mut place: usize, mut bytes: usize) {
        while bytes > 0 {
            let size = size_for(bytes);
            let size = if bytes_of(size) > bytes { size - 1 } else { size };
            self.put(place, size);
            place += bytes_of(size);
            bytes -= bytes_of(size);
        }
    }

    /// Makes a block longer or shorter in place; returns whether it could.
    fn resize(&mut self, block: usize, old: usize, new: usize, source: &impl Source) -> bool {
        if old == new {
            return true;
        }
        let (old, new) = (bytes_of(old), bytes_of(new));
        if block + old != self.next {
            // The block stays: moving it would take longer. Boxes are often made of strings with room to spare.
            if new < old {
                self.put_rest(block + new, old - new);
            }
            return new < old;
        }
        let room = self.end - block;
        if new > room {
            // New memory that is not adjacent does not help this block.
            let longer = self.extend(new - room, 0, source) && block + old == self.next;
            if !longer {
                return false;
            }
        }
        self.next = block + new;
        true
    }
}

/// The size of block that a layout needs. Every block is aligned to [`GRAIN`]; for a larger alignment the block is
/// larger, and its own address is stored directly before the aligned one.
fn size_of_layout(layout: &Layout) -> usize {
    match layout.align() <= GRAIN {
        true => size_for(layout.size()),
        false => size_for(layout.size() + layout.align()),
    }
}

// SAFETY: blocks do not overlap, are as large as their layout requires, and stay until they are freed. Nothing here
// panics or allocates.
unsafe impl<S: Source> GlobalAlloc for Heap<S> {
    // Not inlined, because a component has hundreds of callers.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: there is one thread, and nothing in here calls back.
        let state = unsafe { &mut *self.state.get() };
        if layout.size() <= SMALL && layout.align() <= GRAIN && layout.size() != 0 {
            return pointer(state.take_small(layout.size(), &self.source));
        }
        let block = state.take(size_of_layout(&layout), &self.source);
        if layout.align() <= GRAIN || block == 0 {
            return pointer(block);
        }
        let place = (block + layout.align()) & !(layout.align() - 1);
        // SAFETY: the block begins at least a grain earlier, and the layout fits after it.
        unsafe { pointer::<usize>(place - size_of::<usize>()).write(block) };
        pointer(place)
    }

    #[inline(never)]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        let state = unsafe { &mut *self.state.get() };
        let block = match layout.align() <= GRAIN {
            true => place.expose_provenance(),
            // SAFETY: `alloc` wrote it there.
            false => unsafe { place.cast::<usize>().sub(1).read() },
        };
        state.put(block, size_of_layout(&layout));
    }

    #[inline(never)]
    unsafe fn realloc(&self, place: *mut u8, old: Layout, bytes: usize) -> *mut u8 {
        // A box made of a string with a little room to spare: the block stays, and is freed as one of the new size.
        let is_a_little_shorter = (old.size().saturating_sub(SMALL)..=old.size()).contains(&bytes);
        if is_a_little_shorter && old.align() <= GRAIN {
            return place;
        }
        // SAFETY: as above.
        let state = unsafe { &mut *self.state.get() };
        // SAFETY: the caller asks for no more bytes than a layout of this alignment can have.
        let new = unsafe { Layout::from_size_align_unchecked(bytes, old.align()) };
        let (old_size, new_size) = (size_of_layout(&old), size_of_layout(&new));
        let block = place.expose_provenance();
        if old.align() <= GRAIN && state.resize(block, old_size, new_size, &self.source) {
            return place;
        }
        // SAFETY: the new layout is not empty; both blocks are large enough for the copy, and do not overlap.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(place, moved, old.size().min(bytes));
                self.dealloc(place, old);
            }
            moved
        }
    }
}

/// The component's own memory: what follows its data, and what the engine adds.
#[cfg(all(target_arch = "wasm32", feature = "allocator"))]
mod memory {
    use core::arch::wasm32::{memory_grow, memory_size};

    use super::{GRAIN, Heap, Source};

    /// Bytes of a page.
    const PAGE: usize = 64 << 10;

    unsafe extern "C" {
        /// Where the linker's data ends.
        static __heap_base: u8;
    }

    struct Memory;

    // SAFETY: the linker puts nothing after `__heap_base`, and pages that `memory.grow` adds are new.
    unsafe impl Source for Memory {
        fn first(&self) -> (usize, usize) {
            let base = (&raw const __heap_base).addr();
            (base.next_multiple_of(GRAIN), memory_size(0) * PAGE)
        }

        fn more(&self, bytes: usize) -> Option<(usize, usize)> {
            let pages = bytes.div_ceil(PAGE);
            let before = memory_grow(0, pages);
            let end = before.checked_add(pages)?.checked_mul(PAGE)?;
            Some((before * PAGE, end))
        }
    }

    #[global_allocator]
    static HEAP: Heap<Memory> = Heap::new(Memory);

    /// Reserves a page for each score. When a memory grows, the kernel changes the address space, and all sandboxes of
    /// the process wait for that. Also, the engine afterwards restores every kernel page (4 KiB) that a score wrote to,
    /// and the blocks that `configure` freed are scattered over many.
    pub(crate) fn reserve_for_a_score() {
        HEAP.reserve(PAGE);
    }
}

#[cfg(all(target_arch = "wasm32", feature = "allocator"))]
pub(crate) use memory::reserve_for_a_score;

#[cfg(test)]
mod tests;
