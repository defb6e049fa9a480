//! Network probes between two ends: round trips, streams, and transfers to and from the remote
//! memory or disk.
//!
//! A datastore behind a network is at most as fast as that network, so the network is measured by
//! itself first. One end is a [`Listener`]; the other a [`Client`], which measures. Results are plain
//! values ([`Cell`], [`Throughput`]) that keep every repetition, and are formatted by pure functions:
//! [`summary_table`], [`rows_table`], [`throughput_table`], [`cells_csv`], [`throughput_csv`],
//! [`results_json`].
//!
//! **What the key protects, and what it does not.** Both ends must prove that they know the same
//! [`Key`] before anything else is exchanged. After that nothing is encrypted and nothing is
//! authenticated: an attacker who can change packets between the ends can take over a session. The
//! data sent is random and worthless, but a session can fill memory and disk within the [`Limits`].
//! Use it on laboratory and test networks, not across the internet.
//!
//! # Protocol, version 1
//!
//! Numbers are big-endian. The listener sends first, so that it can reject a connection without
//! having read anything.
//!
//! 1. Listener: greeting, 44 bytes: magic `STMETNET`, version (u16), state (u8; 0 ready, 1 busy), a
//!    zero byte, nonce (32 bytes).
//! 2. Client: greeting of the same form, state 0, and its proof (32 bytes).
//! 3. Listener: verdict (u8; 0 accepted, 1 other version, 2 wrong proof) and its proof (32 bytes;
//!    zeros on refusal).
//!
//! A proof is HMAC-SHA256 (RFC 2104) under the key over a label for the role, the listener's
//! greeting and the client's greeting. The labels differ, so that one end's proof cannot serve as
//! the other's; the nonces make each proof valid for one connection only.
//!
//! Then the client sends requests of 16 bytes: operation (u8), sink (u8; 0 memory, 1 disk), flag
//! (u8), a zero byte, count (u32), length in bytes (u64). The listener answers each with a reply of
//! 16 bytes, a code (u8; 0 done), seven zero bytes and a value (u64), and closes after a refusal.
//!
//! | operation | after the reply |
//! |---|---|
//! | 1 round trips | `count` times: `length` bytes from the client, then as many back |
//! | 2 send | `count` times: ready (u8), `length` bytes from the client, reply with the bytes stored; flag 1: after an fsync |
//! | 3 fetch | `count` times: ready (u8), go (u8) from the client, `length` bytes to it; flag 1: the page cache is asked to forget the file before ready |
//! | 4 stream in | blocks from the client, each with its length before it (u32, at most 128 KiB); each is acknowledged with all bytes so far (u64); length 0 ends, acknowledged with 2⁶⁴ − 1 |
//! | 5 stream out | for each byte 1 from the client a block of 128 KiB to it; byte 0 ends |

mod cell;
mod client;
mod content;
mod csv;
mod disk;
mod error;
mod folder;
mod greeting;
mod handshake;
mod json;
mod key;
mod key_length;
mod limits;
mod link;
mod listener;
mod memory;
mod outgoing;
mod refusal;
mod reply;
mod request;
mod session;
mod size;
mod space;
mod store;
mod streams;
mod summary;
mod table;
mod throughput;

pub use cell::{Cell, Layout, Observed, Row};
pub use client::{Client, Transfer};
pub use csv::{cells_csv, throughput_csv};
pub use error::ProbeError;
pub use json::results_json;
pub use key::Key;
pub use limits::Limits;
pub use listener::{Ended, Listener, ListenerOptions};
pub use refusal::RefusalReason;
pub use request::{Direction, Sink};
pub use size::decimal_size;
pub use streams::Streams;
pub use summary::Summary;
pub use table::{Column, rows_table, summary_table, throughput_table};
pub use throughput::Throughput;
