//! The tests of iozone, and what each of its three outputs calls them.

use crate::run::{Pattern, Way};

/// A test.
#[derive(Debug)]
pub(super) struct Kind {
    /// Its name here.
    pub(super) name: &'static str,
    /// Its column in the table, where the table has two header lines the lower one.
    pub(super) column: &'static str,
    /// The title of its matrix, in lower case and without `report`; empty: it has none.
    pub(super) matrix: &'static str,
    /// Those that do it in throughput mode; empty: nobody.
    pub(super) children: &'static str,
    /// Which I/O.
    pub(super) way: Way,
    /// In which order. Backwards, in strides and the same place again are none of the orders that are known here.
    pub(super) pattern: Option<Pattern>,
    /// The calls that it uses, if not `read` and `write`.
    pub(super) calls: Option<&'static str>,
}

const fn kind(
    name: &'static str,
    column: &'static str,
    matrix: &'static str,
    children: &'static str,
    way: Way,
    pattern: Option<Pattern>,
    calls: Option<&'static str>,
) -> Kind {
    Kind { name, column, matrix, children, way, pattern, calls }
}

const SEQUENTIAL: Option<Pattern> = Some(Pattern::Sequential);
const RANDOM: Option<Pattern> = Some(Pattern::Random);
const STDIO: Option<&str> = Some("stdio");
const AT: Option<&str> = Some("pread and pwrite");
const VECTORS: Option<&str> = Some("preadv and pwritev");

/// In the order of the table's columns; the last one is of throughput mode only.
pub(super) const KINDS: [Kind; 22] = [
    kind("write", "write", "writer", "initial writers", Way::Write, SEQUENTIAL, None),
    kind("rewrite", "rewrite", "re-writer", "rewriters", Way::Write, SEQUENTIAL, None),
    kind("read", "read", "reader", "readers", Way::Read, SEQUENTIAL, None),
    kind("reread", "reread", "re-reader", "re-readers", Way::Read, SEQUENTIAL, None),
    kind("random read", "read", "random read", "random readers", Way::Read, RANDOM, None),
    kind("random write", "write", "random write", "random writers", Way::Write, RANDOM, None),
    kind("backward read", "read", "backward read", "reverse readers", Way::Read, None, None),
    kind("record rewrite", "rewrite", "record rewrite", "", Way::Write, None, None),
    kind("stride read", "read", "stride read", "stride readers", Way::Read, None, None),
    kind("fwrite", "fwrite", "fwrite", "fwriters", Way::Write, SEQUENTIAL, STDIO),
    kind("frewrite", "frewrite", "re-fwrite", "", Way::Write, SEQUENTIAL, STDIO),
    kind("fread", "fread", "fread", "freaders", Way::Read, SEQUENTIAL, STDIO),
    kind("freread", "freread", "re-fread", "", Way::Read, SEQUENTIAL, STDIO),
    kind("pwrite", "pwrite", "pwrite", "pwrite writers", Way::Write, SEQUENTIAL, AT),
    kind("repwrite", "repwrite", "re-pwrite", "", Way::Write, SEQUENTIAL, AT),
    kind("pread", "pread", "pread", "pread readers", Way::Read, SEQUENTIAL, AT),
    kind("repread", "repread", "re-pread", "", Way::Read, SEQUENTIAL, AT),
    kind("pwritev", "pwritev", "pwritev", "", Way::Write, SEQUENTIAL, VECTORS),
    kind("repwritev", "repwritev", "re-pwritev", "", Way::Write, SEQUENTIAL, VECTORS),
    kind("preadv", "preadv", "preadv", "", Way::Read, SEQUENTIAL, VECTORS),
    kind("repreadv", "repreadv", "re-preadv", "", Way::Read, SEQUENTIAL, VECTORS),
    kind("mixed workload", "", "", "mixed workload", Way::Both, RANDOM, None),
];
