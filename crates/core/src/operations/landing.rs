//! Landing: what is to land. Landing itself runs commands and takes as long as they do: `flagpost land`.

use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, Parameter, Run, tasks::LIST,
};
use crate::{answers::LandingAnswer, error::Result, landing::LandingView};

pub(super) const ENTRIES: &[OperationEntry] = &[OperationEntry::new(
    Operation::LandingShow,
    "Which branches of passed tasks are to land, and which have landed",
    Run::Answer("landing", show),
)
.asking(&[CallerPart::Repo])
.taking(&[
    LIST,
    Parameter::text(
        "onto",
        "The target branch; without it, the branch that the repository stands on.",
    ),
])];

fn show(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (repository, list) = (caller.repository()?, caller.list(arguments)?);
    let view = LandingView::of(&repository, &list, arguments.text("onto"))?;
    Ok(json!(LandingAnswer::from(&view)))
}
