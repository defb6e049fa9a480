//! Random damage to a text; the number of the run is its seed.

#[path = "../random/mod.rs"]
mod random;

use random::Random;

/// The text with up to four damages.
pub(crate) fn damaged(text: &str, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(60)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 => {
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            3 => drop(bytes.drain(at..end)),
            4 => {
                // A number where there was another one.
                let texts =
                    ["-1", "0", "1e308", "99999999999999999999", "NaN", "inf", "0.0", "\u{e9}"];
                let text = texts[random.below(texts.len())];
                let digit =
                    bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |by| at + by);
                let stop = (digit + random.below(8)).min(bytes.len());
                bytes.splice(digit..stop, text.bytes());
            }
            _ => {
                let part = bytes[at..].to_vec();
                bytes.extend(part);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
