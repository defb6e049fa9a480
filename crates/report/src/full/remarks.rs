//! Remarks that several answers share, shown once.
//!
//! A weakness of one answer is often one of all answers of a study (a fixed order, one run per cell). Repeated
//! with each, it would bury the remarks on single answers.

use stormeter_statistics::{Answer, AnswerRemark};

/// A remark and the numbers of its questions, from 1.
pub(crate) struct Shared<'a> {
    pub(crate) remark: &'a AnswerRemark,
    pub(crate) questions: Vec<usize>,
}

/// The remarks that at least half of the answers share, in their order.
pub(crate) fn shared(answers: &[Answer]) -> Vec<Shared<'_>> {
    let mut all: Vec<Shared<'_>> = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        for remark in &answer.remarks {
            match all.iter_mut().find(|known| known.remark == remark) {
                Some(known) => known.questions.push(index + 1),
                None => all.push(Shared { remark, questions: vec![index + 1] }),
            }
        }
    }
    all.retain(|one| one.questions.len() > 1 && 2 * one.questions.len() >= answers.len());
    all
}

/// The remarks of an answer that are not shared.
pub(crate) fn own<'a>(
    answer: &'a Answer,
    shared: &'a [Shared<'_>],
) -> impl Iterator<Item = &'a AnswerRemark> {
    answer.remarks.iter().filter(|remark| !shared.iter().any(|one| one.remark == *remark))
}

impl Shared<'_> {
    /// `all questions`, or `questions 1 to 4, 6`.
    pub(crate) fn of(&self, answers: usize) -> String {
        if self.questions.len() == answers {
            return "all questions".into();
        }
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &number in &self.questions {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => runs.push((number, number)),
            }
        }
        let words: Vec<String> = runs
            .iter()
            .map(|&(first, last)| match last - first {
                0 => first.to_string(),
                1 => format!("{first}, {last}"),
                _ => format!("{first} to {last}"),
            })
            .collect();
        format!("questions {}", words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_named_in_runs() {
        let of = |questions: &[usize], answers| {
            Shared { remark: &AnswerRemark::OneRun, questions: questions.to_vec() }.of(answers)
        };
        assert_eq!(of(&[1, 2, 3, 4, 6], 7), "questions 1 to 4, 6");
        assert_eq!(of(&[1, 2], 3), "questions 1, 2");
        assert_eq!(of(&[1, 2], 2), "all questions");
    }
}
