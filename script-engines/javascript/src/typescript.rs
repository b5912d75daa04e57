//! Compiles TypeScript to JavaScript: removes the types, and leaves the rest at its line and column. sucrase does it,
//! which is itself JavaScript (`typescript/`), in a separate interpreter of which nothing stays in memory. It checks no
//! types.

use std::{alloc::Layout, collections::BTreeMap, mem};

use rquickjs::{
    CatchResultExt, CaughtError, Context, Function, Module, Object, Runtime, Value,
    allocator::Allocator,
};

use crate::{complaint::Complaint, files::Files, memory, place::Place};

/// The stack size in bytes: more than a script has, because it calls only its own functions.
const STACK_BYTES: usize = 176 << 10;

const STRIPPER: &str = include_str!("../typescript/strip.bundle.js");

/// The files, with the JavaScript of those that are TypeScript; the error names the place and shows the line.
pub(crate) fn strip(files: Files) -> Result<Files, String> {
    let javascript = javascript(&files)?;
    Ok(files.with_javascript(javascript))
}

fn javascript(files: &Files) -> Result<BTreeMap<String, String>, String> {
    let mut texts = files.typescript().peekable();
    if texts.peek().is_none() {
        return Ok(BTreeMap::new());
    }
    let unable = |error: CaughtError<'_>| format!("types cannot be taken away: {error}");
    let runtime = Runtime::new_with_alloc(Erasing).map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(STACK_BYTES);
    runtime.set_gc_threshold(usize::MAX);
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    context.with(|ctx| {
        let module =
            Module::declare(ctx.clone(), "typescript", STRIPPER).catch(&ctx).map_err(unable)?;
        let (module, done) = module.eval().catch(&ctx).map_err(unable)?;
        done.finish::<()>().catch(&ctx).map_err(unable)?;
        let strip: Function<'_> = module.get("default").catch(&ctx).map_err(unable)?;
        texts
            .map(|(name, text)| {
                let stripped = strip.call::<_, String>((text.as_str(),)).catch(&ctx);
                let stripped =
                    stripped.map_err(|error| refused(error, name).before_the_run(files))?;
                Ok((name.clone(), stripped))
            })
            .collect()
    })
}

/// A syntax error in sucrase's words, which end with its place: `Unexpected token (3:5)`.
fn refused(error: CaughtError<'_>, name: &str) -> Complaint {
    if memory::ran_out(&error) {
        Complaint::new(format!("out of memory while types are taken away from {name}"), None)
            .stop();
    }
    let CaughtError::Exception(exception) = &error else {
        return Complaint::of(error, None);
    };
    let message = exception.message().unwrap_or_default();
    let place = || {
        let place: Object<'_> = exception.get("loc").ok()?;
        let number = |key| place.get::<_, Value<'_>>(key).ok()?.as_number();
        Some(Place {
            file: name.to_owned(),
            line: number("line")? as usize,
            column: number("column")? as usize,
        })
    };
    let text = message.rsplit_once(" (").map_or(message.as_str(), |(text, _)| text);
    Complaint::new(format!("SyntaxError: {text}"), place())
}

/// An allocator that zeroes freed memory, so that the image that every score starts from contains none of it.
struct Erasing;

/// The size of a block is stored before it.
const HEADER_BYTES: usize = 8;

impl Erasing {
    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size.checked_add(HEADER_BYTES)?, HEADER_BYTES).ok()
    }
}

// SAFETY: blocks come from the global allocator with room for their size before them, aligned to 8 bytes.
#[expect(unsafe_code, reason = "the interpreter wants an allocator in C's manner")]
unsafe impl Allocator for Erasing {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        let Some(layout) = Erasing::layout(size) else {
            return memory::remembered(std::ptr::null_mut(), size);
        };
        // SAFETY: the layout is at least as large as the header.
        unsafe {
            let block = memory::remembered(std::alloc::alloc_zeroed(layout), size);
            if block.is_null() {
                return block;
            }
            block.cast::<usize>().write(size);
            block.add(HEADER_BYTES)
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            Some(size) => self.alloc(size),
            None => std::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, place: *mut u8) {
        // SAFETY: `place` is from `alloc`, so its size is stored before it, and the layout is the same.
        unsafe {
            let block = place.sub(HEADER_BYTES);
            let size = block.cast::<usize>().read();
            block.write_bytes(0, HEADER_BYTES + size);
            if let Some(layout) = Erasing::layout(size) {
                std::alloc::dealloc(block, layout);
            }
        }
    }

    unsafe fn realloc(&mut self, place: *mut u8, size: usize) -> *mut u8 {
        if place.is_null() {
            return self.alloc(size);
        }
        let moved = self.alloc(size);
        if !moved.is_null() {
            // SAFETY: both blocks are at least as long as the shorter one.
            unsafe {
                let before = Erasing::usable_size(place);
                moved.copy_from_nonoverlapping(place, before.min(size));
                self.dealloc(place);
            }
        }
        moved
    }

    unsafe fn usable_size(place: *mut u8) -> usize {
        // SAFETY: `place` is from `alloc`.
        unsafe { place.sub(HEADER_BYTES).cast::<usize>().read() }
    }
}

const _: () = assert!(mem::size_of::<usize>() <= HEADER_BYTES);
