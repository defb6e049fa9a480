//! The known word that a mistyped one probably stands for.

use strsim::osa_distance;

/// Common synonyms, and the keyword that they stand for.
const MEANT: [(&str, &str); 14] = [
    ("quicker", "faster"),
    ("smaller", "lower"),
    ("larger", "higher"),
    ("bigger", "higher"),
    ("greater", "higher"),
    ("same", "equal"),
    ("uses", "costs"),
    ("needs", "costs"),
    ("fewer", "less"),
    ("under", "at"),
    ("below", "at"),
    ("above", "at"),
    ("over", "at"),
    ("drops", "falls"),
];

/// The nearest of `known` to `word`, ignoring case; `None` if none is near enough: more than a
/// third of its letters would have to change.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.collect();
    let meant = MEANT.iter().find(|(used, _)| word.eq_ignore_ascii_case(used));
    if let Some((_, meant)) = meant.filter(|(_, meant)| known.contains(meant)) {
        return Some(meant);
    }
    let word = word.to_lowercase();
    let letters = word.chars().count();
    // All words of two letters are near each other.
    if letters < 3 {
        return None;
    }
    known
        .into_iter()
        .map(|name| (osa_distance(&word, &name.to_lowercase()), name))
        .filter(|&(distance, name)| {
            distance <= letters.min(name.chars().count()).div_ceil(3).min(3)
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> Option<&'static str> {
        nearest(word, ["faster", "slower", "within", "nas", "san", "on"].into_iter())
    }

    #[test]
    fn slips_of_the_finger_are_understood_and_other_words_are_not() {
        assert_eq!(of("fatser"), Some("faster"));
        assert_eq!(of("FASTR"), Some("faster"));
        assert_eq!(of("witin"), Some("within"));
        assert_eq!(of("nsa"), Some("nas"));
        assert_eq!(of("elephant"), None);
        assert_eq!(of("quicker"), Some("faster"));
        assert_eq!(of("bigger"), None, "higher cannot stand there");
        assert_eq!(of("is"), None);
    }
}
