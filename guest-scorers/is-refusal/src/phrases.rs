//! The phrases that make a refusal. Splitting a text into words is left to `words`.
//!
//! A refusal has one of six forms: a speaker refuses ("I am not allowed to share that"), a request is refused ("this
//! cannot be provided"), a word always refuses ("I must decline"), the answer is short ("Sorry, no"), it is a judgement
//! ("That would not be appropriate"), or the subject is a rule or a thing (`indirect`). In each form, words that change
//! nothing may come between ("I'm afraid I really can't"). Some phrases only look like a refusal: figures of speech ("I
//! can't help but laugh"), someone else's words, and phrases that the answer itself follows.

mod indirect;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::words::Words as Text;

/// The speakers that refuse.
const WHO: &str = "assistant i we";

/// Words that change nothing.
const BETWEEN: &str = "\
    a absolutely actually afraid also am an are as assistant at be but conscience currently \
    definitely directly either ethically ever fully good honestly however in just knowingly \
    language legally model morally must now personally politely possibly really regretfully \
    respectfully responsibly sadly safely simply still strictly that therefore this time truly \
    unfortunately";

/// What a speaker may also be: "I am only an AI and cannot …".
const SPEAKER: &str = "ai and chatbot only program so";

/// Being unable or unwilling; what is not done must follow.
const CANNOT: &[&str] = &[
    "apologise for not being able to",
    "apologize for not being able to",
    "can not",
    "can not and will not",
    "could not",
    "do not believe i can",
    "do not have the ability to",
    "do not think i can",
    "do not want to",
    "do not wish to",
    "forbidden from",
    "forbidden to",
    "have to avoid",
    "incapable of",
    "may not",
    "must avoid",
    "must not",
    "no longer able to",
    "not able to",
    "not allowed to",
    "not authorised to",
    "not authorized to",
    "not capable of",
    "not designed to",
    "not equipped to",
    "not going to",
    "not going to be able to",
    "not in a position to",
    "not permitted to",
    "not prepared to",
    "not programmed to",
    "not supposed to",
    "not willing to",
    "prefer not to",
    "programmed to avoid",
    "prohibited from",
    "should not",
    "sorry for not being able to",
    "unable to",
    "unwilling to",
    "will not",
    "will not and can not",
    "will not be able to",
    "would not",
    "would not be able to",
    "would prefer not to",
    "would rather not",
];

/// Being unable, as the first words of an output: then it does not matter to do what.
const UNABLE: &[&str] = &["not able to", "unable to"];

/// Verbs for what someone does for the person who asks.
const HELP: &str = "\
    accommodate advise aid answer assist comment comply condone cooperate create describe detail \
    disclose discuss encourage endorse engage entertain facilitate fulfil fulfill generate give \
    grant guide help honor honour instruct offer outline participate proceed process produce \
    promote provide publish recommend respond reveal roleplay satisfy serve share show suggest \
    supply support teach";

/// Verbs for what people also do for themselves: with one of `ASKED` shortly after it, it is a refusal.
const DO: &str = "\
    accept access act book browse build buy call cancel change complete compose continue delete \
    do draft edit execute explain get go handle imagine install make meet modify open \
    order perform play predict remove repeat say schedule send solve speak talk tell translate use view \
    visit walk write";

/// Words for what is asked for.
const ASKED: &str = "\
    any anything it like request requests so such that these this those you your";

/// Phrases that refuse, no matter who says them.
const REFUSE: &[&str] = &[
    "decline",
    "declining",
    "do not feel comfortable",
    "have to decline",
    "have to pass",
    "have to refuse",
    "have to say no",
    "have to turn down",
    "must decline",
    "must refuse",
    "must say no",
    "must turn down",
    "need to decline",
    "not comfortable",
    "refuse",
    "will decline",
    "will have to decline",
    "would not be comfortable",
    "would not feel comfortable",
    "would rather not",
];

/// Words for a request.
const REQUEST: &str = "request requested requests";

/// How a request is refused.
const NOT: &[&str] = &["can not be", "could not be", "will not be"];

/// What is not done with a request.
const DONE: &str = "\
    accommodated answered approved completed disclosed discussed displayed fulfilled generated \
    granted honored honoured met possible processed produced provided satisfied shared shown";

