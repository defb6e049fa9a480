//! What verification needs in addition to the trials: the owner of the blocks, their expected content, and the memory
//! for it.

use stormeter_driver::{Expectations, PriorContent, Seal};
use stormeter_units::format_bytes;

use crate::error::RunError;
use crate::machine::memory_bytes;

/// The owner of the blocks: the run's datastore number `store`.
pub(crate) fn owner_of(run_id: &str, store: usize) -> u64 {
    // FNV-1a (Fowler, Noll, Vo): spreads inputs that differ in few characters.
    let name = format!("{run_id}-{store}");
    name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Expectations for disks that store nothing, so that the generator's ceiling includes the cost of verification.
pub(crate) fn rehearsal(seal: Seal, vms: u32, disk_bytes: u64) -> Expectations {
    Expectations::new(seal, PriorContent::Nothing, 0, vms, disk_bytes)
}

/// Refuses, before anything is written, expectations that do not fit into memory: those of the given disks, on each of
/// the stores.
pub(crate) fn check_room_for(
    unit_bytes: u32,
    (disks, disk_bytes): (u32, u64),
    stores: usize,
) -> Result<(), RunError> {
    let each = Expectations::memory_bytes(unit_bytes, disks, disk_bytes);
    fits(each.saturating_mul(stores as u64), memory_bytes("MemAvailable"))
}

fn fits(needed: u64, available: Option<u64>) -> Result<(), RunError> {
    match available {
        Some(available) if needed > available / 2 => Err(RunError::VerifyMemory {
            needed: format_bytes(needed),
            available: format_bytes(available),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datastores_and_runs_have_blocks_of_their_own() {
        let owners = [owner_of("0a", 0), owner_of("0a", 1), owner_of("0b", 0), owner_of("0b", 1)];
        for (index, one) in owners.iter().enumerate() {
            assert!(!owners[..index].contains(one));
        }
        assert_eq!(owner_of("0a", 0), owners[0]);
    }

    #[test]
    fn what_does_not_fit_says_how_much_it_is() {
        assert!(fits(1 << 30, Some(2 << 30)).is_ok());
        assert!(fits(1 << 30, None).is_ok());
        let message = fits(3 << 30, Some(4 << 30)).unwrap_err().to_string();
        assert!(message.contains("3GiB") && message.contains("4GiB"), "{message}");
        assert!(message.contains("smaller disks"), "{message}");
        let huge = check_room_for(4096, (1, 1 << 60), 2);
        assert!(matches!(huge, Err(RunError::VerifyMemory { .. })));
    }
}
