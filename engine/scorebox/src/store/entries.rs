//! What a stored case contains beyond its output: its metadata and unknown keys. It interprets none of it.

use rusqlite::OptionalExtension as _;

use super::{CaseKey, Store, StoreError};
use crate::row::Json;

/// The parts of a case beyond its output.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CaseEntry {
    /// Its metadata, as JSON.
    pub metadata: Option<Json>,
    /// The keys of the case that scorebox does not know, as a JSON object.
    pub other: Option<Json>,
}

impl Store {
    /// The metadata and unknown keys of the case with this key; empty if there is no such case.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_entry(&self, key: CaseKey) -> Result<CaseEntry, StoreError> {
        let read = || {
            let mut query = self
                .conn
                .prepare_cached("SELECT metadata, other_json FROM cases WHERE case_key = ?1")?;
            let entry = query.query_row([key], |row| {
                let [metadata, other]: [Option<String>; 2] = [row.get(0)?, row.get(1)?];
                Ok(CaseEntry { metadata: metadata.map(Json::from), other: other.map(Json::from) })
            });
            entry.optional()
        };
        Ok(self.brief(read)?.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NewCase, sample::*},
        *,
    };
    use crate::contract::{Field, Parts};

    #[test]
    fn a_case_says_about_itself_what_it_was_stored_with() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        let parts = Parts::NONE.with(Field::Metadata, r#"{"entrant":"x"}"#);
        let stated = NewCase { parts, other: Some(r#"{"entrant":1}"#), ..case(0, "stated") };
        let (stated, silent) =
            (added(&mut writer, &stated), added(&mut writer, &case(1, "silent")));
        let entry = writer.store().case_entry(stated).unwrap();
        assert_eq!(entry.metadata.unwrap().get(), r#"{"entrant":"x"}"#);
        assert_eq!(entry.other.unwrap().get(), r#"{"entrant":1}"#);
        assert_eq!(writer.store().case_entry(silent).unwrap(), CaseEntry::default());
    }
}
