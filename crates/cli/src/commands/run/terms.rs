//! The options of `run` that say what it may use up, and when it waits.
//!
//! Owns how they are typed, and the settings that stand in for those that are not. What is done
//! when a limit is reached is the run's business.

use flagpost_core::{
    Config,
    config::{
        SettingKind,
        keys::{self, SettingKey},
    },
};
use flagpost_run::Terms;
use jiff::{SignedDuration, Timestamp, Zoned, civil, tz::AmbiguousOffset};

use super::usage;
use crate::context::Context;

/// What a run may use up, and when it waits.
#[derive(Debug, clap::Args)]
pub struct Limits {
    /// Start nothing new when the agents have cost so many dollars, as they tell it; what runs goes
    /// on to its end [default: the setting run.max_usd]
    #[arg(long, value_name = "N", value_parser = dollars)]
    max_usd: Option<f64>,
    /// Start nothing new when the agents have used so many tokens, input and output; what runs goes
    /// on to its end [default: the setting run.max_tokens]
    #[arg(long, value_name = "N", value_parser = tokens)]
    max_tokens: Option<u64>,
    /// Where an agent's account is at its usage limit: leave it alone until then, whatever the agent
    /// says, and go on; a time as 2026-12-01T09:00:00Z or 14:30, or how long, as 2h
    #[arg(long, value_name = "TIME", value_parser = until, conflicts_with = "no_park")]
    park_until: Option<Until>,
    /// Where an agent's account is at its usage limit: do not wait for its reset, though
    /// run.resume_after_limit is set
    #[arg(long)]
    no_park: bool,
    /// Stay until the questions of agents are answered, where nothing else is left to do; a question
    /// waits for --timeout, where there is one
    #[arg(long)]
    pub(super) wait_for_answers: bool,
    /// Do the tasks that are there now, and none that is added meanwhile
    #[arg(long)]
    fixed: bool,
}

/// A time to come, as it was typed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Until {
    /// This moment.
    At(Timestamp),
    /// After so long.
    In(SignedDuration),
    /// When the clocks here next show it.
    Clock(civil::Time),
}

/// What the options say, and the settings where they are silent.
pub fn resolve(context: &Context, limits: &Limits) -> anyhow::Result<Terms> {
    let (home, settings) = (&context.home, context.config()?);
    let park_until = match limits.park_until {
        Some(until) => Some(moment(&home.now().to_zoned(home.zone()), until)?),
        None => None,
    };
    let resume = settings.need(&keys::RUN_RESUME)? || park_until.is_some();
    Ok(Terms {
        resume_after_limit: resume && !limits.no_park,
        park: settings.need(&keys::RUN_QUOTA_PARK)?,
        park_until,
        no_park: limits.no_park,
        reserve: settings.need(&keys::RUN_QUOTA_RESERVE)?,
        max_usd: match limits.max_usd {
            Some(dollars) => Some(dollars),
            None => settings.get(&keys::RUN_MAX_USD)?,
        },
        max_tokens: match limits.max_tokens {
            Some(tokens) => Some(tokens),
            None => settings.get(&keys::RUN_MAX_TOKENS)?,
        },
        fixed: limits.fixed,
        inject: settings.need(&keys::RUN_INJECT)?,
    })
}

/// How long clients may stay where nobody needs them.
pub fn stays(settings: &Config) -> anyhow::Result<flagpost_run::Limits> {
    Ok(flagpost_run::Limits {
        grace: settings.need(&keys::RUN_GRACE)?.unsigned_abs(),
        start: settings.need(&keys::RUN_START_TIMEOUT)?.unsigned_abs(),
    })
}

/// Which moment is meant; one that is over is none to wait for.
fn moment(now: &Zoned, until: Until) -> anyhow::Result<Timestamp> {
    let moment = match until {
        Until::At(moment) => Some(moment),
        Until::In(time) => now.timestamp().checked_add(time).ok(),
        Until::Clock(time) => clock(now, time)?,
    };
    moment.filter(|moment| *moment > now.timestamp()).ok_or_else(|| {
        usage("--park-until names a time to come, as in --park-until 2h, 14:30 or 2026-12-01T09:00:00Z")
    })
}

