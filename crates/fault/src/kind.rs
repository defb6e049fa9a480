//! What can be done, and how each is written.

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
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

/// What follows the place that a fault is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultArgument {
    Nothing,
    Percent,
    Duration,
    Number,
}

/// Whether `TARGET.PART` has its part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartRule {
    Never,
    Optional,
    Required,
}

/// How a kind is written.
pub(crate) struct Row {
    pub(crate) kind: FaultKind,
    pub(crate) word: &'static str,
    pub(crate) part: PartRule,
    pub(crate) argument: FaultArgument,
    pub(crate) form: &'static str,
    pub(crate) example: &'static str,
}

macro_rules! rows {
    ($($kind:ident $word:literal $part:ident $argument:ident $form:literal $example:literal,)*) => {
        pub(crate) const ROWS: [Row; [$($word),*].len()] = [$(Row {
            kind: FaultKind::$kind,
            word: $word,
            part: PartRule::$part,
            argument: FaultArgument::$argument,
            form: $form,
            example: $example,
        }),*];
    };
}

rows! {
    Pause "pause" Never Nothing "pause GUEST" "pause nas",
    Resume "resume" Never Nothing "resume GUEST" "resume nas",
    Kill "kill" Never Nothing "kill GUEST" "kill nas",
    Restart "restart" Never Nothing "restart GUEST" "restart nas",
    LinkDown "link-down" Optional Nothing "link-down GUEST[.NETWORK]" "link-down nas",
    LinkUp "link-up" Optional Nothing "link-up GUEST[.NETWORK]" "link-up nas",
    LinkLoss "link-loss" Optional Percent "link-loss GUEST[.NETWORK] SHARE" "link-loss nas 5%",
    LinkFlap "link-flap" Optional Duration "link-flap GUEST[.NETWORK] TIME" "link-flap nas 200ms",
    PathDown "path-down" Required Number "path-down HOST.MOUNT PATH" "path-down esx.vm 0",
    PathUp "path-up" Required Number "path-up HOST.MOUNT PATH" "path-up esx.vm 0",
    DiskFail "disk-fail" Required Number "disk-fail GUEST.DISKS NUMBER" "disk-fail nas.data 1",
    DiskReplace "disk-replace" Required Number "disk-replace GUEST.DISKS NUMBER" "disk-replace nas.data 1",
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; ROWS.len()] = {
        let mut all = [FaultKind::Pause; ROWS.len()];
        let mut index = 0;
        while index < ROWS.len() {
            all[index] = ROWS[index].kind;
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
        // Every kind has a row: a test holds that.
        ROWS.iter().find(|row| row.kind == self).unwrap_or(&ROWS[0])
    }
}

/// How all kinds are written, one after the other.
pub fn forms() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row_and_one_word() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.row().kind, kind);
            assert!(kind.form().starts_with(kind.name()));
            assert!(ROWS[index + 1..].iter().all(|row| row.word != kind.name()));
        }
    }
}
