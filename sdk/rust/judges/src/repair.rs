//! Asks for a verdict and, if the answer cannot be read, once more in the same conversation. What a second unreadable
//! answer means is decided by `settings`.

use scorebox_sdk::excerpt;

use crate::{Answer, Question, ask_all, reading::MAX_ANSWER_BYTES};

/// How much of an answer that cannot be read is shown, in characters.
const SHOWN: usize = 300;

/// Two answers could not be read. [`Unreadable::settle`](crate::Unreadable::settle) turns this into an error or a
/// score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What is wrong with the second answer, and what it says.
    pub why: String,
}

/// A verdict: `read` extracts it from the answer, or says what is wrong with the answer.
///
/// # Errors
/// [`Unread`] if neither the first answer nor the second can be read; the second question says what was wrong.
pub fn ask_for<T>(
    question: &Question,
    read: impl Fn(&Answer) -> Result<T, String>,
) -> Result<T, Unread> {
    let mut verdicts = ask_all_for(std::slice::from_ref(question), read)?;
    // There is one for each question.
    verdicts.pop().ok_or_else(|| Unread { why: "there is no answer".to_owned() })
}

/// Verdicts on several questions, which are asked concurrently; so are the second questions.
///
/// # Errors
/// [`Unread`] if one of them cannot be read.
pub fn ask_all_for<T>(
    questions: &[Question],
    read: impl Fn(&Answer) -> Result<T, String>,
) -> Result<Vec<T>, Unread> {
    let mut verdicts: Vec<Option<T>> = Vec::new();
    let mut again = Vec::new();
    for (place, answer) in ask_all(questions).iter().enumerate() {
        let read = read_answer(answer, &read);
        if let Err(why) = &read {
            again.push((place, questions[place].continued(said(answer), repair(why))));
        }
        verdicts.push(read.ok());
    }
    let (places, repairs): (Vec<usize>, Vec<Question>) = again.into_iter().unzip();
    for (place, answer) in places.into_iter().zip(ask_all(&repairs)) {
        let verdict = read_answer(&answer, &read).map_err(|why| {
            let text = excerpt(answer.text.trim(), SHOWN);
            Unread { why: format!("{why}; the answer is \"{text}\"") }
        })?;
        verdicts[place] = Some(verdict);
    }
    Ok(verdicts.into_iter().flatten().collect())
}

fn read_answer<T>(
    answer: &Answer,
    read: impl Fn(&Answer) -> Result<T, String>,
) -> Result<T, String> {
    read(answer).map_err(|why| match answer.truncated {
        true => format!("{why}, and it ended early, at the limit of tokens"),
        false => why,
    })
}

/// The model's answer as its turn of the conversation, never empty: providers refuse an empty turn.
fn said(answer: &Answer) -> &str {
    match answer.text.trim() {
        "" => "(no answer)",
        _ if answer.text.len() > MAX_ANSWER_BYTES => "(an answer that was too long)",
        text => text,
    }
}

fn repair(why: &str) -> String {
    format!(
        "Your answer could not be read: {why}. Give your verdict again, only in the form that was asked for, \
         without anything before or after it."
    )
}
