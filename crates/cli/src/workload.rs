//! The workload that the load options describe: a profile with changes.

use stormeter_study::profile;
use stormeter_trial::{Arrivals, Burst, Content, Distribution, FlushEvery, SizeShare, Workload};

use crate::arguments_compare::{ArrivalsName, LoadOptions};
use crate::exit::Failure;
use crate::units;

impl LoadOptions {
    /// The workload of each VM.
    pub(crate) fn workload(&self) -> Result<Workload, Failure> {
        let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        let mut workload = profile(&self.workload).map_err(|error| usage(&error))?.workload;
        if let Some(text) = &self.request_size {
            workload.sizes = sizes(text).map_err(Failure::Usage)?;
        }
        if let Some(read) = self.read {
            workload.read_percent = read * 100.0;
        }
        if let Some(random) = self.random {
            workload.random_percent = random * 100.0;
        }
        if let Some(exponent) = self.zipf {
            workload.distribution = Distribution::Zipf { exponent };
        }
        workload.alignment_bytes = self.align.or(workload.alignment_bytes);
        if let Some(outstanding) = self.outstanding {
            workload.arrivals = Arrivals::Closed { outstanding };
        }
        if let Some(rate_per_s) = self.rate {
            workload.arrivals = match self.arrivals {
                ArrivalsName::Poisson => Arrivals::Poisson { rate_per_s },
                ArrivalsName::Constant => Arrivals::Constant { rate_per_s },
            };
        }
        if let (Some(length), Some(delay_ns)) = (self.burst, self.burst_delay) {
            workload.burst = Some(Burst { length, delay_ns });
        }
        workload.durable |= self.durable;
        if let Some(text) = &self.flush {
            workload.flush = FlushEvery::parse(text).map_err(|error| usage(&error))?;
        }
        workload.content = Content {
            compressible_percent: self.compressible * 100.0,
            duplicate_percent: self.dedupable * 100.0,
        };
        if workload != profile(&self.workload).map_err(|error| usage(&error))?.workload {
            workload.name = format!("{} changed", self.workload);
        }
        Ok(workload)
    }
}

/// `4KiB` or `4KiB:70,64KiB:30`.
fn sizes(text: &str) -> Result<Vec<SizeShare>, String> {
    text.split(',')
        .map(|part| {
            let (size, share) = match part.split_once(':') {
                Some((size, share)) => (size, share.trim().trim_end_matches('%')),
                None => (part, "1"),
            };
            let bytes = units::size(size)?;
            let bytes = u32::try_from(bytes)
                .map_err(|_| format!("a request of {size} is too large; at most 64MiB"))?;
            let share: f64 = share.parse().map_err(|_| {
                format!("\"{share}\" is not a share; write sizes like 4KiB:70,64KiB:30")
            })?;
            Ok(SizeShare { bytes, share })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_shares_or_are_alone() {
        assert_eq!(sizes("8k").unwrap(), [SizeShare { bytes: 8192, share: 1.0 }]);
        let mix = sizes("4KiB:70, 64KiB:30%").unwrap();
        assert_eq!(mix[1], SizeShare { bytes: 65536, share: 30.0 });
        for bad in ["", "4q", "4k:x", "9TiB"] {
            assert!(sizes(bad).is_err(), "{bad}");
        }
    }
}
