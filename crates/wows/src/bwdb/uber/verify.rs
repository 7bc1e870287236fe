//! Checks of the models of Legends (docs/formats/legends.md §3).

use super::super::record::Field as _;
use super::super::verify::Pointers;
use super::{INDEX, UberLevel, UberModel, UberModels};
use crate::budget::Budget;
use crate::bytes::le;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id64;
use crate::report::{Check, Progress, Report, counted};
use std::mem::size_of;

pub(super) fn models(models: &UberModels, progress: &Progress) -> Report {
    progress.announce(models.len() as u64);
    let index = index(models);
    if !models.has_models() {
        let detail = "not checked: prototypes.data is not beside prototypes.index.data";
        return vec![index, Check::new("models").with_detail(detail)].into();
    }
    let budget = Budget::of_arrays(models.data().bytes().len());
    let mut pointers = Pointers::new(0..0, &budget, Check::new("models"));
    let mut order = Check::new("order");
    for row in 0..models.len() {
        progress.advance(1);
        pointers.record = row;
        let model = match models.model(row) {
            Ok(model) => model,
            Err(error) => {
                pointers.check.fail(error.context(format_args!("model {row}")));
                continue;
            }
        };
        let view = model.view();
        pointers.inside = view.position()..view.data().len();
        model.walk_fields(&mut pointers);
        if let Ok(materials) = model.materials() {
            for material in materials.iter().flatten() {
                let errors = match material.properties(&budget) {
                    Ok(properties) => properties.filter_map(Result::err).collect(),
                    Err(error) => vec![error],
                };
                errors.into_iter().for_each(|error| pointers.check.fail(error.context(format_args!("model {row}"))));
            }
        }
        if let Err(error) = check_order(&model).and_then(|()| check_levels(&model)) {
            order.fail(error.context(format_args!("model {row}")));
        }
    }
    let detail = counted(models.len(), "model");
    vec![index, pointers.check.with_detail(detail), order].into()
}

/// Checks that the keys ascend, as the search requires.
fn index(models: &UberModels) -> Check {
    let mut check = Check::new("index");
    let keys = models.keys();
    for (key, next) in keys.iter().zip(keys.iter().skip(1)) {
        if key.get() >= next.get() {
            let what = format!("key {} is not above {}", Id64(next.get()), Id64(key.get())).into();
            check.fail(models.index.view(INDEX).locate(next).error(ErrorKind::Damaged { what }));
        }
    }
    check.with_detail(counted(keys.len(), "key"))
}

/// Checks the positions in the header. Without materials the last three are 0.
fn check_order(model: &UberModel<'_>) -> Result<()> {
    let view = model.view();
    let pointers: &[le::U64] = view.skip(8).array(6)?;
    let at = |n: usize| pointers.get(n).map_or(0, |pointer| pointer.get());
    let fail = |n: usize, what| {
        let place = pointers.get(n).map_or(view, |pointer| view.locate(pointer));
        Err::<(), Error>(place.bad_value(what, at(n)))
    };
    let levels = u64::from(model.level_count()?);
    let after = |n: usize, size: usize| at(n).saturating_add(levels.saturating_mul(size as u64));
    if at(1) != after(0, UberLevel::SIZE) {
        return fail(1, "position of the model ids, which do not follow the levels");
    }
    if at(2) != after(1, size_of::<u64>()) {
        return fail(2, "position of the visuals, which do not follow the model ids");
    }
    if model.material_count()? == 0 {
        return (3..6).find(|n| at(*n) != 0).map_or(Ok(()), |n| fail(n, "position of materials, which are absent"));
    }
    (3..6).find(|n| at(*n) < at(n.saturating_sub(1))).map_or(Ok(()), |n| fail(n, "position of an array, out of order"))
}

/// Each level leads to the model of the next one, and the last to none.
fn check_levels(model: &UberModel<'_>) -> Result<()> {
    let (levels, ids) = (model.levels()?, model.model_ids()?);
    for (number, level) in levels.iter().enumerate() {
        let level = level?;
        let next = ids.get(number.saturating_add(1)).transpose()?.unwrap_or_default();
        if level.next()? != next {
            let what = format!("the next model is {}, but {next} in the list of models", level.next()?).into();
            return Err(level.view().error(ErrorKind::Damaged { what }));
        }
    }
    Ok(())
}
