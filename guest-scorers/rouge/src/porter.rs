//! M. Porter's suffix stripping for English words, with the extensions that NLTK makes by default. It stems a single
//! word of the letters a to z and digits, in lower case.
//!
//! Porter 1980, "An algorithm for suffix stripping", Program 14.3. The same stems as `PorterStemmer` of
//! NLTK 3.10.

/// Words whose stem no rule finds.
const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// The stem of a word.
pub(crate) fn stem(word: &str) -> String {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return (*stem).to_owned();
    }
    if word.len() <= 2 {
        return word.to_owned();
    }
    let word = plural(word);
    let word = past_and_progressive(&word);
    let word = final_y(&word);
    let word = double_suffix(&word);
    let word = step_3(&word);
    let word = step_4(&word);
    let word = final_e(&word);
    double_l(&word)
}

/// Which letters are consonants: all but a, e, i, o, u, and y after a consonant.
fn consonants(word: &str) -> Vec<bool> {
    let mut flags: Vec<bool> = Vec::with_capacity(word.len());
    for letter in word.bytes() {
        let consonant = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => flags.last().is_none_or(|before| !before),
            _ => true,
        };
        flags.push(consonant);
    }
    flags
}

/// How often consonants follow vowels: Porter's m.
fn measure(stem: &str) -> usize {
    consonants(stem).windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn has_measure(stem: &str) -> bool {
    measure(stem) > 0
}

fn has_vowel(stem: &str) -> bool {
    consonants(stem).contains(&false)
}

fn ends_in_double_consonant(word: &str) -> bool {
    match word.as_bytes() {
        [.., before, last] => before == last && consonants(word).last() == Some(&true),
        _ => false,
    }
}

/// Porter's *o: consonant, vowel, consonant other than w, x, y; NLTK also accepts words that are a vowel and a
/// consonant.
fn ends_short(word: &str) -> bool {
    match consonants(word).as_slice() {
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        [false, true] => true,
        _ => false,
    }
}

/// Applies the first rule whose suffix the word has; if its condition does not hold, no rule is applied.
fn first_rule(word: &str, rules: &[(&str, &str)], holds: impl Fn(&str) -> bool) -> String {
    for (suffix, replacement) in rules {
        if let Some(stem) = word.strip_suffix(suffix) {
            return if holds(stem) { format!("{stem}{replacement}") } else { word.to_owned() };
        }
    }
    word.to_owned()
}

/// Step 1a: caresses, ponies, cats.
fn plural(word: &str) -> String {
    if word.len() == 4 && word.ends_with("ies") {
        return word[..3].to_owned();
    }
    first_rule(word, &[("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")], |_| true)
}

/// Step 1b: agreed, plastered, motoring; also repairs what is left: conflat(ed), hopp(ing), fil(ing).
fn past_and_progressive(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ied") {
        return format!("{stem}{}", if word.len() == 4 { "ie" } else { "i" });
    }
    if let Some(stem) = word.strip_suffix("eed") {
        return if has_measure(stem) { format!("{stem}ee") } else { word.to_owned() };
    }
    let stripped = ["ed", "ing"].iter().filter_map(|suffix| word.strip_suffix(suffix));
    let Some(stem) = stripped.into_iter().find(|stem| has_vowel(stem)) else {
        return word.to_owned();
    };
    if ["at", "bl", "iz"].iter().any(|end| stem.ends_with(end)) {
        return format!("{stem}e");
    }
    if ends_in_double_consonant(stem) {
        let keeps = stem.ends_with(['l', 's', 'z']);
        return stem[..stem.len() - usize::from(!keeps)].to_owned();
    }
    let short = measure(stem) == 1 && ends_short(stem);
    format!("{stem}{}", if short { "e" } else { "" })
}

/// Step 1c: happy, but not enjoy; NLTK's condition.
fn final_y(word: &str) -> String {
    first_rule(word, &[("y", "i")], |stem| stem.len() > 1 && consonants(stem).last() == Some(&true))
}

/// Step 2: relational, hesitanci, analogousli.
fn double_suffix(word: &str) -> String {
    // NLTK applies this rule first, and then the whole step to the result.
    if let Some(stem) = word.strip_suffix("alli").filter(|stem| has_measure(stem)) {
        return double_suffix(&format!("{stem}al"));
    }
    const RULES: [(&str, &str); 22] = [
        ("ational", "ate"),
        ("tional", "tion"),
        ("enci", "ence"),
        ("anci", "ance"),
        ("izer", "ize"),
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
        ("ization", "ize"),
        ("ation", "ate"),
        ("ator", "ate"),
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
        ("aliti", "al"),
        ("iviti", "ive"),
        ("biliti", "ble"),
        ("fulli", "ful"),
        ("logi", "log"),
    ];
    // The l of `logi` counts as part of the stem, so that short stems like `theo` have a measure.
    let counted = |stem: &str| match word.strip_suffix("ogi") {
        Some(longer) if longer.len() == stem.len() + 1 => has_measure(longer),
        _ => has_measure(stem),
    };
    first_rule(word, &RULES, counted)
}

/// Step 3: triplicate, hopeful, goodness.
fn step_3(word: &str) -> String {
    let rules = [
        ("icate", "ic"),
        ("ative", ""),
        ("alize", "al"),
        ("iciti", "ic"),
        ("ical", "ic"),
        ("ful", ""),
        ("ness", ""),
    ];
    first_rule(word, &rules, has_measure)
}

/// Step 4: revival, allowance, adoption.
fn step_4(word: &str) -> String {
    const SUFFIXES: [&str; 19] = [
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion",
        "ou", "ism", "ate", "iti", "ous", "ive", "ize",
    ];
    let rules = SUFFIXES.map(|suffix| (suffix, ""));
    first_rule(word, &rules, |stem| {
        measure(stem) > 1 && (!word.ends_with("ion") || stem.ends_with(['s', 't']))
    })
}

/// Step 5a: probate, cease.
fn final_e(word: &str) -> String {
    first_rule(word, &[("e", "")], |stem| {
        let measure = measure(stem);
        measure > 1 || measure == 1 && !ends_short(stem)
    })
}

/// Step 5b: controll, roll.
fn double_l(word: &str) -> String {
    first_rule(word, &[("ll", "l")], |stem| measure(&format!("{stem}l")) > 1)
}

#[cfg(test)]
mod tests {
    use super::stem;

    /// From `PorterStemmer().stem` of NLTK 3.10.4.
    const STEMS: &str = include_str!("porter_stems.txt");

    #[test]
    fn the_stems_are_those_of_nltk() {
        let mut checked = 0;
        for line in STEMS.lines() {
            let (word, expected) = line.split_once(' ').unwrap();
            assert_eq!(stem(word), expected, "{word}");
            checked += 1;
        }
        assert!(checked > 200);
    }

    #[test]
    fn a_long_word_costs_no_more_than_its_length() {
        assert_eq!(stem(&"y".repeat(100_000)).len(), 100_000);
    }
}
