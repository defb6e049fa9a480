//! Where bytes are on the platters, and when they pass under the heads.
//!
//! Tracks are numbered in the order of addresses, from the outer edge inwards, all surfaces together,
//! so that a distance in tracks is a fraction of the arm's travel. They are divided into zones with
//! the same number of bytes on each track; the rate falls linearly from the outer to the inner edge.
//! Each track starts later on its circle than the previous one by the time of the track change
//! (skew), so that sequential reading loses no revolution. The rates of a description are those of
//! sequential reading, which data sheets call sustained, so tracks hold a little more than rate times
//! revolution, to compensate for what passes during the skew.

use stormeter_site::Hdd as Description;

use super::seek::SeekCurve;

const ZONES: usize = 16;

/// Heads that are late by no more than this are on time: the gap between two sectors. Rounding to
/// nanoseconds must not cost a revolution.
const IN_TIME_NS: f64 = 1000.0;

#[derive(Debug, Clone, Copy, Default)]
struct Zone {
    first_byte: u64,
    first_track: u32,
    track_bytes: u32,
}

/// A place on the disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) track: u32,
    /// Position within the track, 0 to 1.
    pub(crate) share: f64,
    pub(crate) track_bytes: u32,
}

/// The mechanics of a disk.
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    zones: [Zone; ZONES],
    seek: SeekCurve,
    revolution_ns: f64,
    per_revolution: f64,
    skew_ns: f64,
    skew: f64,
    phase: f64,
    write_settle_ns: f64,
    in_time: f64,
}

impl Geometry {
    /// For a disk on which everything takes `slowness` times as long, and whose platters start at
    /// angle 0.
    pub(crate) fn new(about: &Description, slowness: f64) -> Self {
        // The bytes per track must not change with the slowness: data stay where they are.
        let revolution_ns = 60e9 / about.rpm;
        let skew_ns = about.seek_track_ns + about.write_settle_ns;
        let track_bytes = |zone: usize| {
            let way = (zone as f64 + 0.5) / ZONES as f64;
            let rate =
                about.outer_bytes_per_s + (about.inner_bytes_per_s - about.outer_bytes_per_s) * way;
            let sectors = (rate * (revolution_ns + skew_ns) / 1e9 / 512.0).round();
            sectors.clamp(1.0, f64::from(u32::MAX / 512)) as u32 * 512
        };
        let around: u64 = (0..ZONES).map(|zone| u64::from(track_bytes(zone))).sum();
        let zone_tracks = about.capacity_bytes.div_ceil(around).clamp(1, 1 << 27) as u32;
        let mut zones = [Zone::default(); ZONES];
        let mut first_byte = 0;
        for (number, zone) in zones.iter_mut().enumerate() {
            let track_bytes = track_bytes(number);
            *zone = Zone { first_byte, first_track: number as u32 * zone_tracks, track_bytes };
            first_byte += u64::from(track_bytes) * u64::from(zone_tracks);
        }
        let revolution_ns = revolution_ns * slowness;
        let skew_ns = skew_ns * slowness;
        Self {
            zones,
            seek: SeekCurve::new(
                f64::from(zone_tracks) * ZONES as f64,
                about.seek_track_ns * slowness,
                about.seek_average_ns * slowness,
                about.seek_full_ns * slowness,
            ),
            revolution_ns,
            per_revolution: 1.0 / revolution_ns,
            skew_ns,
            skew: skew_ns / revolution_ns,
            phase: 0.0,
            write_settle_ns: about.write_settle_ns * slowness,
            in_time: (IN_TIME_NS / revolution_ns).min(0.01),
        }
    }

    /// Sets the initial angle of its platters, 0 to 1. The spindles of an array do not turn in step.
    pub(crate) fn set_phase(&mut self, phase: f64) {
        self.phase = phase;
    }

    /// One turn.
    #[inline]
    pub(crate) fn revolution_ns(&self) -> f64 {
        self.revolution_ns
    }

    /// The place of a byte.
    #[inline]
    pub(crate) fn place(&self, byte: u64) -> Place {
        let zone = self.zones.partition_point(|zone| zone.first_byte <= byte) - 1;
        let Zone { first_byte, first_track, track_bytes } = self.zones[zone];
        let within = byte - first_byte;
        let tracks = within / u64::from(track_bytes);
        let rest = within - tracks * u64::from(track_bytes);
        Place {
            track: first_track.saturating_add(tracks as u32),
            share: rest as f64 / f64::from(track_bytes),
            track_bytes,
        }
    }

