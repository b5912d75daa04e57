//! A cache folder that someone else has changed: planted code, exchanged entries, endless files. Files of other users
//! are not read. Changes that cannot be distinguished from the user's own work affect a score, and `verify` finds them.

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use insta::assert_snapshot;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use scorebox::digest::Digest;

use crate::{
    hostile_fixture::{Arena, words},
    hostile_modules::Module,
};

/// The ends of the parts of an entry: magic, digest, key, length of the header.
const DIGEST_ENDS: usize = 8 + 32;
const KEY_ENDS: usize = DIGEST_ENDS + 32;
const LENGTH_ENDS: usize = KEY_ENDS + 4;

/// An arena with `one.wasm`, which scores 1, and `zero.wasm`, which scores 0, both already in the folder `cache`.
struct Cached {
    arena: Arena,
    /// The entries with their code.
    one: PathBuf,
    zero: PathBuf,
}

impl Cached {
    fn new() -> Cached {
        let arena = Arena::new();
        arena.write("one.wasm", Module::default().component());
        let score = "(f64.store (i32.const 4112) (f64.const 0)) (i32.const 4096)";
        arena.write("zero.wasm", Module { score, ..Module::default() }.component());
        let mut cached = Cached { arena, one: PathBuf::new(), zero: PathBuf::new() };
        assert_eq!(cached.score("one"), 1.0);
        cached.one = cached.codes()[0].clone();
        assert_eq!(cached.score("zero"), 0.0);
        cached.zero = cached.codes().into_iter().find(|file| *file != cached.one).unwrap();
        cached
    }

