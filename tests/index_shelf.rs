//! Indexes of scorers on a web server, signed, with a folder whose configuration names them. It knows none of the
//! tests.

use std::fs;

use scorebox::digest::Digest;
use scorebox_community::{Index, IndexEntry, Signature};

use crate::{
    fixture::{Folder, Output},
    web_server::WebServer,
};

pub(crate) const TEAM: &str = include_str!("signing-keys/team.key");
pub(crate) const OTHER: &str = include_str!("signing-keys/other.key");
/// The public half of `TEAM`, and of `OTHER`.
pub(crate) const TEAM_SIGNER: &str = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI";
const OTHER_SIGNER: &str = "RWRO41MtYsl2RdlXwE0LscqUR2+fYw/Ubbl4ZrS9l6UZ1YN1C717wLm/";

/// A folder with a configuration, and a web server that serves its subfolder `web`.
pub(crate) struct Shelf {
    pub folder: Folder,
    pub server: WebServer,
}

impl Shelf {
    /// A shelf with the index `team` at `HOST/team.json`.
    pub(crate) fn new() -> Shelf {
        let folder = Folder::new();
        let server = WebServer::of(folder.path("web"));
        let shelf = Shelf { folder, server };
        shelf.configure(&[("team", "team.json")]);
        shelf
    }

    /// Configures these indexes of the server, with the team's key.
    pub(crate) fn configure(&self, indexes: &[(&str, &str)]) {
        let host = self.server.host();
        let tables = indexes.iter().map(|(name, file)| {
            format!(
                "[index.{name}]\nurl = \"http://{host}/{file}\"\nsigner = \"{TEAM_SIGNER}\"\nplain-http = true\n"
            )
        });
        self.write_configuration(&tables.collect::<String>());
    }

    pub(crate) fn write_configuration(&self, tables: &str) {
        fs::create_dir_all(self.folder.path("config/scorebox")).unwrap();
        self.folder.write("config/scorebox/config.toml", format!("version = 1\n{tables}"));
    }

    /// Puts a document on the server, signed with a key.
    pub(crate) fn put(&self, file: &str, document: &str, key: &str) {
        let signature = Signature::make(document.as_bytes(), key, None).unwrap();
        self.folder.write(&format!("web/{file}"), document);
        self.folder.write(&format!("web/{file}.minisig"), signature.text());
    }

    /// Puts an index on the server, signed by the team.
    pub(crate) fn put_index(&self, file: &str, serial: u64, entries: &[IndexEntry]) {
        let index = Index::new("team", serial, entries.to_vec()).unwrap();
        self.put(file, &index.text(), TEAM);
    }

    /// Searches; `HOST` replaces the server in the output.
    pub(crate) fn search(&self, words: &str) -> Output {
        self.sh(&format!("scorebox search {words}"))
    }

    pub(crate) fn sh(&self, line: &str) -> Output {
        let settings = "DOCKER_CONFIG=docker HOME=home SCOREBOX_DATA_DIR=data";
        let output = self.folder.sh(&format!("export {settings}; {line}"));
        let named = |text: String| text.replace(&self.server.host(), "HOST");
        Output { stdout: named(output.stdout), stderr: named(output.stderr), code: output.code }
    }
}

/// A scorer of the team, whose id and title are the last part of its name.
pub(crate) fn entry(address: &str) -> IndexEntry {
    let id = address.rsplit(['/', ':']).nth(1).unwrap();
    let component = Digest::of(address.as_bytes());
    IndexEntry::new(address.parse().unwrap(), id, "0.1.0", component, 1234)
        .described(id, &format!("The xylophone of {id}.\n\nMore of it."))
        .signed_by(TEAM_SIGNER.parse().ok())
}

pub(crate) fn signed_by_other(address: &str) -> IndexEntry {
    entry(address).signed_by(OTHER_SIGNER.parse().ok())
}

/// The scorers that a search found, by their ids or addresses.
pub(crate) fn names(output: &Output) -> Vec<String> {
    let rows = output.stdout.lines().skip(1);
    rows.map(|row| row.split(' ').next().unwrap().to_owned()).collect()
}
