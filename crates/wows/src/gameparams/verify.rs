//! Lists what is wrong with parameters.

use super::walk::{Event, Walker};
use super::{Entity, Params, in_entity};
use crate::budget::Budget;
use crate::error::ErrorKind;
use crate::report::{Check, Progress, Report};
use std::borrow::Cow;
use std::collections::HashSet;

pub(super) fn verify(params: &Params, progress: &Progress) -> Report {
    let mut stream = Check::new("pickle");
    let Some(pickle) = stream.note(params.pickle()) else { return Report::from(vec![stream]) };
    let (size, containers) = (pickle.source().bytes().len(), pickle.containers());
    stream.detail = format!("{size} bytes, {containers} containers, protocol {}", pickle.protocol());
    if pickle.left() > 0 {
        let what = format!("{} bytes after its end", pickle.left()).into();
        let end = size.saturating_sub(pickle.left());
        stream.fail(pickle.view().at(end).error(ErrorKind::Damaged { what }));
    }
    let mut entities = Check::new("entities");
    let mut values = Check::new("values");
    let (Some(all), Some(budget)) = (entities.note(params.all_entities()), values.note(params.budget())) else {
        return Report::from(vec![stream, entities, values]);
    };
    let (mut names, mut ids, mut count, mut leaves) = (HashSet::new(), HashSet::new(), 0u64, 0u64);
    progress.announce(params.len().map_or(0, |len| len as u64));
    for entity in all {
        count = count.saturating_add(1);
        match (entity.key().text(), entity.get("name")) {
            (Ok(None), _) => wrong(&mut entities, &entity, "its key is no text".into()),
            (Ok(Some(key)), Some(name)) if !name.is_text(&key) => {
                wrong(&mut entities, &entity, "its name is not its key".into());
            }
            _ => {}
        }
        // The same entity of another realm has the same name and id.
        let place = (entity.part(), entity.realm().map(|realm| realm.cell()));
        if let Ok(name) = entity.name()
            && !names.insert((place, name))
        {
            wrong(&mut entities, &entity, "an earlier entity has its name".into());
        }
        if let Some(id) = entity.id()
            && !ids.insert((place, id))
        {
            wrong(&mut entities, &entity, format!("an earlier entity has its id, {id}").into());
        }
        leaves = leaves.saturating_add(check_values(&entity, &budget, &mut values));
        progress.advance(1);
        if budget.is_spent() {
            break;
        }
    }
    entities.detail = format!("{count} entities");
    values.detail = format!("{leaves} leaves");
    Report::from(vec![stream, entities, values])
}

fn wrong(check: &mut Check, entity: &Entity<'_>, what: Cow<'static, str>) {
    check.fail_with(|| in_entity(entity, entity.key().error(ErrorKind::Damaged { what })));
}

/// Checks that the values of an entity can be read, and that no dictionary has a key twice. Returns the number of leaves.
fn check_values(entity: &Entity<'_>, budget: &Budget, check: &mut Check) -> u64 {
    let mut leaves = 0u64;
    let mut walker = Walker::new(entity.node());
    // Keys of the dictionaries that are open.
    let mut keys: Vec<HashSet<String>> = Vec::new();
    loop {
        match walker.next(budget) {
            Ok(None) => return leaves,
            Ok(Some(Event::Leaf(node))) => {
                leaves = leaves.saturating_add(1);
                if let Err(error) = node.value() {
                    check.fail_with(|| in_entity(entity, error));
                }
            }
            Ok(Some(Event::Begin(_))) => keys.push(HashSet::new()),
            Ok(Some(Event::End(_))) => drop(keys.pop()),
            Ok(Some(Event::Key(key))) => match super::walk::key_text(key) {
                Ok(text) => {
                    // An integer and a text may look alike.
                    let text = format!("{}{text}", key.kind().name());
                    if keys.last_mut().is_some_and(|keys| !keys.insert(text)) {
                        check.fail_with(|| {
                            in_entity(
                                entity,
                                key.error(ErrorKind::damaged(
                                    "a key that the dictionary has already: the last one counts",
                                )),
                            )
                        });
                    }
                }
                Err(error) => check.fail_with(|| in_entity(entity, error)),
            },
            Ok(Some(_)) => {}
            Err(error) => {
                check.fail_with(|| in_entity(entity, error));
                return leaves;
            }
        }
    }
}
