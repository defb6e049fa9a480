//! What a trial tells of why it was as fast as it was.

use stormeter_statistics::bottleneck::Seen;
use stormeter_trial::{ComponentUse, ModelNote, NoteFact, Sample, TrialNote};

/// A trial as the analysis of bottlenecks sees it.
pub(crate) fn seen<'a>(
    sample: &'a Sample,
    components: &'a [ComponentUse],
    notes: &[TrialNote],
) -> Seen<'a> {
    Seen { sample, components, drained: drained(notes) }
}

/// Of the bytes that came into memories for writes while they were filling, the share that left them; 1 where none
/// was.
fn drained(notes: &[TrialNote]) -> f64 {
    let moved = notes.iter().filter_map(|note| match &note.fact {
        NoteFact::Model { model: ModelNote::StillFilling { came_bytes, went_bytes, .. } } => {
            Some((*came_bytes, *went_bytes))
        }
        _ => None,
    });
    let (came, went) = moved.fold((0, 0), |(came, went), (in_, out)| (came + in_, went + out));
    if came == 0 { 1.0 } else { went as f64 / came as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_filling_memories_is_a_share_of_what_came() {
        let filling = |came_bytes, went_bytes| -> TrialNote {
            let component = "vsan cache".into();
            let model =
                ModelNote::StillFilling { component, came_bytes, went_bytes, full_after_ns: 1 };
            NoteFact::Model { model }.into()
        };
        assert_eq!(drained(&[]), 1.0);
        assert_eq!(drained(&[filling(300, 60), filling(100, 40)]), 0.25);
    }
}
