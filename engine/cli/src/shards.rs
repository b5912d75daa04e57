//! What commands that read shards share: showing their progress, finding files that are merges, and what to do about an
//! error. It reads no rows.

use std::{io, ops::ControlFlow, path::Path};

use scorebox::{
    advice::{Advice, Advised as _, Form},
    store::StoreError,
};
use scorebox_shards::{Merge, ShardError, TableError};

use crate::{
    advice,
    failure::Failure,
    report::{one_line, shell_word},
    waiting::Waiting,
};

/// The most columns that a hint lists.
const LISTED: usize = 20;
/// The most characters of a list of names in a hint.
const LONGEST_LIST: usize = 440;

/// The error with what to do about it.
pub(crate) fn failure(error: ShardError) -> Failure {
    let message = match &error {
        ShardError::File { path, error } if error.kind() == io::ErrorKind::NotFound => {
            format!("`{}`: no such file or folder", path.display())
        }
        error => error.to_string(),
    };
    let hint = match error {
        ShardError::File { error, .. } if error.kind() == io::ErrorKind::NotFound => {
            advice::words(&Advice::Write(Form::Path))
        }
        ShardError::Table(error) => table_hint(&error),
        ShardError::BadRow { error } => error.advice.as_ref().and_then(advice::words),
        ShardError::AsksJudge { .. } => {
            Some("use `scorebox run`, which records answers; or leave the scorer out of the suite".into())
        }
        ShardError::Run(error) => return error.into(),
        ShardError::Store(error @ StoreError::RunExists { .. }) => {
            let hint = "the run is finished; name another database, or remove the run: `scorebox rm`";
            return Failure::new(error.to_string()).hint(hint);
        }
        ShardError::Store(error) => return error.into(),
        ShardError::Summary { ref error, .. } => error.advice().as_ref().and_then(advice::words),
        ShardError::NotParquet { .. } => {
            Some("make the shard again; one that `scorebox shard` was writing when it ended has another name".into())
        }
        ShardError::BrokenSeal { .. } => Some(
            "copy it again from the machine that made it, or remove it and score it again".into(),
        ),
        ShardError::InputNotParquet { .. } => Some("write the file again".into()),
        ShardError::InputOfAnotherKind { path } => Some(parquet_of(&path)),
        ShardError::NoCases { .. } => {
            Some("a run needs a case; `-o` puts shards without cases together, too".into())
        }
        ShardError::NoShards => Some("name the files, or a folder that they are in".into()),
        ShardError::NotAll { missing: None, .. } => {
            Some("nothing was written; name all shards of the run, once each".into())
        }
        ShardError::NotAll { missing: Some(missing), .. } => {
            Some(format!("nothing was written; missing: {}", one_line(&missing, LONGEST_LIST)))
        }
        ShardError::NotAShard { .. } => Some(
            "`scorebox shard` writes shards; for what a data engine wrote, name the suite with --suite".into(),
        ),
        ShardError::Mixed { .. } => Some(
            "shards of one run need one suite, the same components and one version of scorebox".into(),
        ),
        ShardError::NotThePlan { .. } => Some(
            "name the suite (--suite), the run (--run-id) and the seed (--seed) that it was scored with; a shard that names its plan needs none of \
             them, but the suite for components that are not here"
                .into(),
        ),
        ShardError::Another { .. } => {
            Some("name another file, or remove this one to have it made again".into())
        }
        ShardError::Different { in_one_shard: true, .. } => Some(
            "nothing was written; the file has the case twice: give each row of its input a unique id, or leave it out"
                .into(),
        ),
        ShardError::Different { .. } => Some(
            "nothing was written; score one of the two shards again, or leave one out".into(),
        ),
        ShardError::NoComponent { .. } => {
            Some("put the file where it was when the shards were made".into())
        }
        ShardError::AnotherComponent { .. } => {
            Some("put back the file as it was, or make the shards again with the one that is there".into())
        }
        ShardError::OtherRun { .. } => {
            Some("name the same shards in the same order; or remove the run: `scorebox rm`".into())
        }
        _ => None,
    };
    let failure = Failure::new(message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The note that a file merged from shards counts as one, if a number of shards is expected.
pub fn merged_count(merge: &Merge) -> Option<String> {
    let all: Vec<String> = merge.shards().merged().map(|it| it.display().to_string()).collect();
    let first = one_line(all.first()?, LONGEST_LIST);
    Some(match all.len() - 1 {
        0 => format!("`{first}` was merged from shards, and counts as one"),
        more => format!("`{first}` and {more} more were merged from shards, and count as one each"),
    })
}

/// How to convert a file in another format to Parquet.
fn parquet_of(path: &Path) -> String {
    let name = shell_word(path);
    format!(
        "make lines of cases of it, and Parquet of them: `scorebox convert {name} -o cases.jsonl`, and \
         `duckdb -c \"COPY (FROM 'cases.jsonl') TO 'cases.parquet'\"`; or score it on one machine: `scorebox run`"
    )
}

fn table_hint(error: &TableError) -> Option<String> {
    let names = |there: &[String]| {
        let shown = there.iter().take(LISTED).map(|name| one_line(name, 48));
        let more = if there.len() > LISTED { ", …" } else { "" };
        format!("its columns are {}{more}", shown.collect::<Vec<_>>().join(", "))
    };
    Some(match error {
        TableError::Missing { key, there } => {
            format!("say which it is: --column {key}=COLUMN; {}", names(there))
        }
        TableError::NoColumn { there, .. } => names(there),
        TableError::UnknownKey { .. } => "docs/cases.md lists the keys of a case".to_owned(),
        TableError::NamedTwice { .. } => "name one of them".to_owned(),
        TableError::Twice { .. } => "give one of them another name".to_owned(),
        TableError::NotJson { .. } => "cast it to text or numbers first".to_owned(),
        _ => return None,
    })
}

/// Shows the progress; a signal ends the process.
pub(crate) fn shown(waiting: &Waiting, count: u64) -> ControlFlow<()> {
    waiting.at(count);
    ControlFlow::Continue(())
}

/// The two shards of a difference.
pub(crate) fn where_it_is([one, other]: &[String; 2]) -> String {
    match one == other {
        true => format!("{one}, twice"),
        false => format!("{one} and {other}"),
    }
}
