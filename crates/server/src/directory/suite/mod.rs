//! Tests of the server without its sockets, and of what only a client that means harm would send.

mod client;
mod escape;
mod hostile;
mod restart;
mod stability;
