//! Lists the supported formats and their names. Knows nothing of their content.

use std::{fmt, str::FromStr};

use scorebox::advice::{Advice, Advised, Thing};

/// Defines a format, its name, and a description of its files.
macro_rules! formats {
    ($($format:ident = $name:literal, $meaning:literal;)+) => {
        /// A format of files that contain cases.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $format,)+
        }

        impl Format {
            /// All formats, in the order in which the documentation lists them.
            pub const ALL: &[Format] = &[$(Format::$format),+];

            /// Its name, which is also in `metadata.origin.format`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Format::$format => $name,)+
                }
            }

            /// A short description of a file of this format.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Format::$format => $meaning,)+
                }
            }
        }
    };
}

formats! {
    Cases = "cases", "JSON Lines of cases";
    InspectEval = "inspect-eval", "an Inspect log (.eval)";
    InspectJson = "inspect-json", "an Inspect log (JSON)";
    Promptfoo = "promptfoo", "results of promptfoo";
    LmEval = "lm-eval", "samples of lm-evaluation-harness";
    OpenAiEvals = "openai-evals", "a log of OpenAI evals";
    OpenTelemetry = "opentelemetry", "OpenTelemetry spans of generative AI";
    Csv = "csv", "CSV";
    Parquet = "parquet", "a Parquet file";
    Arrow = "arrow", "an Arrow file or stream";
    HuggingFace = "huggingface", "the folder of a Hugging Face dataset";
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        let found = Format::ALL.iter().find(|format| format.name() == name);
        found.copied().ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}

/// There is no format with this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format `{name}`")]
#[non_exhaustive]
pub struct UnknownFormat {
    /// The name as the user wrote it.
    pub name: String,
}

impl Advised for UnknownFormat {
    fn advice(&self) -> Option<Advice> {
        let names = Format::ALL.iter().map(ToString::to_string).collect();
        Some(Advice::Choose { what: Thing::Format, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_named_and_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(*format));
            assert!(!format.meaning().is_empty());
        }
        assert_eq!("xml".parse::<Format>().unwrap_err().to_string(), "there is no format `xml`");
    }
}
