//! A viewer of a desktop: the handshake, then keys, a moving pointer, and requests for what changes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_disk::{Kind, SessionChange};
use stormeter_trial::{ScreenArea, VncLoad};
use stormeter_wire::Secret;

use crate::connection::{Connection, Received};
use crate::conversation::{AT_ONCE_BYTES, Conversation, PATIENCE, SET_UP_LIMIT, Way, Which};
use crate::error::Trouble;
use crate::rfb::{
    Handshake, Inbox, Progress, Screen, Seen, Updates, key_event, pointer_event, set_encodings,
    update_request,
};

/// Viewers whose letters differ: each has two of the twenty-six.
const OWN_LETTERS: u32 = 13;
/// The picture of a pointer is at most this far from its place.
const POINTER_PIXELS: u16 = 32;
/// How many places are tried for one that is apart from the area of keys.
const POINTER_TRIES: usize = 64;

/// How far a viewer is.
enum State {
    Down,
    Handshake(Handshake),
    /// The first, whole picture is on its way.
    First(Updates),
    Ready(Updates),
}

/// The picture of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Nothing,
    /// The key was pressed; an update that started before shows nothing of it.
    Pressed,
    /// An update is arriving that started since. Whether it shows the area of keys.
    Arriving {
        shows_keys: bool,
    },
}

/// A viewer.
pub(crate) struct Viewer {
    load: VncLoad,
    password: Secret,
    random: Xoshiro256PlusPlus,
    connection: Option<Connection>,
    state: State,
    inbox: Inbox,
    awaited: Awaited,
    /// Where the picture of the last key shows; `None`: anywhere.
    area: Option<ScreenArea>,
    /// The number of the viewer, which types letters of its own: so that the key of another is not taken for its.
    number: u32,
    /// When the pointer moves next.
    pointer_at: Option<Instant>,
    /// When something last happened while something was expected.
    progress: Option<Instant>,
}

impl Viewer {
    /// A viewer whose keys and pointer follow from the seed.
    pub(crate) fn new(number: u32, load: VncLoad, password: Secret, seed: u64) -> Self {
        Self {
            load,
            password,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            connection: None,
            state: State::Down,
            inbox: Inbox::default(),
            awaited: Awaited::Nothing,
            area: None,
            number,
            pointer_at: None,
            progress: None,
        }
    }

    fn say(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.connection.as_mut().map_or(Ok(()), |connection| connection.say(bytes))
    }

    /// Reads what has arrived.
    fn read(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        loop {
            match &mut self.state {
                State::Down => return Ok(()),
                State::Handshake(handshake) => match handshake.go_on(&mut self.inbox)? {
                    Progress::Waits => return Ok(()),
                    Progress::Say(bytes) => self.say(&bytes)?,
                    Progress::Done(screen) => {
                        self.state = State::First(Updates::new(screen));
                        self.say(&set_encodings())?;
                        self.say(&update_request(screen, false))?;
                    }
                },
                State::First(updates) => match updates.next(&mut self.inbox)? {
                    Seen::Nothing => return Ok(()),
                    Seen::Begins | Seen::Part(_) => {}
                    Seen::Whole => {
                        let screen = updates.screen();
                        self.check_area(screen)?;
                        self.state = State::Ready(Updates::new(screen));
                        self.progress = None;
                        self.pointer_at = self.next_pointer(way.now);
                        self.say(&update_request(screen, true))?;
                    }
                },
                State::Ready(updates) => {
                    let seen = updates.next(&mut self.inbox)?;
                    let screen = updates.screen();
                    if seen == Seen::Nothing {
                        return Ok(());
                    }
                    self.saw(seen, screen, way)?;
                }
            }
        }
    }

