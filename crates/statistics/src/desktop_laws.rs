//! The law of trials of desktops on demand: users are conserved; and what waits do not show.
//!
//! 11. every user who came got a usable desktop, was refused, went away or still waits; and the users who got one are the
//!     operations of the sample.

use stormeter_trial::Sample;

use crate::finding::{Fact, LawFinding};

/// What is wrong with the users of a trial; empty without a broker.
pub(crate) fn check(sample: &Sample) -> Vec<LawFinding> {
    let Some(totals) = &sample.desktops else { return Vec::new() };
    let ended = totals.usable + totals.refused + totals.gone + totals.waiting;
    let mut found = Vec::new();
    if !totals.is_conserved() || totals.usable != sample.operations() {
        found.push(LawFinding::invalid(Fact::UsersLost {
            came: totals.came + totals.replaced,
            ended,
            served: sample.operations(),
        }));
    }
    let (refused, gone, waiting) = (totals.refused, totals.gone, totals.waiting);
    if refused + gone + waiting > 0 {
        let came = totals.came + totals.replaced;
        found.push(LawFinding::warning(Fact::UsersUnserved { came, refused, gone, waiting }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use stormeter_trial::DesktopTotals;

    fn of(change: impl Fn(&mut DesktopTotals)) -> Vec<(Option<u8>, Severity)> {
        let mut sample = stormeter_testkit::sample(1000.0);
        let served = sample.operations();
        let mut totals = DesktopTotals { came: served, usable: served, ..Default::default() };
        change(&mut totals);
        sample.desktops = Some(Box::new(totals));
        check(&sample).iter().map(|found| (found.fact.law(), found.severity)).collect()
    }

    #[test]
    fn users_who_vanish_or_appear_break_the_law() {
        assert_eq!(of(|_| ()), []);
        for lie in [
            (|it| it.came += 1) as fn(&mut DesktopTotals),
            |it| it.replaced += 1,
            |it| (it.came, it.usable) = (it.came - 1, it.usable - 1),
        ] {
            assert_eq!(of(lie), [(Some(11), Severity::Invalid)]);
        }
    }

    #[test]
    fn users_who_were_not_served_are_no_wait() {
        for unserved in [
            (|it| (it.came, it.refused) = (it.came + 2, 2)) as fn(&mut DesktopTotals),
            |it| (it.came, it.gone) = (it.came + 2, 2),
            |it| (it.came, it.waiting) = (it.came + 2, 2),
        ] {
            assert_eq!(of(unserved), [(None, Severity::Warning)]);
        }
    }

    #[test]
    fn trials_without_a_broker_have_no_users() {
        assert_eq!(check(&stormeter_testkit::sample(1000.0)), []);
    }
}
