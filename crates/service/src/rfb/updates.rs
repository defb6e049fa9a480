//! The messages of a server (RFC 6143, section 7.6): which part of the screen each update shows. Pictures are left out.

use stormeter_trial::ScreenArea;

use super::handshake::{Screen, protocol};
use super::inbox::Inbox;
use super::messages::{COPY_RECT, DESKTOP_SIZE, RAW, ZRLE};
use crate::error::Trouble;

/// What a viewer sees of a server's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// More bytes are needed.
    Nothing,
    /// An update begins.
    Begins,
    /// A part of the screen within an update.
    Part(ScreenArea),
    /// The update has arrived.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a message.
    Message,
    /// Within an update; the number of rectangles to come.
    Rectangles(u16),
    /// After the start of a rectangle in ZRLE, before its length.
    Length { rectangles: u16 },
}

/// Reads a server's messages.
#[derive(Debug)]
pub(crate) struct Updates {
    screen: Screen,
    state: State,
}

impl Updates {
    pub(crate) fn new(screen: Screen) -> Self {
        Self { screen, state: State::Message }
    }

    /// The screen as it is now.
    pub(crate) fn screen(&self) -> Screen {
        self.screen
    }

    /// What the next bytes show.
    pub(crate) fn next(&mut self, inbox: &mut Inbox) -> Result<Seen, Trouble> {
        loop {
            // What follows a picture is read when the whole picture has arrived.
            if inbox.is_skipping() {
                return Ok(Seen::Nothing);
            }
            match self.state {
                State::Rectangles(0) => {
                    self.state = State::Message;
                    return Ok(Seen::Whole);
                }
                State::Rectangles(left) => {
                    let Some(start) = inbox.take::<12>() else { return Ok(Seen::Nothing) };
                    return self.rectangle(left, start, inbox);
                }
                State::Length { rectangles } => {
                    let Some(length) = inbox.take::<4>() else { return Ok(Seen::Nothing) };
                    inbox.skip(u32::from_be_bytes(length).into());
                    self.state = State::Rectangles(rectangles);
                }
                State::Message => {
                    if let Some(seen) = self.message(inbox)? {
                        return Ok(seen);
                    }
                }
            }
        }
    }

    /// The start of a message; `None` if it is over and shows nothing.
    fn message(&mut self, inbox: &mut Inbox) -> Result<Option<Seen>, Trouble> {
        let Some([kind]) = inbox.peek::<1>() else { return Ok(Some(Seen::Nothing)) };
        match kind {
            // FramebufferUpdate
            0 => {
                let Some([_, _, high, low]) = inbox.take::<4>() else {
                    return Ok(Some(Seen::Nothing));
                };
                self.state = State::Rectangles(u16::from_be_bytes([high, low]));
                return Ok(Some(Seen::Begins));
            }
            // SetColourMapEntries
            1 => {
                let Some([.., high, low]) = inbox.take::<6>() else {
                    return Ok(Some(Seen::Nothing));
                };
                inbox.skip(6 * u64::from(u16::from_be_bytes([high, low])));
            }
            // Bell
            2 => {
                inbox.take::<1>();
            }
            // ServerCutText
            3 => {
                let Some([.., a, b, c, d]) = inbox.take::<8>() else {
                    return Ok(Some(Seen::Nothing));
                };
                inbox.skip(u32::from_be_bytes([a, b, c, d]).into());
            }
            other => return Err(protocol(format!("it sent a message of type {other}"))),
        }
        Ok(None)
    }

