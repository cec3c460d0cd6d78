//! What keys and events do, without a terminal.

mod beside;
mod requests;
mod review;

use std::sync::Arc;

use flagpost_core::{operations::Operation, sessions::SessionStatus};
use flagpost_model::decision::Decision;
use proptest::prelude::*;

use super::*;
use crate::{
    act::{Act, Request},
    app::App,
    event::Outcome,
    fixture::{BODY, brief, cockpit, draw, fleet, give, key_of, press, screen, type_in},
    snapshot::{Interest, WaitingItem},
    theme::Glyphs,
};

fn at_80() -> App {
    let mut app = cockpit(fleet(), (80, 24), Glyphs::Unicode);
    draw(&mut app);
    app
}

fn carried(acts: &[Act]) -> Vec<&Request> {
    let carried = acts.iter().filter_map(|act| match act {
        Act::Carry(request) => Some(request),
        _ => None,
    });
    carried.collect()
}

fn without_first() -> Snapshot {
    let mut data = fleet();
    data.waiting.remove(0);
    data
}

#[test]
fn it_opens_on_what_waits_else_on_the_fleet() {
    assert_eq!(at_80().tab, Tab::Inbox);
    let mut data = fleet();
    data.waiting.clear();
    assert_eq!(cockpit(data, (80, 24), Glyphs::Unicode).tab, Tab::Fleet);
}

#[test]
fn y_lets_through_what_was_shown_to_its_end_by_its_hash() {
    let mut app = at_80();
    let acts = press(&mut app, "y", 1_000);
    let requests = carried(&acts);
    let [request] = requests.as_slice() else {
        panic!("{acts:?}");
    };
    assert_eq!(request.operation, Operation::BriefRatify);
    let seen = brief("W1", 3, BODY).envelope;
    assert_eq!(request.arguments["seen"], seen.as_str());
    assert_eq!(request.arguments["decision"], "ratified");
}

#[test]
fn y_waits_until_the_end_was_on_the_screen() {
    let mut app = at_80();
    press(&mut app, "j", 0);
    assert!(press(&mut app, "y", 1_000).is_empty());
    assert!(
        app.toasts[0]
            .text
            .contains("end has not been on the screen")
    );
    for _ in 0..10 {
        press(&mut app, "J", 1_000);
    }
    assert_eq!(carried(&press(&mut app, "y", 2_000)).len(), 1);
}

#[test]
fn what_was_not_drawn_was_not_seen() {
    let mut app = cockpit(fleet(), (80, 24), Glyphs::Unicode);
    // Typed ahead, before anything was on the screen.
    assert!(carried(&give(&mut app, Input::Key(key_of("y")), 1_000)).is_empty());
}

#[test]
fn in_a_pane_too_narrow_to_say_where_the_end_is_nothing_was_read() {
    for (width, decided) in [(9, 0), (21, 0), (22, 1)] {
        let mut app = cockpit(fleet(), (width, 40), Glyphs::Unicode);
        draw(&mut app);
        assert_eq!(
            carried(&press(&mut app, "y", 1_000)).len(),
            decided,
            "{width}"
        );
    }
}

#[test]
fn a_brief_that_slips_under_the_key_is_not_decided_on() {
    let mut app = at_80();
    give(&mut app, Input::Data(Arc::new(without_first())), 5_000);
    for _ in 0..10 {
        press(&mut app, "J", 5_050);
    }
    assert!(carried(&press(&mut app, "y", 5_299)).is_empty());
    assert!(carried(&press(&mut app, "n", 5_299)).is_empty());
    assert!(app.prompt.is_none());
    assert_eq!(carried(&press(&mut app, "y", 5_300)).len(), 1);
}

#[test]
fn the_selection_stays_on_its_item_when_others_come_and_go() {
    let mut app = at_80();
    press(&mut app, "j", 0);
    let was = app.list().key.clone();
    let mut data = fleet();
    data.waiting
        .insert(0, WaitingItem::Brief(brief("W9", 1, "new")));
    give(&mut app, Input::Data(Arc::new(data)), 1_000);
    assert_eq!(app.list().key, was);
    assert_eq!((app.list().at, app.moved), (2, None));
}

