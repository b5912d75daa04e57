//! Tests where reading a followed file continues after the file was renamed, replaced, truncated or removed.

use std::{fs, io::Write as _};

use super::*;

/// Reads the whole file, and returns the position after `line` lines.
fn read_to(path: &Path, line: u64) -> FollowPosition {
    let follow = Arc::new(Follow::new(path, None).unwrap());
    let mut file = follow.next_file(0, StopSign::default());
    let mut buffer = [0; 4096];
    assert!(file.read(&mut buffer).unwrap() > 0);
    follow.position(line, line, 0).unwrap()
}

fn rest(path: &Path, position: &FollowPosition) -> Option<String> {
    let follow = Arc::new(Follow::new(path, Some(position)).unwrap());
    assert_eq!(follow.continues_at()?, position.ordinal);
    let mut buffer = vec![0; 4096];
    let count = follow.next_file(position.ordinal, StopSign::default()).read(&mut buffer);
    buffer.truncate(count.unwrap());
    Some(String::from_utf8(buffer).unwrap())
}

#[cfg(unix)]
#[test]
fn a_position_is_found_in_its_file_under_whatever_name_and_in_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.jsonl");
    fs::write(&path, "one\ntwo\nthree\n").unwrap();
    let position = read_to(&path, 2);
    let json = serde_json::to_string(&position).unwrap();
    assert_eq!(serde_json::from_str::<FollowPosition>(&json).unwrap(), position);
    assert_eq!(rest(&path, &position).as_deref(), Some("three\n"));
    // The file was truncated and written again: other lines in the same file.
    fs::write(&path, "1\n2\n3\n").unwrap();
    assert_eq!(rest(&path, &position), None);
    // Fewer of the same lines.
    fs::write(&path, "one\n").unwrap();
    assert_eq!(rest(&path, &position), None);
    // The file was rotated, and written to since.
    fs::write(&path, "one\ntwo\n").unwrap();
    fs::rename(&path, folder.path().join("agent.jsonl.1")).unwrap();
    let mut old = File::options().append(true).open(folder.path().join("agent.jsonl.1"));
    old.as_mut().unwrap().write_all(b"late\n").unwrap();
    fs::write(&path, "new\n").unwrap();
    assert_eq!(rest(&path, &position).as_deref(), Some("late\n"));
}

/// Reads one file, until the reading moves on to the next.
fn to_its_end(file: &mut Followed) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

#[cfg(unix)]
#[test]
fn a_file_that_was_renamed_away_is_read_until_it_is_quiet_and_none_between_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.jsonl");
    let mut old = File::create(&path).unwrap();
    old.write_all(b"0\n").unwrap();
    let follow = Follow { quiet: Duration::from_secs(1), ..Follow::new(&path, None).unwrap() };
    let follow = Arc::new(follow);
    let mut buffer = [0; 100];
    let mut first = follow.next_file(0, StopSign::default());
    assert_eq!(first.read(&mut buffer).unwrap(), 2);
    let reading = thread::spawn(move || to_its_end(&mut first));
    // The path is renamed twice while the program still writes to the first file.
    for (number, name) in ["agent.jsonl.1", "agent.jsonl.2"].iter().enumerate() {
        fs::rename(&path, folder.path().join(name)).unwrap();
        fs::write(&path, format!("new {number}\n")).unwrap();
        for _ in 0..3 {
            thread::sleep(LOOK * 2);
            old.write_all(b"late\n").unwrap();
        }
    }
    assert_eq!(reading.join().unwrap(), "late\n".repeat(6));
    let second = to_its_end(&mut follow.next_file(7, StopSign::default()));
    let mut third = follow.next_file(8, StopSign::default());
    let count = third.read(&mut buffer).unwrap();
    assert_eq!((second.as_str(), &buffer[..count]), ("new 0\n", &b"new 1\n"[..]));
    // A position refers to the file of its line.
    let lines = [(7, 7, 6), (8, 1, 7), (9, 1, 8)];
    let positions = lines.map(|(ordinal, line, of_file)| {
        let position = follow.position(ordinal, line, of_file).unwrap();
        (position.inode, position.line)
    });
    let inode = |name: &str| FileIdentity::at(&folder.path().join(name)).unwrap().inode;
    let names = [("agent.jsonl.1", 7), ("agent.jsonl.2", 1), ("agent.jsonl", 1)];
    assert_eq!(positions, names.map(|(name, line)| (inode(name), line)));
}