    fn folder(&self) -> PathBuf {
        self.arena.path("cache")
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(self.folder()).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The entries that hold code, as opposed to what a configuration made of it.
    fn codes(&self) -> Vec<PathBuf> {
        let is_code = |file: &PathBuf| {
            let header = &fs::read(file).unwrap()[LENGTH_ENDS..];
            header.starts_with(br#"{"kind":"code""#)
        };
        self.files().into_iter().filter(is_code).collect()
    }

    /// The score that the user sees, without any other message.
    #[track_caller]
    fn score(&self, scorer: &str) -> f64 {
        self.score_saying(scorer, "")
    }

    /// The score that the user sees, and the messages.
    #[track_caller]
    fn score_saying(&self, scorer: &str, said: &str) -> f64 {
        let command = format!("scorebox score ./{scorer}.wasm --output 1 --cache-dir cache");
        let output = self.arena.run(&command).exits_with(0);
        assert_eq!(output.stderr, said);
        output.json()["score"].as_f64().unwrap()
    }

    /// The code of `zero` as a complete entry of `one`, as an attacker who knows the format plants it.
    fn planted(&self) -> Vec<u8> {
        let (one, zero) = (fs::read(&self.one).unwrap(), fs::read(&self.zero).unwrap());
        let (key, length) = (&one[DIGEST_ENDS..KEY_ENDS], &one[KEY_ENDS..LENGTH_ENDS]);
        let code = |entry: &[u8]| {
            let header_bytes = u32::from_le_bytes(entry[KEY_ENDS..LENGTH_ENDS].try_into().unwrap());
            LENGTH_ENDS + header_bytes as usize
        };
        let header = &one[LENGTH_ENDS..code(&one)];
        let code = &zero[code(&zero)..];
        let digest = Digest::of_parts([key, length, header, code]);
        [&one[..8], digest.as_bytes(), key, length, header, code].concat()
    }

    /// Replaces the entry of `one` by `entry`.
    fn plant(&self, entry: &[u8]) {
        fs::remove_file(&self.one).unwrap();
        fs::write(&self.one, entry).unwrap();
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn an_entry_that_another_user_may_have_written_is_not_read_and_is_made_again() {
    let cached = Cached::new();
    let planted = cached.planted();
    cached.plant(&planted);
    assert_eq!(cached.score("one"), 0.0, "the user's own: it is code that runs");

    let elsewhere = cached.arena.path("elsewhere");
    let give_away = || chown(&cached.one, Some(12345), None).unwrap();
    let attacks: [(&str, &dyn Fn()); 6] = [
        ("others can write to it", &|| permit(&cached.one, 0o606)),
        ("a group can write to it", &|| permit(&cached.one, 0o660)),
        ("it has a second name", &|| fs::hard_link(&cached.one, &elsewhere).unwrap()),
        ("it is a link", &|| {
            fs::rename(&cached.one, &elsewhere).unwrap();
            symlink(&elsewhere, &cached.one).unwrap();
        }),
        ("it is someone else's", &give_away),
        ("it is someone else's, who made it for all", &|| {
            give_away();
            permit(&cached.one, 0o666);
        }),
    ];
    // Only root can change the owner of a file.
    let possible = if is_root() { 6 } else { 4 };
    for (what, attack) in &attacks[..possible] {
        let _ = fs::remove_file(&elsewhere);
        cached.plant(&planted);
        attack();
        assert_eq!(cached.score("one"), 1.0, "{what}");
        let made = fs::symlink_metadata(&cached.one).unwrap();
        assert!(made.is_file() && made.mode() & 0o777 == 0o600 && made.nlink() == 1, "{what}");
        assert_eq!(made.uid(), rustix::process::geteuid().as_raw(), "{what}");
        assert_eq!(cached.score("one"), 1.0, "{what}: from the new entry");
    }
}

#[test]
fn a_folder_that_was_open_to_others_is_to_be_removed() {
    let cached = Cached::new();
    permit(&cached.folder(), 0o777);
    let output = cached.arena.run("scorebox score ./one.wasm --output 1 --cache-dir cache");
    assert_eq!(output.json()["score"], 1.0);
    assert_snapshot!(words(&output), @"
    warning: compiled code is not cached: the folder `cache` can be written to by others, who may have planted code in it: choose another folder, or remove this one, and it is made again
    [exit code 0]
    ");
    fs::remove_dir_all(cached.folder()).unwrap();
    assert_eq!(cached.score("one"), 1.0);
    assert_eq!(cached.folder().metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    if !is_root() {
        return; // Only root can change the owner of a folder.
    }
    let cached = Cached::new();
    chown(cached.folder(), Some(12345), None).unwrap();
    let output = cached.arena.run("scorebox score ./one.wasm --output 1 --cache-dir cache");
    assert_snapshot!(words(&output), @"
    warning: compiled code is not cached: the folder `cache` belongs to another user
    [exit code 0]
    ");
}

#[test]
fn exchanged_entries_change_no_score() {
    let cached = Cached::new();
    let (one, zero) = (fs::read(&cached.one).unwrap(), fs::read(&cached.zero).unwrap());
    fs::write(&cached.one, zero).unwrap();
    fs::write(&cached.zero, one).unwrap();
    assert_eq!((cached.score("one"), cached.score("zero")), (1.0, 0.0));
    assert_eq!((cached.score("one"), cached.score("zero")), (1.0, 0.0), "from the new entries");
}

#[test]
fn verify_finds_the_truth_whatever_code_is_in_the_cache() {
    let cached = Cached::new();
    let planted = cached.planted();
    cached.plant(&planted);
    let run = "scorebox run cases.jsonl -s ./one.wasm --run-id r -q --cache-dir cache";
    cached.arena.run(run).exits_with(0);
    assert_eq!(
        cached.arena.rows("SELECT DISTINCT score FROM scores"),
        ["0"],
        "who writes there wins"
    );
    let verify = |options: &str| {
        let output = cached.arena.run(&format!("scorebox verify r --cache-dir cache {options}"));
        format!("{}{}", output.stdout, words(&output))
    };
    assert_snapshot!(verify("--case-id a"), @"
    score        verdict    what   stored  computed
    r:one:0:0:a  different  score  0       1
    r:one:0:0:a  different  fuel   25      22
    0 verified, 1 different, 0 not verifiable
    not compared: the run as a whole
    [exit code 1]
    ");
    assert_snapshot!(verify("--trust-cache"), @"
    6 verified, 0 different, 0 not verifiable
    [exit code 0]
    ");
    assert_eq!(fs::read(&cached.one).unwrap(), planted, "verify writes nothing there");
}

#[test]
fn a_receipt_is_checked_with_code_of_its_own_too() {
    let cached = Cached::new();
    let run = "scorebox run cases.jsonl -s ./one.wasm --run-id r -q --cache-dir cache";
    cached.arena.run(run).exits_with(0);
    let receipt = cached.arena.run("scorebox verify --receipt r:one:0:0:a").exits_with(0).stdout;
    cached.arena.write("receipt.json", receipt);
    cached.arena.write("case.json", r#"{"id": "a", "output": 1, "groundTruth": 1}"#);
    cached.plant(&cached.planted());
    let check = "scorebox verify --check receipt.json --case case.json --component one.wasm";
    cached.arena.run(&format!("{check} --cache-dir cache")).exits_with(0);
    cached.arena.run(&format!("{check} --cache-dir cache --trust-cache")).exits_with(1);
}

#[test]
fn an_entry_that_is_not_a_file_holds_nothing_up() {
    let cached = Cached::new();
    let make = |kind, device| mknodat(CWD, &cached.one, kind, Mode::from(0o600), device);
    let attacks: [(&str, &dyn Fn() -> bool); 5] = [
        ("a pipe", &|| make(FileType::Fifo, 0).is_ok()),
        // Only root can, and not on every system.
        ("zeros without end", &|| make(FileType::CharacterDevice, makedev(1, 5)).is_ok()),
        ("a link to zeros without end", &|| symlink("/dev/zero", &cached.one).is_ok()),
        ("a link to itself", &|| symlink(&cached.one, &cached.one).is_ok()),
        ("more bytes than are read", &|| {
            let file = File::create(&cached.one).unwrap();
            file.set_len((2 << 30) + 1).is_ok()
        }),
    ];
    for (what, attack) in attacks {
        fs::remove_file(&cached.one).unwrap();
        if attack() {
            assert_eq!(cached.score("one"), 1.0, "{what}");
            assert!(fs::symlink_metadata(&cached.one).unwrap().is_file(), "{what}: it is replaced");
        } else {
            fs::write(&cached.one, "").unwrap();
        }
    }
    fs::remove_file(&cached.one).unwrap();
    fs::create_dir(&cached.one).unwrap();
    let said =
        "warning: compiled code is not kept in the folder `cache`: Is a directory (os error 21)\n";
    assert_eq!(cached.score_saying("one", said), 1.0, "a folder");
}

#[test]
fn what_killed_processes_left_is_removed_and_nothing_of_anyone_else() {
    let cached = Cached::new();
    let key = Digest::of(b"killed");
    let names = [
        format!("{key}.0123456789abcdef.code.part"),
        format!("{key}.code.part"),
        "0123456789abcdef.code.part".to_owned(),
        "letters.code.part".to_owned(),
        "letters.code".to_owned(),
        "letters".to_owned(),
    ];
    for name in &names {
        let file = File::create(cached.folder().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3660)).unwrap();
    }
    let new = format!("{key}.fedcba9876543210.code.part");
    fs::write(cached.folder().join(&new), "").unwrap();
    cached.score("one");
    let left = |name: &str| cached.folder().join(name).exists();
    assert!(!left(&names[0]));
    assert!(names[1..].iter().all(|name| left(name)), "{:?}", cached.files());
    assert!(left(&new), "someone may be writing it");
}