#[test]
fn other_words_under_the_same_number_must_be_seen_again() {
    let mut app = at_80();
    let mut data = fleet();
    data.waiting[0] = WaitingItem::Brief(brief("W1", 3, "Delete everything.\n"));
    give(&mut app, Input::Data(Arc::new(data)), 5_000);
    assert!(carried(&give(&mut app, Input::Key(key_of("y")), 5_001)).is_empty());
    draw(&mut app);
    assert_eq!(carried(&press(&mut app, "y", 6_000)).len(), 1);
}

#[test]
fn a_decision_that_came_too_late_shows_what_changed() {
    let mut app = at_80();
    let acts = press(&mut app, "y", 1_000);
    let request = carried(&acts)[0].clone();
    let refused = Outcome::Refused {
        is_conflict: true,
        text: "it changed since".to_owned(),
    };
    give(&mut app, Input::Done(Box::new(request), refused), 1_100);
    let mut data = fleet();
    let other = BODY.replace("Rebase on main", "Rebase on next");
    data.waiting[0] = WaitingItem::Brief(brief("W1", 3, &other));
    give(&mut app, Input::Data(Arc::new(data)), 1_200);
    let page = screen(&mut app);
    assert!(page.contains("it changed since you saw it"), "{page}");
    assert!(page.contains("- 1. Rebase on main"), "{page}");
    assert!(page.contains("+ 1. Rebase on next"), "{page}");
}

#[test]
fn n_asks_for_a_reason_and_esc_keeps_the_brief() {
    let mut app = at_80();
    press(&mut app, "n", 1_000);
    assert!(press(&mut app, "esc", 1_000).is_empty());
    press(&mut app, "n", 1_000);
    type_in(&mut app, "not now", 1_000);
    let acts = press(&mut app, "enter", 1_000);
    let request = carried(&acts)[0];
    assert_eq!(request.arguments["decision"], "rejected");
    assert_eq!(request.arguments["reason"], "not now");
    assert!(request.command.contains("--reason 'not now'"));
}

#[test]
fn all_means_those_read_to_their_end_by_their_hashes_after_a_question() {
    let mut app = at_80();
    press(&mut app, "j", 0);
    press(&mut app, "E", 0);
    press(&mut app, "Y", 1_000);
    let page = screen(&mut app);
    assert!(page.contains("approve these 2? [y/N]"), "{page}");
    assert!(page.contains("W1/3 Merge the seal"), "{page}");
    // Another one comes while it is asked.
    let mut data = fleet();
    data.waiting
        .push(WaitingItem::Brief(brief("W7", 1, "late")));
    give(&mut app, Input::Data(Arc::new(data)), 1_100);
    let acts = press(&mut app, "y", 1_200);
    let workers: Vec<_> = carried(&acts)
        .iter()
        .map(|it| it.arguments["worker"].clone())
        .collect();
    assert_eq!(workers, ["W1", "W3"]);
    assert!(
        carried(&acts)
            .iter()
            .all(|it| it.arguments.contains_key("seen"))
    );
}

#[test]
fn all_leaves_what_was_not_on_the_screen_to_its_end_and_says_how_many() {
    let mut app = at_80();
    press(&mut app, "Y", 1_000);
    let page = screen(&mut app);
    let question = "approve this one? 1 stays: its end was not on the screen [y/N]";
    assert!(page.contains(question), "{page}");
    assert!(!page.contains("W3/7"), "{page}");
    let acts = press(&mut app, "y", 1_100);
    assert_eq!(carried(&acts)[0].arguments["worker"], "W1");
    assert_eq!((carried(&acts).len(), app.pages.len()), (1, 0));
}

#[test]
fn all_is_not_asked_where_question_and_list_do_not_fit() {
    for (size, asks) in [
        ((80, 24), true),
        ((72, 9), true),
        ((55, 24), false),
        ((20, 4), false),
        ((80, 1), false),
        ((80, 5), false),
        ((80, 7), false),
    ] {
        // The one brief was read in a large window.
        let mut app = at_80();
        give(&mut app, Input::Size(size.0, size.1), 900);
        press(&mut app, "Y", 1_000);
        assert_eq!(app.prompt.is_some(), asks, "{size:?}");
    }
    // Nothing was ever drawn to its end in a window like these.
    for size in [(20, 4), (80, 5), (80, 7)] {
        let mut app = cockpit(fleet(), size, Glyphs::Unicode);
        draw(&mut app);
        press(&mut app, "Y", 1_000);
        assert!(app.prompt.is_none(), "{size:?}");
        assert!(carried(&press(&mut app, "y", 1_100)).is_empty(), "{size:?}");
    }
}

