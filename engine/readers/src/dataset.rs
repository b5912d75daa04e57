//! Reads folders of Hugging Face datasets as cases: the output of `save_to_disk` (Arrow), or a dataset's files as on
//! the hub (Parquet). It leaves the files to `columns`, which reads them in the order of their names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use scorebox::input_file::{open_regular, text_of};
use serde::{Deserialize, de::IgnoredAny};

use crate::{columns::Rows, emit::Emit, format::Format, problem::Problem, source_file::SourceFile};

/// The most files of a dataset, and the most bytes of a file that lists them.
const MAX_FILES: usize = 100_000;
const MAX_LIST_BYTES: u64 = 16 << 20;

/// A file of a dataset.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    split: Option<String>,
    path: PathBuf,
}

/// Whether the folder contains a dataset's metadata files, or files of a dataset.
pub(crate) fn is_one(folder: &Path) -> io::Result<bool> {
    let marks = ["state.json", "dataset_dict.json"];
    if marks.iter().any(|mark| folder.join(mark).is_file()) {
        return Ok(true);
    }
    Ok(!hub_files(folder)?.is_empty())
}

/// Checks whether there is something to read.
pub(crate) fn check(source: &SourceFile) -> Result<(), Problem> {
    match parts(&source.path)?.is_empty() {
        false => Ok(()),
        true => Err(Problem::content("the folder has no Arrow or Parquet files of a dataset")),
    }
}

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let mut parts = parts(&source.path)?.into_iter().peekable();
    while let Some(first) = parts.next() {
        let split = first.split.clone();
        let name = split.as_deref().unwrap_or(&source.file);
        let mut rows = Rows::new(source, Format::HuggingFace, name, split.as_deref());
        let mut next = Some(first);
        while let Some(part) = next {
            put(&part, &mut rows, emit).map_err(|problem| in_part(&part, problem))?;
            next = parts.next_if(|part| part.split == split);
        }
    }
    Ok(())
}

fn put(part: &Part, rows: &mut Rows<'_>, emit: &mut Emit) -> Result<(), Problem> {
    let file = opened(&part.path).map_err(Problem::content)?;
    match part.path.extension().is_some_and(|it| it == "parquet") {
        true => rows.put_parquet(file, emit),
        false => rows.put_arrow(file, emit),
    }
}

/// Opens a file that the folder names, and not the user: a pipe, whose writer may never open it, is not read.
fn opened(path: &Path) -> Result<File, String> {
    open_regular(path).map_err(|error| error.to_string())
}

fn in_part(part: &Part, problem: Problem) -> Problem {
    match problem {
        Problem::Stopped => Problem::Stopped,
        Problem::Io(error) => {
            Problem::Io(io::Error::new(error.kind(), format!("{}: {error}", part.path.display())))
        }
        what @ (Problem::Content(_) | Problem::NoColumn(_)) => {
            Problem::Content(format!("{}: {what}", part.path.display()))
        }
    }
}

/// The files, with those of a split next to each other.
fn parts(folder: &Path) -> Result<Vec<Part>, Problem> {
    #[derive(Deserialize)]
    struct Splits {
        splits: Vec<String>,
    }

    if folder.join("state.json").is_file() {
        return saved(folder, None);
    }
    let list = folder.join("dataset_dict.json");
    if list.is_file() {
        let Splits { splits } = read_list(&list)?;
        let parts =
            splits.into_iter().map(|split| saved(&folder.join(inner(&split)?), Some(split)));
        return Ok(parts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect());
    }
    let files = hub_files(folder)?;
    check_whole(&files)?;
    Ok(files)
}

/// The files of a dataset that `save_to_disk` wrote.
fn saved(folder: &Path, split: Option<String>) -> Result<Vec<Part>, Problem> {
    #[derive(Deserialize)]
    struct State {
        #[serde(rename = "_data_files")]
        files: Vec<DataFile>,
        #[serde(rename = "_indices_data_files", default)]
        indices: Option<Vec<IgnoredAny>>,
    }
    #[derive(Deserialize)]
    struct DataFile {
        filename: String,
    }

    let State { files, indices } = read_list(&folder.join("state.json"))?;
    // This defines which rows there are, and in which order.
    if indices.is_some_and(|files| !files.is_empty()) {
        return Err(Problem::content(
            "the dataset is a choice of the rows in its files (`_indices_data_files`), which is not read: call `flatten_indices()` before `save_to_disk`",
        ));
    }
    if files.len() > MAX_FILES {
        return Err(Problem::content(format!("the dataset has more than {MAX_FILES} files")));
    }
    let part = |file: DataFile| {
        Ok(Part { split: split.clone(), path: folder.join(inner(&file.filename)?) })
    };
    files.into_iter().map(part).collect()
}

/// A name within a folder, which must not lead out of it.
fn inner(name: &str) -> Result<&Path, Problem> {
    let path = Path::new(name);
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(std::path::Component::Normal(_)), None) => Ok(path),
        _ => Err(Problem::content(format!(
            "the dataset names `{name}`, which is not a file in its folder"
        ))),
    }
}

fn read_list<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let name = path.display().to_string();
    let text = opened(path)
        .and_then(|file| text_of(file, MAX_LIST_BYTES).map_err(|error| error.to_string()));
    let text = text.map_err(|why| Problem::content(format!("{name}: {why}")))?;
    serde_json::from_str(&text).map_err(|error| Problem::json(&name, &error))
}

