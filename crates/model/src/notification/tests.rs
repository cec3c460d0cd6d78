//! When an item is told, in what words, and in which language of a terminal: by tables, and against
//! whatever comes and goes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp, Zoned, tz::TimeZone};
use proptest::prelude::*;

use super::*;

/// Noon of a day in UTC, and seconds after it.
fn at(second: i64) -> Timestamp {
    let noon: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
    noon + SignedDuration::from_secs(second)
}

fn zoned(at: Timestamp) -> Zoned {
    at.to_zoned(TimeZone::UTC)
}

fn item(name: &str) -> WaitingItem {
    WaitingItem {
        key: ItemKey {
            repo: Some("web".to_owned()),
            kind: NoticeKind::Brief,
            item: name.to_owned(),
            at: None,
        },
        label: format!("{name} #7"),
        state: "waits for your decision",
        summary: "Merge\u{1b}]0;owned\u{7} it".to_owned(),
        page: Some(format!("/inbox/{name}")),
    }
}

fn terms() -> NoticeTerms {
    NoticeTerms {
        kinds: NoticeKind::ALL.to_vec(),
        grace: SignedDuration::from_secs(5),
        batch: SignedDuration::from_secs(20),
        remind: SignedDuration::ZERO,
        quiet: None,
    }
}

