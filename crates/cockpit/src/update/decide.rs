//! Decisions on briefs and on what agents want to do, and what came of every request.
//!
//! Owns when a decision is taken: on the brief whose end has been on the screen, with the hash of what was
//! shown, and not within [`GUARD`] of the selection moving by itself. What changed since is shown again, and
//! several are decided on together only in front of their list.

use std::time::Duration;

use flagpost_core::operations::Operation;
use flagpost_model::decision::Decision;
use similar::{ChangeTag, TextDiff};

use super::{GUARD, answer::drop_difference, command::carry};
use crate::{
    act::{Act, Request},
    app::{App, Page},
    event::Outcome,
    palette::changes,
    prompt::{Ask, Prompt},
    snapshot::{WaitingBrief, WaitingItem, WaitingPermission},
    text::{self, LineKind},
    view,
};

/// Why nothing is decided on what moved under the selection.
const MOVED: &str = "the selection has just moved by itself: look, then press the key again";
/// Why nothing is let through that nobody read.
const UNSEEN: &str = "its end has not been on the screen yet: J scrolls to it";

/// The selected brief, where a decision on it may be taken now; why not, in words.
fn decidable(app: &App, at: Duration) -> Result<WaitingBrief, &'static str> {
    let brief = match app.waiting() {
        None => return Err("nothing is selected"),
        Some(WaitingItem::Question(_)) => return Err("this is a question: A answers it"),
        Some(WaitingItem::Permission(_)) => {
            return Err("this is a request: y allows it, n denies it");
        }
        Some(WaitingItem::Other(need)) if need.is_review => {
            return Err("this is work: enter shows it, and y or n there decides");
        }
        Some(WaitingItem::Other(_)) => return Err("no decision settles this: see the command"),
        Some(WaitingItem::Brief(brief)) => brief,
    };
    if has_just_moved(app, at) {
        return Err(MOVED);
    }
    Ok(brief.clone())
}

fn refuse(app: &mut App, at: Duration, why: &str) -> Vec<Act> {
    app.complain(at, why);
    Vec::new()
}

/// The selected request, where a decision on it may be taken now.
fn selected_request(app: &App, at: Duration) -> Option<Result<WaitingPermission, &'static str>> {
    match app.waiting() {
        Some(WaitingItem::Permission(request)) => Some(match has_just_moved(app, at) {
            true => Err(MOVED),
            false => Ok(request.clone()),
        }),
        _ => None,
    }
}

fn has_just_moved(app: &App, at: Duration) -> bool {
    app.moved.is_some_and(|moved| at < moved + GUARD)
}

/// Lets the selected brief through, or allows what is asked.
pub(super) fn ratify(app: &mut App, at: Duration) -> Vec<Act> {
    match selected_request(app, at) {
        None => ratify_brief(app, at),
        Some(Err(why)) => refuse(app, at, why),
        Some(Ok(request)) if !request.is_as_asked => {
            refuse(app, at, "it was changed since it was asked: n denies it")
        }
        Some(Ok(request)) if !app.has_shown_request(&request) => refuse(app, at, UNSEEN),
        Some(Ok(request)) => carry(app, vec![Request::allow(&request)]),
    }
}

/// Asks whether the rule is to be added that is shown and would allow such requests from now on.
pub(super) fn always(app: &mut App, at: Duration) -> Vec<Act> {
    match selected_request(app, at) {
        None => refuse(app, at, "only a request is allowed by a rule"),
        Some(Err(why)) => refuse(app, at, why),
        Some(Ok(request)) if !request.has_rule => {
            refuse(app, at, "no rule can allow it: y or n decides this one")
        }
        Some(Ok(request)) if !app.has_shown_request(&request) => refuse(app, at, UNSEEN),
        Some(Ok(request)) => {
            let question = "add the rule that is shown, and accept that?".to_owned();
            let requests = vec![Request::always(request.request)];
            app.prompt = Some(Prompt::confirm(question, requests));
            Vec::new()
        }
    }
}

fn ratify_brief(app: &mut App, at: Duration) -> Vec<Act> {
    match decidable(app, at) {
        Err(why) => refuse(app, at, why),
        Ok(brief) if !app.has_shown(&brief) => refuse(app, at, UNSEEN),
        // Somebody else's hand was in it: no key that was meant for another brief lets it through.
        Ok(brief) if brief.withheld.is_some() => {
            let (worker, seq) = (&brief.worker, brief.seq.get());
            let question = format!("{worker}/{seq} is withheld: approve the words above?");
            let requests = vec![Request::decision(&brief, Decision::Ratified, None)];
            app.prompt = Some(Prompt::confirm(question, requests));
            Vec::new()
        }
        Ok(brief) => carry(
            app,
            vec![Request::decision(&brief, Decision::Ratified, None)],
        ),
    }
}

