//! Attacks that work in any export: computing without end, recursing, taking memory, crashing, filling the log.

use std::{
    arch::wasm32,
    hint::black_box,
    mem,
    num::NonZeroU32,
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    contract::scorebox::scorer::log::{Level, log},
    letters,
    orders::Order,
};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Attacks, if the order is one of these; else it returns, and the attack is in the answer.
pub fn carry_out(order: &Order) {
    match order.word.as_str() {
        "spin" => loop {
            COUNT.fetch_add(1, Ordering::Relaxed);
        },
        "recurse" => {
            recurse(u64::MAX, &COUNT);
        }
        "recurse-with-little-stack" => {
            black_box(descend(u64::MAX));
        }
        "take-memory-at-once" => {
            black_box(vec![1_u8; order.amount]);
        }
        "take-memory-in-steps" => loop {
            black_box(vec![1_u8; 64 << 10].leak());
        },
        "be-refused-memory-and-live" => {
            black_box(wasm32::memory_grow::<0>(65_000));
        }
        "be-refused-memory-and-panic-later" => {
            black_box(wasm32::memory_grow::<0>(65_000));
            log(Level::Error, "something else went wrong");
            wasm32::unreachable()
        }
        "log-lines" => (0..order.amount).for_each(|n| log(Level::Info, &format!("line {n}"))),
        "log-without-end" => loop {
            log(Level::Debug, letters::LINE);
        },
        "log-one-long-line" => log(Level::Info, &letters::long(order.amount)),
        "log-for-a-terminal" => {
            log(Level::Info, letters::FOR_A_TERMINAL);
            log(Level::Error, letters::FOR_A_TERMINAL);
            panic!("{}", letters::FOR_A_TERMINAL);
        }
        "log-a-long-error-and-crash" => {
            log(Level::Error, &letters::long(order.amount));
            wasm32::unreachable()
        }
        "log-what-looks-like-the-engines-words" => {
            log(Level::Error, letters::FORGED);
            wasm32::unreachable()
        }
        "panic" => panic!("was told to panic"),
        "trap" => wasm32::unreachable(),
        "divide-by-zero" => divide(0),
        "read-out-of-bounds" => read(usize::MAX - 64),
        "write-out-of-bounds" => write(usize::MAX - 64),
        "call-nothing" => call(0),
        "call-a-number" => call(1_000_000),
        _ => {}
    }
}

/// Recurses until the stack in its own memory ends.
#[inline(never)]
fn recurse(level: u64, seen: &AtomicU64) -> u64 {
    let own = AtomicU64::new(seen.load(Ordering::Relaxed) ^ level);
    match level {
        0 => 0,
        _ => recurse(level - 1, &own) ^ own.load(Ordering::Relaxed),
    }
}

/// Recurses without using any of its own memory, until the engine's stack for it ends.
#[inline(never)]
fn descend(level: u64) -> u64 {
    match level {
        0 => 0,
        _ => descend(level - 1).wrapping_mul(3) ^ level,
    }
}

// What follows is unsound on purpose: that is the attack, and Wasm traps there.

#[allow(unsafe_code)]
fn divide(by: u32) {
    let zero = unsafe { NonZeroU32::new_unchecked(black_box(by)) };
    black_box(black_box(1) / zero);
}

#[allow(unsafe_code)]
fn read(address: usize) {
    black_box(unsafe { ptr::read_volatile(ptr::without_provenance::<u64>(address)) });
}

#[allow(unsafe_code)]
fn write(address: usize) {
    unsafe { ptr::write_volatile(ptr::without_provenance_mut::<u64>(address), 0) };
}

#[allow(unsafe_code)]
fn call(number: usize) {
    let function = unsafe { mem::transmute::<usize, fn(u64) -> u64>(black_box(number)) };
    black_box(function(1));
}
