//! The basic header segment (RFC 7143 §11.2.1): 48 bytes, read and written in place.

/// Length of a basic header segment in bytes.
pub const BHS_BYTES: usize = 48;

/// A basic header segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bhs(pub [u8; BHS_BYTES]);

impl Bhs {
    /// The opcode, without the I bit.
    #[inline]
    pub fn opcode(&self) -> u8 {
        self.0[0] & 0x3f
    }

    /// Bytes of additional header segments.
    #[inline]
    pub fn additional_bytes(&self) -> u32 {
        u32::from(self.0[4]) * 4
    }

    /// Bytes of the data segment, without padding.
    #[inline]
    pub fn data_bytes(&self) -> u32 {
        u32::from_be_bytes([0, self.0[5], self.0[6], self.0[7]])
    }

    /// The initiator task tag.
    #[inline]
    pub fn task_tag(&self) -> u32 {
        u32::get(&self.0, 16)
    }

    /// Writes the length of the data segment; only the low 24 bits fit.
    #[inline]
    pub fn set_data_bytes(&mut self, length: u32) {
        let bytes = length.to_be_bytes();
        self.0[5..8].copy_from_slice(&bytes[1..]);
    }
}

/// A value at a fixed position of a header. `at` is always a constant.
pub(super) trait Field: Copy {
    fn get(bytes: &[u8; BHS_BYTES], at: usize) -> Self;
    fn put(self, bytes: &mut [u8; BHS_BYTES], at: usize);
}

/// A `bool` is the I bit, the only bit that shares a byte with something other than flags.
impl Field for bool {
    #[inline]
    fn get(bytes: &[u8; BHS_BYTES], at: usize) -> Self {
        bytes[at] & 0x40 != 0
    }

    #[inline]
    fn put(self, bytes: &mut [u8; BHS_BYTES], at: usize) {
        bytes[at] |= u8::from(self) << 6;
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Field for $type {
            #[inline]
            fn get(bytes: &[u8; BHS_BYTES], at: usize) -> Self {
                let mut raw = [0; size_of::<$type>()];
                raw.copy_from_slice(&bytes[at..at + size_of::<$type>()]);
                <$type>::from_be_bytes(raw)
            }

            #[inline]
            fn put(self, bytes: &mut [u8; BHS_BYTES], at: usize) {
                bytes[at..at + size_of::<$type>()].copy_from_slice(&self.to_be_bytes());
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64);

impl<const N: usize> Field for [u8; N] {
    #[inline]
    fn get(bytes: &[u8; BHS_BYTES], at: usize) -> Self {
        let mut raw = [0; N];
        raw.copy_from_slice(&bytes[at..at + N]);
        raw
    }

    #[inline]
    fn put(self, bytes: &mut [u8; BHS_BYTES], at: usize) {
        bytes[at..at + N].copy_from_slice(&self);
    }
}
