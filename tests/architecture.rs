//! Checks the code against the tables of ARCHITECTURE.md. Each room calls only what its line names, and no room calls
//! itself, directly or through others; the same holds for the files of a room. Each format has the version that its
//! line names. Looks at imports, paths and constants, and not at tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The rooms that a room calls, by its name.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn architecture() -> String {
    fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap()
}

/// The words in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace)
}

/// The table: each room with the rooms that it calls.
fn table(page: &str) -> Arrows {
    let (_, from) = page.split_once("| room | what it does |").unwrap();
    let (rows, _) = from.split_once("\n\n").unwrap();
    let rows = rows.lines().skip(2).map(|row| row.trim_matches('|').split('|').collect::<Vec<_>>());
    let rooms = rows.map(|columns| {
        let [room, _, _, calls] = columns[..] else { panic!("four columns: {columns:?}") };
        let name = quoted(room).next().unwrap().to_owned();
        (name, quoted(calls).map(str::to_owned).collect())
    });
    rooms.filter(|(name, _)| name != "cli").collect()
}

/// Whether a room belongs to a front end, which calls the library from outside.
fn is_of_a_front_end(room: &str) -> bool {
    room.starts_with("cli/")
        || [
            "community",
            "connections",
            "exports",
            "judges",
            "pages",
            "python",
            "readers",
            "shards",
            "telemetry",
        ]
        .contains(&room)
}

/// The files next to the rooms, which any room may call.
fn beside(page: &str) -> BTreeSet<String> {
    let (_, from) = page.split_once("small files stand beside the rooms: ").unwrap();
    let (sentence, _) = from.split_once("\n\n").unwrap();
    let named = sentence.split_inclusive(')').filter_map(|part| quoted(part).next());
    named.map(str::to_owned).collect()
}

/// All Rust files below a path, except tests.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let of_tests =
            ["tests", "sample", "properties"].contains(&stem) || stem.ends_with("_tests");
        if !of_tests && (path.is_dir() || path.extension().is_some_and(|it| it == "rs")) {
            found.extend(sources(&path));
        }
    }
    found
}

/// The code of a file without comments and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let (code, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names directly after `path`, such as `crate::`: one, or each name of a list in braces.
fn named_behind(path: &str, code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (place, _) in code.match_indices(path) {
        let before = code[..place].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || before == '_' || before == ':') {
            continue;
        }
        let rest = &code[place + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => names.extend(name_at(rest)),
        }
    }
    names
}

