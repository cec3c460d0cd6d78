//! Reservations: who works on which files. They are only shown here: whoever reserves does it where the
//! files are.

use serde_json::Value;

use super::{Arguments, Caller, CallerPart, Operation, OperationEntry, Run};
use crate::{error::Result, shape};

pub(super) const ENTRIES: &[OperationEntry] = &[OperationEntry::new(
    Operation::ReservationList,
    "Who works on which files",
    Run::Answer("reservations", list),
)
.asking(&[CallerPart::Repo])];

fn list(caller: &Caller, _: &Arguments) -> Result<Value> {
    let survey = caller.fleet()?.reservations().scan()?;
    Ok(shape::reservations(&survey.live, &survey))
}
