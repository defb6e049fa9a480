//! Values as few bytes: of each value what differs from the one before it.
//!
//! Files have thousands of intervals and rows that are alike, and a plain [`crate::Run`] has a place for everything that any
//! tool states. Kept as they are, a row of nine characters would take a kilobyte.

use crate::chunks::{Chunks, Reader};

/// What can be packed.
pub trait Packed: Clone + PartialEq {
    /// What the first value is compared with.
    fn start() -> Self;
    /// Writes what differs from `last`, which becomes this value. Lists within it are not compared, and stay empty there.
    fn put(self, last: &mut Self, to: &mut Chunks);
    /// Reads what differs from `last`, which becomes the value.
    fn take(last: &mut Self, from: &mut Reader<'_>);
    /// The value that was read.
    fn out(&mut self) -> Self {
        self.clone()
    }
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Whole numbers and thousandths take few bytes, all others eight and one.
impl Packed for f64 {
    fn start() -> Self {
        0.0
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        const MOST: f64 = 1e15;
        let thousandths = (self * 1e3).round();
        if self.fract() == 0.0 && self.abs() < MOST {
            to.number(zigzag(self as i64) << 2);
        } else if thousandths.abs() < MOST && thousandths / 1e3 == self {
            to.number(zigzag(thousandths as i64) << 2 | 1);
        } else {
            to.number(2);
            to.bytes(&self.to_bits().to_le_bytes());
        }
        *last = self;
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        let number = from.number();
        let whole = unzigzag(number >> 2) as f64;
        *last = match number & 3 {
            0 => whole,
            1 => whole / 1e3,
            _ => f64::from_bits(u64::from_le_bytes([(); 8].map(|()| from.byte()))),
        };
    }
}

impl Packed for u64 {
    fn start() -> Self {
        0
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        to.number(self);
        *last = self;
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        *last = from.number();
    }
}

impl Packed for bool {
    fn start() -> Self {
        false
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        to.byte(u8::from(self));
        *last = self;
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        *last = from.byte() != 0;
    }
}

impl Packed for String {
    fn start() -> Self {
        Self::new()
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        to.number(self.len() as u64);
        to.bytes(self.as_bytes());
        *last = self;
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        let length = from.number() as usize;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend((0..length).map(|_| from.byte()));
        *last = Self::from_utf8(bytes).unwrap_or_default();
    }
}

impl<T: Packed> Packed for Option<T> {
    fn start() -> Self {
        None
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        to.byte(u8::from(self.is_some()));
        let before = last.take();
        if let Some(value) = self {
            let mut inner = before.unwrap_or_else(T::start);
            value.put(&mut inner, to);
            *last = Some(inner);
        }
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        let before = last.take();
        if from.byte() != 0 {
            let mut inner = before.unwrap_or_else(T::start);
            T::take(&mut inner, from);
            *last = Some(inner);
        }
    }

    fn out(&mut self) -> Self {
        self.as_mut().map(T::out)
    }
}

/// Each value is compared with the one at its place in the list before.
impl<T: Packed> Packed for Vec<T> {
    fn start() -> Self {
        Self::new()
    }

    fn put(self, last: &mut Self, to: &mut Chunks) {
        to.number(self.len() as u64);
        last.resize_with(self.len(), T::start);
        for (value, last) in self.into_iter().zip(last) {
            value.put(last, to);
        }
    }

    fn take(last: &mut Self, from: &mut Reader<'_>) {
        last.resize_with(from.number() as usize, T::start);
        last.iter_mut().for_each(|last| T::take(last, from));
    }

    fn out(&mut self) -> Self {
        self.iter_mut().map(T::out).collect()
    }
}