    /// The angle of a place, 0 to 1.
    #[inline]
    pub(crate) fn angle(&self, place: &Place) -> f64 {
        fraction(place.share + self.phase + f64::from(place.track) * self.skew)
    }

    /// Time from when the heads are free above one track until they reach an angle of another: seek,
    /// settling and rotation. Slightly negative if they arrive slightly late.
    #[inline]
    pub(crate) fn positioning_ns(
        &self,
        from_ns: u64,
        from_track: u32,
        track: u32,
        angle: f64,
        write: bool,
    ) -> f64 {
        let mut seek_ns = self.seek.ns(from_track.abs_diff(track));
        if write && from_track != track {
            seek_ns += self.write_settle_ns;
        }
        let there = fraction((from_ns as i64 as f64 + seek_ns) * self.per_revolution);
        // The smallest value of angle - there + an integer that is above -in_time, without
        // branches.
        let behind = angle - there + self.in_time;
        let wait = behind - self.in_time + f64::from(u8::from(behind < 0.0))
            - f64::from(u8::from(behind >= 1.0));
        seek_ns + wait * self.revolution_ns
    }

    /// The time in which a sequentially read run passes under the heads, between two places; `to`
    /// is the place of its last byte.
    #[inline]
    pub(crate) fn passing_ns(&self, from: &Place, to: &Place) -> f64 {
        let tracks = f64::from(to.track) - f64::from(from.track);
        let share = to.share + 1.0 / f64::from(to.track_bytes) - from.share;
        tracks * (self.revolution_ns + self.skew_ns) + share * self.revolution_ns
    }

    /// Sequential rate at a place, in bytes per nanosecond.
    #[inline]
    pub(crate) fn bytes_per_ns(&self, place: &Place) -> f64 {
        f64::from(place.track_bytes) / (self.revolution_ns + self.skew_ns)
    }
}

/// The fractional part of a non-negative number.
#[inline]
fn fraction(value: f64) -> f64 {
    // Converting back and forth is faster than floor() where the processor has no instruction for
    // it, and exact up to 2^53.
    value - (value as i64) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::hdd::tests::cheetah;

    #[test]
    fn places_follow_each_other_and_zones_get_slower() {
        let about = cheetah();
        let geometry = Geometry::new(&about, 1.0);
        assert!(geometry.zones.windows(2).all(|z| z[0].track_bytes > z[1].track_bytes));
        let mut last = geometry.place(0);
        assert_eq!((last.track, last.share), (0, 0.0));
        for byte in (0..about.capacity_bytes).step_by(1 << 27) {
            let place = geometry.place(byte);
            assert!((place.track, place.share) >= (last.track, last.share));
            last = place;
        }
        let sizes: f64 = geometry.zones.iter().map(|z| f64::from(z.track_bytes)).sum();
        let tracks = about.capacity_bytes as f64 / (sizes / ZONES as f64);
        assert!((f64::from(last.track) / tracks - 1.0).abs() < 0.01, "{last:?} {tracks}");
    }

    #[test]
    fn reading_on_takes_what_the_sustained_rate_says() {
        let about = cheetah();
        let geometry = Geometry::new(&about, 1.0);
        let (from, to) = (geometry.place(0), geometry.place((1 << 28) - 1));
        let rate = f64::from(1 << 28) / geometry.passing_ns(&from, &to) * 1e9;
        // The middle of the first of 16 zones.
        let expected =
            about.outer_bytes_per_s - (about.outer_bytes_per_s - about.inner_bytes_per_s) / 32.0;
        assert!((rate / expected - 1.0).abs() < 0.002, "{rate}");
    }

    #[test]
    fn the_next_track_is_reached_in_time_also_by_writes() {
        let geometry = Geometry::new(&cheetah(), 1.0);
        let bytes = u64::from(geometry.zones[0].track_bytes);
        let mut now_ns = 17.0;
        let first = geometry.place(0);
        now_ns += geometry.positioning_ns(17, 3, 0, geometry.angle(&first), true);
        for track in 0..1000 {
            let (from, to) =
                (geometry.place(track * bytes), geometry.place((track + 1) * bytes - 1));
            let end_ns = now_ns + geometry.passing_ns(&from, &to);
            let next = geometry.place((track + 1) * bytes);
            let on = geometry.positioning_ns(
                end_ns.round() as u64,
                to.track,
                next.track,
                geometry.angle(&next),
                true,
            );
            assert!((on - geometry.skew_ns).abs() < 10.0, "track {track}: {on}");
            now_ns = end_ns.round() + on;
        }
    }
}
