//! A session's timeline as SVG.
//!
//! Owns the rows, the bars and the axis. How an attempt ended is colour, pattern and word.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{
    svg::sheet::Sheet,
    text::{cut, line, xml},
};
use crate::session::{Bar, BarEnd, Timeline, TimelineRow};

/// How wide the names of the tasks are.
const NAMES: i32 = 260;
/// How wide the time is.
const TIME: i32 = 860;
/// How high a row is.
const ROW: i32 = 30;
/// How high a bar is.
const BAR: i32 = 18;
/// As many seconds may be between two marks of the axis.
const STEPS: [i64; 20] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200,
    86_400, 172_800, 604_800,
];

/// The timeline as an SVG file.
pub fn timeline(timeline: &Timeline) -> String {
    let scale = TimeScale::of(timeline);
    let attempts: usize = timeline.rows.iter().map(|row| row.bars.len()).sum();
    let note = format!(
        "{:.0} · {} {} · {} · {}",
        timeline.began,
        if timeline.is_live {
            "running for"
        } else {
            "took"
        },
        span(seconds(timeline.began, timeline.ended)),
        counted(timeline.rows.len(), "task"),
        counted(attempts, "attempt"),
    );
    let mut sheet = Sheet::new(&cut(&timeline.session, 64), note, NAMES + TIME);
    let used: BTreeSet<BarEnd> = timeline
        .rows
        .iter()
        .flat_map(|row| &row.bars)
        .map(|bar| bar.end)
        .collect();
    for end in used {
        let sign = format!(
            "<g class=\"{end}\"><rect class=\"bar\" y=\"-7\" width=\"26\" height=\"14\" rx=\"4\"/></g>"
        );
        sheet.explain(sign, 26, word(end));
    }
    let height = 44 + ROW * timeline.rows.len() as i32;
    let mut body = String::from(PATTERNS);
    body += &waves(timeline, &scale, height);
    body += &axis(&scale, height);
    for (n, row) in timeline.rows.iter().enumerate() {
        body += &drawn(row, &scale, 44 + ROW * n as i32);
    }
    sheet.finish((DAY, NIGHT), &body, height)
}

/// From times to places.
struct TimeScale {
    began: Timestamp,
    seconds: f64,
}

impl TimeScale {
    fn of(timeline: &Timeline) -> Self {
        let seconds = timeline.ended.duration_since(timeline.began).as_secs_f64();
        Self {
            began: timeline.began,
            seconds: seconds.max(1.0),
        }
    }

    fn x(&self, at: Timestamp) -> f64 {
        let passed = at.duration_since(self.began).as_secs_f64();
        f64::from(NAMES) + f64::from(TIME) * (passed / self.seconds).clamp(0.0, 1.0)
    }
}

fn waves(timeline: &Timeline, scale: &TimeScale, height: i32) -> String {
    let band = |wave: &crate::session::Band| {
        let (from, to) = (scale.x(wave.from), scale.x(wave.to));
        let label = match to - from {
            wide if wide >= 52.0 => format!("wave {}", wave.n),
            wide if wide >= 14.0 => wave.n.to_string(),
            _ => String::new(),
        };
        format!(
            "<g class=\"wave{}\"><title>wave {} of {}: {}</title><rect x=\"{from:.1}\" width=\"{:.1}\" height=\"{height}\"/>\
             <text class=\"small\" x=\"{:.1}\" y=\"15\">{label}</text></g>\n",
            if wave.n.is_multiple_of(2) {
                " even"
            } else {
                ""
            },
            wave.n,
            wave.of,
            span(seconds(wave.from, wave.to)),
            to - from,
            from + 6.0,
        )
    };
    timeline.waves.iter().map(band).collect()
}

fn axis(scale: &TimeScale, height: i32) -> String {
    let total = scale.seconds.ceil() as i64;
    let step = STEPS.into_iter().find(|step| total / step <= 9);
    // A session of years has marks of its own.
    let step = step.unwrap_or((total / 9).max(1));
    let mark = |n: i64| {
        let x = f64::from(NAMES) + f64::from(TIME) * (n * step) as f64 / scale.seconds;
        format!(
            "<path class=\"mark\" d=\"M{x:.1} 22V{height}\"/>\
             <text class=\"small\" x=\"{:.1}\" y=\"34\">{}</text>\n",
            x + 4.0,
            span(n * step)
        )
    };
    (0..=total / step)
        .filter(|n| (n * step) as f64 <= scale.seconds)
        .map(mark)
        .collect()
}

