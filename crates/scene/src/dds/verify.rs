use super::Dds;
use super::layout::DdsHeader;
use crate::bytes::clamp_to_usize;
use crate::error::ErrorKind;
use crate::report::{Check, Progress, Report};
use crate::texture::Texture as _;

/// Checks that each level lies in the file, and that nothing follows the last one.
pub(super) fn verify(dds: &Dds, progress: &Progress) -> Report {
    let shape = dds.shape;
    let name = shape.format.name();
    let mut levels = Check::new("levels");
    let mut end = Check::new("end");
    match dds.expected_size() {
        Some(_) if dds.is_prepared => levels = levels.with_detail("not checked: transformed for compression (bc7prep)"),
        Some(expected) => {
            let detail = format!("{} levels of {} layers of {name}", shape.mips, shape.layers);
            levels = levels.with_detail(detail);
            let view = dds.source.view("header");
            if let Some(DdsHeader { mips, .. }) = levels.note(view.read())
                && mips.get() > shape.mips
            {
                levels.fail(view.locate(mips).bad_value(super::MORE_LEVELS, mips.get()));
            }
            progress.announce(shape.layers.into());
            for layer in 0..shape.layers {
                for mip in 0..shape.mips {
                    let level = dds.level(layer, mip);
                    levels.note(level.map_err(|error| error.context(format_args!("layer {layer}, level {mip}"))));
                }
                progress.advance(1);
            }
            end = end.with_detail("nothing follows the last level");
            let end_of_levels = dds.source.view("levels").skip(clamp_to_usize(expected));
            let more = end_of_levels.rest().len();
            if more > 0 {
                let what = format!("{more} bytes follow the last level").into();
                end.fail(end_of_levels.error(ErrorKind::Damaged { what }));
            }
        }
        None => levels = levels.with_detail(format!("not checked: the size of {name} texels is not known")),
    }
    Report { checks: vec![levels, end] }
}
