//! xml-valid: 1 if the output is well-formed XML with the required elements, else 0. It knows no schema and no DTD
//! beyond its entities, and accepts HTML only if it is XML.

mod bounds;
mod candidates;
mod lenient;

use candidates::Candidates;
use roxmltree::{Document, Node, ParsingOptions};
use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Negate, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores 1 if the output is well-formed XML (1.0, with namespaces), else 0.
///
/// With `requiredElements`, the output must also contain these elements. With `at` `anywhere`, an element inside a text
/// is enough, for example in a code block; no DTD is read for it. Nothing is fetched; an undeclared entity makes it
/// invalid. Of a DTD, only the entities are checked, and not whether what stands in for one is well-formed by itself.
/// An element whose name has the prefix `xml` makes it invalid. A text with more than 256 attributes in an element, or
/// more than 64 namespace prefixes, is not parsed: the result is an error.
///
/// Replaces promptfoo's `is-xml`, and with `at` `anywhere` its `contains-xml`; a DTD is allowed
/// here.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct XmlValid {
    /// Where in the output the XML must be.
    #[serde(default)]
    at: At,
    /// Elements that must occur, by path from the root: `order.customer.name`. Names are without
    /// namespace prefix.
    #[serde(default)]
    required_elements: Vec<String>,
    #[serde(default)]
    negate: Negate,
}

/// Where in the output the XML must be.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum At {
    /// The whole output is a single document.
    #[default]
    Whole,
    /// At least one of its elements is: an outermost one, or one inside an element that is malformed.
    Anywhere,
}

impl Scorer for XmlValid {
    type Config = Self;

    const INFO: Info = Info::new("xml-valid", "XML Valid", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        for (index, path) in config.required_elements.iter().enumerate() {
            if path.split('.').any(|name| name.trim().is_empty()) {
                let message = format!("should be names joined by `.`, found \"{path}\"");
                return Err(ConfigError::new(format!("requiredElements[{index}]"), message));
            }
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let text = output.text()?;
        bounds::check(&text)?;
        let found = match self.at {
            At::Whole => self.check(&text),
            At::Anywhere => self.search(&text)?,
        };
        let score = self.negate.pass(found.is_ok());
        Ok(match found {
            Ok(root) => {
                let root = excerpt(&root, 80);
                score
                    .reason(format!("well-formed XML, with the root `{root}`"))
                    .meta(json!({ "root": root }))
            }
            Err(problem) => score.reason(problem.words),
        })
    }
}

/// Why a text does not count.
struct Problem {
    words: String,
    /// Whether it is XML, and only elements are missing.
    well_formed: bool,
}

impl XmlValid {
    /// The name of the root, or what is wrong.
    fn check(&self, text: &str) -> Result<String, Problem> {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let ill_formed = |why: &str| Problem {
            words: format!("not well-formed XML: {}", excerpt(why, 200)),
            well_formed: false,
        };
        let document = Document::parse_with_options(text, options);
        let document = document.map_err(|error| ill_formed(&error.to_string()))?;
        if let Some(fault) = lenient::fault(text) {
            return Err(ill_formed(fault));
        }
        let root = document.root_element();
        let mut required = self.required_elements.iter();
        match required.find(|path| !has_path(document.root(), path)) {
            Some(missing) => Err(Problem {
                words: format!("the element `{}` is missing", excerpt(missing, 80)),
                well_formed: true,
            }),
            None => Ok(root.tag_name().name().to_owned()),
        }
    }

    /// The first element in a text that counts, or what is wrong with the first one that does not.
    fn search(&self, text: &str) -> Result<Result<String, Problem>, ScoreError> {
        let mut candidates = Candidates::new(text);
        let mut first = None;
        while let Some(candidate) = candidates.next()? {
            match self.check(candidate) {
                Ok(root) => return Ok(Ok(root)),
                Err(problem) => {
                    if problem.well_formed {
                        candidates.pass_over();
                    }
                    first = first.or(Some(problem));
                }
            }
        }
        Ok(Err(first.unwrap_or_else(|| Problem {
            words: "no XML element found".to_owned(),
            well_formed: false,
        })))
    }
}

/// Whether a path of names leads from `node` to an element.
fn has_path(node: Node<'_, '_>, path: &str) -> bool {
    let mut level = vec![node];
    for name in path.split('.') {
        let children = level.iter().flat_map(Node::children);
        level = children.filter(|child| child.tag_name().name() == name.trim()).collect();
    }
    !level.is_empty()
}

scorebox_sdk::export!(XmlValid);

#[cfg(test)]
mod tests;
