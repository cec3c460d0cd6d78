//! The fleet.

use flagpost_core::{relay::workers, shape};
use flagpost_model::worker::Standing;
use serde_json::{Value, json};

use crate::http::{
    answer::Fault,
    asked::Asked,
    desk::Desk,
    route::{Kind, Param, REPO, Route, Verb, Work},
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/workers",
        about: "The fleet: who is live, and what waits",
        params: &[
            REPO,
            Param::query("all", Kind::Flag, "Those that were taken off too."),
        ],
        work: Work::Answer("workers", list),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/workers/{worker}",
        about: "A worker",
        params: &[REPO, Param::path("worker", Kind::Id, "The worker.")],
        work: Work::Answer("worker", show),
    },
];

fn list(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let (mut all, skipped) = workers::list(&desk.fleet(asked)?)?;
    all.retain(|it| asked.flag("all") || it.worker.standing == Standing::Active);
    Ok(json!({
        "workers": all.iter().map(shape::worker).collect::<Vec<_>>(),
        "total": all.len(),
        "truncated": false,
        "skipped": shape::skipped(&skipped),
    }))
}

fn show(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let mail = desk.fleet(asked)?.mail(&asked.id("worker")?)?;
    Ok(shape::worker(&workers::show(&mail)?))
}
