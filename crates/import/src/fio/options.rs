//! A job's options, as fio repeats them in its results, as a load.
//!
//! fio prints only options that have a value (`time_based` alone is not among them), once for all jobs and once for
//! each; the job's win. What neither has is at fio's default, which is as good as stated.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::quantity;
use crate::error::ImportError;
use crate::json::{Node, text_of};
use crate::room::kept;
use crate::run::{Load, Pattern};

/// Engines that wait for every I/O, so that `iodepth` does nothing.
const WAITING: &[&str] = &[
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "sg",
    "net",
    "netsplice",
    "http",
    "libhdfs",
    "gfapi",
    "libpmem",
    "dev-dax",
    "mtd",
    "ime_psync",
    "ime_psyncv",
    "libzbc",
    "libcufile",
];
/// The engine of this project's own exports, in which a load without a depth has a rate or is fixed work: any number may be
/// outstanding.
const OURS: &str = "external:stormeter";
/// Engines that open files through the page cache of this machine unless `direct` is set.
const OF_FILES: &[&str] = &[
    "sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap",
    "splice",
];
/// fio's engine on Linux, if none is named.
const DEFAULT_ENGINE: &str = "psync";

/// Names that mean the same option.
const SAME: &[(&str, &str)] = &[
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("readwrite", "rw"),
    ("timeout", "runtime"),
    ("io_limit", "io_size"),
];

/// The options that are looked at: a file may have any number of others.
const LOOKED_AT: &[&str] = &[
    "bs",
    "bsrange",
    "bssplit",
    "buffered",
    "direct",
    "directory",
    "end_fsync",
    "fdatasync",
    "filename",
    "fsync",
    "fsync_on_close",
    "iodepth",
    "ioengine",
    "kb_base",
    "lat_percentiles",
    "name",
    "numjobs",
    "offset_increment",
    "percentage_random",
    "ramp_time",
    "rate_iops",
    "runtime",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
    "sync",
    "sync_file_range",
    "time_based",
    "verify",
    "verify_only",
];

/// Options by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Options<'a> {
    known: BTreeMap<&'static str, Cow<'a, str>>,
    /// Whether there are any, looked at or not.
    any: bool,
}

impl<'a> Options<'a> {
    /// Adds those of a JSON object; what is there already is replaced.
    pub(crate) fn extend(&mut self, node: &Node<'a>) -> Result<(), ImportError> {
        for (key, value) in node.members()? {
            let Some(value) = text_of(value) else { continue };
            self.any = true;
            let name = SAME.iter().find(|(name, _)| *name == key).map_or(&*key, |(_, one)| one);
            if let Some(name) = LOOKED_AT.iter().find(|known| **known == name) {
                self.known.insert(name, short(value));
            }
        }
        Ok(())
    }

    /// Bytes of memory that it takes, at most.
    pub(crate) fn memory(&self) -> usize {
        let texts: usize = self.known.values().map(|value| value.len()).sum();
        texts + (self.known.len() + 11) * 2 * size_of::<(&str, Cow<'_, str>)>()
    }

    /// Whether there are none, as in old versions.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any
    }

