//! The laws: what each says, and what to do when a result breaks it.

use schemars::JsonSchema;
use serde::Serialize;

/// A law that a result must obey, or is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Throughput is IOPS times request size.
    Throughput,
    /// Outstanding requests are IOPS times latency.
    Little,
    /// Rows of one load agree on its size and on what was outstanding.
    SameLoad,
    /// Mean, SD, SE, variance, n, median and range of one sample fit together.
    Summary,
    /// A printed summary follows from the rows that it sums up.
    SummaryOfRows,
    /// Percentiles are not averaged.
    AveragedPercentile,
    /// A claim and the figures that it is about agree.
    Claim,
    /// A percentage has one base.
    Base,
    /// Figures are rounded, not cut.
    Rounding,
    /// Nothing is faster than what it goes through.
    Ceiling,
    /// A load generator is well above what it measures.
    Generator,
    /// Nothing takes less than the way there and back.
    RoundTrip,
    /// What was moved fits in the time at the rate.
    MovedInTime,
    /// What a network carries is at least what is sent and received.
    Usage,
    /// Shares are at most one.
    Share,
    /// Counts follow from the design.
    Counts,
    /// Two statements of one quantity are the same.
    SameQuantity,
    /// A test's statistic, degrees of freedom and p fit together.
    Test,
    /// A difference is larger than the noise.
    Noise,
    /// What plays no part has no effect.
    NoPart,
    /// Samples that are counted are independent.
    Independence,
    /// A cell is measured more than once.
    Repetition,
    /// What is compared takes turns.
    Order,
    /// What is compared is equally durable.
    Durability,
    /// Rows are not copies.
    Copies,
    /// Latencies are above zero.
    ZeroLatency,
    /// A run is long enough.
    Length,
    /// Every I/O is counted once.
    Conservation,
    /// Percentiles rise, between the least and the greatest value.
    Distribution,
    /// No I/O fails.
    Errors,
    /// A unit fits what it stands with.
    Unit,
    /// What a results file's own report says.
    Own,
}

impl Law {
    /// What the law says.
    pub fn says(self) -> &'static str {
        match self {
            Law::Throughput => "throughput is IOPS times request size",
            Law::Little => "outstanding requests are IOPS times latency (Little's law)",
            Law::SameLoad => "rows with one load have one request size and one number outstanding",
            Law::Summary => "the moments of one sample fit together",
            Law::SummaryOfRows => "a summary follows from its rows",
            Law::AveragedPercentile => "a percentile cannot be averaged",
            Law::Claim => "a claim agrees with its table",
            Law::Base => "a percentage follows from its base",
            Law::Rounding => "figures are rounded, not cut",
            Law::Ceiling => "nothing is faster than what it goes through",
            Law::Generator => "the generator can do three times what is measured",
            Law::RoundTrip => "nothing takes less than a round trip",
            Law::MovedInTime => "what is moved fits in the time at the rate",
            Law::Usage => "usage is at least what is sent and received",
            Law::Share => "a share is at most 100 %",
            Law::Counts => "counts follow from the design",
            Law::SameQuantity => "two statements of one quantity agree",
            Law::Test => "statistic, degrees of freedom and p fit together",
            Law::Noise => "a difference is larger than the noise",
            Law::NoPart => "what plays no part has no effect",
            Law::Independence => "samples that are counted are independent",
            Law::Repetition => "a cell is measured more than once",
            Law::Order => "what is compared takes turns",
            Law::Durability => "what is compared is equally durable",
            Law::Copies => "rows are measurements and not copies",
            Law::ZeroLatency => "latencies are above zero",
            Law::Length => "a run is long enough to be steady",
            Law::Conservation => "every I/O is counted once",
            Law::Distribution => "percentiles rise from the least to the greatest value",
            Law::Errors => "no I/O fails",
            Law::Unit => "a unit fits its figures",
            Law::Own => "what the report of these results says",
        }
    }

    /// What to do about a result that does not obey it.
    pub fn advice(self) -> &'static str {
        match self {
            Law::Throughput => {
                "look up the request size of this row and the unit of the rate (MB or MiB, bits or bytes)"
            }
            Law::Little => {
                "check whether the number outstanding is per worker, and where latency is taken"
            }
            Law::SameLoad => "check the load of both rows, and whether both figures are of one run",
            Law::Summary | Law::SummaryOfRows => "compute it again from the samples",
            Law::AveragedPercentile => "merge the histograms and read the percentile from these",
            Law::Claim => "do not rely on the claim; the table says otherwise",
            Law::Base => "state the base: percent of which figure",
            Law::Rounding => "nothing, if the digits are enough; rounding loses less",
            Law::Ceiling => {
                "find the memory that answered (the client's cache, the server's), or the unit that is wrong"
            }
            Law::Generator => "measure with more threads or hosts, or a lighter generator",
            Law::RoundTrip => "find what answered without crossing the network",
            Law::MovedInTime => "check the amount and the time; one of them is of another run",
            Law::Usage => "check which columns were exchanged",
            Law::Share => "check the unit: of one CPU, or of all",
            Law::Counts => "correct the count or the design; one is not as stated",
            Law::SameQuantity => "find out which of the two was measured",
            Law::Test => "compute the test again",
            Law::Noise => "repeat the measurement until the interval excludes zero",
            Law::NoPart => "look for what else differed between these measurements",
            Law::Independence => "take the run as the unit: repeat runs, and test their means",
            Law::Repetition => "repeat each cell; without that no interval can be had",
            Law::Order => "measure again in turns: ABAB rather than AABB",
            Law::Durability => "measure again with the same durability on both sides",
            Law::Copies => "look up the measurement behind the row",
            Law::ZeroLatency => "take a finer unit, or find out what was not measured",
            Law::Length => "measure for longer, after the start",
            Law::Conservation | Law::Distribution => {
                "do not use these figures; the tool's output is damaged"
            }
            Law::Errors => "find out why I/Os fail; their time is not that of I/Os",
            Law::Unit => "look up the unit",
            Law::Own => "",
        }
    }
}
