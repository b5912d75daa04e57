//! Which pages of a memory were written since it was mapped, or watched, according to the kernel (`PAGEMAP_SCAN` of
//! Linux 6.7, <https://www.kernel.org/doc/html/latest/admin-guide/mm/pagemap.html>). wasmtime's pool asks in the same
//! way when it clears a memory, except for pages that are swapped out. It reads and writes no memory itself, and knows
//! nothing of guests.

use std::{fs::File, ops::Range};

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use super::watching::Watch;

/// The most ranges of written pages that one scan finds; a memory with more counts as unknown.
const MAX_STRETCHES: usize = 32;
/// The most bytes of written pages that one scan finds; a memory with more counts as unknown.
const MAX_BYTES: usize = 1 << 20;

/// A range of pages, as the kernel writes it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

/// The request, as the kernel reads it.
#[repr(C)]
#[derive(Default)]
struct PageMapScan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_length: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_any_of_mask: u64,
    return_mask: u64,
}

const PAGEMAP_SCAN: Opcode = opcode::read_write::<PageMapScan>(b'f', 16);
/// Fails where memory is not watched.
const ONLY_WATCHED: u64 = 1 << 1;
/// Kinds of pages: written since they were watched, backed by a file, in memory, swapped out, and the zero page.
const WRITTEN: u64 = 1 << 1;
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO: u64 = 1 << 5;

/// Asks for pages without the mark of a watch. It asks for any of several kinds: as the only kind, kernels before 6.9
/// take pages that are swapped out for marked ones (Linux commit 2c7ad9a590d1).
fn since_watched() -> PageMapScan {
    PageMapScan {
        flags: ONLY_WATCHED,
        category_any_of_mask: WRITTEN,
        return_mask: WRITTEN,
        ..PageMapScan::default()
    }
}

/// Asks for pages that are neither backed by a file nor the zero page.
fn since_mapped() -> PageMapScan {
    PageMapScan {
        category_inverted: FILE | ZERO,
        category_mask: FILE | ZERO,
        category_any_of_mask: PRESENT | SWAPPED,
        ..PageMapScan::default()
    }
}

/// The page map of this process. In a forked child it would report the parent's pages, but a process scores only in a
/// sandbox that it made itself.
pub(super) struct PageMap(File);

impl PageMap {
    /// `None` on a machine that cannot report what was written.
    pub(super) fn open() -> Option<PageMap> {
        let pages = PageMap(File::open("/proc/self/pagemap").ok()?);
        pages.written(&[0], None).is_some().then_some(pages)
    }

    /// The ranges of `memory` that may have changed since its watch began. Without a watch, the ranges that may differ
    /// from what was mapped there: pages in memory or swapped out, except those of a file and the zero page that
    /// reading maps. `None` if this is unknown or too much, or if the watch belongs to another memory.
    pub(super) fn written(
        &self,
        memory: &[u8],
        watch: Option<&Watch>,
    ) -> Option<impl Iterator<Item = Range<usize>> + use<>> {
        let page_bytes = rustix::param::page_size();
        let begin = memory.as_ptr().addr();
        let first_page = begin - begin % page_bytes;
        let end = begin.checked_add(memory.len())?.checked_next_multiple_of(page_bytes)?;
        let mut regions = [PageRegion::default(); MAX_STRETCHES];
        let kinds = match watch {
            None => since_mapped(),
            Some(watch) if watch.is_of(memory) => since_watched(),
            Some(_) => return None,
        };
        let walk_end = self.ask(first_page..end, kinds, MAX_BYTES / page_bytes, &mut regions)?;
        (walk_end == end as u64).then_some(())?;
        let length = memory.len();
        let stretches = regions.into_iter().take_while(|region| region.end > 0);
        Some(stretches.map(move |region| {
            let within =
                |at: u64| usize::try_from(at).unwrap_or(end).saturating_sub(begin).min(length);
            within(region.start)..within(region.end)
        }))
    }

    /// Asks for the written pages in a range of addresses, and returns the address at which the answer ends.
    #[expect(unsafe_code, reason = "the system's libraries do not know this call")]
    fn ask(
        &self,
        addresses: Range<usize>,
        kinds: PageMapScan,
        most_pages: usize,
        regions: &mut [PageRegion],
    ) -> Option<u64> {
        let mut scan = PageMapScan {
            size: size_of::<PageMapScan>() as u64,
            start: addresses.start as u64,
            end: addresses.end as u64,
            regions: regions.as_mut_ptr().expose_provenance() as u64,
            regions_length: regions.len() as u64,
            max_pages: most_pages as u64,
            ..kinds
        };
        // SAFETY: the request is that of `PAGEMAP_SCAN`. It reads a `PageMapScan` of the size that is in it, writes its
        // `walk_end`, and writes at most `regions_length` of the regions that are borrowed here. With these flags it
        // changes no page, and it reads none: it looks at how a range of addresses is mapped, whatever these are.
        unsafe { ioctl(&self.0, Updater::<PAGEMAP_SCAN, PageMapScan>::new(&mut scan)) }.ok()?;
        Some(scan.walk_end)
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Memory, MemoryType, Store};