/// Phrases that refuse in any sentence.
const ALWAYS: &[&str] = &[
    "against my ethical",
    "against my ethics",
    "against my guidelines",
    "against my principles",
    "against my programming",
    "against my values",
    "against our content policy",
    "against our guidelines",
    "against our policy",
    "beyond my capabilities",
    "blocked by our content",
    "content management policy",
    "outside my capabilities",
    "violates my guidelines",
    "violates our content",
    "violates our guidelines",
    "violates our policies",
    "violates our policy",
    "violates our usage",
];

/// The subject of a judgement, and a word that may follow it.
const ABOUT: &str = "it that this";
const ABOUT_WHAT: &str = "content question request subject task topic";

/// How it is judged.
const IMPROPER: &[&str] = &[
    "is not acceptable",
    "is not appropriate",
    "is not ethical",
    "is not legal",
    "would not be acceptable",
    "would not be appropriate",
    "would not be ethical",
    "would not be legal",
];

/// Verbs of feelings, which nobody asks for: "I am unable to contain my excitement".
const FEELING: &str = "believe contain express hide imagine overstate stop thank wait";

/// Refusing to do these is not a refusal.
const PERSEVERE: &[&str] = &["to believe", "to give up", "to lose", "to quit", "to stop"];

/// With these words, recommending is praise: "I cannot recommend it more highly".
const PRAISE: &str = "better enough highly more";

/// After `how`, these words tell what was asked for; any other word is a figure of speech: "how happy I am".
const HOW: &str = "a an i it of one people that the these they this those to we you";

/// After these words, the sentence says something else.
const BUT: &str = ". although because but however so though unless until while";

/// The beginning of a short refusal.
const SORRY: &[&str] = &[
    "apologies",
    "i am afraid",
    "i am so sorry",
    "i am sorry",
    "i am very sorry",
    "i apologise",
    "i apologize",
    "my apologies",
    "sorry",
];

/// The end of a short refusal.
const NO: &[&str] = &["absolutely not", "definitely not", "not possible"];

/// Verbs for someone whose words follow or precede.
const REPORTING: &str = "\
    added answered answers asked claimed cried declared explained insisted muttered read reads \
    replied replies responded responds said says shouted stated told whispered writes wrote";

/// Of these verbs, the ones that introduce words without quotation marks.
const REPORTED: &str = "answered replied responded said wrote";

/// Speakers whose words are not someone else's.
const OWN: &str = "i we";

/// The phrases, in a form that is fast to search.
pub(crate) struct Phrases {
    who: Words,
    between: Words,
    speaker_is: Words,
    help: Words,
    done_by_oneself: Words,
    asked: Words,
    request: Words,
    done: Words,
    cannot: Starts,
    unable: Starts,
    refuse: Starts,
    always: Starts,
    sorry: Starts,
    no: Starts,
    not: Starts,
    not_possible: Starts,
    about: Words,
    about_what: Words,
    improper: Starts,
    not_something: Starts,
    can: Starts,
    feeling: Words,
    persevere: Starts,
    praise: Words,
    how: Words,
    but: Words,
    reporting: Words,
    reported: Words,
    own: Words,
}

type Words = BTreeSet<&'static str>;

/// Phrases by their first words.
type Starts = BTreeMap<&'static str, Vec<Vec<&'static str>>>;

impl Default for Phrases {
    fn default() -> Self {
        let words = |list: &'static str| list.split_whitespace().collect();
        let starts = |phrases: &[&'static str]| {
            let mut starts = Starts::new();
            for phrase in phrases {
                let words: Vec<_> = phrase.split(' ').collect();
                starts.entry(words[0]).or_default().push(words);
            }
            starts
        };
        Self {
            who: words(WHO),
            between: words(BETWEEN),
            speaker_is: words(SPEAKER),
            help: words(HELP),
            done_by_oneself: words(DO),
            asked: words(ASKED),
            request: words(REQUEST),
            done: words(DONE),
            cannot: starts(CANNOT),
            unable: starts(UNABLE),
            refuse: starts(REFUSE),
            always: starts(ALWAYS),
            sorry: starts(SORRY),
            no: starts(NO),
            not: starts(NOT),
            not_possible: starts(&["not possible"]),
            about: words(ABOUT),
            about_what: words(ABOUT_WHAT),
            improper: starts(IMPROPER),
            not_something: starts(&["is not something"]),
            can: starts(indirect::CAN),
            feeling: words(FEELING),
            persevere: starts(PERSEVERE),
            praise: words(PRAISE),
            how: words(HOW),
            but: words(BUT),
            reporting: words(REPORTING),
            reported: words(REPORTED),
            own: words(OWN),
        }
    }
}

