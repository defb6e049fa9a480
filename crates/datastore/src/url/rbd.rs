//! `rbd:pool[/name][?option&…]`: images in a pool of a Ceph cluster, as QEMU names them.
//!
//! The name begins the names of the images that are made; an image of exactly that name is never touched.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use stormeter_rbd::{ClusterSettings, ImageOptions};
use stormeter_units::{format_bytes, parse_bytes};

use super::authority::{decode, encode};
use super::error::{UrlError, bad_value, unknown_option};
use super::nfs::{DEFAULT_TIMEOUT, number, timeout, timeout_option};

/// What the names of our images begin with unless the URL says otherwise.
const DEFAULT_NAME: &str = "vm";
/// The most objects of a stripe.
const MOST_STRIPES: u32 = 1024;
/// The unit of stripes unless the URL says otherwise.
const DEFAULT_STRIPE_UNIT: u64 = 64 << 10;

const OPTIONS: &str = "there are conf=FILE, id=USER, namespace=NAME, object-size=SIZE, stripes=N, \
                       stripe-unit=SIZE, features=LIST, cache=0|1 and timeout=TIME";

const NAMES: [&str; 9] = [
    "conf",
    "id",
    "namespace",
    "object-size",
    "stripes",
    "stripe-unit",
    "features",
    "cache",
    "timeout",
];

/// Names and bits of image features (librbd/features.h).
const FEATURES: [(&str, u64); 7] = [
    ("layering", 1),
    ("striping", 2),
    ("exclusive-lock", 4),
    ("object-map", 8),
    ("fast-diff", 16),
    ("deep-flatten", 32),
    ("journaling", 64),
];

/// A pool of a Ceph cluster, and how images are made in it. What is `None` is the cluster's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RbdPool {
    /// The pool.
    pub pool: String,
    /// What the names of the images begin with.
    pub name: String,
    /// The namespace in the pool.
    pub namespace: Option<String>,
    /// The cluster's configuration file.
    pub conf: Option<PathBuf>,
    /// The user, without `client.`.
    pub id: String,
    /// Bytes of an object, a power of two.
    pub object_bytes: Option<u64>,
    /// Number of objects over which a stripe goes.
    pub stripes: Option<u32>,
    /// Bytes that go to one object before the next one's turn.
    pub stripe_unit_bytes: Option<u64>,
    /// Feature bits.
    pub features: Option<u64>,
    /// Whether librbd's cache is on.
    pub cache: bool,
    /// How long the cluster may take for an operation before it fails.
    pub timeout: Duration,
}

