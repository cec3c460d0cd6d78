//! How a state looks.
//!
//! Owns its colours and its sign; no two states share one.

use crate::task::StateName;

/// Each state's colours: by day and by night, of its sign and of its card.
fn colours(state: StateName) -> [&'static str; 4] {
    match state {
        StateName::Pending => ["#59636e", "#ffffff", "#9198a1", "#151b23"],
        StateName::Claimed => ["#0e7490", "#effcff", "#22d3ee", "#0b2530"],
        StateName::InProgress => ["#0969da", "#eef6ff", "#58a6ff", "#0f2440"],
        StateName::Completed => ["#1a7f37", "#effbf2", "#3fb950", "#0f2617"],
        StateName::Failed => ["#cf222e", "#fff1f0", "#ff7b72", "#381417"],
        StateName::Stuck => ["#9a6700", "#fff8dd", "#e3b341", "#332706"],
        StateName::Cancelled => ["#818b98", "#f6f8fa", "#656c76", "#0d1117"],
    }
}

/// How cards and signs are coloured and signs drawn, by day and by night.
pub fn style() -> (String, String) {
    let (mut day, mut night) = (SIGNS.0.to_owned(), SIGNS.1.to_owned());
    for &state in StateName::ALL {
        let [sign, card, night_sign, night_card] = colours(state);
        day += &format!(".{state} {{ color: {sign}; }} .{state} .card {{ fill: {card}; }}\n");
        night += &format!(
            ".{state} {{ color: {night_sign}; }} .{state} .card {{ fill: {night_card}; }}\n"
        );
    }
    (day, night)
}

/// The sign of a state around (8, 0), 14 high, in the colour of what it stands in.
pub fn sign(state: StateName) -> &'static str {
    match state {
        StateName::Pending => r#"<circle class="ring" cx="8" r="6"/>"#,
        StateName::Claimed => {
            r#"<circle class="ring" cx="8" r="6"/><path class="full" d="M8 0V-6A6 6 0 0 1 14 0Z"/>"#
        }
        StateName::InProgress => {
            r#"<circle class="ring" cx="8" r="6"/><path class="full" d="M8 -6A6 6 0 0 1 8 6Z"/>"#
        }
        StateName::Completed => {
            r#"<circle class="full" cx="8" r="7"/><path class="cut" d="M4.6 0.2L7.2 2.8L11.6 -2.6"/>"#
        }
        StateName::Failed => {
            r#"<rect class="full" x="1" y="-7" width="14" height="14" rx="3"/><path class="cut" d="M5 -3L11 3M11 -3L5 3"/>"#
        }
        StateName::Stuck => {
            r#"<path class="full" d="M8 -7.5L16 6.5H0Z"/><path class="cut" d="M8 -3V1.4M8 3.9V4.1"/>"#
        }
        StateName::Cancelled => {
            r#"<circle class="ring" cx="8" r="6"/><path class="ring" d="M3.8 4.2L12.2 -4.2"/>"#
        }
    }
}

const SIGNS: (&str, &str) = (
    ".ring { fill: none; stroke: currentColor; stroke-width: 2; }\n\
     .full { fill: currentColor; }\n\
     .cut { fill: none; stroke: #ffffff; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }\n",
    ".cut { stroke: #0d1117; }\n",
);
