//! Why a URL is invalid. Errors never repeat the text between scheme and path: it may contain a password.

use stormeter_units::nearest;

/// The URLs that this version opens, as listed in messages.
const KNOWN: &str = "a path, file:///path, /dev/…, nfs://host/export, iscsi://host/target/lun, rbd:pool, \
     server://host, null:";

/// An invalid URL of a datastore.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text is empty.
    #[error("the datastore's URL is empty: give {KNOWN}")]
    Empty,
    /// An unknown scheme.
    #[error(
        "unknown scheme \"{scheme}:\": {}known are {KNOWN}. For a path that contains a colon write \
         ./{scheme}:…",
        did_you_mean(*.meant, ":")
    )]
    UnknownScheme {
        /// The text before the colon.
        scheme: String,
        /// The scheme that was probably meant.
        meant: Option<&'static str>,
    },
    /// A datastore of a site file: there is nothing to open.
    #[error(
        "sim: is a datastore of a site file, which exists on paper only: predict the study with \
         `stormeter predict`; real ones are {KNOWN}"
    )]
    Simulated,
    /// A scheme that a later version will open.
    #[error(
        "{scheme}:// ({words}) is not in this version yet: mount it and give the mount point's \
         path; known are {KNOWN}"
    )]
    NotYet {
        /// The scheme.
        scheme: &'static str,
        /// Its name.
        words: &'static str,
    },
    /// An option that this kind of datastore does not have.
    #[error("unknown option \"{option}\": {}{known}", did_you_mean(*.meant, "="))]
    UnknownOption {
        /// The option's name; its value is not repeated.
        option: String,
        /// The option that was probably meant.
        meant: Option<&'static str>,
        /// The existing options.
        known: &'static str,
    },
    /// An option has an invalid value.
    #[error("{option}={value} is not understood: write {option}={choices}")]
    OptionValue {
        /// The option's name.
        option: &'static str,
        /// The given value.
        value: String,
        /// The possible values.
        choices: &'static str,
    },
    /// A `file:` URL that is not `file:///path`.
    #[error("\"{text}\" names no local file: write file:///path (three slashes) or the plain path")]
    File {
        /// The given text.
        text: String,
    },
    /// A network URL of another form.
    #[error("\"{text}\" is not understood: write {form}")]
    Form {
        /// The given text, without secrets.
        text: String,
        /// The expected form.
        form: &'static str,
    },
    /// A network URL without a valid host.
    #[error("\"{text}\" names no host: write {scheme}://host/… or {scheme}://host:port/…")]
    Host {
        /// The scheme.
        scheme: &'static str,
        /// The text in place of the host.
        text: String,
    },
    /// Text follows `null:`.
    #[error("null: takes nothing after the colon: write just null:")]
    Null,
}

fn did_you_mean(meant: Option<&str>, end: &str) -> String {
    meant.map(|meant| format!("did you mean {meant}{end}? ")).unwrap_or_default()
}

/// The error about an option that does not exist.
pub(super) fn unknown_option(
    option: &str,
    names: &[&'static str],
    known: &'static str,
) -> UrlError {
    let meant = nearest(option, names.iter().copied());
    UrlError::UnknownOption { option: option.into(), meant, known }
}

/// The error about an option's value.
pub(super) fn bad_value(option: &'static str, value: &str, choices: &'static str) -> UrlError {
    UrlError::OptionValue { option, value: value.into(), choices }
}
