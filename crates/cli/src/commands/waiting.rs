//! How long something waits or lasts, as it is typed.

use jiff::SignedDuration;

/// How long to wait, as it is typed.
pub fn time(text: &str) -> Result<SignedDuration, String> {
    let time: Option<SignedDuration> = text.parse().ok();
    let time = time.filter(|it| !it.is_negative());
    time.ok_or_else(|| "use a time, as in 30s or 5m".to_owned())
}

/// How long something is to last, as it is typed.
pub fn length(text: &str) -> Result<SignedDuration, String> {
    let length = time(text).ok().filter(|it| it.is_positive());
    length.ok_or_else(|| "use a time, as in 30s or 15m".to_owned())
}
