//! For tests: a scorer that asks a judge, as often and in the way that its configuration states. Its score is the
//! number in the last answer.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, log, schemars};
use scorebox_sdk_judges::{Question, ask, ask_all, embed};
use serde::Deserialize;

/// Asks a judge, as often and in the way that its configuration names.
#[derive(Deserialize, JsonSchema)]
struct Asker {
    /// How it asks.
    #[serde(default)]
    how: How,
    /// How often.
    #[serde(default = "once")]
    times: u32,
    /// The model that it names.
    #[serde(default)]
    model: Option<String>,
    /// Whether it asks in `configure`.
    #[serde(default)]
    while_configured: bool,
}

fn once() -> u32 {
    1
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum How {
    /// One question after the other, each with the answer before it.
    #[default]
    Sequence,
    /// All at the same time, each another sample.
    Together,
    /// The vectors of as many texts.
    Embed,
    /// A question without a message.
    Empty,
    /// Gives 1 whatever it hears.
    Deaf,
    /// Computes without end after the answer.
    Spin,
}

impl Asker {
    fn question(&self, text: &str) -> Question {
        Question::new(text).model(self.model.clone())
    }
}

impl Scorer for Asker {
    type Config = Self;
    const INFO: Info = Info::new("asker", "Asker", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        if config.while_configured {
            log::info(ask(&config.question("Now?")).text);
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let output = output.text()?;
        log::info("begins");
        let said = match self.how {
            How::Sequence => {
                let mut said = output.into_owned();
                for _ in 0..self.times {
                    said = ask(&self.question(&said)).text;
                }
                said
            }
            How::Together => {
                let question = self.question(&output);
                let questions: Vec<Question> =
                    (0..self.times).map(|sample| question.clone().sample(sample)).collect();
                let answers = ask_all(&questions);
                answers.into_iter().map(|answer| answer.text).collect::<Vec<_>>().join(",")
            }
            How::Embed => {
                let texts: Vec<String> =
                    (0..self.times).map(|it| format!("{output}{it}")).collect();
                let vectors = embed(&texts, self.model.as_deref());
                return Ok(Score::new(1.0).reason(format!("{vectors:?}")));
            }
            How::Empty => ask(&Question { messages: Vec::new(), ..Question::default() }).text,
            How::Deaf => {
                let _ = ask(&self.question(&output));
                return Ok(Score::new(1.0));
            }
            How::Spin => {
                let _ = ask(&self.question(&output));
                loop {
                    std::hint::black_box(());
                }
            }
        };
        let score = said.split(',').next_back().and_then(|last| last.trim().parse().ok());
        Ok(Score::new(score.unwrap_or(0.0)).reason(said))
    }
}

scorebox_sdk::export!(Asker);
