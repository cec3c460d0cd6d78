//! Settings that are numbers.

use std::num::NonZeroU32;

use super::{SettingKind, SettingValue};

/// The greatest share of a limit that may be left alone, in percent.
const MOST: i64 = 50;

/// A whole number from 1 that a person counts to.
#[derive(Debug)]
pub struct Count;

/// A whole number from 1, however great.
#[derive(Debug)]
pub struct Whole;

/// An amount of money.
#[derive(Debug)]
pub struct Money;

/// A share in whole percent; 0.05 could be meant as two different ones.
#[derive(Debug)]
pub struct Share;

/// A number as it was typed, or the text where it is none.
fn whole(text: String) -> SettingValue {
    text.parse()
        .map_or(SettingValue::Text(text), SettingValue::Number)
}

impl SettingKind for Count {
    type Value = NonZeroU32;

    fn allowed(&self) -> String {
        "a whole number from 1".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<NonZeroU32> {
        match stored {
            SettingValue::Number(n) => NonZeroU32::new(u32::try_from(*n).ok()?),
            _ => None,
        }
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        whole(typed.join(" "))
    }
}

impl SettingKind for Whole {
    type Value = u64;

    fn allowed(&self) -> String {
        "a whole number from 1".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<u64> {
        match stored {
            SettingValue::Number(n) => u64::try_from(*n).ok().filter(|n| *n > 0),
            _ => None,
        }
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        whole(typed.join(" "))
    }
}

impl SettingKind for Money {
    type Value = f64;

    fn allowed(&self) -> String {
        "a number above 0, such as 5 or 2.5".to_owned()
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "nobody settles nine quadrillion dollars to the cent"
    )]
    fn read(&self, stored: &SettingValue) -> Option<f64> {
        let amount = match stored {
            SettingValue::Number(n) => *n as f64,
            SettingValue::Decimal(n) => *n,
            _ => return None,
        };
        (amount.is_finite() && amount > 0.0).then_some(amount)
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        match whole(typed.join(" ")) {
            SettingValue::Text(text) => text
                .parse()
                .map_or(SettingValue::Text(text), SettingValue::Decimal),
            whole => whole,
        }
    }
}

impl SettingKind for Share {
    /// From 0 to 1.
    type Value = f64;

    fn allowed(&self) -> String {
        format!("a whole number of percent from 0 to {MOST}, such as 5 or \"5%\"")
    }

    fn read(&self, stored: &SettingValue) -> Option<f64> {
        let percent = match stored {
            SettingValue::Number(n) => *n,
            SettingValue::Text(text) => text.strip_suffix('%')?.trim_end().parse().ok()?,
            _ => return None,
        };
        let percent = i32::try_from(percent).ok()?;
        (0..=MOST)
            .contains(&percent.into())
            .then_some(f64::from(percent) / 100.0)
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        let text = typed.join(" ");
        let number = text.strip_suffix('%').unwrap_or(&text).trim_end();
        number
            .parse()
            .map_or(SettingValue::Text(text), SettingValue::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed<K: SettingKind>(kind: &K, text: &str) -> Option<K::Value> {
        kind.read(&kind.store(&[text.to_owned()]))
    }

    #[test]
    fn an_amount_is_any_number_above_nothing() {
        for (text, amount) in [
            ("5", Some(5.0)),
            ("2.50", Some(2.5)),
            ("0.01", Some(0.01)),
            ("0", None),
            ("0.0", None),
            ("-3", None),
            ("inf", None),
            ("nan", None),
            ("1e999", None),
            ("5 dollars", None),
            ("", None),
        ] {
            assert_eq!(typed(&Money, text), amount, "{text:?}");
        }
        assert_eq!(Money.read(&SettingValue::Text("5".to_owned())), None);
    }

    #[test]
    fn tokens_are_counted_beyond_four_billion() {
        for (text, tokens) in [
            ("1", Some(1)),
            ("5000000000", Some(5_000_000_000)),
            ("0", None),
            ("-1", None),
            ("1.5", None),
            ("9223372036854775808", None),
            ("2M", None),
        ] {
            assert_eq!(typed(&Whole, text), tokens, "{text:?}");
        }
    }

    #[test]
    fn a_share_is_whole_percent_up_to_half() {
        for (text, share) in [
            ("5", Some(0.05)),
            ("5%", Some(0.05)),
            ("5 %", Some(0.05)),
            ("0", Some(0.0)),
            ("50", Some(0.5)),
            ("51", None),
            ("-1", None),
            ("0.05", None),
            ("%", None),
            ("five", None),
        ] {
            assert_eq!(typed(&Share, text), share, "{text:?}");
        }
        assert_eq!(Share.read(&SettingValue::Text("7%".to_owned())), Some(0.07));
        assert_eq!(Share.read(&SettingValue::Text("7".to_owned())), None);
    }
}
