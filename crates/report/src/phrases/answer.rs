//! Answers as sentences.

use stormeter_statistics::{
    Answer, AnswerEstimate, FTest, FactorGrounds, Grounds, LevelDifference, NumberClaim,
    NumberGrounds, Observations, Outlook, Reply, TermResult, TestedLoads,
};
use stormeter_study::StudyPlan;

use super::claim::{load, number as number_of, phrase, term};
use super::number::{change, p_value, percent, plural, value};
use super::{finding, unanswered};
use crate::title::Titles;

/// An answer as a sentence; where the results are invalid that it is about, with the reason.
pub(crate) fn answer(answer: &Answer, titles: Titles) -> String {
    let sentence = match &answer.grounds {
        Grounds::Number(grounds) => number(answer.reply, grounds, answer.estimate.as_ref(), titles),
        Grounds::Factors(grounds) => factors(answer.reply, grounds, titles),
        Grounds::Unanswered(why) => format!("Not answered: {}.", unanswered(why, titles)),
    };
    match answer.invalid_by() {
        Some(reason) => format!("{sentence} The reason: {}.", finding(reason, titles)),
        None => sentence,
    }
}

/// The same in the words of a study.
pub fn answer_sentence(of: &Answer, plan: &StudyPlan) -> String {
    answer(of, Titles::of_answer(plan, of))
}

/// What the estimate of an answer is of: `nas / local, IOPS`.
pub(crate) fn estimated(answer: &Answer, titles: Titles) -> String {
    answer.claim().map(|claim| number_of(claim, titles)).unwrap_or_default()
}

/// The number that an answer rests on; `None` where it rests on several.
pub(crate) fn answer_number(answer: &Answer, titles: Titles) -> Option<String> {
    Some(measure(answer.claim()?, answer.estimate.as_ref()?, titles))
}

/// The estimate of a claim's number with its interval.
pub(super) fn measure(claim: &NumberClaim, estimate: &AnswerEstimate, titles: Titles) -> String {
    let AnswerEstimate { value: of, interval, .. } = estimate;
    let interval = interval.as_ref();
    match claim {
        NumberClaim::Compared { .. } => change(*of, interval),
        NumberClaim::Trend { along, .. } => {
            format!("{} at each doubling of {}", change(*of, interval), along.factor().name())
        }
        NumberClaim::Bounded { metric, .. } => value(*metric, *of, interval, titles),
    }
}

/// How many observations there are.
pub(super) fn observations(of: Observations) -> String {
    match of {
        Observations::Blocks(count) => plural(count, "block"),
        Observations::Intervals(count) => plural(count, "interval"),
    }
}

/// A claim about one number.
fn number(
    reply: Reply,
    grounds: &NumberGrounds,
    estimate: Option<&AnswerEstimate>,
    titles: Titles,
) -> String {
    let claim = phrase(&grounds.claim, titles);
    let none = if grounds.is_negligible { "negligible difference, " } else { "" };
    let shown =
        estimate.map(|estimate| measure(&grounds.claim, estimate, titles)).unwrap_or_default();
    let size = observations(grounds.observations);
    let outlook = outlook(grounds.outlook);
    let (at, worst) = match &grounds.loads {
        TestedLoads::Only => (String::new(), None),
        TestedLoads::One(only) => (format!(", at {}", load(only)), None),
        TestedLoads::Mean(of) => (format!(", mean over {of} loads"), None),
        TestedLoads::Each { of, yes, no, worst } => (String::new(), Some((*of, *yes, *no, worst))),
    };
    let Some((of, shown_at, refuted_at, worst)) = worst else {
        let found = format!("{none}{shown}, {size}{at}");
        return match reply {
            Reply::Yes => format!("{}: {found}.", claim.yes),
            Reply::No => format!("{}: {found}.", claim.no),
            Reply::Inconclusive | Reply::NotAnswered => {
                format!("It is inconclusive whether {}: {found}{outlook}.", claim.yes)
            }
        };
    };
    let found = format!("{none}{shown} at {}, {size}", load(worst));
    match reply {
        Reply::Yes => {
            format!("{} at each of {of} loads: least clearly with {found}.", claim.yes)
        }
        Reply::No => format!(
            "{} everywhere: the contrary is shown at {} of {of}, {found}.",
            claim.no,
            plural(refuted_at, "load")
        ),
        Reply::Inconclusive | Reply::NotAnswered => format!(
            "It is inconclusive whether {} at each of {of} loads: shown at {shown_at}; least clearly with \
             {found}{outlook}.",
            claim.yes
        ),
    }
}

