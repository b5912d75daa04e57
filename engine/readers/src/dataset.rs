//! Folders of Hugging Face datasets as cases: what `save_to_disk` wrote (Arrow), or a dataset's files as the hub has them
//! (Parquet). Files are read by `columns`, in the order of their names.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    columns::Rows, emit::Emit, format::Format, place::Place, problem::Problem, table::Columns,
};

/// The most files of a dataset, and bytes of a file that lists them.
const MOST_FILES: usize = 100_000;
const MOST_LIST_BYTES: u64 = 16 << 20;

/// A file of a dataset.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    split: Option<String>,
    path: PathBuf,
}

/// Whether the folder has a dataset's marks, or files of one.
pub(crate) fn is_one(folder: &Path) -> io::Result<bool> {
    let marks = ["state.json", "dataset_dict.json"];
    if marks.iter().any(|mark| folder.join(mark).is_file()) {
        return Ok(true);
    }
    Ok(!hub_files(folder)?.is_empty())
}

/// Whether there is something to read.
pub(crate) fn check(place: &Place) -> Result<(), Problem> {
    match parts(&place.path)?.is_empty() {
        false => Ok(()),
        true => Err(Problem::content("the folder has no Arrow or Parquet files of a dataset")),
    }
}

pub(crate) fn read(place: &Place, emit: &mut Emit) -> Result<(), Problem> {
    let mut parts = parts(&place.path)?.into_iter().peekable();
    while let Some(first) = parts.next() {
        let split = first.split.clone();
        let mut rows = Rows {
            format: Format::HuggingFace,
            file: &place.file,
            name: split.as_deref().unwrap_or(&place.file),
            split: split.as_deref(),
            columns: Columns::of(&place.mapping),
            count: 0,
        };
        let mut next = Some(first);
        while let Some(part) = next {
            put(&part, &mut rows, emit).map_err(|problem| in_part(&part, problem))?;
            next = parts.next_if(|part| part.split == split);
        }
    }
    Ok(())
}

fn put(part: &Part, rows: &mut Rows<'_>, emit: &mut Emit) -> Result<(), Problem> {
    let file = File::open(&part.path)?;
    match part.path.extension().is_some_and(|it| it == "parquet") {
        true => rows.put_parquet(file, emit),
        false => rows.put_arrow(file, emit),
    }
}

fn in_part(part: &Part, problem: Problem) -> Problem {
    match problem {
        Problem::Stopped => Problem::Stopped,
        Problem::Io(error) => {
            Problem::Io(io::Error::new(error.kind(), format!("{}: {error}", part.path.display())))
        }
        Problem::Content(what) => Problem::Content(format!("{}: {what}", part.path.display())),
    }
}

/// The files, a split's side by side.
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
    Ok(hub_files(folder)?)
}

/// The files of a dataset that `save_to_disk` wrote.
fn saved(folder: &Path, split: Option<String>) -> Result<Vec<Part>, Problem> {
    #[derive(Deserialize)]
    struct State {
        #[serde(rename = "_data_files")]
        files: Vec<DataFile>,
    }
    #[derive(Deserialize)]
    struct DataFile {
        filename: String,
    }

    let State { files } = read_list(&folder.join("state.json"))?;
    if files.len() > MOST_FILES {
        return Err(Problem::content(format!("the dataset has more than {MOST_FILES} files")));
    }
    let part = |file: DataFile| {
        Ok(Part { split: split.clone(), path: folder.join(inner(&file.filename)?) })
    };
    files.into_iter().map(part).collect()
}

/// A name inside of a folder: no way out of it.
fn inner(name: &str) -> Result<&Path, Problem> {
    let path = Path::new(name);
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(std::path::Component::Normal(_)), None) => Ok(path),
        _ => Err(Problem::content(format!(
            "the dataset names `{name}`, which is no file in its folder"
        ))),
    }
}

fn read_list<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Problem> {
    let name = path.display().to_string();
    let text = scorebox::input_file::read_text(path, MOST_LIST_BYTES)
        .map_err(|error| Problem::content(format!("{name}: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Problem::json(&name, &error))
}

/// Parquet and Arrow files in the folder and in its `data`, in the order of their splits and names.
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
            if parts.len() > MOST_FILES {
                return Err(io::Error::other(format!("more than {MOST_FILES} files")));
            }
        }
    }
    parts.sort();
    Ok(parts)
}

/// `train` of `train-00000-of-00002`.
fn split_of(stem: &str) -> Option<String> {
    let (before, count) = stem.rsplit_once("-of-")?;
    let (split, number) = before.rsplit_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    (is_number(count) && is_number(number) && !split.is_empty()).then(|| split.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_in_the_names_of_its_files() {
        assert_eq!(split_of("train-00000-of-00002").as_deref(), Some("train"));
        assert_eq!(split_of("my-test-1-of-1").as_deref(), Some("my-test"));
        assert_eq!(split_of("answers"), None);
        assert_eq!(split_of("a-of-b"), None);
    }

    #[test]
    fn a_list_cannot_name_what_is_elsewhere() {
        assert!(inner("data-00000-of-00001.arrow").is_ok());
        for name in ["../secrets.arrow", "/etc/passwd", "a/b", "..", ""] {
            assert!(inner(name).is_err(), "{name}");
        }
    }
}
