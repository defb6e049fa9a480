//! What is not carried over, each once.

/// More sentences than this help nobody who reads them.
const MOST: usize = 50;

/// The sentences for `Imported::left_out`.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    sentences: Vec<String>,
    more: usize,
}

impl Notes {
    /// Adds a sentence unless it is there.
    pub(crate) fn add(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if self.sentences.contains(&sentence) {
            return;
        }
        if self.sentences.len() < MOST {
            self.sentences.push(sentence);
        } else {
            self.more += 1;
        }
    }

    /// All of them.
    pub(crate) fn into_sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.sentences.push(format!("{} more remarks are not listed", self.more));
        }
        self.sentences
    }
}