    fn rectangle(
        &mut self,
        left: u16,
        start: [u8; 12],
        inbox: &mut Inbox,
    ) -> Result<Seen, Trouble> {
        let short = |at: usize| u16::from_be_bytes([start[at], start[at + 1]]);
        let area = ScreenArea { left: short(0), top: short(2), width: short(4), height: short(6) };
        let encoding = i32::from_be_bytes([start[8], start[9], start[10], start[11]]);
        self.state = State::Rectangles(left - 1);
        match encoding {
            RAW => {
                let pixels = u64::from(area.width) * u64::from(area.height);
                inbox.skip(pixels * u64::from(self.screen.pixel_bytes));
            }
            COPY_RECT => inbox.skip(4),
            ZRLE => self.state = State::Length { rectangles: left - 1 },
            DESKTOP_SIZE => {
                (self.screen.width, self.screen.height) = (area.width, area.height);
            }
            other => {
                return Err(protocol(format!(
                    "it sent a picture in encoding {other}, which nobody asked for"
                )));
            }
        }
        Ok(Seen::Part(area))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(area: &str, encoding: i32, data: &[u8]) -> Vec<u8> {
        let area = ScreenArea::parse(area).unwrap();
        let mut bytes = Vec::new();
        for number in [area.left, area.top, area.width, area.height] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&encoding.to_be_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn update(rectangles: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, rectangles.len() as u8];
        rectangles.iter().for_each(|rectangle| bytes.extend_from_slice(rectangle));
        bytes
    }

    fn seen(bytes: &[u8], at_once: usize) -> (Result<Vec<Seen>, Trouble>, Screen) {
        let mut updates = Updates::new(Screen { width: 640, height: 480, pixel_bytes: 2 });
        let mut inbox = Inbox::default();
        let mut all = Vec::new();
        for part in bytes.chunks(at_once) {
            inbox.add(part);
            loop {
                match updates.next(&mut inbox) {
                    Ok(Seen::Nothing) => break,
                    Ok(seen) => all.push(seen),
                    Err(trouble) => return (Err(trouble), updates.screen()),
                }
            }
        }
        (Ok(all), updates.screen())
    }

    #[test]
    fn updates_are_seen_with_their_parts_however_they_are_cut() {
        let area = |text| ScreenArea::parse(text).unwrap();
        let mut bytes = vec![2]; // a bell
        bytes.extend([1, 0, 0, 0, 0, 2]); // colours
        bytes.extend([9; 12]);
        bytes.extend([3, 0, 0, 0, 0, 0, 0, 3, b'a', b'b', b'c']); // cut text
        let zrle = [&[0, 0, 0, 5][..], &[0; 5]].concat();
        bytes.extend(update(&[
            rectangle("2x3+4+5", RAW, &[0; 12]),
            rectangle("8x16+0+240", ZRLE, &zrle),
            rectangle("1x1+0+0", COPY_RECT, &[0; 4]),
        ]));
        bytes.extend(update(&[rectangle("800x600+0+0", DESKTOP_SIZE, &[])]));
        bytes.extend(update(&[]));
        let expected = [
            Seen::Begins,
            Seen::Part(area("2x3+4+5")),
            Seen::Part(area("8x16+0+240")),
            Seen::Part(area("1x1+0+0")),
            Seen::Whole,
            Seen::Begins,
            Seen::Part(area("800x600+0+0")),
            Seen::Whole,
            Seen::Begins,
            Seen::Whole,
        ];
        for at_once in [1, 7, 1000] {
            let (all, screen) = seen(&bytes, at_once);
            assert_eq!(all.unwrap(), expected, "{at_once}");
            assert_eq!(screen, Screen { width: 800, height: 600, pixel_bytes: 2 });
        }
    }

    #[test]
    fn an_update_is_whole_only_with_the_last_byte_of_its_picture() {
        let bytes = update(&[rectangle("4x4+0+0", RAW, &[0; 32])]);
        let (all, _) = seen(&bytes[..bytes.len() - 1], 1000);
        assert_eq!(all.unwrap().last(), Some(&Seen::Part(ScreenArea::parse("4x4+0+0").unwrap())));
        assert_eq!(seen(&bytes, 1000).0.unwrap().last(), Some(&Seen::Whole));
    }

    #[test]
    fn what_nobody_asked_for_is_refused() {
        assert!(seen(&[200], 1).0.unwrap_err().to_string().contains("type 200"));
        let tight = update(&[rectangle("1x1+0+0", 7, &[])]);
        assert!(seen(&tight, 9).0.unwrap_err().to_string().contains("encoding 7"));
    }
}
