//! Runs as few bytes: which fields they have, and kinds and patterns.

use crate::chunks::{Chunks, Reader};
use crate::figure::Figure;
use crate::packed::Packed;
use crate::run::{Bucket, Direction, Interval, Latency, Load, Pattern, Percentile, Run, Way};

macro_rules! packed_fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl Packed for $type {
            fn start() -> Self {
                Self { $($field: Packed::start()),* }
            }

            fn put(self, last: &mut Self, to: &mut Chunks) {
                let differs = [$(self.$field != last.$field),*];
                to.number(differs.iter().rev().fold(0, |all, differs| all << 1 | u64::from(*differs)));
                let mut differs = differs.into_iter();
                $(if differs.next() == Some(true) {
                    self.$field.put(&mut last.$field, to);
                })*
            }

            fn take(last: &mut Self, from: &mut Reader<'_>) {
                let all = from.number();
                let mut differs = (0..u64::BITS).map(|at| all >> at & 1 == 1);
                $(if differs.next() == Some(true) {
                    Packed::take(&mut last.$field, from);
                })*
            }

            fn out(&mut self) -> Self {
                Self { $($field: self.$field.out()),* }
            }
        }
    };
}

packed_fields!(Figure { value, half });
packed_fields!(Bucket { low_ns, high_ns, count });
packed_fields!(Percentile { share, ns });
packed_fields!(Interval {
    start_s,
    length_s,
    way,
    iops,
    bytes_per_s,
    latency_mean,
    latency_p99,
    latency_max,
});
packed_fields!(Latency { mean, sd, min, max, percentiles, histogram });
packed_fields!(Direction { way, operations, bytes, iops, bytes_per_s, runtime_s, latency });
packed_fields!(Load {
    request_bytes,
    read_share,
    pattern,
    outstanding,
    workers,
    rate_per_s,
    working_set_bytes,
    direct,
    durability,
    engine,
    ramp_s,
    duration_s,
});
packed_fields!(Run {
    name,
    place,
    target,
    began_s,
    load,
    window_s,
    directions,
    outstanding_mean,
    cpu_busy,
    intervals,
    errors,
});

impl Packed for Way {
    fn start() -> Self {
        Self::Read
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        to.byte(WAYS.iter().position(|way| *way == self).unwrap_or(0) as u8);
        *last = self;
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        *last = WAYS.get(usize::from(from.byte())).copied().unwrap_or(Self::Read);
    }
}

const WAYS: [Way; 5] = [Way::Read, Way::Write, Way::Both, Way::Flush, Way::Trim];

impl Packed for Pattern {
    fn start() -> Self {
        Self::Sequential
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        match self {
            Self::Sequential => to.byte(0),
            Self::Random => to.byte(1),
            Self::Mixed(share) => {
                to.byte(2);
                share.put(&mut 0.0, to);
            }
        }
        *last = self;
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        *last = match from.byte() {
            0 => Self::Sequential,
            1 => Self::Random,
            _ => {
                let mut share = 0.0;
                f64::take(&mut share, from);
                Self::Mixed(share)
            }
        };
    }
}