/// What would decide an open question.
fn outlook(outlook: Option<Outlook>) -> String {
    match outlook {
        None => String::new(),
        Some(Outlook::Blocks(blocks)) => {
            format!("; about {blocks} blocks would probably decide it")
        }
        Some(Outlook::Unlikely) => "; more blocks are unlikely to decide it".into(),
    }
}

/// A claim about factors.
fn factors(reply: Reply, grounds: &FactorGrounds, titles: Titles) -> String {
    let title = titles.of(grounds.metric);
    let list = list(grounds);
    let tests: Vec<String> = grounds.terms.iter().filter_map(f_test).collect();
    let sizes: Vec<String> = grounds.terms.iter().filter_map(largest).collect();
    let (tests, sizes, margin) = (tests.join("; "), sizes.join("; "), percent(grounds.margin));
    let says = match (reply, grounds.depends) {
        (Reply::Yes, true) => format!("{title} depends on {list}"),
        (Reply::No, false) => format!("{title} depends on {list} in part at least"),
        (Reply::Yes, false) => format!("{title} does not depend on {list}"),
        (Reply::No, true) => format!("{title} does not depend on {list} altogether"),
        // A model that repeats itself was put to no test.
        _ if tests.is_empty() => format!("It is not settled whether {title} depends on {list}"),
        (_, true) => format!("It is inconclusive whether {title} depends on {list}"),
        (_, false) => format!("It is inconclusive whether {title} does not depend on {list}"),
    };
    if tests.is_empty() {
        return format!("{says}: the largest differences are {sizes} (margin {margin}).");
    }
    match (reply, grounds.depends) {
        (Reply::Yes, true) | (Reply::No, false) => format!("{says}: {tests}."),
        (Reply::Yes, false) => format!(
            "{says}: every difference is within the {margin} margin, the largest being {sizes}."
        ),
        (Reply::No, true) => {
            let small = grounds.terms.iter().filter(|own| own.is_within_margin);
            let small: Vec<String> = small.map(|own| term(&own.factors)).collect();
            format!(
                "{says}: every difference of {} is within the {margin} margin; the largest are {sizes}.",
                small.join(" and of ")
            )
        }
        (Reply::Inconclusive | Reply::NotAnswered, _) => {
            format!("{says}: {tests}; largest differences {sizes}{}.", outlook(grounds.outlook))
        }
    }
}

/// What is claimed to matter: `datastore, vms and their interaction`.
fn list(grounds: &FactorGrounds) -> String {
    let mut items: Vec<&str> = grounds.factors.iter().map(|factor| factor.name()).collect();
    if grounds.interaction {
        items.push("their interaction");
    }
    match items.split_last() {
        Some((last, [])) => (*last).to_string(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// `datastore F(1, 5) = 12.34, p = 0.0123`.
fn f_test(of: &TermResult) -> Option<String> {
    let FTest { f, df, residual_df, p } = of.test?;
    Some(format!("{} F({df:.0}, {residual_df:.0}) = {f:.2}, {}", term(&of.factors), p_value(p)))
}

/// `datastore b / a +10.4 % (90 % CI +10.1 to +10.6 %)`.
fn largest(of: &TermResult) -> Option<String> {
    Some(format!("{} {}", term(&of.factors), difference(of.largest.as_ref()?)))
}

/// A difference between levels: `b / a +10.4 %`, `(b / a) / (x / w) +0.4 %`.
pub(super) fn difference(of: &LevelDifference) -> String {
    let pairs: Vec<String> =
        of.between.iter().map(|pair| format!("{} / {}", pair.level, pair.base)).collect();
    let between = match pairs.as_slice() {
        [only] => only.clone(),
        several => format!("({})", several.join(") / (")),
    };
    format!("{between} {}", change(of.ratio, of.interval.as_ref()))
}
