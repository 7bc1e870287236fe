//! Checks of the models of Legends (docs/formats/legends.md §3).

use super::super::record::{Field as _, PathId};
use super::super::verify::Pointers;
use super::{INDEX, UberLevel, UberModel, UberModels};
use crate::budget::Budget;
use crate::bytes::le;
use crate::error::{ErrorKind, Result};
use crate::id::Id64;
use crate::report::{Check, Progress, Report, counted};

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
                pointers.note_properties(material.properties(&budget), "model");
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
    let first = UberModel::OF.field(UberModel::number_of("levels")).at;
    let pointers: &[le::U64; 6] = view.skip(first).read()?;
    let [levels, ids, visuals, materials @ ..] = pointers;
    let count = u64::from(model.level_count()?);
    if ids.get() != levels.get().saturating_add(count.saturating_mul(UberLevel::SIZE as u64)) {
        return Err(view.locate(ids).bad_value("position of the model ids, which do not follow the levels", ids.get()));
    }
    if visuals.get() != ids.get().saturating_add(count.saturating_mul(PathId::SIZE as u64)) {
        let what = "position of the visuals, which do not follow the model ids";
        return Err(view.locate(visuals).bad_value(what, visuals.get()));
    }
    let mut before = visuals;
    for at in materials {
        if model.material_count()? == 0 && at.get() != 0 {
            return Err(view.locate(at).bad_value("position of materials, which are absent", at.get()));
        }
        if model.material_count()? != 0 && at.get() < before.get() {
            return Err(view.locate(at).bad_value("position of an array, out of order", at.get()));
        }
        before = at;
    }
    Ok(())
}

/// Each level leads to the model of the next one, and the last to none.
fn check_levels(model: &UberModel<'_>) -> Result<()> {
    let (levels, ids) = (model.levels()?, model.model_ids()?);
    for (number, level) in levels.iter().enumerate() {
        let level = level?;
        let next = ids.get(number.saturating_add(1)).unwrap_or(Ok(PathId(0)))?;
        if level.next()? != next {
            let what = format!("the next model is {}, but {next} in the list of models", level.next()?).into();
            return Err(level.view().error(ErrorKind::Damaged { what }));
        }
    }
    Ok(())
}
