//! What a results file says: its trials, and everything concluded from them.
//!
//! [`conclude`] gives the same at the end of a run and a year later, on a machine that has none of the storage: it needs
//! the file and nothing else. [`Attempts`] says which trials count where blocks were measured again; a run asks it
//! which trials are still due.

mod assumed;
mod attempts;
mod conclusion;
mod evidence;

pub use attempts::{Attempts, Due};
pub use conclusion::{Conclusion, conclude, counted, surroundings, views};
pub use evidence::Evidence;