#[test]
fn no_question_is_answered_in_a_window_that_has_become_too_small_for_it() {
    let ask_to_cancel = |app: &mut App| {
        for key in ["3", "m", "x"] {
            press(app, key, 1_000);
        }
    };
    let ask_for_all = |app: &mut App| drop(press(app, "Y", 1_000));
    for ask in [ask_to_cancel as fn(&mut App), ask_for_all] {
        let mut app = at_80();
        ask(&mut app);
        give(&mut app, Input::Size(30, 24), 1_100);
        draw(&mut app);
        assert!(carried(&press(&mut app, "y", 1_200)).is_empty());
        assert!(app.prompt.is_none() && app.pages.is_empty());
        let words = &app.toasts[0].text;
        assert!(words.starts_with("nothing was done"), "{words}");
    }
}

#[test]
fn what_is_pasted_confirms_nothing() {
    let mut app = at_80();
    press(&mut app, "Y", 1_000);
    give(&mut app, Input::Paste("y".to_owned()), 1_000);
    assert!(app.prompt.is_some());
    press(&mut app, "x", 1_000);
    give(&mut app, Input::Paste("y".to_owned()), 1_000);
    assert_eq!(app.busy, 0);
}

#[test]
fn an_edit_without_a_change_asks_and_one_with_a_change_shows_it() {
    let shown = || Box::new(brief("W1", 3, BODY));
    let mut app = at_80();
    give(
        &mut app,
        Input::Edited(shown(), Ok("  \n".to_owned())),
        1_000,
    );
    assert!(app.prompt.is_none() && app.toasts[0].text.contains("left empty"));
    give(&mut app, Input::Edited(shown(), Ok(BODY.to_owned())), 1_000);
    let label = app.prompt.as_ref().unwrap().label(&app.keymap);
    assert!(label.contains("approve W1 3 as it is? [y/N]"), "{label}");
    draw(&mut app);
    press(&mut app, "n", 1_400);
    let other = BODY.replace("Run ./check", "Run nothing");
    give(&mut app, Input::Edited(shown(), Ok(other.clone())), 2_000);
    // Typed while the editor was open.
    assert!(give(&mut app, Input::Key(key_of("y")), 2_000).is_empty());
    assert!(screen(&mut app).contains("+ 2. Run nothing"));
    let acts = press(&mut app, "y", 2_100);
    let request = carried(&acts)[0];
    assert_eq!(request.arguments["decision"], Decision::Edited.as_str());
    assert_eq!(request.arguments["body"], other.as_str());
    assert_eq!(request.arguments["seen"], shown().envelope.as_str());
    assert!(app.pages.is_empty());
}

#[test]
fn a_line_break_at_the_end_is_no_difference() {
    let mut app = at_80();
    let body = "Ship it\nby noon";
    let edited = Input::Edited(
        Box::new(brief("W1", 3, body)),
        Ok("Ship it\nby ten\n".to_owned()),
    );
    give(&mut app, edited, 1_000);
    let page = screen(&mut app);
    assert!(
        page.contains("- by noon") && page.contains("+ by ten"),
        "{page}"
    );
    assert!(page.contains("  Ship it"), "{page}");
}

#[test]
fn the_palette_decides_on_nothing_that_was_not_shown() {
    let mut app = at_80();
    for (typed, words) in [
        ("/ratify W3", "has not been on the screen to its end"),
        ("/ratify W9", "no such brief of W9 waits"),
        ("brief.ratify scope=all", "here say seen=HASH"),
        ("/ratify all --scope=W3", "no end was on the screen yet"),
        (
            "slash.dispatch '/ratify W3'",
            "has not been on the screen to its end",
        ),
        ("/edit W1 3", "e in the inbox"),
    ] {
        press(&mut app, ":", 1_000);
        type_in(&mut app, typed, 1_000);
        assert!(
            carried(&press(&mut app, "enter", 1_000)).is_empty(),
            "{typed}"
        );
        assert!(
            app.toasts[0].text.contains(words),
            "{typed}: {:?}",
            app.toasts
        );
    }
    press(&mut app, ":", 1_000);
    type_in(&mut app, "/ratify W1", 1_000);
    let acts = press(&mut app, "enter", 1_000);
    let seen = brief("W1", 3, BODY).envelope;
    assert_eq!(carried(&acts)[0].arguments["seen"], seen.as_str());
    for typed in [
        "/ratify all --scope=W1",
        "slash.dispatch '/ratify all --scope=W1'",
    ] {
        press(&mut app, ":", 1_000);
        type_in(&mut app, typed, 1_000);
        assert!(press(&mut app, "enter", 1_000).is_empty(), "{typed}");
        assert_eq!(carried(&press(&mut app, "y", 1_100)).len(), 1, "{typed}");
    }
}