fn drawn(row: &TimelineRow, scale: &TimeScale, y: i32) -> String {
    let subject: String = line(&row.subject).chars().take(400).collect();
    let mut text = format!(
        "<g class=\"row\"><title>{} {}</title><path class=\"rule\" d=\"M0 {y}H{}\"/>\
         <text x=\"0\" y=\"{}\"><tspan class=\"id\">{}</tspan> {}</text></g>\n",
        row.task,
        xml(&subject),
        NAMES + TIME,
        y + 20,
        cut(row.task.as_str(), 10),
        xml(&cut(
            &row.subject,
            30_usize.saturating_sub(row.task.as_str().len().min(10))
        )),
    );
    for bar in &row.bars {
        text += &drawn_bar(row, bar, scale, y);
    }
    text
}

fn drawn_bar(row: &TimelineRow, bar: &Bar, scale: &TimeScale, y: i32) -> String {
    // What took no time is seen all the same, also at the end.
    let right = f64::from(NAMES + TIME);
    let from = scale.x(bar.from).min(right - 4.0);
    let wide = (scale.x(bar.to) - from).max(4.0);
    let took = match seconds(bar.from, bar.to) {
        0 if bar.from < bar.to => "under 1s".to_owned(),
        seconds => span(seconds),
    };
    let label = match (bar.attempt, bar.end) {
        (1, BarEnd::Passed) => took.clone(),
        (1, end) => format!("{} {took}", word(end)),
        (n, BarEnd::Passed) => format!("#{n} {took}"),
        (n, end) => format!("#{n} {} {took}", word(end)),
    };
    let fits = label.chars().count() as f64 * 7.0 + 14.0 <= wide;
    let label = match fits {
        true => format!(
            "<text class=\"label\" x=\"{:.1}\" y=\"{}\">{label}</text>",
            from + 7.0,
            y + 20
        ),
        false => String::new(),
    };
    format!(
        "<g class=\"attempt {}\"><title>{} attempt {}: {}, {took}</title>\
         <rect class=\"bar\" x=\"{from:.1}\" y=\"{}\" width=\"{wide:.1}\" height=\"{BAR}\" rx=\"4\"/>{label}</g>\n",
        bar.end,
        row.task,
        bar.attempt,
        word(bar.end),
        y + (ROW - BAR) / 2,
    )
}

fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.duration_since(from).as_secs()
}

fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// Seconds as a person says them, in at most two units.
fn span(seconds: i64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (unit, name) in units {
        if rest >= unit && parts.len() < 2 {
            parts.push(format!("{}{name}", rest / unit));
            rest %= unit;
        }
    }
    match parts.is_empty() {
        true => "0s".to_owned(),
        false => parts.join(" "),
    }
}

fn word(end: BarEnd) -> &'static str {
    match end {
        BarEnd::CutOff => "cut off",
        other => other.as_str(),
    }
}

const PATTERNS: &str = r#"<defs>
<pattern id="partial" class="partial" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="8" height="8"/><rect class="line" width="3" height="8"/></pattern>
<pattern id="failed" class="failed" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="8" height="8"/><path class="line" d="M0 0H8V1.6H1.6V8H0Z"/></pattern>
</defs>
"#;

const DAY: &str = "\
.id, .label { font-weight: 600; }
.label { font-size: 11.5px; }
.rule, .mark { stroke: #d1d9e0; stroke-width: 1; fill: none; }
.mark { stroke-dasharray: 2 3; }
.wave rect { fill: #eaeef2; fill-opacity: 0.55; }
.wave.even rect { fill-opacity: 0; }
.bar { stroke-width: 1.5; }
.passed .bar { fill: #aceebb; stroke: #1a7f37; }
.partial .bar { fill: url(#partial); stroke: #9a6700; }
.partial .ground { fill: #fff8c5; }
.partial .line { fill: #eac54f; }
.failed .bar { fill: url(#failed); stroke: #cf222e; }
.failed .ground { fill: #ffebe9; }
.failed .line { fill: #ffaba8; }
.asks .bar { fill: #fff8c5; stroke: #9a6700; }
.parked .bar, .stopped .bar { fill: #eaeef2; stroke: #59636e; }
.running .bar { fill: #b6e3ff; stroke: #0969da; stroke-dasharray: 6 3; }
.cut_off .bar { fill: none; stroke: #59636e; stroke-dasharray: 3 3; }
";

const NIGHT: &str = "\
.rule, .mark { stroke: #2f363d; }
.wave rect { fill: #21262d; }
.passed .bar { fill: #12522a; stroke: #3fb950; }
.partial .bar { stroke: #e3b341; }
.partial .ground { fill: #332706; }
.partial .line { fill: #6b4f08; }
.failed .bar { stroke: #ff7b72; }
.failed .ground { fill: #381417; }
.failed .line { fill: #8e1519; }
.asks .bar { fill: #332706; stroke: #e3b341; }
.parked .bar, .stopped .bar { fill: #21262d; stroke: #9198a1; }
.running .bar { fill: #0c4a8a; stroke: #58a6ff; }
.cut_off .bar { stroke: #9198a1; }
";
