//! Where the search starts: what a queue with one shared part would show at one and at 16 outstanding I/Os.

use super::form::Form;
use super::parameter::Parameter;

/// Mean latencies of one direction in nanoseconds: `[small, large]`, of one VM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Direction {
    /// With one outstanding I/O, less what the host's CPU takes of it.
    pub(crate) alone_ns: [f64; 2],
    /// With several outstanding I/Os.
    pub(crate) queued_ns: [f64; 2],
    /// How many those are.
    pub(crate) outstanding: f64,
    /// The request sizes.
    pub(crate) bytes: [f64; 2],
}

/// The parts of a direction: time of its own and per byte, shared time and per byte.
fn parts(form: Form, of: &Direction) -> [f64; 4] {
    let both = |at: usize| {
        let (alone, queued) = (of.alone_ns[at], of.queued_ns[at]);
        match form {
            // Alone, a request takes both parts; in a queue of n, its own once and the shared one n times.
            Form::Bulk => {
                let shared = ((queued - alone) / (of.outstanding - 1.0)).max(0.01 * alone);
                ((alone - shared).max(0.1 * alone), shared)
            }
            // The longer part decides, and the shared one is the longer in a queue.
            Form::Constant | Form::Varying => (alone, (queued / of.outstanding).min(0.9 * alone)),
        }
    };
    let [(own_small, shared_small), (own_large, shared_large)] = [both(0), both(1)];
    let line = |small: f64, large: f64| {
        let per_byte = ((large - small) / (of.bytes[1] - of.bytes[0])).max(0.0);
        // Where size hardly matters, the search needs a little of it to see that.
        let per_byte = per_byte.max(0.02 * small / of.bytes[1]);
        [(small - per_byte * of.bytes[0]).max(0.2 * small), per_byte]
    };
    let ([own, own_byte], [shared, shared_byte]) =
        (line(own_small, own_large), line(shared_small, shared_large));
    [own, own_byte, shared, shared_byte]
}

/// The values at which the search starts, in nanoseconds, in the order of [`Parameter::ALL`].
pub(crate) fn starts(form: Form, reads: &Direction, writes: &Direction) -> [f64; 8] {
    let (read, write) = (parts(form, reads), parts(form, writes));
    Parameter::ALL.map(|one| {
        let value = match one {
            Parameter::Read => read[0],
            Parameter::PerByte => read[1],
            Parameter::SharedPerIo => read[2],
            Parameter::SharedPerByte => read[3],
            Parameter::Write => write[0],
            Parameter::PerWrittenByte => write[1],
            Parameter::SharedPerWrite => write[2],
            Parameter::SharedPerWrittenByte => write[3],
        };
        let (lowest, highest) = one.bounds_ns();
        value.clamp(lowest, highest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_device_is_found_from_its_own_latencies() {
        let own = |bytes: f64| 80_000.0 + 0.5 * bytes;
        let shared = |bytes: f64| 9_000.0 + 0.2 * bytes;
        let bytes = [4096.0, 65_536.0];
        let direction = Direction {
            alone_ns: bytes.map(|b| own(b) + shared(b)),
            queued_ns: bytes.map(|b| own(b) + 16.0 * shared(b)),
            outstanding: 16.0,
            bytes,
        };
        let found = parts(Form::Bulk, &direction);
        for (found, expected) in found.iter().zip([80_000.0, 0.5, 9_000.0, 0.2]) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn whatever_was_measured_the_search_starts_within_its_bounds() {
        // Larger requests faster than small ones, and a queue that costs nothing.
        let odd = Direction {
            alone_ns: [50_000.0, 20_000.0],
            queued_ns: [40_000.0, 10_000.0],
            outstanding: 16.0,
            bytes: [4096.0, 65_536.0],
        };
        for form in Form::ALL {
            for (value, one) in starts(form, &odd, &odd).into_iter().zip(Parameter::ALL) {
                let (lowest, highest) = one.bounds_ns();
                assert!(value >= lowest && value <= highest, "{form:?} {one:?} {value}");
            }
        }
    }
}
