//! What a report of a prediction leaves out: intervals of answers.
//!
//! They cover chance in the simulation, which more repetitions make as small as one likes, and would be taken for the
//! error of the prediction. That is the model's, and is given instead.

use stormeter_statistics::{Analysis, Answer, Grounds};

/// Takes the intervals out of answers. Replies rest on them and stay.
pub(crate) fn without_intervals(mut analysis: Analysis) -> Analysis {
    analysis.answers = analysis.answers.into_iter().map(without_interval).collect();
    analysis
}

/// The same of one answer.
pub(crate) fn without_interval(mut answer: Answer) -> Answer {
    if let Some(estimate) = &mut answer.estimate {
        estimate.interval = None;
    }
    for part in &mut answer.parts {
        part.interval = None;
    }
    if let Grounds::Factors(grounds) = &mut answer.grounds {
        for largest in grounds.terms.iter_mut().filter_map(|term| term.largest.as_mut()) {
            largest.interval = None;
        }
    }
    answer
}