/// The Parquet and Arrow files in the folder and in its `data`, in the order of their splits and names.
fn hub_files(folder: &Path) -> io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for folder in [folder.to_owned(), folder.join("data")] {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_data = path.extension().is_some_and(|it| it == "parquet" || it == "arrow");
            if is_data && path.is_file() {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                parts.push(Part { split: split_of(&stem), path });
            }
            if parts.len() > MAX_FILES {
                return Err(io::Error::other(format!("more than {MAX_FILES} files")));
            }
        }
    }
    parts.sort();
    Ok(parts)
}

/// Checks whether all files of each split exist, if their names contain the number of files.
fn check_whole(files: &[Part]) -> Result<(), Problem> {
    let mut there: BTreeMap<(String, u64), BTreeSet<u64>> = BTreeMap::new();
    for file in files {
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
        if let Some(Numbered { split, number, count }) = numbered(&stem) {
            there.entry((split.to_owned(), count)).or_default().insert(number);
        }
    }
    for ((split, count), numbers) in there {
        if (numbers.len() as u64) < count {
            return Err(Problem::content(format!(
                "the folder has {} of the {count} files of `{split}`: fetch it again",
                numbers.len()
            )));
        }
    }
    Ok(())
}

/// The parts of a name like `train-00000-of-00002`.
struct Numbered<'a> {
    split: &'a str,
    number: u64,
    count: u64,
}

fn numbered(stem: &str) -> Option<Numbered<'_>> {
    let (before, count) = stem.rsplit_once("-of-")?;
    let (split, number) = before.rsplit_once('-')?;
    let number_of = |text: &str| {
        let is_number = text.bytes().all(|it| it.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    };
    let (number, count) = (number_of(number)?, number_of(count)?);
    (!split.is_empty()).then_some(Numbered { split, number, count })
}

/// `train` of `train-00000-of-00002`.
fn split_of(stem: &str) -> Option<String> {
    numbered(stem).map(|numbered| numbered.split.to_owned())
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use scorebox::case::{CaseReader, Mapping};

    use super::*;

    #[test]
    fn a_split_is_in_the_names_of_its_files() {
        assert_eq!(split_of("train-00000-of-00002").as_deref(), Some("train"));
        assert_eq!(split_of("my-test-1-of-1").as_deref(), Some("my-test"));
        assert_eq!(split_of("answers"), None);
        assert_eq!(split_of("a-of-b"), None);
    }

    #[test]
    fn a_split_with_a_missing_file_is_refused() {
        let said = |names: &[&str]| {
            let part = |name: &&str| Part { split: split_of(name), path: PathBuf::from(name) };
            let parts: Vec<Part> = names.iter().map(part).collect();
            check_whole(&parts).map_err(|problem| problem.to_string())
        };
        let whole = ["train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"];
        assert_eq!(said(&whole), Ok(()));
        assert_eq!(said(&["answers", "more"]), Ok(()), "no name says how many there are");
        assert_eq!(
            said(&["train-00000-of-00003", "train-00002-of-00003"]),
            Err("the folder has 2 of the 3 files of `train`: fetch it again".to_owned())
        );
    }

    #[test]
    fn a_dataset_that_is_a_choice_of_rows_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let said = |indices: &str| {
            let state = format!(
                r#"{{"_data_files": [{{"filename": "data.arrow"}}], "_indices_data_files": {indices}}}"#
            );
            fs::write(folder.path().join("state.json"), state).unwrap();
            parts(folder.path()).map(|parts| parts.len()).map_err(|problem| problem.to_string())
        };
        assert_eq!((said("null"), said("[]")), (Ok(1), Ok(1)));
        assert!(
            said(r#"[{"filename": "indices.arrow"}]"#).unwrap_err().contains("flatten_indices")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        };
        make("data.arrow");
        let list = r#"{"_data_files": [{"filename": "data.arrow"}]}"#;
        fs::write(folder.path().join("state.json"), list).unwrap();
        let opened = crate::open(folder.path(), &crate::Settings::new()).unwrap();
        let mut cases = CaseReader::open(vec![opened.source], Mapping::NONE).unwrap();
        let said = cases.next_case().unwrap().unwrap_err().to_string();
        assert!(said.ends_with("data.arrow: this is a pipe, not a file"), "{said}");

        fs::remove_file(folder.path().join("state.json")).unwrap();
        fs::write(folder.path().join("dataset_dict.json"), r#"{"splits": ["test"]}"#).unwrap();
        fs::create_dir(folder.path().join("test")).unwrap();
        make("test/state.json");
        let said = parts(folder.path()).unwrap_err().to_string();
        assert!(said.ends_with("state.json: this is a pipe, not a file"), "{said}");
    }

    #[test]
    fn a_list_cannot_name_what_is_elsewhere() {
        let said =
            |name: &str| inner(name).map(Path::to_path_buf).map_err(|problem| problem.to_string());
        let good = "data-00000-of-00001.arrow";
        assert_eq!(said(good), Ok(PathBuf::from(good)));
        for name in ["../secrets.arrow", "/etc/passwd", "a/b", "..", ""] {
            let why = format!("the dataset names `{name}`, which is not a file in its folder");
            assert_eq!(said(name), Err(why));
        }
    }
}
