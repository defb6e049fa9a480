//! Tests of the server without its sockets, and of requests that only a hostile client would send.

mod client;
mod escape;
mod hostile;
mod restart;
mod stability;
