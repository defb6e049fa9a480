//! Questions of a study: a line of text that states a possible finding, and thereby selects a test.
//!
//! `nas is within 10% of local in iops on vm-4k` reads like a finding and is one, once the data say
//! yes. The words determine which test answers it (`docs/questions.md`), so the test is not chosen
//! after seeing the data.
//!
//! [`parse`] knows the names of the study and refuses what cannot be answered there; the value that
//! it returns prints itself as a text with the same meaning.

mod claim;
mod error;
mod metric_name;
mod nearest;
mod parser;
mod phrase;
mod quantity;
mod scope;
mod text;
mod token;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use claim::{Bound, Change, Claim, Factor, LoadFactor, Question, Relation, Scope};
pub use error::{CAN_BE_ASKED, QuestionError};
pub use quantity::text_of as limit_text;
pub use vocabulary::Vocabulary;

/// Reads a question about the study that the vocabulary describes.
///
/// Keywords are read in any case; names as they are written, or in another case if that is
/// unambiguous. A name with spaces, or one that is a keyword, has to be quoted.
///
/// # Errors
/// What is not understood, where it is, what was expected there and what can be asked.
pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Question, QuestionError> {
    parser::Parser::new(text, vocabulary)?.question()
}
