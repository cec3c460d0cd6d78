//! Mail: who the workers are, and what lies in their directions.

use flagpost_model::{envelope::Direction, finding::Code};

use super::{Finding, Fix, counter, world::World};
use crate::{
    error::{Result, shows},
    order,
    relay::{
        Fleet, Mail,
        briefs::{self, BriefView},
        broken, reports, workers,
    },
    shell::quoted,
    skipped::Skipped,
};

/// Each worker's own file, and each of its messages.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (id, known) in &world.repositories {
        // Nothing of mail is known without the history: that it cannot be read is told with it.
        if known.survey.is_err() {
            continue;
        }
        let fleet = Fleet::of(world.home, id);
        let is_shared = order::is_shared(world.home, id)?;
        let mut put = |code: Code, skipped: Vec<Skipped>, hint: &str| {
            findings.extend(skipped.into_iter().map(|it| {
                let path = fleet.dir().join(&it.name);
                let hint = match broken::put_away_by(&it) {
                    Some(verb) => format!("{hint}: {}; or '{verb}' puts it away", quoted(&path)),
                    None => format!("{hint}: {}", quoted(&path)),
                };
                let what = format!("{} cannot be understood: {}", it.name, it.reason);
                Finding::new(code, what).at(path).by_hand(hint)
            }));
        };
        let (_, broken) = workers::list(&fleet)?;
        let hint = "mend it with an editor, or put a file of yours in the place of what is there";
        put(Code::WorkerBroken, broken, hint);
        let mut withheld = Vec::new();
        for it in broken::missing_surely(&fleet)? {
            let worker = it.name.split('/').next().unwrap_or_default();
            let hint = format!("flagpost worker add {worker}");
            let what = format!("{}: {}", it.name, it.reason);
            let finding = Finding::new(Code::WorkerMissing, what);
            withheld.push(finding.at(fleet.dir().join(&it.name)).by_hand(hint));
        }
        for mail in fleet.mails()? {
            let looked = briefs::list_surely(&mail).and_then(|(letters, mut broken)| {
                broken.extend(reports::list(&mail)?.1);
                broken.extend(mail.broken_marks()?);
                Ok((letters, broken))
            });
            let (letters, broken) = mail.unless_closed(looked)?;
            let (counted, broken): (Vec<_>, _) = broken.into_iter().partition(broken::is_count);
            withheld.extend(counted.into_iter().map(|it| {
                let what = format!("{}: {}", it.name, it.reason);
                let finding = Finding::new(Code::MailMany, what).at(fleet.dir().join(&it.name));
                finding.by_hand("move away what nobody of yours put there")
            }));
            let found = letters.iter().filter_map(|it| of_brief(&mail, it));
            withheld.extend(found);
            for direction in Direction::ALL {
                let (path, given_out) = mail.counter(*direction)?;
                let fix = Fix::RecountMail(id.clone(), mail.worker().clone(), *direction);
                let given_out = if is_shared { 0 } else { given_out };
                let told = (given_out, "its history tells of");
                withheld.extend(counter::finding(world.home, path, told, fix));
            }
            let hint = "mend it with an editor, make it readable, or move it away";
            put(Code::MailBroken, broken, hint);
        }
        findings.extend(withheld);
    }
    Ok(())
}

/// A brief that a foreign hand was at.
fn of_brief(mail: &Mail<'_>, letter: &BriefView) -> Option<Finding> {
    let (worker, seq) = (mail.worker(), letter.brief.seq);
    let path = mail.body_path(seq);
    if let Some(why) = letter.why_withheld() {
        let what = format!("brief {seq} of {worker} is withheld: {why}");
        let code = match letter.is_misread() {
            true => Code::BriefMisread,
            false => Code::BriefWithheld,
        };
        let finding = Finding::new(code, what).at(path);
        return Some(finding.by_hand(shows(worker, seq)));
    }
    let wrong = letter.contradicting_flags();
    let decision = letter.standing.decision().filter(|_| !wrong.is_empty())?;
    let wrong: Vec<&str> = wrong.iter().map(|it| it.as_str()).collect();
    let what = format!(
        "brief {seq} of {worker} is {decision}, and has the flag {}",
        wrong.join(" and ")
    );
    // Whoever holds the lock next puts it right; a decision that was made already changes nothing else.
    let hint = format!("flagpost {} {worker} {}", decision.verb(), seq.get());
    Some(
        Finding::new(Code::FlagsContradict, what)
            .at(path)
            .by_hand(hint),
    )
}