impl RbdPool {
    pub(super) fn parse(rest: &str) -> Result<Self, UrlError> {
        let form = || UrlError::Form {
            text: format!("rbd:{rest}"),
            form: "rbd:pool or rbd:pool/name, such as rbd:vms/test",
        };
        let decoded = decode(rest).ok_or_else(form)?;
        let (pool, name) = decoded.split_once('/').unwrap_or((&decoded, DEFAULT_NAME));
        let is_sound = |text: &str| {
            !text.is_empty()
                && !text.contains(['/', '@', '\0'])
                && !text.chars().any(char::is_control)
        };
        if !is_sound(pool) || !is_sound(name) {
            return Err(form());
        }
        Ok(Self {
            pool: pool.into(),
            name: name.into(),
            namespace: None,
            conf: None,
            id: "admin".into(),
            object_bytes: None,
            stripes: None,
            stripe_unit_bytes: None,
            features: None,
            cache: false,
            timeout: DEFAULT_TIMEOUT,
        })
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), UrlError> {
        let text = |option, choices| {
            let decoded = decode(value).filter(|text| !text.is_empty() && !text.contains('\0'));
            decoded.ok_or_else(|| bad_value(option, value, choices))
        };
        match name {
            "conf" => self.conf = Some(text("conf", "the cluster's configuration file")?.into()),
            "id" => self.id = text("id", "a user's name, without client.")?,
            "namespace" => self.namespace = Some(text("namespace", "a namespace of the pool")?),
            "object-size" => {
                let choices = "a power of two from 4KiB to 32MiB";
                let bytes = parse_bytes(value).ok().filter(|bytes| {
                    bytes.is_power_of_two() && ((4 << 10)..=(32 << 20)).contains(bytes)
                });
                self.object_bytes =
                    Some(bytes.ok_or_else(|| bad_value("object-size", value, choices))?);
            }
            "stripes" => {
                self.stripes = Some(number("stripes", value, 1..=MOST_STRIPES, "1 to 1024")?);
            }
            "stripe-unit" => {
                let choices = "a power of two from 512B to 32MiB that is not above the object size";
                let bytes = parse_bytes(value)
                    .ok()
                    .filter(|bytes| bytes.is_power_of_two() && (512..=(32 << 20)).contains(bytes));
                self.stripe_unit_bytes =
                    Some(bytes.ok_or_else(|| bad_value("stripe-unit", value, choices))?);
            }
            "features" => self.features = Some(features(value)?),
            "cache" => {
                self.cache = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(bad_value("cache", value, "0 or cache=1")),
                }
            }
            "timeout" => self.timeout = timeout(value)?,
            _ => return Err(unknown_option(name, &NAMES, OPTIONS)),
        }
        Ok(())
    }

    pub(super) fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        let mut given = |name: &str, value: Option<String>| {
            options.extend(value.map(|value| format!("{name}={value}")));
        };
        given("conf", self.conf.as_ref().map(|path| encode(&path.to_string_lossy())));
        given("id", (self.id != "admin").then(|| encode(&self.id)));
        given("namespace", self.namespace.as_deref().map(encode));
        given("object-size", self.object_bytes.map(format_bytes));
        given("stripes", self.stripes.map(|count| count.to_string()));
        given("stripe-unit", self.stripe_unit_bytes.map(format_bytes));
        given("features", self.features.map(feature_names));
        given("cache", self.cache.then(|| "1".into()));
        given("timeout", timeout_option(self.timeout));
        options
    }

    /// Bytes that go to one object before the next one's turn, where stripes are asked for.
    pub fn stripe_unit(&self) -> Option<u64> {
        let is_striped = self.stripes.is_some_and(|count| count > 1);
        self.stripe_unit_bytes.or(is_striped.then_some(DEFAULT_STRIPE_UNIT))
    }

    /// How to connect to it.
    pub fn settings(&self) -> ClusterSettings {
        ClusterSettings {
            conf: self.conf.clone(),
            id: self.id.clone(),
            pool: self.pool.clone(),
            namespace: self.namespace.clone(),
            timeout: self.timeout,
            cache: self.cache,
        }
    }

    /// How images in it are made.
    pub fn image_options(&self) -> ImageOptions {
        ImageOptions {
            object_bytes: self.object_bytes,
            stripe_unit_bytes: self.stripe_unit(),
            stripe_count: self.stripes.map(u64::from),
            features: self.features,
        }
    }
}

fn features(value: &str) -> Result<u64, UrlError> {
    const CHOICES: &str = "a list such as layering,exclusive-lock of layering, striping, exclusive-lock, \
                           object-map, fast-diff, deep-flatten, journaling";
    let bit = |name: &str| {
        let known = FEATURES.iter().find(|(known, _)| *known == name);
        known.map(|(_, bit)| *bit).ok_or_else(|| bad_value("features", value, CHOICES))
    };
    value.split(',').try_fold(0, |bits, name| Ok(bits | bit(name)?))
}

fn feature_names(bits: u64) -> String {
    let names = FEATURES.iter().filter(|(_, bit)| bits & bit != 0).map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(",")
}

impl fmt::Display for RbdPool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rbd:{}", encode(&self.pool))?;
        if self.name == DEFAULT_NAME { Ok(()) } else { write!(out, "/{}", encode(&self.name)) }
    }
}