    fn saw(&mut self, seen: Seen, screen: Screen, way: &mut Way<'_>) -> Result<(), Trouble> {
        match (seen, self.awaited) {
            (Seen::Begins, Awaited::Pressed) => {
                self.awaited = Awaited::Arriving { shows_keys: false };
            }
            (Seen::Part(area), Awaited::Arriving { .. })
                if self.area.is_none_or(|own| own.meets(&area)) =>
            {
                self.awaited = Awaited::Arriving { shows_keys: true };
            }
            (Seen::Whole, awaited) => {
                way.tell(SessionChange::Updated);
                match awaited {
                    Awaited::Arriving { shows_keys: true } => {
                        self.awaited = Awaited::Nothing;
                        self.progress = None;
                        way.tell(SessionChange::Ended { kind: Kind::Read });
                    }
                    Awaited::Arriving { shows_keys: false } => self.awaited = Awaited::Pressed,
                    Awaited::Nothing | Awaited::Pressed => {}
                }
                self.say(&update_request(screen, true))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Keys must change the picture somewhere on the screen.
    fn check_area(&self, Screen { width, height, .. }: Screen) -> Result<(), Trouble> {
        let whole = ScreenArea { width, height, left: 0, top: 0 };
        let mut areas = self.letters().into_iter().filter_map(|letter| self.area_of(letter));
        match areas.find(|keys| !keys.meets(&whole)) {
            Some(keys) => Err(Trouble::Area { keys, whole }),
            None => Ok(()),
        }
    }

    /// The letters that this viewer types, and those of the first twelve others do not.
    fn letters(&self) -> [u8; 2] {
        let first = b'a' + (self.number % OWN_LETTERS) as u8;
        [first, first + OWN_LETTERS as u8]
    }

    /// Where the picture of a key shows; `None`: anywhere.
    fn area_of(&self, key: u8) -> Option<ScreenArea> {
        let area = self.load.keys_at?;
        Some(self.load.fields.map_or(area, |fields| fields.of_key(key, area)))
    }

    /// A place for the pointer whose picture there changes nothing where keys do: servers draw pointers into what they
    /// send, and that would be taken for the picture of a key. `None` if none is found.
    fn pointer_place(&mut self, Screen { width, height, .. }: Screen) -> Option<(u16, u16)> {
        (0..POINTER_TRIES).find_map(|_| {
            let place = self.random.next_u64();
            let left = (place as u32 % u32::from(width.max(1))) as u16;
            let top = ((place >> 32) as u32 % u32::from(height.max(1))) as u16;
            let picture = ScreenArea {
                left: left.saturating_sub(POINTER_PIXELS),
                top: top.saturating_sub(POINTER_PIXELS),
                width: 2 * POINTER_PIXELS,
                height: 2 * POINTER_PIXELS,
            };
            let is_apart = self.load.keys_at.is_none_or(|keys| !keys.meets(&picture));
            is_apart.then_some((left, top))
        })
    }

    fn next_pointer(&self, now: Instant) -> Option<Instant> {
        let rate = self.load.pointer_per_s;
        (rate > 0).then(|| now + Duration::from_secs(1) / rate)
    }

    /// Whether the server owes something.
    fn limit(&self) -> Duration {
        if matches!(self.state, State::Ready(_)) { PATIENCE } else { SET_UP_LIMIT }
    }

    fn doing(&self) -> &'static str {
        match self.state {
            State::Down | State::Handshake(_) => "before the session began",
            State::First(_) => "before the first picture",
            State::Ready(_) => "after a key",
        }
    }
}

impl Conversation for Viewer {
    fn kind(&self) -> Kind {
        Kind::Read
    }

    fn connect(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        self.drop_connections();
        self.progress = Some(way.now);
        let address = SocketAddr::new(way.server, self.load.port);
        self.connection = Some(Connection::start(way.registry, way.token(Which::Main), address)?);
        self.state = State::Handshake(Handshake::new(self.password.clone()));
        Ok(())
    }

    fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready(_))
    }

    /// Presses a key.
    fn begin(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        let key = self.letters()[(self.random.next_u64() % 2) as usize];
        self.area = self.area_of(key);
        self.awaited = Awaited::Pressed;
        self.progress = Some(way.now);
        self.say(&[key_event(key, true), key_event(key, false)].concat())
    }

    fn stirred(&mut self, _: Which, way: &mut Way<'_>) -> Result<(), Trouble> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if !connection.is_open()? {
            return Ok(());
        }
        connection.flush()?;
        // The handshake has its limit as a whole.
        if matches!(self.state, State::First(_))
            && let Some(progress) = &mut self.progress
        {
            *progress = way.now;
        }
        let mut received_bytes = 0;
        while received_bytes < AT_ONCE_BYTES {
            let Some(connection) = &mut self.connection else { return Ok(()) };
            match connection.receive(way.buffer)? {
                Received::Nothing => return Ok(()),
                Received::Bytes(count) => {
                    received_bytes += count as u64;
                    self.inbox.add(&way.buffer[..count]);
                    if self.is_ready() {
                        way.moved(Kind::Read, count as u64);
                    }
                    self.read(way)?;
                }
                Received::End => return Err(Trouble::Closed { doing: self.doing() }),
            }
        }
        way.more = Some(Which::Main);
        Ok(())
    }

    fn wakes_at(&self) -> Option<Instant> {
        let given_up_at = self.progress.map(|since| since + self.limit());
        given_up_at.into_iter().chain(self.pointer_at).min()
    }

    fn tick(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        let limit = self.limit();
        if self.progress.is_some_and(|since| since + limit <= way.now) {
            return Err(Trouble::Silent { seconds: limit.as_secs(), doing: self.doing() });
        }
        let State::Ready(updates) = &self.state else { return Ok(()) };
        let screen = updates.screen();
        if let Some(at) = self.pointer_at.filter(|at| *at <= way.now) {
            // Of movements that are late only the last takes place.
            let next = self.next_pointer(at).filter(|next| *next > way.now);
            self.pointer_at = next.or_else(|| self.next_pointer(way.now));
            if let Some((left, top)) = self.pointer_place(screen) {
                self.say(&pointer_event(left, top))?;
            }
        }
        Ok(())
    }

    /// A viewer just leaves.
    fn end(&mut self, _: &mut Way<'_>) -> Result<(), Trouble> {
        self.drop_connections();
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.connection.is_none()
    }

    fn drop_connections(&mut self) {
        self.connection = None;
        self.state = State::Down;
        self.inbox = Inbox::default();
        self.awaited = Awaited::Nothing;
        (self.pointer_at, self.progress) = (None, None);
    }
}
