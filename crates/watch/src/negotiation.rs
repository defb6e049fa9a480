//! The form of the text that a scraper asks for (RFC 9110, section 12.5.1).

use stormeter_export::Form;

/// The form to answer in: OpenMetrics, unless the `Accept` header prefers plain text to it. A header that names neither
/// gets OpenMetrics: most such headers accept everything.
pub(crate) fn form(accept: &str) -> Form {
    let (mut open_metrics, mut plain) = (None, None);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.filter_map(|part| part.split_once('=')).find_map(|(name, value)| {
            (name.trim().eq_ignore_ascii_case("q")).then(|| value.trim().parse::<f64>().ok())?
        });
        let quality = quality.unwrap_or(1.0);
        let best = match kind.as_str() {
            "application/openmetrics-text" => &mut open_metrics,
            "text/plain" => &mut plain,
            _ => continue,
        };
        *best = Some(best.map_or(quality, |known: f64| known.max(quality)));
    }
    match (open_metrics, plain) {
        (None, Some(plain)) if plain > 0.0 => Form::Prometheus,
        (Some(open_metrics), Some(plain)) if plain > open_metrics => Form::Prometheus,
        _ => Form::OpenMetrics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scraper_gets_what_it_prefers() {
        // Of Prometheus 2.42 and of 1.8.
        let new = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
                   version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let old = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                   encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3";
        for (accept, expected) in [
            (new, Form::OpenMetrics),
            (old, Form::Prometheus),
            ("", Form::OpenMetrics),
            ("*/*", Form::OpenMetrics),
            ("text/html, */*;q=0.8", Form::OpenMetrics),
            ("text/plain", Form::Prometheus),
            ("Text/Plain; q=0.9, application/openmetrics-text; q=0.1", Form::Prometheus),
            ("text/plain;q=0", Form::OpenMetrics),
        ] {
            assert_eq!(form(accept), expected, "{accept}");
        }
    }
}
