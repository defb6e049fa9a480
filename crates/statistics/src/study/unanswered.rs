//! Why a question is not answered.

use serde::{Deserialize, Serialize};
use stormeter_study::Metric;
use stormeter_study::question::{Factor, QuestionError};

use super::load::LoadedDatastore;
use crate::anova::AnovaError;
use crate::finding::LawFinding;

/// Why a question is not answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unanswered {
    /// It is not understood.
    NotUnderstood(QuestionError),
    /// The study has no datastore of this name.
    NoSuchDatastore(String),
    /// The study has no load that the question names.
    NoLoad,
    /// It is asked `durably`, and no write of these workloads was durable or flushed.
    NotDurable(Vec<String>),
    /// No value can be lower by this much.
    NoSuchReduction {
        /// The metric.
        metric: Metric,
        /// In per cent.
        percent: f64,
    },
    /// A result that the question needs is invalid.
    Invalid {
        /// The result.
        cell: LoadedDatastore,
        /// What makes it invalid.
        by: Box<LawFinding>,
    },
    /// A cell has no measured trial.
    NoTrial(LoadedDatastore),
    /// The trials of a cell do not have the metric.
    NoValue {
        /// The cell.
        cell: LoadedDatastore,
        /// The metric.
        metric: Metric,
    },
    /// Fewer than two blocks have all cells that a number needs.
    FewBlocks {
        /// How many have.
        blocks: usize,
    },
    /// Fewer than two blocks have a value for every combination of the factors' levels.
    FewCompleteBlocks {
        /// How many have.
        blocks: usize,
        /// The metric.
        metric: Metric,
    },
    /// A cell has fewer than two intervals with a value.
    FewIntervals(LoadedDatastore),
    /// A factor has fewer than two levels.
    OneLevel(Factor),
    /// Not every combination of the factors' levels is in the study.
    MissingCombination,
    /// The model gives the same in every block, so that there is no noise to compare a difference with.
    ExactModel,
    /// The analysis of variance is impossible.
    Variance(AnovaError),
}
