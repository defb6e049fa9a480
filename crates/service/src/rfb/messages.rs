//! The messages that a viewer sends (RFC 6143, section 7.5).

use super::handshake::Screen;

/// Encodings that a viewer takes (RFC 6143, section 7.7): those whose length can be read without decoding.
pub(super) const RAW: i32 = 0;
pub(super) const COPY_RECT: i32 = 1;
pub(super) const ZRLE: i32 = 16;
/// The pseudo-encoding of a screen that changes its size.
pub(super) const DESKTOP_SIZE: i32 = -223;

/// Which encodings the viewer takes, the best first.
pub(crate) fn set_encodings() -> Vec<u8> {
    let encodings = [ZRLE, COPY_RECT, RAW, DESKTOP_SIZE];
    let mut message = vec![2, 0];
    message.extend_from_slice(&(encodings.len() as u16).to_be_bytes());
    encodings.iter().for_each(|encoding| message.extend_from_slice(&encoding.to_be_bytes()));
    message
}

/// A request for the whole screen, or for what has changed of it.
pub(crate) fn update_request(screen: Screen, incremental: bool) -> Vec<u8> {
    let mut message = vec![3, u8::from(incremental)];
    for number in [0, 0, screen.width, screen.height] {
        message.extend_from_slice(&number.to_be_bytes());
    }
    message
}

/// A key goes down or up; printable characters of Latin-1 are their own key symbols.
pub(crate) fn key_event(key: u8, down: bool) -> [u8; 8] {
    [4, u8::from(down), 0, 0, 0, 0, 0, key]
}

/// The pointer is at this place, without a button.
pub(crate) fn pointer_event(left: u16, top: u16) -> [u8; 6] {
    let ([a, b], [c, d]) = (left.to_be_bytes(), top.to_be_bytes());
    [5, 0, a, b, c, d]
}
