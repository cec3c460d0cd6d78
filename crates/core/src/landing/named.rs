//! Which of the tasks that a person names can land.

use flagpost_model::TaskId;

use super::{BranchState, LandingQueue, LandingRefusal};
use crate::{error::Result, list::List};

impl LandingQueue {
    /// That each of these tasks can land, along with what it builds on; else why the first that cannot does not.
    pub fn must_be_able_to_land(&self, list: &List<'_>, named: &[TaskId]) -> Result<()> {
        for task in named {
            let branch = self.branch_of(task);
            let why = match branch.map(|it| &it.state) {
                Some(BranchState::Queued | BranchState::Changed { .. } | BranchState::Staged) => {
                    continue;
                }
                Some(BranchState::Unapproved) => {
                    format!("it waits for your approval: 'flagpost review {task}'")
                }
                Some(BranchState::Waits { on }) => format!("it builds on {}", ids(on)),
                Some(BranchState::Refused(_)) => {
                    "its work was sent back, and is done again before it can land".to_owned()
                }
                None => {
                    let task = list.task(task)?.task;
                    return Err(LandingRefusal::nothing_of(&task, &self.target.branch).into());
                }
            };
            return Err(nothing(task, why));
        }
        for branch in self.branches.iter().filter(|it| named.contains(&it.task)) {
            let others = branch.builds_on.iter().filter(|on| !named.contains(on));
            let others: Vec<TaskId> = others.cloned().collect();
            if !others.is_empty() {
                let why = format!("it builds on {}: name that, too", ids(&others));
                return Err(nothing(&branch.task, why));
            }
        }
        Ok(())
    }
}

fn nothing(task: &TaskId, why: String) -> crate::error::Error {
    let task = task.clone();
    LandingRefusal::NothingToLand { task, why }.into()
}

fn ids(tasks: &[TaskId]) -> String {
    let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
    ids.join(", ")
}
