//! What questions demand of a study's writes: `durably` makes them durable where the study leaves it open.

use crate::question::{Question, Scope};
use crate::study_plan::{StudyPlan, StudyWorkload};

impl StudyPlan {
    /// Makes every write durable of the workloads that a question asks about `durably`, unless they are flushed or
    /// durable already. Does nothing for other questions.
    pub fn demand(&mut self, question: &Question) {
        let Scope { workloads: named, durably: true, .. } = &question.scope else { return };
        let asked = self.workloads.iter_mut().filter(|workload| is_named(named, workload));
        for io in asked.filter_map(|workload| workload.kind.io_mut()) {
            if io.writes() && !io.asks_for_durability() {
                io.durable = true;
            }
        }
    }

    /// The reason why no workload of a question that says `durably` can be durable; `None` for other questions, and if
    /// one is.
    pub(crate) fn never_durable(&self, question: &Question) -> Option<String> {
        let Scope { workloads: named, durably: true, .. } = &question.scope else { return None };
        let mut asked = self.workloads.iter().filter(|workload| is_named(named, workload));
        let is_durable = |workload: &StudyWorkload| {
            workload.kind.io().is_some_and(|io| io.asks_for_durability())
        };
        (!asked.any(is_durable)).then(|| {
            "durably asks for durable writes, and no workload of the question is timed I/O that writes; leave out \
             durably, or name a workload that writes"
                .into()
        })
    }
}

fn is_named(named: &[String], workload: &StudyWorkload) -> bool {
    named.is_empty() || named.contains(&workload.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::question::{Vocabulary, parse};
    use stormeter_trial::FlushEvery;

    /// A study of these profiles, after the question.
    fn asked(profiles: &[&str], question: &str) -> StudyPlan {
        let mut study = StudyPlan::from(&plan());
        let load = |name: &&str| crate::study_profile(name).unwrap().remove(0).workload;
        study.workloads = profiles.iter().map(load).collect();
        let question = parse(question, &Vocabulary::of(&study)).unwrap();
        study.demand(&question);
        study
    }

    fn durable(study: &StudyPlan) -> Vec<bool> {
        study.workloads.iter().map(|it| it.kind.io().is_some_and(|io| io.durable)).collect()
    }

    #[test]
    fn writes_become_durable_where_the_study_leaves_it_open() {
        let profiles = ["vm-4k", "wal", "rand-read-4k", "iozone-write"];
        let study = asked(&profiles, "/a is faster than /b, durably");
        assert_eq!(durable(&study), [true, false, false, false]);
        let wal = study.workloads[1].kind.io().unwrap();
        assert_eq!(wal.flush, Some(FlushEvery::Writes { writes: 1 }), "flushed as before");
        let study = asked(&["vm-4k", "vm-8k"], "/a is faster than /b on vm-8k durably");
        assert_eq!(durable(&study), [false, true]);
        let study = asked(&["vm-4k"], "/a is faster than /b");
        assert_eq!(durable(&study), [false]);
    }

    #[test]
    fn without_a_workload_that_writes_nothing_is_durable() {
        let profiles = ["vm-4k", "rand-read-4k", "iozone-write"];
        for (text, refused) in [
            ("/a is faster than /b, durably", false),
            ("/a is faster than /b on rand-read-4k, durably", true),
            ("/a is faster than /b on iozone-write or rand-read-4k, durably", true),
            ("/a is faster than /b on rand-read-4k", false),
        ] {
            let study = asked(&profiles, text);
            let question = parse(text, &Vocabulary::of(&study)).unwrap();
            assert_eq!(study.never_durable(&question).is_some(), refused, "{text}");
        }
    }
}
