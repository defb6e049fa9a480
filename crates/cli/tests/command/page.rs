//! The blocks of a page of the documentation, to be run as they stand there.

/// A page in Markdown.
pub(crate) struct Page(pub(crate) &'static str);

impl Page {
    /// The blocks of a language, each with the heading that it stands below.
    pub(crate) fn blocks(&self, language: &str) -> Vec<(String, String)> {
        let (mut heading, mut found, mut open) =
            (String::new(), Vec::new(), None::<(bool, String)>);
        for line in self.0.lines() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(_), Some((wanted, text))) => {
                    if wanted {
                        found.push((heading.clone(), text));
                    }
                }
                (Some(info), None) => open = Some((info == language, String::new())),
                (None, Some((wanted, text))) => open = Some((wanted, text + line + "\n")),
                (None, None) => {
                    if line.starts_with('#') {
                        heading = line.trim_start_matches(['#', ' ']).to_owned();
                    }
                }
            }
        }
        found
    }

    /// Those below a heading; there must be some.
    pub(crate) fn below(&self, heading: &str, language: &str) -> Vec<String> {
        let of = self.blocks(language).into_iter().filter(|(found, _)| found == heading);
        let texts: Vec<String> = of.map(|(_, text)| text).collect();
        assert!(!texts.is_empty(), "the page has no {language} below {heading}");
        texts
    }
}