/// When the clocks here next show this time; on the day on which they jump over it, they never do.
fn clock(now: &Zoned, time: civil::Time) -> anyhow::Result<Option<Timestamp>> {
    let today = now.date();
    for day in [Ok(today), today.tomorrow()] {
        let shown = now.time_zone().to_ambiguous_zoned(day?.to_datetime(time));
        let is_skipped = matches!(shown.offset(), AmbiguousOffset::Gap { .. });
        let (earlier, later) = (shown.clone().earlier()?, shown.later()?);
        // Of two in autumn the first that is to come.
        let to_come = [earlier.timestamp(), later.timestamp()];
        let Some(moment) = to_come.into_iter().find(|it| *it > now.timestamp()) else {
            continue;
        };
        if is_skipped {
            return Err(usage(format!(
                "the clocks here jump over {} on {}: use {} or {}",
                time.strftime("%H:%M"),
                earlier.date(),
                earlier.strftime("%H:%M"),
                later.strftime("%H:%M"),
            )));
        }
        return Ok(Some(moment));
    }
    Ok(None)
}

fn until(text: &str) -> Result<Until, String> {
    // A clock's time, unlike a span, has a ':' and nothing but digits around it.
    let is_clock = text.contains(':') && text.chars().all(|c| c.is_ascii_digit() || c == ':');
    let parsed = match is_clock {
        true => text.parse().ok().map(Until::Clock),
        false => text.parse().map(Until::At).ok().or_else(|| {
            let time: SignedDuration = text.parse().ok()?;
            Some(Until::In(time))
        }),
    };
    parsed.ok_or_else(|| "use a time, as in 2026-12-01T09:00:00Z, 14:30 or 2h".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    typed(&keys::RUN_MAX_USD, text)
}

fn tokens(text: &str) -> Result<u64, String> {
    typed(&keys::RUN_MAX_TOKENS, text)
}

/// What was typed for an option that stands before a setting.
fn typed<K: SettingKind>(key: &'static SettingKey<K>, text: &str) -> Result<K::Value, String> {
    let stored = key.kind.store(&[text.to_owned()]);
    let read = key.kind.read(&stored);
    read.ok_or_else(|| format!("it must be {}", key.kind.allowed()))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn at(now: &str) -> Zoned {
        let now: Timestamp = now.parse().unwrap();
        now.to_zoned(TimeZone::system())
    }

    #[test]
    fn a_time_to_come_is_a_moment_a_span_or_what_a_clock_shows() {
        let now = at("2026-12-01T09:00:00Z");
        let later = |text: &str| moment(&now, until(text).unwrap()).ok();
        let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(later("2h"), time("2026-12-01T11:00:00Z"));
        assert_eq!(later("1h 30m"), time("2026-12-01T10:30:00Z"));
        assert_eq!(
            later("2026-12-01T10:00:00+00:30"),
            time("2026-12-01T09:30:00Z")
        );
        for over in ["0s", "-2h", "2026-12-01T08:59:59Z"] {
            assert_eq!(later(over), None, "{over}");
        }
        for odd in ["", "soon", "25:00", "9", "2026-12-01", "1:2:3:4", "14:30 h"] {
            assert!(until(odd).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn what_a_clock_shows_is_today_or_else_tomorrow() {
        let now = at("2026-12-01T09:00:00Z");
        for hour in 0..24 {
            let typed = format!("{hour:02}:30");
            let moment = moment(&now, until(&typed).unwrap()).unwrap();
            let shown = moment.to_zoned(now.time_zone().clone()).time();
            assert_eq!(shown, typed.parse().unwrap());
            let wait = moment.duration_since(now.timestamp());
            assert!(wait.is_positive() && wait <= SignedDuration::from_hours(24));
        }
    }

    #[test]
    fn a_time_that_the_clocks_jump_over_is_refused_with_the_two_that_they_show() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let at = |now: &str| now.parse::<Timestamp>().unwrap().to_zoned(zone.clone());
        // Of the night on which they jump from 02:00 to 03:00.
        let asked = |now: &str| moment(&at(now), until("02:30").unwrap());
        let refused = asked("2026-03-28T20:00:00Z").unwrap_err().to_string();
        assert!(
            refused.contains("jump over 02:30 on 2026-03-29: use 01:30 or 03:30"),
            "{refused}"
        );
        for (now, shown) in [
            ("2026-03-29T02:00:00Z", "2026-03-30T00:30:00Z"),
            ("2026-10-24T20:00:00Z", "2026-10-25T00:30:00Z"),
            ("2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"),
        ] {
            assert_eq!(asked(now).unwrap(), shown.parse().unwrap(), "{now}");
        }
    }
}
