//! DiskSpd's XML (`-Rxml`): the profile, which is what was asked for, and the results of each of its time spans.
//!
//! After DiskSpd's own source (`XmlResultParser.cpp`, `Common.cpp`). Latencies are milliseconds. There are no rates:
//! bytes and I/Os are counted per thread and target, and are summed here.

mod number;
mod profile;
mod results;

#[cfg(test)]
mod tests;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

pub(crate) use number::NAME;

use crate::error::ImportError;
use crate::place::truncated;
use crate::room::Room;
use crate::run::Imported;
use crate::series::Series;

use profile::Asked;
use results::Measured;

/// Elements within each other, at most: DiskSpd needs half of it.
const DEPTH: usize = 24;

/// Whether the text is DiskSpd's XML.
pub(crate) fn is(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('<')
        && text.contains("<Results>")
        && text.contains("<Profile>")
        && text.contains("<TimeSpan>")
}

/// Reads the file.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut reader = Reader::from_str(text);
    // Paths are written as they are, so that they may have an `&`.
    reader.config_mut().allow_dangling_amp = true;
    let mut file = File { room: Room::of(text), ..File::default() };
    let mut open: Vec<String> = Vec::new();
    let mut content = String::new();
    let mut rooted = false;
    loop {
        let before = position(reader.buffer_position());
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(_) if position(reader.buffer_position()) >= text.len() => {
                return Err(truncated(NAME, text));
            }
            Err(error) => {
                return Err(malformed(text, position(reader.error_position()), error.to_string()));
            }
        };
        let step = match &event {
            Event::Start(start) => {
                rooted = true;
                content.clear();
                if open.len() >= DEPTH {
                    return Err(malformed(text, before, "elements lie too deep".to_string()));
                }
                open.push(start.name().as_ref().to_string());
                file.start(&path(&open), start)
            }
            Event::Empty(start) => {
                open.push(start.name().as_ref().to_string());
                let step = file.start(&path(&open), start);
                open.pop();
                step
            }
            Event::End(_) => {
                let step = file.value(&path(&open), content.trim());
                open.pop();
                content.clear();
                step
            }
            Event::Text(part) => {
                content.push_str(part);
                Ok(())
            }
            Event::CData(part) => {
                content.push_str(part);
                Ok(())
            }
            Event::GeneralRef(name) => {
                match quick_xml::escape::resolve_predefined_entity(name) {
                    Some(resolved) => content.push_str(resolved),
                    None => content.push_str(&format!("&{};", &**name)),
                }
                Ok(())
            }
            Event::Eof => break,
            _ => Ok(()),
        };
        step.map_err(|what| malformed(text, before, what))?;
    }
    if !open.is_empty() || !rooted {
        return Err(truncated(NAME, text));
    }
    file.imported()
}

/// What has been read so far.
#[derive(Debug, Default)]
struct File {
    room: Room,
    version: Option<String>,
    asked: Vec<Asked>,
    measured: Vec<Measured>,
}

impl File {
    /// An element that begins.
    fn start(&mut self, path: &[&str], start: &BytesStart<'_>) -> Result<(), String> {
        let size = match path {
            ["Results", "Profile", "TimeSpans", "TimeSpan"] => size_of::<Asked>(),
            ["Results", "TimeSpan"] => size_of::<Measured>(),
            ["Results", .., "TimeSpan", "Targets", "Target"] => Asked::TARGET_BYTES,
            ["Results", "TimeSpan", "Thread", "Target"] => Measured::FILE_BYTES,
            _ => 0,
        };
        // The lists of these double when they grow.
        self.room.take(3 * size)?;
        match path {
            ["Results", "Profile", "TimeSpans", "TimeSpan"] => self.asked.push(Asked::default()),
            ["Results", "TimeSpan"] => self.measured.push(Measured::default()),
            ["Results", "Profile", "TimeSpans", "TimeSpan", "Targets", rest @ ..] => {
                if let Some(asked) = self.asked.last_mut() {
                    asked.start(rest, start);
                }
            }
            ["Results", "TimeSpan", rest @ ..] => {
                if let Some(measured) = self.measured.last_mut() {
                    measured.start(rest, start)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An element that ends, with its text.
    fn value(&mut self, path: &[&str], text: &str) -> Result<(), String> {
        match path {
            ["Results", "System", "Tool", "Version"] => self.version = Some(text.to_string()),
            ["Results", "Profile", "TimeSpans", "TimeSpan", rest @ ..] => {
                if let Some(asked) = self.asked.last_mut() {
                    asked.value(rest, text)?;
                }
            }
            ["Results", "TimeSpan", rest @ ..] => {
                if let Some(measured) = self.measured.last_mut() {
                    measured.value(rest, text)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn imported(self) -> Result<Imported, ImportError> {
        if self.asked.len() != self.measured.len() {
            return Err(ImportError::Wrong {
                format: NAME,
                path: "Results".to_string(),
                what: format!(
                    "{} time spans were asked for, and {} have results",
                    self.asked.len(),
                    self.measured.len()
                ),
            });
        }
        let mut runs = Series::default();
        for (at, (asked, measured)) in self.asked.into_iter().zip(self.measured).enumerate() {
            let place = format!("Results/TimeSpan[{at}]");
            runs.push(measured.run(asked, at, place)?);
        }
        Ok(Imported { tool: "DiskSpd".into(), version: self.version, runs, left_out: Vec::new() })
    }
}

fn path(open: &[String]) -> Vec<&str> {
    open.iter().map(String::as_str).collect()
}

fn position(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn malformed(text: &str, offset: usize, what: String) -> ImportError {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ImportError::Malformed {
        format: NAME,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        what,
    }
}