    /// An option as stated.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(LOOKED_AT.contains(&name), "{name} is not kept");
        self.known.get(name).map(|value| &**value)
    }

    /// Whether an option is there and not switched off.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value, "0" | "none" | "false"))
    }

    /// A whole number.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(quantity::whole)
    }

    /// What was measured.
    pub(crate) fn target(&self) -> Option<String> {
        self.get("filename").or(self.get("directory")).map(str::to_owned)
    }

    /// What was done, by this number of workers. `lasted_s` is the measured window: a runtime that it did not reach
    /// was a limit, not a plan.
    pub(crate) fn load(&self, workers: Option<u64>, lasted_s: Option<f64>) -> Load {
        if self.is_empty() {
            return Load { workers, ..Load::default() };
        }
        let engine = self.get("ioengine");
        let depth = match engine.unwrap_or(DEFAULT_ENGINE) {
            engine if WAITING.contains(&engine) => Some(1),
            OURS => self.get("iodepth").and_then(quantity::whole),
            _ => self.get("iodepth").map_or(Some(1), quantity::whole),
        };
        let all_workers =
            |each: Option<u64>| each.zip(workers).and_then(|(each, n)| each.checked_mul(n));
        Load {
            request_bytes: self.request_bytes(),
            read_share: self.read_share(),
            pattern: self.pattern(),
            outstanding: all_workers(depth),
            workers,
            rate_per_s: all_workers(self.rate()).map(|rate| rate as f64),
            working_set_bytes: self.working_set(workers),
            direct: self.direct(),
            durability: self.durability(),
            engine: engine.map(str::to_owned),
            ramp_s: self.get("ramp_time").and_then(quantity::seconds),
            duration_s: self.duration(lasted_s),
        }
    }

    /// Whether it reads, writes and trims.
    fn kinds(&self) -> [bool; 3] {
        match self.order() {
            "read" | "randread" => [true, false, false],
            "write" | "randwrite" => [false, true, false],
            "rw" | "readwrite" | "randrw" => [true, true, false],
            "trim" | "randtrim" => [false, false, true],
            "trimwrite" | "randtrimwrite" => [false, true, true],
            _ => [false; 3],
        }
    }

    /// `rw` without what may follow a colon.
    fn order(&self) -> &str {
        self.get("rw").unwrap_or("read").split(':').next().unwrap_or_default().trim()
    }

    /// The value that all kinds of I/O of this job have, of an option with one for each.
    fn of_all_kinds<T: PartialEq>(
        &self,
        text: &str,
        default: Option<T>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let mut common = None;
        for (kind, is_done) in self.kinds().into_iter().enumerate() {
            if !is_done {
                continue;
            }
            let Some(value) = quantity::of_kind(text, kind) else { return default };
            let value = read(value)?;
            if common.as_ref().is_some_and(|common| *common != value) {
                return None;
            }
            common = Some(value);
        }
        common
    }

    fn size(&self, text: &str) -> Option<u64> {
        quantity::bytes(text, self.get("kb_base") == Some("1000"))
    }

    fn request_bytes(&self) -> Option<u64> {
        if ["bsrange", "bssplit"].iter().any(|name| self.get(name).is_some()) {
            return None;
        }
        match self.get("bs") {
            Some(text) => self.of_all_kinds(text, Some(4096), |size| self.size(size)),
            None => Some(4096),
        }
    }

    fn read_share(&self) -> Option<f64> {
        match self.kinds() {
            [true, false, false] => Some(1.0),
            [false, true, false] => Some(0.0),
            [true, true, false] => {
                let percent = |name| self.whole(name).filter(|share| *share <= 100);
                let percent = match (percent("rwmixread"), percent("rwmixwrite")) {
                    (Some(reads), _) => reads,
                    (None, Some(writes)) => 100 - writes,
                    (None, None) => 50,
                };
                Some(percent as f64 / 100.0)
            }
            _ => None,
        }
    }

    fn pattern(&self) -> Option<Pattern> {
        // `rw=randread:8` changes the place only after every 8 I/Os.
        if self.get("rw").is_some_and(|rw| rw.contains(':')) || self.kinds() == [false; 3] {
            return None;
        }
        if !self.order().starts_with("rand") {
            return Some(Pattern::Sequential);
        }
        match self.get("percentage_random") {
            None => Some(Pattern::Random),
            Some(text) => match self.of_all_kinds(text, Some(100), quantity::whole)? {
                100 => Some(Pattern::Random),
                percent @ 1..100 => Some(Pattern::Mixed(percent as f64 / 100.0)),
                _ => Some(Pattern::Sequential),
            },
        }
    }

    /// The rate of one job, if it has one kind of I/O: with several, each has a rate, and the mix decides as well.
    fn rate(&self) -> Option<u64> {
        if self.kinds().iter().filter(|is_done| **is_done).count() != 1 {
            return None;
        }
        self.of_all_kinds(self.get("rate_iops")?, None, quantity::whole).filter(|rate| *rate > 0)
    }

    /// Jobs that name a file share it; others have one each.
    fn working_set(&self, workers: Option<u64>) -> Option<u64> {
        let size = self.size(self.get("size")?)?;
        match self.get("filename") {
            Some(_) if self.get("offset_increment").is_none() => Some(size),
            Some(_) => None,
            None => size.checked_mul(workers?),
        }
    }

    fn direct(&self) -> Option<bool> {
        match (self.get("direct"), self.get("buffered")) {
            (Some(direct), _) => Some(direct != "0"),
            (None, Some(buffered)) => Some(buffered == "0"),
            (None, None) => {
                OF_FILES.contains(&self.get("ioengine").unwrap_or(DEFAULT_ENGINE)).then_some(false)
            }
        }
    }

    fn durability(&self) -> Option<String> {
        let names =
            ["sync", "fsync", "fdatasync", "sync_file_range", "end_fsync", "fsync_on_close"];
        let stated: Vec<String> = names
            .into_iter()
            .filter(|name| self.is_set(name))
            .filter_map(|name| Some(format!("{name}={}", self.get(name)?)))
            .collect();
        Some(stated.join(", "))
    }

    fn duration(&self, lasted_s: Option<f64>) -> Option<f64> {
        let planned =
            self.get("runtime").and_then(quantity::seconds).filter(|planned| *planned > 0.0)?;
        let reached = lasted_s.is_some_and(|lasted| lasted >= planned - 1e-3);
        (self.is_set("time_based") || reached).then_some(planned)
    }
}

