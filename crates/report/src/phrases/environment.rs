//! What a reader should know of a machine, as a clause without full stop.

use stormeter_results::EnvironmentNote;

pub(crate) fn environment_note(note: &EnvironmentNote) -> String {
    match note {
        EnvironmentNote::LabGuest { accelerator } => {
            format!("a guest of the lab, run under {accelerator}")
        }
        EnvironmentNote::Early { said } => said.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_has_its_sentence() {
        let guest = EnvironmentNote::LabGuest { accelerator: "tcg".into() };
        assert_eq!(environment_note(&guest), "a guest of the lab, run under tcg");
        let early = EnvironmentNote::Early { said: "as it was said".into() };
        assert_eq!(environment_note(&early), "as it was said");
    }
}
