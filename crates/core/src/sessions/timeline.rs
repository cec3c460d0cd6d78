//! When a session's attempts ran, from its recorded events.
//!
//! Owns which events say so. One that says something else, or nothing that can be read, is passed
//! over: the timeline shows what is known.

use flagpost_model::session::{BarEnd, Happened, Outcome, Timeline, TimelineEvent};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{Session, SessionStatus};
use crate::{
    error::{Error, Result},
    home::Home,
};

impl Session {
    /// When its attempts ran.
    pub fn timeline(&self, home: &Home) -> Result<Timeline> {
        let events = self.events(home, 0)?;
        let moments: Vec<TimelineEvent> = events.iter().filter_map(moment).collect();
        let now = (self.stage == SessionStatus::Live).then(|| home.now());
        let title = self.title();
        Timeline::new(&title, &moments, now).ok_or(Error::NotFound {
            what: "timeline of session",
            id: title,
            list: None,
        })
    }
}

fn moment(event: &Map<String, Value>) -> Option<TimelineEvent> {
    let at: Timestamp = text(event, "at")?.parse().ok()?;
    let what = match text(event, "event")? {
        "wave.started" => wave(event),
        "task.started" => began(event),
        "task.ended" => ended(event),
        _ => None,
    };
    Some(TimelineEvent {
        at,
        what: what.unwrap_or(Happened::Other),
    })
}

fn wave(event: &Map<String, Value>) -> Option<Happened> {
    Some(Happened::Wave {
        n: number(event, "wave")?,
        of: number(event, "of")?,
    })
}

fn began(event: &Map<String, Value>) -> Option<Happened> {
    Some(Happened::Began {
        task: text(event, "task")?.parse().ok()?,
        subject: text(event, "subject").unwrap_or_default().to_owned(),
        attempt: number(event, "attempt")?,
    })
}

fn ended(event: &Map<String, Value>) -> Option<Happened> {
    let seconds: i64 = number(event, "seconds").unwrap_or_default().into();
    Some(Happened::Ended {
        task: text(event, "task")?.parse().ok()?,
        subject: text(event, "subject").unwrap_or_default().to_owned(),
        attempt: number(event, "attempt")?,
        end: end_of(text(event, "outcome")?)?,
        took: SignedDuration::from_secs(seconds),
    })
}

/// How an attempt ended, by the word of the record.
fn end_of(word: &str) -> Option<BarEnd> {
    match word {
        "STUCK" => Some(BarEnd::Asks),
        "PARKED" => Some(BarEnd::Parked),
        "STOPPED" => Some(BarEnd::Stopped),
        verdict => Some(verdict.parse::<Outcome>().ok()?.into()),
    }
}

fn text<'e>(event: &'e Map<String, Value>, key: &str) -> Option<&'e str> {
    event.get(key)?.as_str()
}

fn number(event: &Map<String, Value>, key: &str) -> Option<u32> {
    event.get(key)?.as_u64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_ended_as_its_record_says() {
        for (word, end) in [
            ("PASS", Some(BarEnd::Passed)),
            ("FAIL", Some(BarEnd::Failed)),
            ("STUCK", Some(BarEnd::Asks)),
            ("PARKED", Some(BarEnd::Parked)),
            ("STOPPED", Some(BarEnd::Stopped)),
            ("odd", None),
        ] {
            assert_eq!(end_of(word), end, "{word}");
        }
    }
}