    use super::{super::watching::Watcher, *};

    /// Calls `check` with an unused memory of this size, and with the size of its pages; checks nothing on a machine
    /// that cannot report what was written.
    fn with_memory(bytes: usize, check: impl FnOnce(&PageMap, &mut [u8], usize)) {
        let mut store = Store::new(&Engine::default(), ());
        let wasm_pages = u32::try_from(bytes.div_ceil(64 << 10)).unwrap();
        let memory = Memory::new(&mut store, MemoryType::new(wasm_pages, None)).unwrap();
        if let Some(pages) = PageMap::open() {
            check(&pages, memory.data_mut(&mut store), rustix::param::page_size());
        }
    }

    #[test]
    fn pages_that_were_written_are_found() {
        with_memory(512 << 10, |pages, memory, page| {
            let ranges = |memory: &[u8]| -> Vec<Range<usize>> {
                pages.written(memory, None).unwrap().collect()
            };
            assert!(ranges(memory).is_empty());
            assert_eq!(std::hint::black_box(&*memory)[5 * page], 0);
            assert!(ranges(memory).is_empty());
            let last = memory.len() - 1;
            let written = [2 * page, 3 * page + 1, last];
            written.iter().for_each(|at| memory[*at] = 1);
            let found = ranges(memory);
            assert!(written.iter().all(|at| found.iter().any(|range| range.contains(at))));
            assert!(found.iter().map(Range::len).sum::<usize>() <= memory.len() / 2, "{found:?}");
            let within_a_page = ranges(&memory[2 * page + 100..2 * page + 200]);
            assert_eq!(within_a_page.first(), Some(&(0..100)));
        });
    }

    #[test]
    fn what_was_written_since_a_memory_is_watched_is_found() {
        with_memory(64 * rustix::param::page_size(), |pages, memory, page| {
            let Some(watcher) = Watcher::open() else { return };
            memory[..4 * page].fill(1);
            let watch = watcher.watch(memory).unwrap();
            let ranges = |memory: &[u8], watch: &Watch| -> Vec<Range<usize>> {
                pages.written(memory, Some(watch)).unwrap().collect()
            };
            assert!(ranges(memory, &watch).is_empty());
            assert_eq!(std::hint::black_box(&*memory)[9 * page], 0);
            assert!(ranges(memory, &watch).is_empty());
            let last = memory.len() - 1;
            [2 * page, 3 * page + 1, 7 * page, last].iter().for_each(|at| memory[*at] = 1);
            let found = [2 * page..4 * page, 7 * page..8 * page, last + 1 - page..last + 1];
            assert_eq!(ranges(memory, &watch), found);
            // Restoring the old value does not make the page unwritten.
            memory[2 * page] = 1;
            assert_eq!(ranges(memory, &watch), found);
            // A later watch does not know of earlier writes.
            drop(watch);
            let watch = watcher.watch(memory).unwrap();
            assert!(ranges(memory, &watch).is_empty());
            memory[5 * page] = 1;
            let found = 5 * page..6 * page;
            assert_eq!(ranges(memory, &watch), std::slice::from_ref(&found));
        });
    }

    #[test]
    fn what_is_not_watched_as_a_whole_is_unknown() {
        with_memory(64 * rustix::param::page_size(), |pages, memory, page| {
            let Some(watcher) = Watcher::open() else { return };
            assert!(watcher.watch(&memory[1..]).is_none());
            let (part, rest) = memory.split_at(16 * page);
            let watch = watcher.watch(part).unwrap();
            assert!(pages.written(part, Some(&watch)).is_some());
            assert!(
                [rest, &part[page..], memory]
                    .iter()
                    .all(|it| pages.written(it, Some(&watch)).is_none())
            );
            // The kernel reports it too.
            let all = memory.as_ptr_range();
            let all = all.start.addr()..all.end.addr();
            assert!(pages.ask(all, since_watched(), 1, &mut [PageRegion::default()]).is_none());
        });
    }

    #[test]
    fn a_large_memory_is_not_watched() {
        with_memory((4 << 20) + (64 << 10), |_, memory, _| {
            let Some(watcher) = Watcher::open() else { return };
            assert!(watcher.watch(memory).is_none());
            assert!(watcher.watch(&memory[..4 << 20]).is_some());
        });
    }

    #[test]
    fn more_than_one_question_finds_is_unknown() {
        with_memory(MAX_BYTES + (64 << 10), |pages, memory, _| {
            memory.fill(1);
            assert!(pages.written(memory, None).is_none());
        });
        let stretches = MAX_STRETCHES + 1;
        with_memory(2 * stretches * rustix::param::page_size(), |pages, memory, page| {
            memory.chunks_mut(2 * page).take(stretches).for_each(|chunk| chunk[0] = 1);
            // A kernel that maps several pages at once reports more of them as written, in fewer ranges.
            assert!(
                pages
                    .written(memory, None)
                    .is_none_or(|mut ranges| ranges.any(|it| it.len() > page))
            );
        });
    }
}