#[test]
fn a_question_is_answered_and_not_let_through() {
    let mut app = at_80();
    press(&mut app, "G", 0);
    assert!(carried(&press(&mut app, "y", 1_000)).is_empty());
    press(&mut app, "A", 1_000);
    type_in(&mut app, "the new one", 1_000);
    let acts = press(&mut app, "enter", 1_000);
    assert_eq!(carried(&acts)[0].operation, Operation::TaskAnswer);
    assert_eq!(carried(&acts)[0].arguments["id"], "9");
}

#[test]
fn marked_tasks_are_changed_together_and_undo_is_one_key() {
    let mut app = at_80();
    press(&mut app, "3", 0);
    press(&mut app, "g", 0);
    press(&mut app, "space", 0);
    press(&mut app, "space", 0);
    assert_eq!(carried(&press(&mut app, "c", 0)).len(), 2);
    assert!(app.list().marks.is_empty());
    let acts = press(&mut app, "u", 0);
    assert_eq!(carried(&acts)[0].operation, Operation::TaskUndo);
}

#[test]
fn a_filter_is_seen_at_once_and_esc_takes_it_back() {
    let mut app = at_80();
    press(&mut app, "3", 0);
    let all = app.list().rows.len();
    press(&mut app, "/", 0);
    type_in(&mut app, "lexer", 0);
    assert_eq!(app.list().rows.len(), 2);
    press(&mut app, "enter", 0);
    assert!(app.prompt.is_none());
    press(&mut app, "esc", 0);
    assert_eq!(app.list().rows.len(), all);
    press(&mut app, "/", 0);
    type_in(&mut app, "state=failed", 0);
    assert_eq!(app.list().rows.len(), 1);
    press(&mut app, "esc", 0);
    assert_eq!(app.list().filter, "");
}

#[test]
fn the_palette_knows_operations_slash_commands_and_screens() {
    for (typed, operation) in [
        ("task.fail 12 text='no way'", Operation::TaskFail),
        ("/assign 12 W3", Operation::SlashDispatch),
        ("worker.list", Operation::WorkerList),
    ] {
        let mut app = at_80();
        press(&mut app, ":", 0);
        type_in(&mut app, typed, 0);
        let acts = press(&mut app, "enter", 0);
        assert_eq!(carried(&acts)[0].operation, operation, "{typed}");
    }
    let mut app = at_80();
    press(&mut app, ":", 0);
    type_in(&mut app, "boa", 0);
    press(&mut app, "enter", 0);
    assert_eq!(app.tab, Tab::Board);
    press(&mut app, ":", 0);
    type_in(&mut app, "task.show 12 13", 0);
    press(&mut app, "enter", 0);
    assert!(app.toasts[0].text.contains("one word too many"));
}

#[test]
fn an_error_stays_until_a_key_and_news_goes_by_itself() {
    let mut app = at_80();
    app.complain(Duration::ZERO, "no");
    app.toast(Duration::ZERO, "yes");
    give(&mut app, Input::Tick(crate::fixture::now()), 60_000);
    assert_eq!(app.toasts.len(), 1);
    press(&mut app, "j", 60_000);
    assert_eq!(app.toasts.len(), 0);
}

#[test]
fn where_nothing_can_be_read_what_is_shown_stays_with_its_age_and_the_reason() {
    let mut app = at_80();
    let gone = || Input::Unreadable("the home is gone".to_owned());
    give(&mut app, gone(), 1_000);
    let later = crate::fixture::now() + jiff::SignedDuration::from_mins(2);
    give(&mut app, Input::Tick(later), 2_000);
    give(&mut app, gone(), 2_000);
    let page = screen(&mut app);
    assert!(
        page.contains("2m old") && page.contains("Merge the seal"),
        "{page}"
    );
    assert_eq!(app.toasts.len(), 1);
    assert_eq!(app.toasts[0].text, "the home is gone");
    give(&mut app, Input::Data(Arc::new(fleet())), 3_000);
    assert!(!screen(&mut app).contains("2m old"));
}

