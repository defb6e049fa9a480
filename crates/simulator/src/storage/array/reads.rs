//! An array's reads: from memory, from what is being read ahead, or from the disks; and read-ahead.

use super::super::read_ahead::{Found, Piece};
use super::super::{Ready, Request};
use super::{Array, Owner, Phase};
use crate::device::Bench;
use crate::noise::unit_open;

impl Array {
    /// A read arrives.
    #[inline]
    pub(super) fn read(&mut self, request: Request, bench: &mut Bench<'_>, ready: &mut Ready) {
        let place = self.place_of(request);
        let (found, more) = self.read_cache.arrive(place, request);
        match found {
            Found::There => ready.push(request.job),
            Found::Coming => {}
            Found::Perhaps { sequential } => {
                let hits = self.read_cache.hits;
                let cached = if sequential { hits.sequential } else { hits.random };
                let misses = (1.0 - cached) * (1.0 - self.dirty_share());
                if misses < 1.0 && unit_open(bench.random) > misses {
                    ready.push(request.job);
                } else {
                    let owner = Owner::Job(request.job);
                    let length = u64::from(request.length_bytes);
                    let from = self.volume_offset(request);
                    self.begin(Phase::Read, from, length, owner, bench, ready);
                }
            }
        }
        if more {
            self.read_ahead(place, bench, ready);
        }
    }

    /// Reads what a stream wants in memory, one access per disk and piece.
    fn read_ahead(&mut self, place: u32, bench: &mut Bench<'_>, ready: &mut Ready) {
        let begin = u64::from(place) * self.place.load.disk_bytes;
        while let Some(Piece { number, from, to }) = self.read_cache.next_piece(place) {
            let owner = Owner::Ahead(place, number);
            self.begin(Phase::Read, begin + from, to - from, owner, bench, ready);
        }
    }
}
