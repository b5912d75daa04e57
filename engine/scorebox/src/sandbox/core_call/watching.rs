//! Watches memories: the kernel marks their pages, and removes the mark from a page that is written (`userfaultfd` in
//! its asynchronous mode, Linux 6.7, <https://docs.kernel.org/admin-guide/mm/userfaultfd.html>). Asking which pages
//! have no mark is much faster than asking how each page is mapped. Watching makes no access to a memory wait or fail,
//! and changes no byte of it. `written_pages` asks for the marks.

use std::{
    ops::Range,
    os::fd::{AsFd, OwnedFd},
    process,
    sync::Arc,
};

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// Watches memories of this process, where the system allows it.
pub(super) struct Watcher {
    system: OwnedFd,
    /// The id of this process: a forked child has other memories at the same addresses.
    process: u32,
}

/// A memory that is watched until this is dropped.
pub(super) struct Watch {
    by: Arc<Watcher>,
    range: PageRange,
}

/// A range of addresses, in whole pages, as the kernel reads it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRange {
    start: u64,
    length: u64,
}

/// The features that the kernel is asked for, and those that it has.
#[repr(C)]
#[derive(Default)]
struct Handshake {
    version: u64,
    features: u64,
    requests: u64,
}

#[repr(C)]
#[derive(Default)]
struct Register {
    range: PageRange,
    mode: u64,
    requests: u64,
}

#[repr(C)]
#[derive(Default)]
struct WriteProtect {
    range: PageRange,
    mode: u64,
}

const HANDSHAKE: Opcode = opcode::read_write::<Handshake>(0xaa, 0x3f);
const REGISTER: Opcode = opcode::read_write::<Register>(0xaa, 0x00);
const UNREGISTER: Opcode = opcode::read::<PageRange>(0xaa, 0x01);
const WRITE_PROTECT: Opcode = opcode::read_write::<WriteProtect>(0xaa, 0x06);

const VERSION: u64 = 0xaa;
/// Unused pages are marked too, and the kernel removes the marks without asking this process.
const FEATURES: u64 = 1 << 13 | 1 << 15;
const REGISTER_FOR_WRITES: u64 = 1 << 1;
const MARK: u64 = 1;

/// The largest memory that is watched. The kernel looks at each page of a watched memory, used or not, and has page
/// tables for all of it.
const MAX_BYTES: usize = 4 << 20;

impl Watcher {
    /// `None` if the system does not have this function, or does not allow it to this process, as in some containers.
    pub(super) fn open() -> Option<Arc<Watcher>> {
        let watcher = Watcher { system: open()?, process: process::id() };
        let mut handshake = Handshake { version: VERSION, features: FEATURES, requests: 0 };
        watcher.request::<HANDSHAKE, _>(&mut handshake)?;
        // Without these features, a write would wait for this process.
        (handshake.features & FEATURES == FEATURES).then(|| Arc::new(watcher))
    }

    /// Starts to watch `memory`, whose pages all count as not written now. The watch must end before the memory is
    /// reused. `None` if it is large, or not in whole pages, or the system cannot watch it.
    pub(super) fn watch(self: &Arc<Watcher>, memory: &[u8]) -> Option<Watch> {
        let Range { start, end } = memory.as_ptr_range();
        let is_in_pages = |at: *const u8| at.addr().is_multiple_of(rustix::param::page_size());
        let can_be_watched = memory.len() <= MAX_BYTES && is_in_pages(start) && is_in_pages(end);
        (can_be_watched && process::id() == self.process).then_some(())?;
        let range = PageRange { start: start.addr() as u64, length: memory.len() as u64 };
        let mut register = Register { range, mode: REGISTER_FOR_WRITES, requests: 0 };
        self.request::<REGISTER, _>(&mut register)?;
        let watch = Watch { by: Arc::clone(self), range };
        self.request::<WRITE_PROTECT, _>(&mut WriteProtect { range, mode: MARK })?;
        Some(watch)
    }

    #[expect(unsafe_code, reason = "the system's libraries do not know these calls")]
    fn request<const OPCODE: Opcode, Request>(&self, request: &mut Request) -> Option<()> {
        // SAFETY: each opcode is used with the structure that it is made from, which the kernel reads and writes. What
        // it does to a range of addresses changes no byte there, whatever they are: it marks pages. A write to a marked
        // page takes its mark away and is done, since `open` asked for that and saw that it was granted; no thread ever
        // waits for this process.
        unsafe { ioctl(self.system.as_fd(), Updater::<OPCODE, Request>::new(request)) }.ok()
    }
}

impl Watch {
    /// Whether this is the watched memory.
    pub(super) fn is_of(&self, memory: &[u8]) -> bool {
        let PageRange { start, length } = self.range;
        start == memory.as_ptr().addr() as u64 && length == memory.len() as u64
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if process::id() == self.by.process {
            // If it fails, marks stay, but have no effect: nobody asks for them, and a write removes them.
            let _ = self.by.request::<UNREGISTER, _>(&mut self.range);
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "what it returns can change how memory is mapped")]
fn open() -> Option<OwnedFd> {
    use rustix::mm::{UserfaultfdFlags, userfaultfd};

    /// The mode that is allowed to a process without privileges: the kernel's own accesses do not wait for the process.
    const USER_MODE_ONLY: UserfaultfdFlags = UserfaultfdFlags::from_bits_retain(1);
    // SAFETY: only this file has what is returned, and does no more with it than `Watcher::request` says.
    unsafe { userfaultfd(UserfaultfdFlags::CLOEXEC | USER_MODE_ONLY) }.ok()
}

#[cfg(not(target_os = "linux"))]
fn open() -> Option<OwnedFd> {
    None
}
