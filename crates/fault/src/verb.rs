//! The verbs, and what stands behind each.

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A guest stands still, with all that it holds.
    Pause,
    /// A guest that stands still goes on.
    Resume,
    /// A guest is gone at once, as after a power cut; what its disks have is kept.
    Kill,
    /// A guest is gone, if it runs, and comes up again with the disks that it had.
    Restart,
    /// Nothing passes through a guest's network port.
    LinkDown,
    /// It passes again.
    LinkUp,
    /// A share of the packets is lost in each direction.
    LinkLoss,
    /// A link is down for so long, and up again.
    LinkFlap,
    /// Nothing passes on one of the paths to a mount.
    PathDown,
    /// It passes again.
    PathUp,
    /// A disk of an array fails.
    DiskFail,
    /// A new disk takes the failed one's place, and the array rebuilds.
    DiskReplace,
}

/// What follows the place that a verb is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    Nothing,
    Percent,
    Duration,
    Number,
}

/// What stands behind the point of `GUEST.PART`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Nothing,
    Perhaps,
    Needed,
}

/// How a verb is written.
pub(crate) struct Row {
    pub(crate) verb: Verb,
    pub(crate) word: &'static str,
    pub(crate) part: Part,
    pub(crate) operand: Operand,
    pub(crate) form: &'static str,
    pub(crate) example: &'static str,
}

macro_rules! rows {
    ($($verb:ident $word:literal $part:ident $operand:ident $form:literal $example:literal,)*) => {
        pub(crate) const ROWS: [Row; [$($word),*].len()] = [$(Row {
            verb: Verb::$verb,
            word: $word,
            part: Part::$part,
            operand: Operand::$operand,
            form: $form,
            example: $example,
        }),*];
    };
}

rows! {
    Pause "pause" Nothing Nothing "pause GUEST" "pause nas",
    Resume "resume" Nothing Nothing "resume GUEST" "resume nas",
    Kill "kill" Nothing Nothing "kill GUEST" "kill nas",
    Restart "restart" Nothing Nothing "restart GUEST" "restart nas",
    LinkDown "link-down" Perhaps Nothing "link-down GUEST[.NETWORK]" "link-down nas",
    LinkUp "link-up" Perhaps Nothing "link-up GUEST[.NETWORK]" "link-up nas",
    LinkLoss "link-loss" Perhaps Percent "link-loss GUEST[.NETWORK] SHARE" "link-loss nas 5%",
    LinkFlap "link-flap" Perhaps Duration "link-flap GUEST[.NETWORK] TIME" "link-flap nas 200ms",
    PathDown "path-down" Needed Number "path-down HOST.MOUNT PATH" "path-down esx.vm 0",
    PathUp "path-up" Needed Number "path-up HOST.MOUNT PATH" "path-up esx.vm 0",
    DiskFail "disk-fail" Needed Number "disk-fail GUEST.DISKS NUMBER" "disk-fail nas.data 1",
    DiskReplace "disk-replace" Needed Number "disk-replace GUEST.DISKS NUMBER" "disk-replace nas.data 1",
}

impl Verb {
    /// All of them.
    pub const ALL: [Verb; ROWS.len()] = {
        let mut all = [Verb::Pause; ROWS.len()];
        let mut index = 0;
        while index < ROWS.len() {
            all[index] = ROWS[index].verb;
            index += 1;
        }
        all
    };

    /// Its word.
    pub fn name(self) -> &'static str {
        self.row().word
    }

    /// How it is written, such as `link-loss GUEST[.NETWORK] SHARE`.
    pub fn form(self) -> &'static str {
        self.row().form
    }

    pub(crate) fn row(self) -> &'static Row {
        // Every verb has a row: a test holds that.
        ROWS.iter().find(|row| row.verb == self).unwrap_or(&ROWS[0])
    }
}

/// How all verbs are written, one after the other.
pub fn forms() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_one_row_and_one_word() {
        for (index, verb) in Verb::ALL.into_iter().enumerate() {
            assert_eq!(verb.row().verb, verb);
            assert!(verb.form().starts_with(verb.name()));
            assert!(ROWS[index + 1..].iter().all(|row| row.word != verb.name()));
        }
    }
}
