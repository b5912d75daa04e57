//! For native tests of scorers: a script that answers in place of a language model. It is not compiled into components.
//!
//! ```
//! use scorebox_sdk_judges::{Question, ask, testing};
//!
//! let judge = testing::answering(|question| format!("{}!", question.messages[0].text));
//! assert_eq!(ask(&Question::new("Well")).text, "Well!");
//! assert_eq!(judge.questions().len(), 1);
//! ```

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::{Answer, Question};

type Script = Rc<dyn Fn(&Question) -> Answer>;
type Embedding = Rc<dyn Fn(&str) -> Vec<f32>>;

#[derive(Clone, Default)]
struct Scripted {
    script: Option<Script>,
    embedding: Option<Embedding>,
    asked: Vec<Question>,
}

thread_local! {
    static SCRIPTED: RefCell<Scripted> = RefCell::default();
}

/// The judge of this thread, until it is dropped.
#[must_use = "the script ends when this is dropped"]
pub struct Judge {
    // A script belongs to its thread.
    _here: std::marker::PhantomData<Rc<()>>,
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("questions", &self.questions()).finish()
    }
}

/// Until the returned judge is dropped, the script answers this thread's questions.
pub fn answering(script: impl Fn(&Question) -> String + 'static) -> Judge {
    giving(move |question| Answer {
        text: script(question),
        model: "script".to_owned(),
        ..Answer::default()
    })
}

/// As [`answering`], but the script returns a whole answer: whether it is truncated, its model and its usage.
pub fn giving(script: impl Fn(&Question) -> Answer + 'static) -> Judge {
    SCRIPTED.with_borrow_mut(|scripted| scripted.script = Some(Rc::new(script)));
    Judge { _here: std::marker::PhantomData }
}

impl Judge {
    /// Also answers with vectors.
    pub fn embedding(self, embedding: impl Fn(&str) -> Vec<f32> + 'static) -> Self {
        SCRIPTED.with_borrow_mut(|scripted| scripted.embedding = Some(Rc::new(embedding)));
        self
    }

    /// The questions so far.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        SCRIPTED.with_borrow(|scripted| scripted.asked.clone())
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        SCRIPTED.with_borrow_mut(|scripted| *scripted = Scripted::default());
    }
}

pub(crate) fn ask(question: &Question) -> Answer {
    let script = SCRIPTED.with_borrow_mut(|scripted| {
        scripted.asked.push(question.clone());
        scripted.script.clone()
    });
    let script = script.expect("a native test needs `testing::answering` before it asks");
    script(question)
}

pub(crate) fn ask_all(questions: &[Question]) -> Vec<Answer> {
    questions.iter().map(ask).collect()
}

pub(crate) fn embed(texts: &[String], _: Option<&str>) -> Vec<Vec<f32>> {
    let embedding = SCRIPTED.with_borrow(|scripted| scripted.embedding.clone());
    let embedding = embedding.expect("a native test needs `Judge::embedding` before it embeds");
    texts.iter().map(|text| embedding(text)).collect()
}

pub(crate) fn unreadable(_: &str) {}