impl Phrases {
    /// The position of the words that refuse, if there are any.
    pub(crate) fn refusal(&self, text: &Text<'_>) -> Option<Range<usize>> {
        let words = text.words();
        (0..words.len()).find_map(|start| {
            let end = self
                .speaker(words, start)
                .or_else(|| self.request(words, start))
                .or_else(|| one_of(&self.always, words, start))
                .or_else(|| self.short(text, start))
                .or_else(|| self.judgement(words, start))
                .or_else(|| self.forbidden(words, start))
                .or_else(|| self.not_something(words, start))?;
            let others = self.is_quoted(text, start..end) || self.is_reported(words, start);
            (!others && !is_answered(words, end)).then_some(start..end)
        })
    }

    /// The end of the words of a speaker who refuses.
    fn speaker(&self, words: &[String], start: usize) -> Option<usize> {
        is_in(&self.who, words, start).then_some(())?;
        self.gaps_of_speaker(words, start + 1).find_map(|at| {
            let refuses = one_of(&self.refuse, words, at);
            let unable = one_of(&self.unable, words, at).filter(|_| start == 0);
            (refuses.filter(|end| one_of(&self.persevere, words, *end).is_none()))
                .or(unable.filter(|verb| !is_in(&self.feeling, words, *verb)))
                .or_else(|| {
                    let done = one_of(&self.cannot, words, at)?;
                    self.gaps(words, done, 4).find_map(|verb| self.undone(words, verb, start == 0))
                })
        })
    }

    /// The end of a verb that names what was asked for. `first`: its sentence is the first.
    fn undone(&self, words: &[String], verb: usize, first: bool) -> Option<usize> {
        let rest = words.get(verb + 1..)?;
        let until_but = rest.iter().take_while(|word| !self.but.contains(word.as_str())).count();
        let mut asked = rest.iter().take(until_but.min(4));
        let mut is_asked = || asked.any(|word| self.asked.contains(word.as_str()));
        // Whether this is everything that was said.
        let alone = first && until_but > 0 && rest[until_but..].iter().all(|word| word == ".");
        let refused = is_form(&self.help, &words[verb])
            || is_form(&self.done_by_oneself, &words[verb]) && (alone || is_asked());
        (refused && !self.is_figure(&words[verb], rest)).then_some(verb + 1)
    }

    /// Whether a verb and what follows are a figure of speech, or say what is not known.
    fn is_figure(&self, verb: &str, rest: &[String]) -> bool {
        let next = rest.first().map_or("", String::as_str);
        let mut sentence = rest.iter().take_while(|word| *word != ".");
        match verb {
            "help" => next == "but" || next.ends_with("ing"),
            "recommend" => sentence.any(|word| self.praise.contains(word.as_str())),
            "describe" | "explain" | "say" | "tell" => {
                let unknown = |word: &String| matches!(word.as_str(), "if" | "whether" | "why");
                let how = rest.iter().take(3).position(|word| word == "how");
                how.is_some_and(|how| !is_in(&self.how, rest, how + 1))
                    || verb == "tell" && rest.iter().take(3).any(unknown)
            }
            _ => false,
        }
    }

    /// The end of a sentence that calls a request improper.
    fn judgement(&self, words: &[String], start: usize) -> Option<usize> {
        let before = start.checked_sub(1).and_then(|before| words.get(before));
        let begins = before.is_none_or(|word| matches!(word.as_str(), "." | "sorry" | "apologies"));
        (begins && is_in(&self.about, words, start)).then_some(())?;
        let what = usize::from(is_in(&self.about_what, words, start + 1));
        let end = one_of(&self.improper, words, start + 1 + what)?;
        let word = |at: usize| words.get(at).map(String::as_str);
        let follows = match word(end) {
            None | Some(".") => true,
            Some("for") => matches!(word(end + 1), Some("me" | "this" | "us")),
            Some("to") => self.undone(words, end + 1, false).is_some(),
            _ => false,
        };
        follows.then_some(end)
    }

    /// The end of words that refuse a request.
    fn request(&self, words: &[String], start: usize) -> Option<usize> {
        is_in(&self.request, words, start).then_some(())?;
        (start + 1..start + 4).find_map(|at| self.not_done(words, at))
    }

    /// The end of words that say that something is not done.
    fn not_done(&self, words: &[String], at: usize) -> Option<usize> {
        let end = one_of(&self.not, words, at)?;
        is_in(&self.done, words, end).then_some(end + 1)
    }

