//! Tickets as a person types them: `1244` or `#1244`.
//!
//! Owns the spelling that is accepted from people. What a file says about a ticket is text, and is
//! kept as it is.

use std::{fmt, str::FromStr};

/// The number of an issue, as text without its `#`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket(String);

/// What is no ticket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a ticket: use digits, as in 1244 or #1244")]
pub struct InvalidTicket(String);

impl Ticket {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Ticket {
    type Err = InvalidTicket;
    fn from_str(text: &str) -> Result<Self, InvalidTicket> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let well_formed =
            (1..=20).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        if well_formed {
            Ok(Self(digits.to_owned()))
        } else {
            Err(InvalidTicket(text.chars().take(40).collect()))
        }
    }
}

/// As it is spoken of: `#1244`.
impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_digits_after_at_most_one_hash() {
        for (text, shown) in [("1244", "#1244"), ("#1244", "#1244"), ("007", "#007")] {
            assert_eq!(text.parse::<Ticket>().unwrap().to_string(), shown);
        }
        for bad in ["", "#", "##1", "1a", "12 ", "-1", "W1", "१", "../1", "#12#"] {
            assert!(bad.parse::<Ticket>().is_err(), "{bad:?}");
        }
    }
}
