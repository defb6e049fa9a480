//! Events that a reader of the results should know about, bounded: a server that fails every
//! request must not fill the memory with sentences about it.

/// Sentences kept between two calls of `take`.
const MAX_SENTENCES: usize = 32;
/// Failed operations described between two calls of `take`; the others are counted.
const MAX_FAILURES: u32 = 4;

/// Incidents since they were last taken.
#[derive(Debug, Default)]
pub(super) struct Incidents {
    sentences: Vec<String>,
    left_out: u32,
    failures: u32,
    waits: u32,
    unknown: u32,
}

impl Incidents {
    pub(super) fn add(&mut self, sentence: String) {
        if self.sentences.len() < MAX_SENTENCES {
            self.sentences.push(sentence);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    pub(super) fn failure(&mut self, sentence: impl FnOnce() -> String) {
        self.failures = self.failures.saturating_add(1);
        if self.failures <= MAX_FAILURES {
            self.add(sentence());
        }
    }

    pub(super) fn asked_to_wait(&mut self) {
        self.waits = self.waits.saturating_add(1);
    }

    pub(super) fn unknown_reply(&mut self) {
        self.unknown = self.unknown.saturating_add(1);
    }

    pub(super) fn take(&mut self) -> Vec<String> {
        let one = std::mem::take(self);
        let mut sentences = one.sentences;
        if one.failures > MAX_FAILURES {
            sentences.push(format!("{} requests failed in all", one.failures));
        }
        if one.waits > 0 {
            sentences.push(format!(
                "the server asked {} times to wait and try again (NFS3ERR_JUKEBOX)",
                one.waits
            ));
        }
        if one.unknown > 0 {
            sentences.push(format!("the server sent {} replies nobody waits for", one.unknown));
        }
        if one.left_out > 0 {
            sentences.push(format!("{} further incidents are not listed", one.left_out));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_bounded_and_counted() {
        let mut incidents = Incidents::default();
        for number in 0..1000 {
            incidents.failure(|| format!("failure {number}"));
            incidents.asked_to_wait();
            incidents.unknown_reply();
            incidents.add(format!("break {number}"));
        }
        let taken = incidents.take();
        assert_eq!(taken.len(), MAX_SENTENCES + 4);
        assert!(taken.contains(&"1000 requests failed in all".to_owned()), "{taken:?}");
        assert!(!taken.contains(&"failure 5".to_owned()), "{taken:?}");
        assert!(incidents.take().is_empty());
    }
}