/// Every job repeats what is common to all.
fn short(value: Cow<'_, str>) -> Cow<'_, str> {
    match kept(&value) {
        cut if cut.len() < value.len() => Cow::Owned(cut),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn options(value: &Value) -> Options<'static> {
        let mut options = Options::default();
        // A test may leak a line of text.
        let text = value.to_string().leak();
        options.extend(&Node::root("fio JSON", "job options", text)).unwrap();
        options
    }

    #[test]
    fn a_load_is_what_the_options_say() {
        let options =
            options(&json!({"blocksize": "8k", "rw": "randrw", "rwmixread": "70", "iodepth": "32",
            "ioengine": "libaio", "direct": "1", "runtime": "60", "ramp_time": "5s", "size": "10g",
            "filename": "/dev/sdb", "fsync": "1", "end_fsync": "0"}));
        assert_eq!(options.target().as_deref(), Some("/dev/sdb"));
        let load = options.load(Some(4), Some(60.001));
        let expected = Load {
            request_bytes: Some(8192),
            read_share: Some(0.7),
            pattern: Some(Pattern::Random),
            outstanding: Some(128),
            workers: Some(4),
            rate_per_s: None,
            working_set_bytes: Some(10 << 30),
            direct: Some(true),
            durability: Some("fsync=1".to_owned()),
            engine: Some("libaio".to_owned()),
            ramp_s: Some(5.0),
            duration_s: Some(60.0),
        };
        assert_eq!(load, expected);
        assert_eq!(options.load(Some(4), Some(12.0)).duration_s, None);
    }

    #[test]
    fn what_is_not_stated_is_at_its_default() {
        let load =
            options(&json!({"rw": "write", "iodepth": "8", "size": "1m", "rate_iops": "100"}))
                .load(Some(2), None);
        assert_eq!((load.request_bytes, load.outstanding), (Some(4096), Some(2)));
        assert_eq!((load.direct, load.working_set_bytes), (Some(false), Some(2 << 20)));
        assert_eq!((load.rate_per_s, load.read_share), (Some(200.0), Some(0.0)));
        assert_eq!(load.durability.as_deref(), Some(""));
    }

    #[test]
    fn several_values_are_not_one() {
        for (bs, rw, expected) in [
            ("4k,8k", "randrw", None),
            ("4k,8k", "randwrite", Some(8192)),
            ("8k,", "randwrite", Some(4096)),
            ("4k-8k", "read", None),
        ] {
            let load = options(&json!({"bs": bs, "rw": rw})).load(None, None);
            assert_eq!(load.request_bytes, expected, "{bs} {rw}");
        }
        assert_eq!(
            options(&json!({"bssplit": "4k/50:8k/50"})).load(None, None).request_bytes,
            None
        );
    }

    #[test]
    fn no_options_say_nothing() {
        assert_eq!(
            Options::default().load(Some(1), None),
            Load { workers: Some(1), ..Load::default() }
        );
    }
}