#[test]
fn what_i_did_is_kept_as_commands() {
    let mut app = at_80();
    let acts = press(&mut app, "y", 1_000);
    let request = carried(&acts)[0].clone();
    let answer = Outcome::Answer(serde_json::json!({}));
    give(&mut app, Input::Done(Box::new(request), answer), 1_100);
    assert!(app.journal[0].starts_with("flagpost ratify W1 3 --seen "));
    press(&mut app, "@", 1_200);
    assert!(screen(&mut app).contains("flagpost ratify W1 3"));
}

/// Keys that a person may press, and what may happen meanwhile.
#[derive(Debug, Clone)]
enum Step {
    Key(&'static str),
    Draw,
    Data(u8),
    Size(u16, u16),
    Pause(u64),
    Edited(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    const KEYS: [&str; 44] = [
        "y", "n", "e", "Y", "A", "c", "d", "r", "m", "a", "l", "u", "S", "space", "v", "enter",
        "esc", "/", "N", "f", "w", "t", ":", "j", "k", "h", "g", "G", "ctrl-d", "ctrl-u", "J", "K",
        "+", "ctrl-o", "1", "2", "3", "4", "5", "6", "tab", "@", "?", "R",
    ];
    let step = prop_oneof![
        12 => prop::sample::select(&KEYS[..]).prop_map(Step::Key),
        6 => Just(Step::Draw),
        4 => (0_u8..6).prop_map(Step::Data),
        1 => (1_u16..220, 1_u16..70).prop_map(|(x, y)| Step::Size(x, y)),
        3 => (1_u64..700).prop_map(Step::Pause),
        1 => any::<bool>().prop_map(Step::Edited),
    ];
    prop::collection::vec(step, 1..80)
}

/// One of several fleets.
fn variant(n: u8) -> Snapshot {
    let mut data = fleet();
    match n {
        1 => data.waiting.clear(),
        2 => drop(data.waiting.remove(0)),
        3 => data.waiting[0] = WaitingItem::Brief(brief("W1", 3, "Other words.\n")),
        4 => data
            .waiting
            .insert(0, WaitingItem::Brief(brief("W0", 9, "New."))),
        5 => data = Snapshot::default(),
        _ => {}
    }
    data
}

/// The words of the brief that a drawn screen shows whole, by its end.
fn shown_whole(app: &mut App) -> Option<String> {
    let page = screen(app);
    let is_asked = app.prompt.is_some() || !app.pages.is_empty();
    let brief = app.shown_brief()?;
    (!is_asked && page.contains("end of body")).then(|| brief.envelope.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever is pressed and whatever happens: nothing panics, a selection is a row that is there, and
    /// a brief that is let through by itself was on the screen, to its end, with those words.
    #[test]
    fn nothing_is_let_through_that_was_not_on_the_screen(steps in steps()) {
        let mut app = cockpit(fleet(), (80, 24), Glyphs::Unicode);
        let (mut at, mut seen) = (0, std::collections::BTreeSet::new());
        for step in steps {
            let was_asked = app.prompt.is_some();
            let acts = match step {
                Step::Key(key) => give(&mut app, Input::Key(key_of(key)), at),
                Step::Draw => {
                    seen.extend(shown_whole(&mut app));
                    Vec::new()
                }
                Step::Data(n) => give(&mut app, Input::Data(Arc::new(variant(n))), at),
                Step::Size(x, y) => give(&mut app, Input::Size(x, y), at),
                Step::Pause(millis) => {
                    at += millis;
                    Vec::new()
                }
                Step::Edited(changed) => {
                    let body = if changed { "Edited.\n" } else { BODY };
                    let edited = Input::Edited(Box::new(brief("W1", 3, BODY)), Ok(body.to_owned()));
                    give(&mut app, edited, at)
                }
            };
            // An editor had shown what it left as it was.
            let edited = was_asked.then(|| brief("W1", 3, BODY).envelope);
            for request in carried(&acts) {
                if request.arguments.get("decision") == Some(&"ratified".into()) {
                    let envelope = request.arguments["seen"].as_str().unwrap_or_default();
                    let is_seen = seen.contains(envelope) || edited.as_deref() == Some(envelope);
                    prop_assert!(is_seen, "{request:?}");
                }
            }
            let list = app.list();
            prop_assert!(list.rows.is_empty() || list.at < list.rows.len());
        }
        draw(&mut app);
    }
}
