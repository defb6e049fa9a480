//! What helps where a prediction is in doubt.
//!
//! The laws and checks are those of measurements, and so is their advice. A model has no kernel log and no
//! generator that waits for a CPU, and `predict` none of the options that a comparison has: what helps is
//! in the study file, or is to predict as much as is planned there.

/// What the laws say of measurements, and what is said of a prediction instead.
const INSTEAD: [(&str, &str); 9] = [
    (
        "look for the cause in the kernel log (dmesg) and on the storage; a result with errors says \
         nothing about speed",
        "in a model requests fail only of what was made to go wrong (--faults), or of what the site has no \
         room for; what is left says nothing about speed",
    ),
    (
        "look for the cause in the kernel log (dmesg) and on the storage, then measure again",
        "in a model a trial fails only of what was made to go wrong (--faults), or of what the site has no \
         room for; change that and predict again",
    ),
    (
        "use a longer --duration, or look whether the storage answers at all",
        "use a longer window (measure.duration), or look whether a fault keeps the site from answering",
    ),
    (
        "use a longer --ramp; an SSD may need minutes of writes before it is steady",
        "use a longer ramp (measure.ramp)",
    ),
    (
        "use a longer --ramp, and look for a cache that fills, a burst allowance that runs out, or a job in \
         the background",
        "use a longer ramp (measure.ramp), and look for a cache that fills or a fault in the window",
    ),
    (
        "use a longer --duration, so that a trial averages over the storage's own rhythm",
        "use a longer window (measure.duration), so that a trial averages over the site's own rhythm",
    ),
    ("choose a lower rate, such as --equal-load auto", "choose a lower rate in the study"),
    (
        "the generator had to wait for a CPU; leave it one of its own, or use fewer --threads than CPUs",
        "use a longer window (measure.duration), so that what is under way at its ends counts for less",
    ),
    (
        "latency or IOPS is wrong, or the machine was so busy that the generator was not run; free the \
         machine (see `stormeter doctor`) and measure again",
        "latency or IOPS is wrong; this is a fault of the program that made the result: please report it \
         with the results file",
    ),
];

/// What the study says of blocks, which a prediction has as many of as are planned for the asking.
const BLOCKS: &str = "use more blocks, a longer time limit or shorter trials";

/// Advice of the laws as it is for a prediction, whose windows and blocks may be shorter than planned.
pub(super) fn of_prediction(advice: &str, is_shortened: bool) -> String {
    let mut text = advice.to_string();
    for (measured, predicted) in INSTEAD {
        text = text.replace(measured, predicted);
    }
    let blocks = match is_shortened {
        true => "use more blocks",
        false => "let the study plan more blocks (design.blocks)",
    };
    text = text.replace(BLOCKS, blocks).replace("then measure again", "then predict again");
    let planned = ["measure.ramp", "measure.duration", "use more blocks"];
    if is_shortened && planned.iter().any(|key| text.contains(key)) {
        text += "; --as-planned takes ramp, window and blocks as the study has them";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_advice_of_a_prediction_speaks_of_what_predict_does_not_have() {
        for (measured, predicted) in INSTEAD {
            let text = of_prediction(measured, true);
            assert!(text.starts_with(predicted), "{text}");
            for word in
                ["dmesg", "--ramp", "--duration", "--threads", "--equal", "doctor", "measure again"]
            {
                assert!(!text.contains(word), "{text}");
            }
        }
        let ramp = INSTEAD[3].0;
        assert!(of_prediction(ramp, true).ends_with("as the study has them"));
        assert_eq!(of_prediction(ramp, false), "use a longer ramp (measure.ramp)");
        assert_eq!(of_prediction(BLOCKS, false), "let the study plan more blocks (design.blocks)");
        assert_eq!(
            of_prediction("look at it, then measure again", true),
            "look at it, then predict again"
        );
    }
}