/// Asks why it is rejected, or denied.
pub(super) fn reject(app: &mut App, at: Duration) -> Vec<Act> {
    let ask = match selected_request(app, at) {
        Some(request) => request.map(Ask::Denial),
        None => decidable(app, at).map(Ask::Reason),
    };
    match ask {
        Err(why) => refuse(app, at, why),
        Ok(ask) => {
            app.prompt = Some(Prompt::new(ask));
            Vec::new()
        }
    }
}

/// Has it rewritten.
pub(super) fn edit(app: &mut App, at: Duration) -> Vec<Act> {
    match decidable(app, at) {
        Err(why) => refuse(app, at, why),
        Ok(brief) => vec![Act::Edit(brief)],
    }
}

/// Asks whether all that are listed, or marked, are to be let through: these and no others.
pub(super) fn ratify_all(app: &mut App, at: Duration) -> Vec<Act> {
    let list = app.list();
    let rows = list
        .rows
        .iter()
        .filter_map(|row| app.data.waiting.get(*row));
    let is_meant = |key: &String| list.marks.is_empty() || list.marks.contains(key);
    let briefs = rows.filter_map(|item| match item {
        WaitingItem::Brief(brief) if brief.withheld.is_none() && is_meant(&item.key()) => {
            Some(brief)
        }
        WaitingItem::Permission(_)
        | WaitingItem::Brief(_)
        | WaitingItem::Question(_)
        | WaitingItem::Other(_) => None,
    });
    let briefs: Vec<WaitingBrief> = briefs.cloned().collect();
    ask_to_ratify(app, &briefs, at);
    Vec::new()
}

/// Asks whether these are to be let through, in front of a list of them. Those whose end has not been on the
/// screen stay.
pub(super) fn ask_to_ratify(app: &mut App, briefs: &[WaitingBrief], at: Duration) {
    let (shown, unseen): (Vec<_>, Vec<_>) = briefs.iter().partition(|it| app.has_shown(it));
    if shown.is_empty() {
        return app.complain(
            at,
            match unseen.len() {
                0 => "no brief is listed that could be approved".to_owned(),
                n => format!("{n} listed, and no end was on the screen yet: J scrolls to it"),
            },
        );
    }
    let mut question = match shown.len() {
        1 => "approve this one?".to_owned(),
        n => format!("approve these {n}?"),
    };
    match unseen.len() {
        0 => {}
        1 => question += " 1 stays: its end was not on the screen",
        n => question += &format!(" {n} stay: their ends were not on the screen"),
    }
    let lines = shown.iter().map(|it| {
        let words = format!("{}/{} {}", it.worker, it.seq.get(), it.summary);
        (LineKind::Plain, text::line(&words).into_owned())
    });
    app.pages.push(Page::Text {
        title: "To be approved, one by one".to_owned(),
        lines: lines.collect(),
        top: 0,
    });
    let requests = shown
        .iter()
        .map(|brief| Request::decision(brief, Decision::Ratified, None));
    app.prompt = Some(Prompt {
        has_list: true,
        ..Prompt::confirm(question, requests.collect())
    });
    if !view::shows_question(app) {
        withdraw_question(app, at);
    }
}

/// Takes a question back that the screen has no room for: nobody could know what a yes does.
pub(super) fn withdraw_question(app: &mut App, at: Duration) {
    // What was edited stays on its page: y copies it.
    if app.prompt.take().is_some_and(|it| it.has_list) {
        drop_difference(app);
    }
    app.complain(
        at,
        "nothing was done: no room for the question and its list; enlarge the window or mark fewer",
    );
}

/// What a person made of a brief in the editor.
pub(super) fn edited(
    app: &mut App,
    brief: WaitingBrief,
    made: Result<String, String>,
    at: Duration,
) -> Vec<Act> {
    let body = match made {
        Err(why) => return refuse(app, at, &why),
        Ok(body) => body,
    };
    let (worker, seq) = (&brief.worker, brief.seq.get());
    if body.trim().is_empty() {
        app.toast(
            at,
            format!("nothing happened: the body of {worker} {seq} was left empty"),
        );
        return Vec::new();
    }
    let (question, request) = match body.trim_end() == brief.body.trim_end() {
        true => (
            format!("nothing was changed: approve {worker} {seq} as it is?"),
            Request::decision(&brief, Decision::Ratified, None),
        ),
        false => {
            app.pages
                .push(difference("What you changed", &brief.body, &body));
            (
                format!("approve {worker} {seq} with this change?"),
                Request::decision(&brief, Decision::Edited, Some(&body)),
            )
        }
    };
    app.prompt = Some(Prompt::confirm(question, vec![request]));
    Vec::new()
}

