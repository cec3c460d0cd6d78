//! The paper of a drawing: size, title, colours by day and by night.
//!
//! Owns what makes an SVG file stand alone: no script, no font, no image, no other file. Colours
//! are plain classes rather than variables, which not every program that shows SVG understands.

use crate::drawing::{MARK, text::xml};

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
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"graphics-document\" aria-label=\"{title}\">\n\
             <!-- {MARK} -->\n<title>{title}</title>\n<desc>{note}</desc>\n\
             <style>\n{DAY}{}@media (prefers-color-scheme: dark) {{\n{NIGHT}{}}}\n</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n\
             <g transform=\"translate({MARGIN} {MARGIN})\">\n\
             <text class=\"heading\" y=\"18\">{title}</text>\n\
             <text class=\"note\" y=\"42\">{note}</text>\n\
             {legend}<g transform=\"translate(0 {top})\">\n{body}</g>\n</g>\n</svg>\n",
            style.0, style.1,
        )
    }
}

const DAY: &str = "\
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
