//! The kinds of fault, and the syntax of each.

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A guest is frozen, and keeps all that it holds.
    Pause,
    /// A frozen guest continues.
    Resume,
    /// A guest, or a node of a distributed datastore, is gone at once, as after a power cut; its disks keep their
    /// contents.
    Kill,
    /// It is killed, if it runs, and boots again with the same disks.
    Restart,
    /// Nothing passes through a storage's network port, or through a network.
    LinkDown,
    /// The port or network works again.
    LinkUp,
    /// A share of the packets is lost, in each direction.
    LinkLoss,
    /// A link is down for a given time.
    LinkFlap,
    /// Nothing passes on one path to a mount, or through one port of an adapter.
    PathDown,
    /// The path works again.
    PathUp,
    /// A disk of an array fails.
    DiskFail,
    /// A new disk replaces the failed one, and the array rebuilds.
    DiskReplace,
    /// Each access to a disk takes longer by a factor, until another factor is set.
    DiskSlow,
}

/// An argument after the target of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultArgument {
    /// The number of a disk or path.
    Number,
    Share,
    Duration,
    /// A factor.
    Times,
}

/// Whether the target has a part: `TARGET.PART`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartRule {
    Never,
    Optional,
    Required,
}

/// The syntax of a kind.
pub(crate) struct Row {
    pub(crate) kind: FaultKind,
    pub(crate) word: &'static str,
    pub(crate) part: PartRule,
    pub(crate) arguments: &'static [FaultArgument],
    pub(crate) form: &'static str,
    pub(crate) example: &'static str,
}

macro_rules! rows {
    ($($kind:ident $word:literal $part:ident [$($argument:ident)*] $form:literal $example:literal,)*) => {
        pub(crate) const ROWS: [Row; [$($word),*].len()] = [$(Row {
            kind: FaultKind::$kind,
            word: $word,
            part: PartRule::$part,
            arguments: &[$(FaultArgument::$argument),*],
            form: $form,
            example: $example,
        }),*];
    };
}

rows! {
    Pause "pause" Never [] "pause GUEST" "pause nas",
    Resume "resume" Never [] "resume GUEST" "resume nas",
    Kill "kill" Optional [] "kill GUEST[.NODE]" "kill nas",
    Restart "restart" Optional [] "restart GUEST[.NODE]" "restart nas",
    LinkDown "link-down" Optional [] "link-down GUEST[.NETWORK]" "link-down nas",
    LinkUp "link-up" Optional [] "link-up GUEST[.NETWORK]" "link-up nas",
    LinkLoss "link-loss" Optional [Share] "link-loss GUEST[.NETWORK] SHARE" "link-loss nas 5%",
    LinkFlap "link-flap" Optional [Duration] "link-flap GUEST[.NETWORK] TIME" "link-flap nas 200ms",
    PathDown "path-down" Required [Number] "path-down HOST.MOUNT PATH" "path-down esx.vm 0",
    PathUp "path-up" Required [Number] "path-up HOST.MOUNT PATH" "path-up esx.vm 0",
    DiskFail "disk-fail" Optional [Number] "disk-fail [GUEST.]DISKS NUMBER" "disk-fail nas.data 1",
    DiskReplace "disk-replace" Optional [Number] "disk-replace [GUEST.]DISKS NUMBER" "disk-replace nas.data 1",
    DiskSlow "disk-slow" Optional [Number Times] "disk-slow [GUEST.]DISKS NUMBER TIMESx" "disk-slow nas.data 1 10x",
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; ROWS.len()] = {
        let mut all = [FaultKind::Pause; ROWS.len()];
        let mut index = 0;
        while index < ROWS.len() {
            all[index] = ROWS[index].kind;
            index += 1;
        }
        all
    };

    /// The verb in study files.
    pub fn name(self) -> &'static str {
        self.row().word
    }

    /// The syntax, such as `link-loss GUEST[.NETWORK] SHARE`.
    pub fn form(self) -> &'static str {
        self.row().form
    }

    /// The kind that this one undoes at the same target: `link-up` undoes `link-down`.
    pub fn ends(self) -> Option<FaultKind> {
        match self {
            FaultKind::Resume => Some(FaultKind::Pause),
            FaultKind::Restart => Some(FaultKind::Kill),
            FaultKind::LinkUp => Some(FaultKind::LinkDown),
            FaultKind::PathUp => Some(FaultKind::PathDown),
            FaultKind::DiskReplace => Some(FaultKind::DiskFail),
            _ => None,
        }
    }

    pub(crate) fn row(self) -> &'static Row {
        // Every kind has a row, as a test checks.
        ROWS.iter().find(|row| row.kind == self).unwrap_or(&ROWS[0])
    }
}

/// The syntax of each kind.
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
