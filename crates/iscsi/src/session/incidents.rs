//! Events that the results do not show: sentences with counts, bounded in number.

/// Sentences kept until they are taken.
const MAX_SENTENCES: usize = 32;

/// Incidents that have not been taken yet.
#[derive(Debug, Default)]
pub(super) struct Incidents {
    sentences: Vec<(String, u64)>,
    others: u64,
}

impl Incidents {
    /// Records one.
    pub(super) fn note(&mut self, sentence: String) {
        if let Some(known) = self.sentences.iter_mut().find(|known| known.0 == sentence) {
            known.1 += 1;
        } else if self.sentences.len() < MAX_SENTENCES {
            self.sentences.push((sentence, 1));
        } else {
            self.others += 1;
        }
    }

    /// Takes all, oldest first.
    pub(super) fn take(&mut self) -> Vec<String> {
        let mut taken: Vec<String> = self
            .sentences
            .drain(..)
            .map(|(sentence, count)| match count {
                1 => sentence,
                _ => format!("{sentence} ({count} times)"),
            })
            .collect();
        if self.others > 0 {
            taken.push(format!("{} more incidents of other kinds", self.others));
            self.others = 0;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_counted_and_the_rest_is_bounded() {
        let mut incidents = Incidents::default();
        for number in 0..100 {
            incidents.note("the same".into());
            incidents.note(format!("number {number}"));
        }
        let taken = incidents.take();
        assert_eq!(taken.len(), MAX_SENTENCES + 1);
        assert_eq!(taken[0], "the same (100 times)");
        assert_eq!(taken[1], "number 0");
        assert_eq!(taken[MAX_SENTENCES], "69 more incidents of other kinds");
        assert!(incidents.take().is_empty());
    }
}
