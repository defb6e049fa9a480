//! An answer without its question, as the tests of claims make it.

use super::answer_estimate::AnswerEstimate;
use super::answer_table::AnswerTable;
use super::answered::{Answer, AnswerPart, Grounds};
use super::remark::AnswerRemark;
use super::reply::Reply;
use super::test_used::TestUsed;
use super::unanswered::Unanswered;

/// An answer without its question.
pub(super) struct Draft {
    pub(super) reply: Reply,
    pub(super) grounds: Grounds,
    pub(super) test: Option<TestUsed>,
    pub(super) estimate: Option<AnswerEstimate>,
    pub(super) p_value: Option<f64>,
    pub(super) table: Option<AnswerTable>,
    pub(super) parts: Vec<AnswerPart>,
    pub(super) remarks: Vec<AnswerRemark>,
}

impl Draft {
    /// A reply with its grounds.
    pub(super) fn new(reply: Reply, grounds: Grounds) -> Self {
        Self {
            reply,
            grounds,
            test: None,
            estimate: None,
            p_value: None,
            table: None,
            parts: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// The answer to a question, by its text.
    pub(super) fn answer(self, question: String, must: bool) -> Answer {
        Answer {
            question,
            must,
            reply: self.reply,
            grounds: self.grounds,
            test: self.test,
            estimate: self.estimate,
            p_value: self.p_value,
            p_value_adjusted: None,
            table: self.table,
            parts: self.parts,
            remarks: self.remarks,
        }
    }
}

impl From<Unanswered> for Draft {
    fn from(why: Unanswered) -> Self {
        Draft::new(Reply::NotAnswered, Grounds::Unanswered(why))
    }
}
