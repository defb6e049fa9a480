//! The metrics that a study is about: those of its questions, and the one that it compares.

use crate::plan::Metric;
use crate::question::{Vocabulary, parse};
use crate::study_plan::StudyPlan;

impl StudyPlan {
    /// The metric that the study compares, and then those of its questions, each once.
    pub fn asked_metrics(&self) -> Vec<Metric> {
        let vocabulary = Vocabulary::of(self);
        let mut all = vec![self.design.metric];
        let asked = self.questions.iter().filter_map(|text| parse(text, &vocabulary).ok());
        for metric in asked.filter_map(|question| question.claim.metric()) {
            if !all.contains(&metric) {
                all.push(metric);
            }
        }
        all
    }
}
