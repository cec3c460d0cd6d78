//! The paper of a drawing: size, title, colours by day and by night.
//!
//! Owns what makes an SVG file stand alone: no script, no font, no image, no other file. Colours
//! are plain classes rather than variables, which not every program that shows SVG understands.

use crate::{
    drawing::{MARK, text::xml},
    task::StateName,
};

/// Around everything.
pub const MARGIN: i32 = 28;
/// How wide a character of ordinary text is taken to be.
pub const COLUMN: i32 = 7;

/// Paper that is written on.
#[derive(Debug)]
pub struct Sheet {
    title: String,
    note: String,
    width: i32,
    legend: Vec<(String, i32)>,
}

impl Sheet {
    /// An empty sheet of at least this width within its margins.
    pub fn new(title: &str, note: String, width: i32) -> Self {
        Self {
            title: title.to_owned(),
            note,
            width: width.max(560),
            legend: Vec::new(),
        }
    }

    /// Explains a sign, drawn around (8, 0) and at most 16 high and `wide` wide.
    pub fn explain(&mut self, sign: String, wide: i32, words: &str) {
        let entry = format!(
            "{sign}<text class=\"legend\" x=\"{}\" y=\"4\">{words}</text>",
            wide + 8
        );
        let width = wide + 8 + words.chars().count() as i32 * COLUMN + 22;
        self.legend.push((entry, width));
    }

    /// The whole file, with a `body` this high that is drawn below the legend. `style` is what the
    /// body needs besides, by day and by night.
    pub fn finish(&self, style: (&str, &str), body: &str, height: i32) -> String {
        let mut legend = String::new();
        let (mut x, mut y) = (0, 76);
        for (entry, width) in &self.legend {
            if x > 0 && x + width > self.width {
                (x, y) = (0, y + 24);
            }
            legend += &format!("<g transform=\"translate({x} {y})\">{entry}</g>\n");
            x += width;
        }
        let top = y + 32;
        let width = self.width + 2 * MARGIN;
        let height = top + height + 2 * MARGIN;
        let (title, note) = (xml(&self.title), xml(&self.note));
        let (day, night) = palette();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"graphics-document\" aria-label=\"{title}\">\n\
             <!-- {MARK} -->\n<title>{title}</title>\n<desc>{note}</desc>\n\
             <style>\n{BASE}{day}{}@media (prefers-color-scheme: dark) {{\n{NIGHT}{night}{}}}\n</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n\
             <g transform=\"translate({MARGIN} {MARGIN})\">\n\
             <text class=\"heading\" y=\"18\">{title}</text>\n\
             <text class=\"note\" y=\"42\">{note}</text>\n\
             {legend}<g transform=\"translate(0 {top})\">\n{body}</g>\n</g>\n</svg>\n",
            style.0, style.1,
        )
    }
}

const BASE: &str = "\
text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; fill: #1f2328; }
.heading { font-size: 20px; font-weight: 600; }
.note, .legend, .small { font-size: 12px; fill: #59636e; }
.paper { fill: #ffffff; }
";

const NIGHT: &str = "\
text { fill: #e6edf3; }
.note, .legend, .small { fill: #9198a1; }
.paper { fill: #0d1117; }
";

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

fn palette() -> (String, String) {
    let (mut day, mut night) = (String::new(), String::new());
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

/// How signs are drawn, by day and by night.
pub const SIGNS: (&str, &str) = (
    ".ring { fill: none; stroke: currentColor; stroke-width: 2; }\n\
     .full { fill: currentColor; }\n\
     .cut { fill: none; stroke: #ffffff; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }\n",
    ".cut { stroke: #0d1117; }\n",
);
