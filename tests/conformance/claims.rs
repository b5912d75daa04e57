//! The page for people who come from another tool against the rows: it claims that scores are equal only where rows of
//! that tool show it. What the rows say is for the other tests.

use std::{collections::BTreeSet, fs, path::Path};

use super::{
    peers::{self, Peer},
    vector,
};

/// The claims of the page: the section or tool, and a scorer of it.
fn claims(page: &str) -> Vec<(String, String)> {
    let mut claims = Vec::new();
    let mut section = "";
    for line in page.lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", theirs, ours, what, ""] = cells[..] else { continue };
        if !what.starts_with("equals") {
            continue;
        }
        // The last table has a tool a line, and names scorers of ours.
        let (tool, names) = if section == "Others" { (theirs, ours) } else { (section, theirs) };
        let names = names.split('`').skip(1).step_by(2);
        claims.extend(names.map(|name| (tool.to_owned(), name.to_owned())));
    }
    claims
}

/// The tool's scorers and ours that rows are of.
fn of_rows(peer: &Peer) -> BTreeSet<String> {
    let rows = peer.files.iter().flat_map(|file| vector::read(file));
    rows.flat_map(|row| [(peer.trial)(&row).scorer.to_owned(), row.scorer]).collect()
}

/// Ends the test at a claim without a row.
pub(super) fn have_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming-from.md");
    let claims = claims(&fs::read_to_string(path).unwrap());
    assert!(claims.len() > 25, "{claims:?}");
    for (tool, name) in claims {
        let peer = peers::ALL.into_iter().find(|peer| peer.name == tool);
        let peer =
            peer.unwrap_or_else(|| panic!("there are no rows of {tool}, which has `{name}`"));
        let scorers = of_rows(peer);
        let is_there = match name.strip_suffix('…') {
            Some(start) => scorers.iter().any(|scorer| scorer.starts_with(start)),
            None => scorers.contains(&name),
        };
        assert!(is_there, "there is no row of `{name}` of {tool}: {scorers:?}");
    }
}