/// A sender that looks each second, and what it told: the second, and the items.
fn told_in(
    seconds: std::ops::Range<i64>,
    terms: &NoticeTerms,
    waits: impl Fn(i64) -> Vec<WaitingItem>,
) -> Vec<(i64, Vec<String>)> {
    let (mut memory, mut told, mut notices) = (NoticeMemory::default(), Told::new(), Vec::new());
    for second in seconds {
        let (now, waiting) = (at(second), waits(second));
        memory.see(&waiting, now);
        told.retain(|key, _| !memory.is_gone(key, now));
        let due = due(&waiting, &memory, &told, terms, &zoned(now));
        if !due.items.is_empty() {
            let names = due.items.iter().map(|(it, _)| it.key.item.clone());
            notices.push((second, names.collect()));
            let keys = due.items.iter().map(|(it, _)| it.key.clone());
            told.extend(keys.map(|key| (key, now)));
        }
    }
    notices
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn an_item_is_told_once_when_its_batch_is_over() {
    let notices = told_in(0..10_000, &terms(), |_| vec![item("A")]);
    assert_eq!(notices, [(20, names(&["A"]))]);
}

#[test]
fn what_comes_within_a_batch_is_one_notice_and_each_has_its_grace() {
    for (second, expected) in [
        (0, vec![(20, names(&["A", "B"]))]),
        (14, vec![(20, names(&["A", "B"]))]),
        (18, vec![(23, names(&["A", "B"]))]),
        (20, vec![(25, names(&["A", "B"]))]),
        (21, vec![(20, names(&["A"])), (41, names(&["B"]))]),
    ] {
        let notices = told_in(0..100, &terms(), |now| {
            let mut all = vec![item("A")];
            all.extend((now >= second).then(|| item("B")));
            all
        });
        assert_eq!(notices, expected, "B comes at {second}");
    }
}

#[test]
fn what_is_settled_before_it_is_told_is_never_told() {
    let terms = NoticeTerms {
        batch: SignedDuration::ZERO,
        ..terms()
    };
    for (settled, count) in [(1, 0), (5, 0), (6, 1), (60, 1)] {
        let notices = told_in(0..100, &terms, |now| match now < settled {
            true => vec![item("A")],
            false => Vec::new(),
        });
        assert_eq!(notices.len(), count, "settled at {settled}");
    }
}

#[test]
fn a_storm_is_one_notice() {
    let all: Vec<WaitingItem> = (0..1000).map(|n| item(&n.to_string())).collect();
    let notices = told_in(0..100, &terms(), |_| all.clone());
    let counts: Vec<usize> = notices.iter().map(|(_, names)| names.len()).collect();
    assert_eq!(counts, [1000]);
}

#[test]
fn it_is_told_again_only_after_remind() {
    let terms = NoticeTerms {
        remind: SignedDuration::from_secs(100),
        ..terms()
    };
    let notices = told_in(0..300, &terms, |_| vec![item("A")]);
    let seconds: Vec<i64> = notices.iter().map(|(second, _)| *second).collect();
    assert_eq!(seconds, [20, 140, 260]);
}

#[test]
fn other_kinds_are_not_told() {
    let terms = NoticeTerms {
        kinds: vec![NoticeKind::Stuck],
        ..terms()
    };
    assert!(told_in(0..100, &terms, |_| vec![item("A")]).is_empty());
}

#[test]
fn what_comes_in_quiet_hours_is_told_once_after_them() {
    let terms = NoticeTerms {
        quiet: Some("11:30-12:10".parse().unwrap()),
        ..terms()
    };
    let notices = told_in(0..2000, &terms, |now| match now {
        0..300 => vec![item("settled"), item("A")],
        _ => vec![item("A"), item("B")],
    });
    assert_eq!(notices, [(600, names(&["A", "B"]))]);
}

#[test]
fn quiet_hours_go_past_midnight_and_keep_the_local_time() {
    let quiet: QuietHours = "22:00-07:00".parse().unwrap();
    assert_eq!(quiet.to_string(), "22:00-07:00");
    // Two hours east of UTC; the clock goes back by an hour on this night.
    let zone = TimeZone::posix("EET-2EEST,M3.5.0/3,M10.5.0/4").unwrap();
    for (now, end) in [
        ("2026-10-24T18:59:59Z", None),
        ("2026-10-24T19:00:00Z", Some("2026-10-25T05:00:00Z")),
        ("2026-10-25T04:59:59Z", Some("2026-10-25T05:00:00Z")),
        ("2026-10-25T05:00:00Z", None),
        ("2026-12-01T20:00:00Z", Some("2026-12-02T05:00:00Z")),
    ] {
        let now = now.parse::<Timestamp>().unwrap().to_zoned(zone.clone());
        let end = end.map(|end| end.parse().unwrap());
        assert_eq!(quiet.end(&now), end, "{now}");
    }
    for wrong in [
        "",
        "22:00",
        "22-7",
        "22:00-22:00",
        "24:00-07:00",
        "7:0-9:0",
        "+1:00-02:00",
    ] {
        assert!(wrong.parse::<QuietHours>().is_err(), "{wrong}");
    }
}

#[test]
fn an_item_that_waited_before_we_looked_is_told_at_once_and_a_wrong_clock_delays_none() {
    let mut old = item("old");
    old.key.at = Some(at(-3600));
    let mut ahead = item("ahead");
    ahead.key.at = Some(at(999_999));
    let notices = told_in(0..100, &terms(), |_| vec![ahead.clone(), old.clone()]);
    assert_eq!(notices, [(0, names(&["old"])), (20, names(&["ahead"]))]);
}

#[test]
fn an_item_that_comes_back_is_told_again_and_one_that_blinks_is_not() {
    for (gone, count) in [(1, 1), (59, 1), (90, 2)] {
        let notices = told_in(0..300, &terms(), |now| {
            match (100..100 + gone).contains(&now) {
                true => Vec::new(),
                false => vec![item("A")],
            }
        });
        assert_eq!(notices.len(), count, "gone for {gone}");
    }
}

#[test]
fn a_notice_has_the_oldest_and_no_words_of_agents_unless_they_are_wanted() {
    let all = [item("A"), item("B"), item("C")];
    let due = DueItems {
        items: vec![(&all[0], at(0)), (&all[1], at(5)), (&all[2], at(9))],
        next: None,
        now: at(720),
    };
    let notice = Notice::of(&due, NoticeBody::None, Some("http://127.0.0.1:7"));
    let expected = r#"{"kind":"brief","item":"A","repo":"web","count":3,"age_s":720,"link":"http://127.0.0.1:7/inbox/A","summary":null,"test":false}"#;
    let notice = notice.unwrap();
    assert_eq!(serde_json::to_string(&notice).unwrap(), expected);
    assert_eq!(notice.text(), "3 wait for you; oldest A #7");
    let notice = Notice::of(&due, NoticeBody::Summary, None).unwrap();
    assert_eq!(notice.link, None);
    assert_eq!(
        notice.text(),
        "3 wait for you; oldest A #7: Merge\u{fffd}]0;owned\u{fffd} it"
    );
    let one = DueItems {
        items: vec![(&all[0], at(0))],
        ..due
    };
    let notice = Notice::of(&one, NoticeBody::None, None).unwrap();
    assert_eq!(notice.text(), "A #7 waits for your decision");
    let none = DueItems {
        items: Vec::new(),
        ..one
    };
    assert_eq!(Notice::of(&none, NoticeBody::None, None), None);
}

#[test]
fn a_terminal_is_told_in_its_own_language_or_by_the_bell() {
    let names = |term: &str, program: &str, tmux| TerminalNames {
        term: Some(term.to_owned()),
        program: Some(program.to_owned()),
        tmux,
    };
    for (wanted, terminal, expected) in [
        (Signal::Auto, names("xterm-256color", "", false), "\x07"),
        (
            Signal::Auto,
            names("xterm-256color", "WezTerm", false),
            "\x1b]9;Flagpost: a;b\x1b\\",
        ),
        (
            Signal::Auto,
            names("xterm-256color", "iTerm.app", false),
            "\x1b]9;Flagpost: a;b\x1b\\",
        ),
        (
            Signal::Auto,
            names("foot", "", false),
            "\x1b]777;notify;Flagpost;a,b\x1b\\",
        ),
        (
            Signal::Auto,
            names("xterm-ghostty", "ghostty", false),
            "\x1b]777;notify;Flagpost;a,b\x1b\\",
        ),
        (
            Signal::Auto,
            names("xterm-kitty", "", false),
            "\x1b]99;;Flagpost: a;b\x1b\\",
        ),
        (Signal::Auto, names("tmux-256color", "tmux", true), "\x07"),
        (Signal::Bell, names("xterm-kitty", "", false), "\x07"),
        (
            Signal::Osc9,
            names("xterm", "", false),
            "\x1b]9;Flagpost: a;b\x1b\\",
        ),
        (
            Signal::Osc9,
            names("tmux-256color", "tmux", true),
            "\x1bPtmux;\x1b\x1b]9;Flagpost: a;b\x1b\x1b\\\x1b\\\x07",
        ),
    ] {
        let bytes = signal(wanted, &terminal, "a;b");
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            expected,
            "{wanted} {terminal:?}"
        );
    }
    let unknown = TerminalNames::default();
    assert_eq!(signal(Signal::Auto, &unknown, "a"), b"\x07");
}