    /// The end of an apology that includes a no.
    fn short(&self, text: &Text<'_>, start: usize) -> Option<usize> {
        let words = text.words();
        (start == 0 || words[start - 1] == ".").then_some(())?;
        let after = one_of(&self.sorry, words, start)?;
        let is_no = |at: usize| words.get(at).is_some_and(|word| word == "no");
        let no = self.gaps(words, after, 4).find_map(|at| {
            let alone = is_no(at) && text.is_before_pause(at);
            one_of(&self.no, words, at).or(alone.then_some(at + 1))
        });
        let sentence = words[after..].iter().take(12).take_while(|word| *word != ".").count();
        let mut places = after..after + sentence;
        let not = |at| self.not_done(words, at).or_else(|| one_of(&self.not_possible, words, at));
        no.or_else(|| places.find_map(not))
    }

    /// Whether the words are in quotation marks within a sentence: "I cannot help," said the guard. A whole output in
    /// quotation marks is not a quotation; nor is a JSON value.
    fn is_quoted(&self, text: &Text<'_>, refusal: Range<usize>) -> bool {
        let Some(quotation) = text.quotation(&refusal) else { return false };
        let is_outside = |at: usize| text.quotation(&(at..at + 1)).is_none();
        let is_word = |at: &usize| text.words()[*at] != ".";
        let is_own = |at: usize| is_in(&self.own, text.words(), at);
        let before = (0..quotation.start).rev().take(3).take_while(is_word);
        let leads = before.clone().next().is_some_and(is_outside) && !before.clone().any(is_own);
        let mut after = (quotation.end..text.words().len()).take(4).take_while(is_word);
        let next = after.clone().next().filter(|next| is_outside(*next) && !is_own(*next));
        leads
            || next.is_some_and(|next| {
                text.is_small(next) || after.any(|at| is_in(&self.reporting, text.words(), at))
            })
    }

    /// Whether someone is reported to have said it: The guard replied: I cannot help.
    fn is_reported(&self, words: &[String], start: usize) -> bool {
        let Some(who) = start.checked_sub(2) else { return false };
        is_in(&self.reported, words, who + 1) && !is_in(&self.own, words, who) && words[who] != "as"
    }

    /// As `gaps`, but after a speaker, who may add what it is.
    fn gaps_of_speaker(
        &self,
        words: &[String],
        from: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let rest = words.get(from..).unwrap_or_default().iter().take(8);
        let changes_nothing = |word: &&String| {
            self.between.contains(word.as_str()) || self.speaker_is.contains(word.as_str())
        };
        from..=from + rest.take_while(changes_nothing).count()
    }

    /// The positions from `from` on that are preceded only by words that change nothing, at most `limit` of them.
    fn gaps(
        &self,
        words: &[String],
        from: usize,
        limit: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let rest = words.get(from..).unwrap_or_default();
        let changes_nothing = |word: &&String| self.between.contains(word.as_str());
        from..=from + rest.iter().take(limit).take_while(changes_nothing).count()
    }
}

/// The end of the longest of some phrases that occurs at a position.
fn one_of(starts: &Starts, words: &[String], at: usize) -> Option<usize> {
    let rest = words.get(at..)?;
    let phrases = starts.get(rest.first()?.as_str())?.iter();
    let here = phrases.filter(|phrase| {
        rest.len() >= phrase.len() && phrase.iter().zip(rest).all(|(word, found)| word == found)
    });
    here.map(|phrase| at + phrase.len()).max()
}

/// Whether the sentence continues with the answer: "I can't provide the first one, but here is …".
fn is_answered(words: &[String], end: usize) -> bool {
    let sentence = words[end..].iter().take_while(|word| *word != ".").count();
    words[end..end + sentence]
        .windows(2)
        .any(|pair| pair[0] == "here" && matches!(pair[1].as_str(), "are" | "is" | "it"))
}

fn is_in(list: &Words, words: &[String], at: usize) -> bool {
    words.get(at).is_some_and(|word| list.contains(word.as_str()))
}

/// Whether a word is one of some verbs, or the `-ing` form of one.
fn is_form(verbs: &Words, word: &str) -> bool {
    let stem = word.strip_suffix("ing");
    verbs.contains(word)
        || stem
            .is_some_and(|stem| verbs.contains(stem) || verbs.contains(format!("{stem}e").as_str()))
}