/// What differs between two texts, as a page.
pub(super) fn difference(title: &str, before: &str, after: &str) -> Page {
    // A line break at the end is no change of a line.
    let [before, after] = [before, after].map(|it| format!("{}\n", it.trim_end()));
    let diff = TextDiff::from_lines(&before, &after);
    let lines = diff.iter_all_changes().map(|change| {
        let kind = match change.tag() {
            ChangeTag::Equal => LineKind::Plain,
            ChangeTag::Insert => LineKind::Added,
            ChangeTag::Delete => LineKind::Removed,
        };
        (kind, change.value().trim_end_matches('\n').to_owned())
    });
    Page::Text {
        title: title.to_owned(),
        lines: lines.collect(),
        top: 0,
    }
}

/// What came of a request.
pub(super) fn done(app: &mut App, request: &Request, outcome: Outcome, at: Duration) -> Vec<Act> {
    app.busy = app.busy.saturating_sub(1);
    let answer = match outcome {
        Outcome::Answer(answer) => answer,
        Outcome::Refused { is_conflict, text } => {
            app.complain(at, text);
            if let Some(brief) = request.brief.as_deref().filter(|_| is_conflict) {
                let key = format!("{}/{}", brief.worker, brief.seq.get());
                app.before.insert(key, brief.body.clone());
            }
            if let Some(body) = request.arguments.get("body").and_then(|it| it.as_str()) {
                let title = "What you wrote, which was not sent: y copies it";
                app.pages.push(difference(title, body, body));
            }
            // What is there now is another commit, perhaps.
            let shown = app
                .selected_task()
                .filter(|_| is_conflict && is_of_review(request));
            let look = shown.map(|task| Act::ReadChange(task, None));
            return look.into_iter().chain([Act::Reread]).collect();
        }
    };
    if is_of_review(request) {
        leave_review(app);
    }
    if changes(request) {
        app.journal.push(request.command.clone());
    }
    match said(request, &answer) {
        Said::Line(line) => app.toast(at, line),
        Said::Page(lines) => app.pages.push(Page::Text {
            title: request.command.clone(),
            lines: lines.into_iter().map(|it| (LineKind::Plain, it)).collect(),
            top: 0,
        }),
    }
    match changes(request) {
        true => vec![Act::Reread],
        false => Vec::new(),
    }
}

/// Whether it says what becomes of work that is reviewed.
fn is_of_review(request: &Request) -> bool {
    matches!(
        request.operation,
        Operation::ReviewApprove | Operation::ReviewReturn | Operation::LandingStart
    )
}

/// What was said of the work on the page in front is done.
fn leave_review(app: &mut App) {
    if matches!(app.pages.last(), Some(Page::Review(_))) {
        app.pages.pop();
    }
}

/// How an answer is shown.
enum Said {
    Line(String),
    Page(Vec<String>),
}

fn said(request: &Request, answer: &serde_json::Value) -> Said {
    let texts = |key: &str| -> Vec<String> {
        let lines = answer[key].as_array().into_iter().flatten();
        let lines = lines.filter_map(|it| it.as_str());
        lines.map(|it| text::line(it).into_owned()).collect()
    };
    if request.operation == Operation::SlashDispatch {
        let lines = [texts("lines"), texts("faults")].concat();
        return match <[String; 1]>::try_from(lines) {
            Ok([line]) => Said::Line(line),
            Err(lines) => Said::Page(lines),
        };
    }
    if !changes(request) {
        let page = format!("{answer:#}");
        return Said::Page(page.lines().map(str::to_owned).collect());
    }
    if let Some(brief) = &request.brief {
        let decision = request.arguments["decision"].as_str().unwrap_or("decided");
        let ticket = brief.ticket.as_ref().map(|it| format!("#{it} "));
        return Said::Line(format!(
            "{} {}{} → {}",
            decision.to_uppercase(),
            ticket.unwrap_or_default(),
            brief.summary,
            brief.worker
        ));
    }
    let task = &answer["id"];
    let verb = match request.operation {
        Operation::ReviewApprove => Some("is approved"),
        Operation::ReviewReturn => Some("is returned"),
        _ => None,
    };
    if let (Some(id), Some(verb)) = (task.as_str(), verb) {
        return Said::Line(format!("#{id} {verb}"));
    }
    if request.operation == Operation::LandingStart {
        let onto = text::line(answer["onto"].as_str().unwrap_or_default()).into_owned();
        return Said::Line(format!("a landing on {onto} has begun: 7 shows it"));
    }
    match (task.as_str(), answer["state"].as_str()) {
        (Some(id), Some(state)) => Said::Line(format!("#{id} is {state}")),
        _ => Said::Line(format!("done: {}", request.command)),
    }
}