#[test]
fn no_text_steers_a_terminal() {
    let evil = "a\x07b\x1b\\c\u{9c}d\u{9d}52;c;x\u{202e}e\nf\0";
    for wanted in [Signal::Osc9, Signal::Osc777, Signal::Osc99] {
        let bytes = signal(wanted, &TerminalNames::default(), evil);
        let text = String::from_utf8(bytes).unwrap();
        let text = text.strip_prefix("\x1b]").unwrap();
        let text = text.strip_suffix("\x1b\\").unwrap();
        assert!(!text.contains(steers), "{text:?}");
    }
}

proptest! {
    /// Whatever comes and goes: an item is told at most once while it waits, never when it is settled
    /// and never before its grace is over; and one that stays is told in the end.
    #[test]
    fn every_item_that_stays_is_told_exactly_once(
        spans in proptest::collection::vec((0i64..120, 1i64..200), 1..12),
        grace in 0i64..10,
        batch in 0i64..40,
    ) {
        let terms = NoticeTerms {
            grace: SignedDuration::from_secs(grace),
            batch: SignedDuration::from_secs(batch),
            ..terms()
        };
        let notices = told_in(0..500, &terms, |now| {
            let all = spans.iter().enumerate();
            let here = all.filter(|(_, (from, stays))| (*from..from + stays).contains(&now));
            here.map(|(n, _)| item(&n.to_string())).collect()
        });
        let mut seconds: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for (second, names) in notices {
            for name in names {
                seconds.entry(name).or_default().push(second);
            }
        }
        for (n, (from, stays)) in spans.iter().enumerate() {
            let told = seconds.remove(&n.to_string()).unwrap_or_default();
            prop_assert!(told.len() <= 1, "{told:?}");
            for second in &told {
                prop_assert!((from + grace..from + stays).contains(second), "{told:?}");
            }
            prop_assert!(told.len() == 1 || *stays <= batch + grace, "never told: {n}");
        }
    }

    /// A sender may sleep until `next`: before it nothing is due.
    #[test]
    fn nothing_is_due_before_the_next_look(
        starts in proptest::collection::vec(-100i64..100, 1..8),
        now in 0i64..150,
        hour in 0i8..24,
    ) {
        let quiet = format!("{hour:02}:00-{:02}:30", (hour + 1) % 24);
        let terms = NoticeTerms { quiet: Some(quiet.parse().unwrap()), ..terms() };
        let waiting: Vec<WaitingItem> = starts.iter().enumerate().map(|(n, start)| {
            let mut item = item(&n.to_string());
            item.key.at = Some(at(*start));
            item
        }).collect();
        let mut memory = NoticeMemory::default();
        memory.see(&waiting, at(now));
        let told = Told::new();
        let ask = |when: Timestamp| due(&waiting, &memory, &told, &terms, &zoned(when));
        let first = ask(at(now));
        if first.items.is_empty() {
            let next = first.next.unwrap();
            prop_assert!(next > at(now));
            prop_assert!(ask(next - SignedDuration::from_millis(1)).items.is_empty());
            prop_assert!(!ask(next).items.is_empty());
        }
    }
}
