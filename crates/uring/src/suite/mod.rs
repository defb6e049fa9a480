//! The tests: one suite for both engines, for files and for connections, and ring-specific tests.

mod connections;
mod edges;
mod fixture;
mod model;
mod opening;
mod peer;
mod streams;

/// Makes each case a test of the ring and a test of the positional engine. Where io_uring is
/// refused, the ring's tests report that and pass, because the product then uses the positional
/// engine.
macro_rules! both {
    ($($case:ident),+ $(,)?) => {
        mod ring {
            $(#[test]
            fn $case() {
                match crate::available() {
                    Ok(()) => super::$case(crate::EngineChoice::Uring),
                    Err(reason) => eprintln!("left out: {reason}"),
                }
            })+
        }
        mod positional {
            $(#[test]
            fn $case() {
                super::$case(crate::EngineChoice::Positional);
            })+
        }
    };
}
use both;

pub(crate) use fixture::{dirty_bytes, scratch};
