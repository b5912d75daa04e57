//! Decides whether two texts look alike although their characters differ: letters with accents that consist of one or
//! two characters, Cyrillic and Greek letters that look like Latin ones, and other spaces and hyphens. Knows the usual
//! characters, not all of Unicode.

/// Replaces the accents of a letter, whichever they are.
const ACCENTED: char = '\u{fffc}';

/// Characters that look like those at the same position of the other text.
const ALIKE: [(&str, &str); 7] = [
    (
        "\u{410}\u{412}\u{421}\u{415}\u{41d}\u{406}\u{408}\u{41a}\u{41c}\u{41e}\u{420}\u{405}",
        "ABCEHIJKMOPS",
    ),
    (
        "\u{422}\u{425}\u{423}\u{430}\u{441}\u{501}\u{435}\u{4bb}\u{456}\u{458}\u{43e}\u{440}",
        "TXYacdehijop",
    ),
    ("\u{51b}\u{455}\u{51d}\u{445}\u{443}", "qswxy"),
    (
        "\u{391}\u{392}\u{395}\u{396}\u{397}\u{399}\u{39a}\u{39c}\u{39d}\u{39f}\u{3a1}\u{3a4}",
        "ABEZHIKMNOPT",
    ),
    ("\u{3a5}\u{3a7}\u{3bf}\u{3bd}", "YXov"),
    ("\u{a0}\u{2002}\u{2003}\u{2007}\u{2009}\u{202f}\u{3000}", "       "),
    ("\u{2010}\u{2011}\u{2012}\u{2013}\u{2212}", "-----"),
];

/// The look of a text: texts that look alike have the same look, and most others have different ones.
pub(crate) fn look(text: &str) -> String {
    let mut look = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{300}'..='\u{36f}' => {
                look.pop();
                look.push(ACCENTED);
            }
            // Precomposed Latin letters, and the two signs between them.
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' if character.is_alphabetic() => {
                look.push(ACCENTED);
            }
            _ => look.push(plain(character)),
        }
    }
    look
}

/// The ASCII character that looks like this one, or the character itself.
fn plain(character: char) -> char {
    if character.is_ascii() {
        return character;
    }
    let pairs = ALIKE.iter().flat_map(|(others, ascii)| others.chars().zip(ascii.chars()));
    pairs.into_iter().find(|(other, _)| *other == character).map_or(character, |(_, it)| it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_look_alike_have_one_look() {
        for (one, other) in [
            ("caf\u{e9}", "cafe\u{301}"),
            ("cat", "\u{441}at"),
            ("a b", "a\u{a0}b"),
            ("a-b", "a\u{2011}b"),
            ("Ok", "\u{39f}k"),
        ] {
            assert_eq!(look(one), look(other), "{one}");
        }
        for (one, other) in [("cafe", "caf\u{e9}"), ("\u{436}", "x"), ("a", "b")] {
            assert_ne!(look(one), look(other), "{one}");
        }
    }

    #[test]
    fn every_character_has_the_one_that_it_looks_like() {
        for (others, ascii) in ALIKE {
            assert_eq!(others.chars().count(), ascii.chars().count(), "{ascii}");
            assert!(others.chars().all(|it| !it.is_ascii()) && ascii.is_ascii(), "{ascii}");
        }
    }
}
