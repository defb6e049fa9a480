//! What limits users of desktops.
//!
//! The shares of components are those of the I/Os of all desktops: of log-ons, of work, of making them. A user's wait is not
//! made of these alone, so no part of it is given; how many users an hour fill a component follows from how busy it is.

use stormeter_statistics::CellWhy;
use stormeter_statistics::bottleneck::Saturation;
use stormeter_study::Metric;
use stormeter_trial::ComponentUse;
use stormeter_units::format_count;

use super::pieces::{background, busy, in_long_run, long_run, named, share};
use crate::title::Titles;

/// What determines how many users are served, in a few sentences.
pub(super) fn sentence(why: &CellWhy) -> String {
    let bottleneck = &why.components[why.bottleneck];
    let name = named(why, why.bottleneck);
    let background = background(why);
    let bound = why.bounds.saturation;
    let spent = |one: &ComponentUse| {
        format!("{} of the time of the desktops' I/O is spent", share(one.response_share))
    };
    if let Some(cache) = why.room_in.and_then(|index| why.components.get(index)) {
        // Users who come at once fill it in a part of the window, so its mean says nothing about how many are too many.
        return format!(
            "Writes wait for room in {}: its disks cannot take writes as fast as they come (over the window, {name}: {}); {} \
             in it.{background}",
            cache.name,
            busy(bottleneck),
            spent(cache)
        );
    }
    if why.is_saturated {
        let limit = bound.filter(|bound| bound.component == why.bottleneck);
        let limit =
            limit.map(|bound| format!(" As it is it lets no more than {} pass.", users(bound)));
        return format!(
            "{name} is full ({}); {} there.{}{background}",
            busy(bottleneck),
            spent(bottleneck),
            limit.unwrap_or_default()
        );
    }
    let reach = match (long_run(why), bound) {
        (Some(bound), _) => in_long_run(why, bound, &users(bound)),
        (None, Some(bound)) => {
            let busiest = &why.components[bound.component];
            let busy = share(busiest.utilisation_most);
            let full = format!("would be full at {}.", users(bound));
            match bound.component == why.bottleneck {
                true => format!(" Its busiest unit ({busy}) {full}"),
                false => format!(" The busiest is {} ({busy}), which {full}", busiest.name),
            }
        }
        (None, None) => String::new(),
    };
    format!(
        "Over the whole window no component is saturated: {} at {name}.{reach}{background}",
        spent(bottleneck)
    )
}

/// What a bound lets pass: `1 200 users an hour`.
fn users(bound: Saturation) -> String {
    let an_hour = Titles::Users.value(Metric::Iops, bound.per_s);
    match an_hour < 1.0 {
        true => "less than 1 user an hour".into(),
        false => {
            let noun = if an_hour.round() == 1.0 { "user" } else { "users" };
            format!("{} {noun} an hour", format_count(an_hour))
        }
    }
}

#[cfg(test)]
mod tests {
    use stormeter_statistics::bottleneck::{Bounds, ResponsePart};
    use stormeter_trial::ComponentKind;

    use super::*;

    /// A network that is hardly busy, a cache, and disks.
    fn why(busy: f64) -> CellWhy {
        let one = |name: &str, kind, utilisation, response_share| ComponentUse {
            name: name.into(),
            kind,
            units: 1,
            utilisation,
            utilisation_most: utilisation,
            busy_ns: 1,
            queue_mean: 0.5,
            visits: 1,
            lost: 0,
            response_share,
            series: vec![],
        };
        CellWhy {
            components: vec![
                one("lan", ComponentKind::Network, 0.02, 0.3),
                one("cache", ComponentKind::Cache, 0.5, 0.1),
                one("disks", ComponentKind::Disks, busy, 0.6),
            ],
            parts: vec![ResponsePart { service_ns: 0.0, queue_ns: 0.0, latency_ns: 0.0 }; 3],
            bottleneck: 2,
            is_saturated: busy > 0.9,
            room_in: None,
            in_background: vec![],
            rate_per_s: 0.01,
            response_ns: 8e9,
            outstanding: 0.1,
            bounds: Bounds {
                unqueued_per_s: 0.01,
                saturation: Some(Saturation { per_s: 0.01 / busy, outstanding: 0.1, component: 2 }),
                long_run: None,
            },
        }
    }

    #[test]
    fn users_are_counted_by_the_hour_and_no_part_of_a_wait_is_given() {
        assert_eq!(
            sentence(&why(0.05)),
            "Over the whole window no component is saturated: 60 % of the time of the desktops' I/O is spent at disks. Its \
             busiest unit (5 %) would be full at 720 users an hour."
        );
        assert_eq!(
            sentence(&why(1.0)),
            "disks is full (100 % busy); 60 % of the time of the desktops' I/O is spent there. As it is it lets no more \
             than 36 users an hour pass."
        );
        let mut without_room = why(0.05);
        without_room.room_in = Some(1);
        let text = sentence(&without_room);
        assert!(text.starts_with("Writes wait for room in cache: "), "{text}");
        assert!(text.ends_with("10 % of the time of the desktops' I/O is spent in it."), "{text}");
    }
}
