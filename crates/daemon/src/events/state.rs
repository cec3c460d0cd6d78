//! The state as it is, for whoever begins to listen.

use flagpost_core::{
    Error, Home, List, Repository,
    answers::Outline,
    relay::{
        Fleet,
        briefs::{self, BriefStatus},
        reports, workers,
    },
    roots, shape,
};
use serde_json::{Value, json};

use super::EventFilter;

/// What stands in these repositories: who works in them, what waits, and the tasks.
pub(super) fn state(
    home: &Home,
    repositories: &[(Repository, u64)],
    scope: EventFilter,
    reason: &str,
) -> Result<Value, Error> {
    let each = repositories
        .iter()
        .map(|(repository, n)| one(home, repository, *n, scope));
    let all = each.collect::<Result<Vec<Value>, Error>>()?;
    let body = json!({"reason": reason, "repositories": all});
    Ok(shape::answer("resync", body))
}

fn one(home: &Home, repository: &Repository, n: u64, scope: EventFilter) -> Result<Value, Error> {
    let fleet = Fleet::of(home, &repository.id);
    let (seen, _) = workers::list(&fleet)?;
    let (mut waiting, mut unread) = (Vec::new(), Vec::new());
    for mail in fleet.mails()? {
        let (letters, _) = briefs::list(&mail)?;
        let open = letters.iter().filter(|it| it.stage == BriefStatus::Pending);
        waiting.extend(open.map(|it| shape::brief(&it.brief)));
        let (papers, _) = reports::list(&mail)?;
        let open = papers.iter().filter(|it| !it.read);
        unread.extend(open.map(|it| shape::report(&it.report)));
    }
    let lists = match scope {
        EventFilter::Everything => lists(home, repository)?,
        EventFilter::Mail => Vec::new(),
    };
    Ok(json!({
        "id": repository.id,
        "name": repository.name,
        "n": n,
        "workers": seen.iter().map(shape::worker).collect::<Vec<_>>(),
        "briefs": waiting,
        "reports": unread,
        "lists": lists,
    }))
}

fn lists(home: &Home, repository: &Repository) -> Result<Vec<Value>, Error> {
    let mut shown = Vec::new();
    for id in roots::lists(home)? {
        // One that leads elsewhere or belongs to nobody is not this repository's.
        let list = List::open(home, &id).ok();
        let ours = |it: &List<'_>| it.repository().is_ok_and(|it| it == repository.id);
        if let Some(list) = list.filter(ours) {
            let loaded = list.peek()?;
            let tasks: Vec<Outline> = loaded.outlines.iter().map(Outline::from).collect();
            shown.push(json!({"list": id, "tasks": tasks}));
        }
    }
    Ok(shown)
}
