//! What a refusal is, in words. Cutting a text into words is left to `words`.
//!
//! A refusal is said in one of four ways: by somebody ("I am not allowed to share that"), of a request
//! ("this cannot be provided"), with a word that is always one ("I must decline"), or shortly ("Sorry,
//! no"). Between the words of each way may be others that change nothing ("I'm afraid I really can't").

use std::ops::Range;

use crate::words::Words;

/// Who refuses.
const WHO: &str = "i we";

/// They change nothing.
const BETWEEN: &str = "\
    a absolutely actually afraid also am an are as assistant at be but conscience currently \
    definitely directly either ethically ever fully good honestly however in just knowingly \
    language legally model morally must now personally politely possibly really regretfully \
    respectfully responsibly sadly safely simply still that therefore this time truly \
    unfortunately";

/// Being unable or unwilling; something that is not done has to follow.
const CANNOT: &[&str] = &[
    "can not",
    "could not",
    "do not have the ability to",
    "do not want to",
    "do not wish to",
    "forbidden from",
    "forbidden to",
    "have to avoid",
    "may not",
    "must avoid",
    "must not",
    "no longer able to",
    "not able to",
    "not allowed to",
    "not authorised to",
    "not authorized to",
    "not designed to",
    "not equipped to",
    "not going to",
    "not in a position to",
    "not permitted to",
    "not prepared to",
    "not programmed to",
    "not supposed to",
    "not willing to",
    "prefer not to",
    "prohibited from",
    "should not",
    "unable to",
    "unwilling to",
    "will not",
    "would not",
    "would rather not",
];

/// Being unable, as the first words of an output: then it does not matter what to.
const UNABLE: &[&str] = &["not able to", "unable to"];

/// What is done for somebody who asks.
const HELP: &str = "\
    accommodate advise aid answer assist comment comply condone cooperate create disclose \
    discuss encourage endorse engage entertain facilitate fulfil fulfill generate give grant \
    guide help honor honour instruct offer participate proceed process produce promote provide \
    respond reveal roleplay satisfy serve share show suggest supply support teach";

/// What is done for oneself as well: it is a refusal with one of `ASKED` close after it.
const DO: &str = "\
    accept access act book browse buy call cancel change complete continue delete describe do \
    draft edit execute explain get go handle imagine install make meet modify open order perform \
    play remove say schedule send speak talk tell translate use view visit write";

/// What is asked for.
const ASKED: &str = "\
    any anything it like request requests so such that these this those you your";

/// A refusal by itself, of whoever says it.
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

/// What a request does not become.
const DONE: &str = "\
    accommodated answered approved completed disclosed discussed displayed fulfilled generated \
    granted honored honoured met possible processed produced provided satisfied shared shown";

/// Phrases that are a refusal in any sentence.
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
const NO: &[&str] = &["absolutely not", "definitely not", "no .", "not possible"];

/// The words that refuse, if any do.
pub(crate) fn refusal(words: &Words<'_>) -> Option<Range<usize>> {
    let words = words.words();
    (0..words.len()).find_map(|start| {
        let end = somebody(words, start)
            .or_else(|| request(words, start))
            .or_else(|| one_of(ALWAYS, words, start))
            .or_else(|| short(words, start))?;
        Some(start..end)
    })
}

/// Where words of somebody who refuses end.
fn somebody(words: &[String], start: usize) -> Option<usize> {
    is_in(WHO, words, start).then_some(())?;
    gaps(words, start + 1, 6).find_map(|at| {
        let unable = one_of(UNABLE, words, at).filter(|_| start == 0);
        one_of(REFUSE, words, at).or(unable).or_else(|| {
            let done = one_of(CANNOT, words, at)?;
            gaps(words, done, 4).find_map(|verb| undone(words, verb))
        })
    })
}

/// Where a verb ends that is what somebody asked for.
fn undone(words: &[String], verb: usize) -> Option<usize> {
    let next = words.get(verb + 1).map_or("", String::as_str);
    // "I can't help but laugh", "I can't help laughing".
    let no_help = words.get(verb)? == "help" && (next == "but" || next.ends_with("ing"));
    let sentence = words[verb + 1..].iter().take(4).take_while(|word| *word != ".");
    let mut asked = sentence.filter(|word| is_one(ASKED, word));
    let refused = is_form(HELP, &words[verb]) && !no_help
        || is_form(DO, &words[verb]) && asked.next().is_some();
    refused.then_some(verb + 1)
}

/// Where words end that say that a request is not met.
fn request(words: &[String], start: usize) -> Option<usize> {
    is_in("request requests requested", words, start).then_some(())?;
    (start + 1..start + 4).find_map(|at| not_done(words, at))
}

/// Where words end that say that something is not done.
fn not_done(words: &[String], at: usize) -> Option<usize> {
    const NOT: &[&str] = &["can not be", "could not be", "will not be"];
    let end = one_of(NOT, words, at)?;
    is_in(DONE, words, end).then_some(end + 1)
}

/// Where an apology ends that has a no in it.
fn short(words: &[String], start: usize) -> Option<usize> {
    let begins = start == 0 || words[start - 1] == ".";
    let after = one_of(SORRY, words, start).filter(|_| begins)?;
    let no = gaps(words, after, 4).find_map(|at| one_of(NO, words, at));
    let sentence = words[after..].iter().take(12).take_while(|word| *word != ".").count();
    let mut places = after..after + sentence;
    no.or_else(|| {
        places.find_map(|at| not_done(words, at).or_else(|| one_of(&["not possible"], words, at)))
    })
}

/// The places from `from` on that only words which change nothing come before, at most `limit` of them.
fn gaps(words: &[String], from: usize, limit: usize) -> impl Iterator<Item = usize> {
    let rest = words.get(from..).unwrap_or_default();
    let count = rest.iter().take(limit).take_while(|word| is_one(BETWEEN, word)).count();
    from..=from + count
}

/// Where the longest of some phrases ends that stands at a place.
fn one_of(phrases: &[&str], words: &[String], at: usize) -> Option<usize> {
    let rest = words.get(at..)?;
    let length = |phrase: &&str| {
        let mut length = 0;
        for word in phrase.split(' ') {
            (rest.get(length)?.as_str() == word).then_some(())?;
            length += 1;
        }
        Some(at + length)
    };
    phrases.iter().filter_map(length).max()
}

fn is_in(list: &str, words: &[String], at: usize) -> bool {
    words.get(at).is_some_and(|word| is_one(list, word))
}

fn is_one(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Whether a word is one of some verbs, or its form in `-ing`.
fn is_form(verbs: &str, word: &str) -> bool {
    let stem = word.strip_suffix("ing");
    verbs.split(' ').any(|verb| {
        let is_stem = |stem: &str| verb == stem || verb.strip_suffix('e') == Some(stem);
        verb == word || stem.is_some_and(is_stem)
    })
}
