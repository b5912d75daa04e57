//! Where the script is stored in this component: room in its memory that scorebox finds by a mark, and fills when it
//! makes a component from a script. `files` reads the content.

use std::cell::UnsafeCell;

/// The size in bytes for the script and the files that it imports, in the form that `files` reads, after a length of
/// four bytes.
const ROOM_BYTES: usize = 1 << 20;

/// Written to before anything runs, so it is not a constant.
#[repr(C, align(8))]
struct Room(UnsafeCell<[u8; ROOM_BYTES]>);

// SAFETY: nothing in this component writes to it.
#[expect(unsafe_code, reason = "a static that is no constant")]
unsafe impl Sync for Room {}

/// Says where the room is. scorebox looks for the mark, and writes to the address in `room`.
#[repr(C)]
struct Slot {
    mark: [u8; 32],
    room: &'static Room,
    bytes: usize,
}

static ROOM: Room = Room(UnsafeCell::new([0; ROOM_BYTES]));

#[used]
static SLOT: Slot =
    Slot { mark: *b"scorebox: room for a script (1)\n", room: &ROOM, bytes: ROOM_BYTES };

/// What scorebox stored; `None` if it stored nothing.
pub(crate) fn content() -> Option<&'static [u8]> {
    let slot: &'static Slot = std::hint::black_box(&SLOT);
    // SAFETY: nothing writes to the room while the component runs.
    #[expect(unsafe_code, reason = "the content of a cell that nothing writes to")]
    let room: &'static [u8; ROOM_BYTES] = unsafe { &*slot.room.0.get() };
    let (length, rest) = room.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    rest.get(..length).filter(|content| !content.is_empty())
}
