//! Metrics as text, in the two forms that scrapers read: OpenMetrics 1.0 (openmetrics.io) and version 0.0.4 of
//! Prometheus's own (prometheus.io, "Exposition formats"). They differ in the names of families, in units and in the end.

use std::fmt::Write as _;

/// The form of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus's text format 0.0.4.
    Prometheus,
}

impl Form {
    /// Its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Form::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Form::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// What a family's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value that rises and falls.
    Gauge,
    /// A sum that only rises.
    Counter,
    /// Labels that describe something; the value is 1.
    Info,
}

/// A family: the samples of one name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family<'a> {
    /// Its name, which ends in its unit; without `_total` and `_info`.
    pub name: &'a str,
    /// What its values are.
    pub kind: Kind,
    /// Its base unit; empty if it has none.
    pub unit: &'a str,
    /// What it is.
    pub help: &'a str,
}

/// Names and values that tell samples of a family apart.
pub type Labels<'a> = Vec<(&'a str, String)>;

/// The text so far.
#[derive(Debug)]
pub struct Exposition {
    form: Form,
    text: String,
}

impl Exposition {
    /// No families yet.
    pub fn new(form: Form) -> Self {
        Self { form, text: String::new() }
    }

    /// Adds a family, unless it has no samples.
    pub fn add<'l>(
        &mut self,
        family: Family<'_>,
        samples: impl IntoIterator<Item = (Labels<'l>, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let name = self.head(family);
        for (labels, value) in samples {
            let labels: Vec<String> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
                .collect();
            let labels = match labels.is_empty() {
                true => String::new(),
                false => format!("{{{}}}", labels.join(",")),
            };
            let _ = writeln!(self.text, "{name}{labels} {}", number(value));
        }
    }

    /// Writes what describes a family, and returns the name of its samples.
    fn head(&mut self, Family { name, kind, unit, help }: Family<'_>) -> String {
        let (word, plain, suffix) = match kind {
            Kind::Gauge => ("gauge", "gauge", ""),
            Kind::Counter => ("counter", "counter", "_total"),
            Kind::Info => ("info", "gauge", "_info"),
        };
        let sample = format!("{name}{suffix}");
        let _ = match self.form {
            Form::OpenMetrics => {
                let unit = match unit {
                    "" => String::new(),
                    unit => format!("# UNIT {name} {unit}\n"),
                };
                writeln!(self.text, "# TYPE {name} {word}\n{unit}# HELP {name} {}", escaped(help))
            }
            Form::Prometheus => {
                let help = help.replace('\\', "\\\\").replace('\n', "\\n");
                writeln!(self.text, "# HELP {sample} {help}\n# TYPE {sample} {plain}")
            }
        };
        sample
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        if self.form == Form::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "+Inf".into(),
        f64::NEG_INFINITY => "-Inf".into(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(form: Form) -> String {
        let mut text = Exposition::new(form);
        let family =
            |name, kind, unit| Family { name, kind, unit, help: "A \"help\"\nin \\ lines" };
        let labels = || vec![("datastore", "a\\b \"c\"\nd".into())];
        text.add(family("x_seconds", Kind::Counter, "seconds"), [(labels(), 0.5)]);
        text.add(family("run", Kind::Info, ""), [(labels(), 1.0)]);
        text.add(family("y", Kind::Gauge, ""), [(vec![], f64::INFINITY), (vec![], f64::NAN)]);
        text.add(family("z", Kind::Gauge, ""), []);
        text.finish()
    }

    #[test]
    fn open_metrics_has_units_and_an_end() {
        let label = r#"{datastore="a\\b \"c\"\nd"}"#;
        let help = r#"A \"help\"\nin \\ lines"#;
        let expected = format!(
            "# TYPE x_seconds counter\n# UNIT x_seconds seconds\n# HELP x_seconds {help}\n\
             x_seconds_total{label} 0.5\n\
             # TYPE run info\n# HELP run {help}\nrun_info{label} 1\n\
             # TYPE y gauge\n# HELP y {help}\ny +Inf\ny NaN\n# EOF\n"
        );
        assert_eq!(text(Form::OpenMetrics), expected);
    }

    #[test]
    fn the_older_form_names_families_by_their_samples() {
        let label = r#"{datastore="a\\b \"c\"\nd"}"#;
        let help = r#"A "help"\nin \\ lines"#;
        let expected = format!(
            "# HELP x_seconds_total {help}\n# TYPE x_seconds_total counter\nx_seconds_total{label} 0.5\n\
             # HELP run_info {help}\n# TYPE run_info gauge\nrun_info{label} 1\n\
             # HELP y {help}\n# TYPE y gauge\ny +Inf\ny NaN\n"
        );
        assert_eq!(text(Form::Prometheus), expected);
    }
}
