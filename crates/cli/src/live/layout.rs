//! Lines for a terminal of any width: pieces of text are kept whole and joined while they fit.

/// The columns of a text. Wide characters (Unicode Standard Annex 11) take two, which matters for names of
/// directories; combining marks count as one, so that a line may end early, but never late.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|character| if is_wide(character) { 2 } else { 1 }).sum()
}

fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

/// The start of a text that fits; `…` marks omitted text.
pub(crate) fn clipped(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fitting = text.chars().take_while(|character| {
        let needed = if is_wide(*character) { 2 } else { 1 };
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    });
    let clipped: String = fitting.collect();
    // An abbreviated name already ends like this.
    let mut clipped = clipped.trim_end_matches('…').to_owned();
    if width > 0 {
        clipped.push('…');
    }
    clipped
}

/// The pieces joined by commas, broken between them into lines that fit; every line is indented by two.
pub(crate) fn flow(pieces: &[String], width: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        match lines.last_mut() {
            // One column is reserved for a comma that may follow.
            Some(line) if columns(line) + 2 + columns(piece) < width => {
                line.push_str(", ");
                line.push_str(piece);
            }
            last => {
                if let Some(line) = last {
                    line.push(',');
                }
                let room = width.saturating_sub(1);
                lines.push(clipped(&format!("{INDENT}{piece}"), room));
            }
        }
    }
    lines
}

/// The text, broken between words into lines of at most `width` characters.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut()
            && (line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width)
        {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines.join("\n")
}

/// A bar of this many cells.
pub(crate) fn bar(share: f64, cells: usize) -> String {
    let full = ((share * cells as f64) as usize).min(cells);
    format!("[{}{}]", "█".repeat(full), "·".repeat(cells - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_never_longer_than_itself() {
        assert_eq!(bar(0.0, 10), "[··········]");
        assert_eq!(bar(0.55, 10), "[█████·····]");
        assert_eq!(bar(7.0, 10), "[██████████]");
        assert_eq!(bar(f64::NAN, 3), "[···]");
    }

    #[test]
    fn pieces_are_kept_whole_where_they_fit() {
        let pieces = ["block 3", "1 failed", "at most 5min left"].map(String::from);
        assert_eq!(flow(&pieces, 80), ["  block 3, 1 failed, at most 5min left"]);
        assert_eq!(flow(&pieces, 26), ["  block 3, 1 failed,", "  at most 5min left"]);
        for width in 3..60 {
            let lines = flow(&pieces, width);
            assert!(lines.iter().all(|line| columns(line) <= width), "{width}: {lines:?}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("/データ"), 7);
        assert_eq!(clipped("/データ", 6), "/デー…");
        assert_eq!(clipped("/データ", 5), "/デ…");
        assert_eq!(clipped("/srv", 4), "/srv");
    }
}
