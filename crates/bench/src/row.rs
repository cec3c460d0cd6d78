//! One line of the comparison.
//!
//! Owns the arithmetic: percentiles, ratios, rates.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// How long each run took, shortest first.
#[derive(Debug, Clone, Default)]
pub struct Samples(Vec<f64>);

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(runs: I) -> Self {
        let mut ms: Vec<f64> = runs
            .into_iter()
            .map(|run| run.as_secs_f64() * 1e3)
            .collect();
        ms.sort_by(f64::total_cmp);
        Self(ms)
    }
}

impl Samples {
    /// The milliseconds within which this many of 100 runs ended.
    pub fn within(&self, percent: usize) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get((last * percent).div_ceil(100))
            .copied()
            .unwrap_or_default()
    }

    fn best(&self) -> f64 {
        self.within(0)
    }
}

/// The floor and ours.
#[derive(Debug, Default)]
pub struct BenchRow {
    /// What it is called on the command line.
    pub name: String,
    /// What it measures.
    pub what: String,
    /// What its floor is.
    pub floor_is: &'static str,
    /// The machine's own time.
    pub floor: Samples,
    /// Our time for the same.
    pub ours: Samples,
    /// Whether the floor is an empty process, so that the difference is what the verb takes.
    pub is_verb: bool,
    /// How many in a second, where that is the question.
    pub per_second: Option<f64>,
    /// Tasks that two claimers got.
    pub doubles: u64,
}

impl BenchRow {
    /// The columns.
    pub const HEADER: &[&str] = &[
        "ROW",
        "FLOOR",
        "OURS",
        "RATIO",
        "BEST",
        "ABOVE",
        "PER SECOND",
        "WHAT",
    ];

    fn ratio(&self, percent: usize) -> f64 {
        self.ours.within(percent) / self.floor.within(percent)
    }

    /// Ours above the floor, in the middle of the runs.
    fn above(&self) -> f64 {
        self.ours.within(50) - self.floor.within(50)
    }

    /// The row for a person.
    pub fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            format!("{:.2}", self.floor.within(95)),
            format!("{:.2}", self.ours.within(95)),
            format!("{:.2}", self.ratio(95)),
            format!("{:.2}", self.ratio(0)),
            if self.is_verb {
                format!("{:.2}", self.above())
            } else {
                String::new()
            },
            self.per_second
                .map(|n| format!("{n:.0}"))
                .unwrap_or_default(),
            format!("{}; floor: {}", self.what, self.floor_is),
        ]
    }

    /// The row for a program.
    pub fn to_json(&self) -> Value {
        let ms = |ms: f64| (ms * 1e3).round() / 1e3;
        let mut row = Map::new();
        let mut put = |key: &str, value: Value| drop(row.insert(key.to_owned(), value));
        put("name", json!(self.name));
        put("what", json!(self.what));
        put("floor_is", json!(self.floor_is));
        put("floor_p95_ms", json!(ms(self.floor.within(95))));
        put("ours_p95_ms", json!(ms(self.ours.within(95))));
        put("ratio_p95", json!(ms(self.ratio(95))));
        put("floor_p50_ms", json!(ms(self.floor.within(50))));
        put("ours_p50_ms", json!(ms(self.ours.within(50))));
        put("ratio_p50", json!(ms(self.ratio(50))));
        put("floor_best_ms", json!(ms(self.floor.best())));
        put("ours_best_ms", json!(ms(self.ours.best())));
        put("ratio_best", json!(ms(self.ratio(0))));
        let best = self.ours.best() - self.floor.best();
        let above = |it: f64| self.is_verb.then(|| ms(it));
        put("above_empty_process_p50_ms", json!(above(self.above())));
        put("above_empty_process_best_ms", json!(above(best)));
        put("per_second", json!(self.per_second.map(f64::round)));
        let doubles = self.per_second.map(|_| self.doubles);
        put("double_claims", json!(doubles));
        Value::Object(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_runs() {
        let runs: Samples = (1..=101).rev().map(Duration::from_millis).collect();
        assert_eq!(runs.within(0).round(), 1.0);
        assert_eq!(runs.within(50).round(), 51.0);
        assert_eq!(runs.within(95).round(), 96.0);
        let few: Samples = [3, 1, 2].into_iter().map(Duration::from_millis).collect();
        assert_eq!(
            few.within(95).round(),
            3.0,
            "never a shorter run than was asked for"
        );
        assert_eq!(Samples::default().within(95), 0.0);
    }
}