/// A new file may get the inode of a removed one.
#[cfg(unix)]
#[test]
fn a_file_of_which_nothing_was_read_is_found_by_its_first_line_too_if_it_had_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.jsonl");
    for (written, is_known) in [("one\ntwo\n", true), ("on", false), ("", false)] {
        fs::write(&path, written).unwrap();
        let position = Follow::new(&path, None).unwrap().beginning(0);
        let resumed = Follow::new(&path, Some(&position)).unwrap();
        assert_eq!(resumed.beginning(7), position);
        fs::write(&path, "one\ntwo\nmore\n").unwrap();
        assert!(rest(&path, &position).is_some());
        fs::write(&path, "another\n").unwrap();
        assert_eq!(rest(&path, &position).is_none(), is_known, "{written}");
        // An older version states nothing about the first line in this case.
        let mut older = serde_json::to_value(&position).unwrap();
        older["version"] = 2.into();
        let older = serde_json::from_value(older).unwrap();
        assert_eq!(rest(&path, &older).as_deref(), Some("another\n"));
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_renamed_away_before_the_reading_begins_is_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.jsonl");
    fs::write(&path, "one\n").unwrap();
    let follow = Follow::new(&path, None).unwrap();
    let follow = Arc::new(Follow { quiet: Duration::ZERO, ..follow });
    let identity = FileIdentity::at(&path).unwrap();
    fs::rename(&path, folder.path().join("agent.jsonl.1")).unwrap();
    fs::write(&path, "two\n").unwrap();
    let beginning = follow.beginning(0);
    assert_eq!((follow.continues_at(), beginning.inode), (None, identity.inode));
    assert_eq!(beginning.replacements, [FileIdentity::at(&path).unwrap()]);
    let one = to_its_end(&mut follow.next_file(0, StopSign::default()));
    let mut buffer = [0; 100];
    let count = follow.next_file(1, StopSign::default()).read(&mut buffer).unwrap();
    assert_eq!((&*one, &buffer[..count]), ("one\n", &b"two\n"[..]));
}

#[cfg(unix)]
#[test]
fn files_that_waited_are_read_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.jsonl");
    let [first, second] = ["agent.jsonl.1", "agent.jsonl.2"].map(|it| folder.path().join(it));
    fs::write(&path, "one\n").unwrap();
    let follow = Arc::new(Follow::new(&path, None).unwrap());
    assert_eq!(follow.next_file(0, StopSign::default()).read(&mut [0; 100]).unwrap(), 4);
    fs::rename(&path, &first).unwrap();
    fs::write(&path, "two\n").unwrap();
    // The reader has not reached the end of the first file yet.
    let position = follow.position(1, 1, 0).unwrap();
    assert_eq!(position.replacements, [FileIdentity::at(&path).unwrap()]);
    fs::rename(&first, &second).unwrap();
    fs::rename(&path, &first).unwrap();
    fs::write(&path, "three\n").unwrap();

    let next = Follow::new(&path, Some(&position)).unwrap();
    assert_eq!((next.continues_at(), next.lost()), (Some(1), 0));
    let next = Arc::new(Follow { quiet: Duration::ZERO, ..next });
    let [rest, two] =
        [1, 1].map(|ordinal| to_its_end(&mut next.next_file(ordinal, StopSign::default())));
    let mut buffer = [0; 100];
    let count = next.next_file(2, StopSign::default()).read(&mut buffer).unwrap();
    assert_eq!((&*rest, &*two, &buffer[..count]), ("", "two\n", &b"three\n"[..]));

    let mut older = serde_json::to_value(&position).unwrap();
    older["version"] = 1.into();
    older.as_object_mut().unwrap().remove("replacements");
    let older = serde_json::from_value(older).unwrap();
    assert_eq!(Follow::new(&path, Some(&older)).unwrap().continues_at(), Some(1));
    fs::remove_file(&first).unwrap();
    assert_eq!(Follow::new(&path, Some(&position)).unwrap().lost(), 1);
}

#[cfg(unix)]
#[test]
fn a_stop_does_not_wait_until_a_file_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.jsonl");
    fs::write(&path, "0\n").unwrap();
    let follow = Follow { quiet: Duration::MAX, ..Follow::new(&path, None).unwrap() };
    let follow = Arc::new(follow);
    let is_replaced = Arc::clone(&follow);
    let stop = StopSign::new(move || !is_replaced.lock().replacements.is_empty());
    let mut file = follow.next_file(0, stop);
    assert_eq!(file.read(&mut [0; 100]).unwrap(), 2);
    fs::rename(&path, folder.path().join("agent.jsonl.1")).unwrap();
    fs::write(&path, "1\n").unwrap();
    let error = file.read(&mut [0; 100]).unwrap_err();
    assert_eq!(error.to_string(), "the reading was stopped");
}