/// The first name of each element of a list, up to the brace that closes it.
fn first_names(list: &str) -> Vec<String> {
    let (mut depth, mut names, mut begins) = (0, Vec::new(), true);
    for (place, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return names,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if depth == 0 && begins && !character.is_whitespace() => {
                names.extend(name_at(&list[place..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn name_at(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The calls of the library's rooms, as found in the code.
fn arrows(beside: &BTreeSet<String>) -> Arrows {
    let library = repository().join("engine/scorebox/src");
    let root = code(&library.join("lib.rs"));
    let modules: BTreeSet<String> = root
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect();
    let calls = modules.iter().map(|room| {
        let places = [library.join(room), library.join(format!("{room}.rs"))];
        let files = places.iter().filter(|path| path.exists()).flat_map(|path| sources(path));
        let named = files.flat_map(|file| named_behind("crate::", &code(&file)));
        // A name that is not a module is re-exported by the root of the crate.
        let called = named.filter(|name| modules.contains(name) && name != room);
        (room.clone(), called.collect::<BTreeSet<_>>())
    });
    let all: Arrows = calls.collect();
    for file in beside {
        let called = all.get(file).unwrap_or_else(|| panic!("there is no file `{file}`"));
        assert!(called.is_subset(beside), "`{file}` stands beside the rooms, and calls {called:?}");
    }
    let rooms = all.into_iter().filter(|(room, _)| !beside.contains(room));
    rooms.map(|(room, called)| (room, called.difference(beside).cloned().collect())).collect()
}

/// A path from a room back to itself.
fn circle(arrows: &Arrows) -> Option<Vec<&str>> {
    fn follow<'a>(
        arrows: &'a Arrows,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> bool {
        let here = way[way.len() - 1];
        for next in arrows.get(here).into_iter().flatten() {
            if let Some(start) = way.iter().position(|room| room == next) {
                way.drain(..start);
                way.push(next);
                return true;
            }
            if done.contains(next.as_str()) {
                continue;
            }
            way.push(next);
            if follow(arrows, way, done) {
                return true;
            }
            way.pop();
        }
        done.insert(here);
        false
    }
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|room| {
        let mut way = vec![room.as_str()];
        follow(arrows, &mut way, &mut done).then_some(way)
    })
}

/// The rooms of the library that the front ends call, as found in the code.
fn arrows_from_outside(table: &Arrows, beside: &BTreeSet<String>) -> Arrows {
    let rooms = table.keys().filter(|room| is_of_a_front_end(room));
    let calls = rooms.map(|room| {
        let folder = match room.strip_prefix("cli/") {
            Some(room) => repository().join("engine/cli/src").join(room),
            None => repository().join("engine").join(room).join("src"),
        };
        let places = [folder.with_extension("rs"), folder];
        let files = places.iter().filter(|path| path.exists()).flat_map(|path| sources(path));
        let named = files.flat_map(|file| named_behind("scorebox::", &code(&file)));
        (room.clone(), named.filter(|name| !beside.contains(name)).collect())
    });
    calls.collect()
}

#[test]
fn each_room_calls_the_rooms_that_the_table_names_and_no_others() {
    let page = architecture();
    let (table, beside) = (table(&page), beside(&page));
    let mut code = arrows(&beside);
    code.extend(arrows_from_outside(&table, &beside));
    let rooms = |arrows: &Arrows| arrows.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(rooms(&table), rooms(&code), "left: the table; right: the code");
    let mut wrong = Vec::new();
    for (room, called) in &code {
        let missing =
            called.difference(&table[room]).map(|to| format!("{room} -> {to}: only in the code"));
        let unused =
            table[room].difference(called).map(|to| format!("{room} -> {to}: only in the table"));
        wrong.extend(missing.chain(unused));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_folder_of_the_command_line_is_in_the_table_but_that_of_the_commands() {
    let source = repository().join("engine/cli/src");
    let entries = fs::read_dir(&source).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: BTreeSet<String> =
        folders.map(|it| format!("cli/{}", it.file_name().to_str().unwrap())).collect();
    assert!(names.remove("cli/command"), "{names:?}");
    let table = table(&architecture());
    let unnamed: Vec<&String> = names.iter().filter(|name| !table.contains_key(*name)).collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

#[test]
fn no_command_calls_another() {
    let commands = repository().join("engine/cli/src/command");
    let map = code(&commands.join("mod.rs"));
    let names: BTreeSet<&str> =
        map.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    assert!(names.contains("run"), "{names:?}");
    for name in &names {
        let file = code(&commands.join(format!("{name}.rs")));
        let called = named_behind("super::", &file).into_iter();
        let called: Vec<String> = called.filter(|it| names.contains(it.as_str())).collect();
        assert!(called.is_empty(), "the command `{name}` calls {called:?}");
        for file in sources(&commands).iter().map(|path| code(path)) {
            assert_eq!(named_behind("crate::command::", &file), BTreeSet::new());
        }
    }
}

#[test]
fn no_room_calls_itself_over_others() {
    let page = architecture();
    assert_eq!(circle(&arrows(&beside(&page))), None);
    let of = |pairs: &[(&str, &str)]| {
        let mut arrows = Arrows::new();
        for (from, to) in pairs {
            arrows.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        arrows
    };
    assert_eq!(circle(&of(&[("a", "b"), ("a", "c"), ("b", "c")])), None);
    let arrows = of(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]);
    assert_eq!(circle(&arrows), Some(vec!["b", "c", "d", "b"]));
}

/// A folder with a map of its files (`mod.rs`, or `lib.rs` and `main.rs` of a crate), and the path by which its files
/// call one another.
struct Folder {
    map: PathBuf,
    /// `crate::` in a crate's own folder; else `super::`, and from anywhere `crate::ROOM::`.
    paths: Vec<String>,
}

/// All folders with a map below `path`, which is the source folder of a crate.
fn folders(path: &Path) -> Vec<Folder> {
    let mut found = Vec::new();
    let mut open = vec![(path.to_owned(), "crate::".to_owned())];
    while let Some((folder, path)) = open.pop() {
        let map = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name));
        let inside = if path == "crate::" { path.clone() } else { "super::".to_owned() };
        let map = map.into_iter().find(|map| map.exists());
        found.extend(map.map(|map| Folder { map, paths: vec![inside, path.clone()] }));
        for entry in fs::read_dir(&folder).unwrap() {
            let below = entry.unwrap().path();
            if below.is_dir() {
                let name = below.file_name().unwrap().to_str().unwrap();
                open.push((below.clone(), format!("{path}{name}::")));
            }
        }
    }
    found
}

/// Which of a folder's files import which, including the files below them. A name that the folder's map re-exports
/// counts as a name of its file. Every file may use what the map itself defines.
fn files_of(folder: &Folder) -> Arrows {
    let map = code(&folder.map);
    let visible = ["pub(crate) ", "pub(super) ", "pub ", ""];
    let said = |line: &str, word: &str| {
        visible
            .iter()
            .find_map(|before| Some(line.strip_prefix(before)?.strip_prefix(word)?.to_owned()))
    };
    let names: BTreeSet<String> = map
        .lines()
        .filter_map(|line| Some(said(line, "mod ")?.strip_suffix(';')?.to_owned()))
        .collect();
    let mut from = BTreeMap::new();
    for statement in map.split(';') {
        let Some(path) = said(statement.trim(), "use ") else { continue };
        let Some((file, rest)) = path.split_once("::").filter(|(file, _)| names.contains(*file))
        else {
            continue;
        };
        let list = rest.trim_start_matches('{');
        from.extend(
            first_names(&format!("{list}}}")).into_iter().map(|name| (name, file.to_owned())),
        );
    }
    let place = folder.map.parent().unwrap();
    let imports = names.iter().map(|name| {
        let file = place.join(format!("{name}.rs"));
        let below = sources_below(&place.join(name));
        let own = [file].into_iter().filter(|file| file.exists());
        let mut named = BTreeSet::new();
        for file in own.chain(below) {
            // In each nested folder, the same file is one more `super` away; its map represents the folder itself.
            let steps = file.strip_prefix(place).unwrap().components().count() - 1;
            let is_map = file.file_name().is_some_and(|name| name == "mod.rs");
            for path in &folder.paths {
                let path = match path.as_str() {
                    "super::" => "super::".repeat(1 + steps - usize::from(is_map)),
                    path => path.to_owned(),
                };
                named.extend(named_behind(&path, &code(&file)));
            }
        }
        let called = named.into_iter().filter_map(|it| match names.contains(&it) {
            true => Some(it),
            false => from.get(&it).cloned(),
        });
        (name.clone(), called.filter(|file| file != name).collect())
    });
    imports.collect()
}

/// The files of a folder and those below it; none if there is no such folder.
fn sources_below(folder: &Path) -> Vec<PathBuf> {
    if folder.is_dir() { sources(folder) } else { Vec::new() }
}

/// The source folders of the crates: the engine's, the SDK's, those of the built-in scorers, and of what runs scripts.
fn crates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for group in ["engine", "sdk/rust", "guest-scorers", "script-engines"] {
        let folders = fs::read_dir(repository().join(group)).unwrap();
        let crates = folders.map(|entry| entry.unwrap().path().join("src"));
        found.extend(crates.filter(|sources| sources.is_dir()));
    }
    found
}

#[test]
fn the_files_of_each_folder_import_one_another_in_one_direction() {
    let folders: Vec<Folder> = crates().iter().flat_map(|path| folders(path)).collect();
    let circles = folders.iter().filter_map(|folder| {
        let files = files_of(folder);
        let way = circle(&files)?.join(" -> ");
        Some(format!("{}: {way}", folder.map.display()))
    });
    let circles: Vec<String> = circles.collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// The files that a map declares but does not name, except tests.
fn unnamed(map: &Path) -> Vec<String> {
    let text = fs::read_to_string(map).unwrap();
    let head: Vec<&str> = text.lines().filter(|line| line.starts_with("//!")).collect();
    let head = head.join(" ");
    let named: BTreeSet<&str> = quoted(&head).flat_map(|word| word.split(['/', '.'])).collect();
    let linked = |name: &str| head.contains(&format!("[`{name}`]"));
    let visible = ["pub(crate) mod ", "pub mod ", "mod "];
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.iter().enumerate().filter_map(|(at, line)| {
        let name = visible.iter().find_map(|before| line.strip_prefix(before))?;
        let is_a_test = at > 0 && lines[at - 1] == "#[cfg(test)]";
        name.strip_suffix(';').filter(|name| !is_a_test && *name != "tests")
    });
    declared.filter(|name| !named.contains(name) && !linked(name)).map(str::to_owned).collect()
}

#[test]
fn each_map_names_every_file_of_its_folder() {
    let is_a_scorer = |map: &Path| map.starts_with(repository().join("guest-scorers"));
    let folders = crates().into_iter().flat_map(|path| folders(&path)).map(|folder| folder.map);
    let maps: Vec<PathBuf> = folders
        .filter(|map| !is_a_scorer(map) && !map.iter().any(|folder| folder == "tests"))
        // The help of the program describes its commands, so it is their map.
        .filter(|map| !map.ends_with("engine/cli/src/command/mod.rs"))
        .collect();
    assert!(maps.len() > 40, "{maps:?}");
    let unnamed: Vec<String> = maps
        .iter()
        .flat_map(|map| unnamed(map).into_iter().map(|file| format!("{}: {file}", map.display())))
        .collect();
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}

/// Each format in ARCHITECTURE.md's table whose version is a constant, and the location of that constant.
const FORMATS: [(&str, &str, &str); 13] = [
    ("root of a run", "scorebox/src/store/root.rs", "VERSION"),
    ("suite file", "scorebox/src/suite/file.rs", "VERSION"),
    ("`scorebox.lock`", "community/src/lock.rs", "VERSION"),
    ("gallery manifest", "scorebox/src/build/manifest.rs", "MANIFEST_VERSION"),
    ("receipt", "scorebox/src/verify/receipt.rs", "VERSION"),
    ("bundle", "community/src/bundle/layout.rs", "VERSION"),
    ("index of scorers", "community/src/index/document.rs", "VERSION"),
    ("user's configuration", "cli/src/user_configuration/mod.rs", "VERSION"),
    ("position in a followed file", "scorebox/src/case/follow_position.rs", "VERSION"),
    ("rows of a shard", "shards/src/schema.rs", "SCHEMA_VERSION"),
    ("cache entry", "scorebox/src/sandbox/cache.rs", "MAGIC"),
    ("index of a database's cases, for pages", "scorebox/src/store/case_index/mod.rs", "VERSION"),
    ("contract", "scorebox/src/contract/mod.rs", "CONTRACT_VERSION"),
];

#[test]
fn each_format_has_the_version_that_the_table_names() {
    let page = architecture();
    let (_, table) = page.split_once("\n## Formats with a version\n").unwrap();
    for (format, file, constant) in FORMATS {
        let path = repository().join("engine").join(file);
        let code = fs::read_to_string(path).unwrap();
        let (_, from) = code.split_once(&format!("const {constant}: ")).expect(file);
        let (_, value) = from.split_once(" = ").unwrap();
        let (value, _) = value.split_once(';').unwrap();
        let version = value.trim_start_matches('b').trim_matches('"');
        let (_, row) = table.split_once(&format!("\n| {format} | ")).expect(format);
        let (documented, _) = row.split_once(" | ").unwrap();
        let mut words = documented.split(|it: char| !it.is_ascii_alphanumeric() && it != '.');
        assert!(words.any(|word| word == version), "{format}: {version} in the code, {documented}");
    }
}

#[test]
fn imports_among_the_files_of_a_folder_are_found() {
    let library = repository().join("engine/scorebox/src");
    assert!(crates().contains(&library));
    let of = |room: &str| {
        let map = library.join(room).join("mod.rs");
        files_of(&folders(&library).into_iter().find(|folder| folder.map == map).unwrap())
    };
    let sandbox = of("sandbox");
    assert!(sandbox["imports"].contains("state") && sandbox["state"].contains("capabilities"));
    // The map re-exports `Limits`.
    assert!(sandbox["capabilities"].contains("limits"), "{sandbox:?}");
    // A file in a nested folder calls a file next to that folder.
    assert!(sandbox["split"].contains("settings"), "{sandbox:?}");
    assert!(of("sandbox/split")["module"].contains("global"));
}

#[test]
fn imports_are_found_however_they_are_written() {
    let code = "use crate::digest::Digest;\nuse crate::{\n    case::{Case, Key},\n    row::Row as R,\n};\n\
                fn f() -> crate::store::Store { other_crate::not_this::f() }";
    let names: Vec<String> = named_behind("crate::", code).into_iter().collect();
    assert_eq!(names, ["case", "digest", "row", "store"]);
}
