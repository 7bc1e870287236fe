//! Textures found by the paths that materials name: in archives, and in folders of loose files.

use crate::archive;
use crate::asset::Asset;
use crate::error::Result;
use crate::options::Options;
use crate::paths::file_near;
use crate::source::Source;
use crate::texture::{Pixels, Shape, TIERS, Texture, decode};
use std::path::{Path, PathBuf};

/// Places that hold textures. The first one that has a texture counts.
#[derive(Debug, Default)]
pub struct TextureFiles {
    archives: Vec<Asset>,
    folders: Vec<PathBuf>,
    options: Options,
}

/// A file of a texture, and the level of it to use.
#[derive(Debug)]
struct Chosen {
    asset: Asset,
    path: String,
    mip: u32,
}

impl TextureFiles {
    /// No places yet. `options` say how loose files are read.
    pub fn new(options: &Options) -> Self {
        Self { options: options.clone(), ..Self::default() }
    }

    /// Adds an archive, if `asset` is one, in which paths are the paths of materials.
    pub fn add_archive(&mut self, asset: &Asset) {
        if asset.reader().archive().is_some() {
            self.archives.push(asset.clone());
        }
    }

    /// Adds a folder. Textures are found near it: see [`file_near`].
    pub fn add_folder(&mut self, folder: &Path) {
        if !self.folders.iter().any(|known| known == folder) {
            self.folders.push(folder.to_owned());
        }
    }

    /// The file at `path` exactly, with its headers read.
    fn open(&self, path: &str) -> Result<Option<Asset>> {
        for archive in &self.archives {
            let name = archive.source().name();
            let Some(archive) = archive.reader().archive() else { continue };
            if let Some(file) = archive.find(path)? {
                return archive::open_file(archive, &file, name, &self.options).map(Some);
            }
        }
        let Some(found) = self.folders.iter().find_map(|folder| file_near(folder, path)) else { return Ok(None) };
        Asset::open_with(self.options.source_in_folder(&found)?, &self.options).map(Some)
    }

    /// Whether a file at `path` is there.
    fn has(&self, path: &str) -> Result<bool> {
        for archive in self.archives.iter().filter_map(|archive| archive.reader().archive()) {
            if archive.find(path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(self.folders.iter().any(|folder| file_near(folder, path).is_some()))
    }

    /// The file of the largest tier within `size`, or of the smallest tier there is. Materials name the `.dds`, or in older
    /// files a `.tga` that stands for it.
    fn choose(&self, path: &str, size: u32) -> Result<Option<Chosen>> {
        let path = path.replace('\\', "/");
        let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
        let mut tiers = TIERS.into_iter().map(|tier| format!("{stem}.{tier}"));
        let mut found = None;
        for path in tiers.by_ref() {
            found = self.open(&path)?.map(|asset| (asset, path));
            if found.is_some() {
                break;
            }
        }
        let Some((mut asset, mut path)) = found else { return Ok(None) };
        let Some(shape) = shape(&asset) else { return Ok(None) };
        // Each tier has twice the size of the one before: only the last one within the limit is opened.
        let mut side = shape.width.max(shape.height);
        let mut larger = None;
        for tier in tiers {
            side = side.saturating_mul(2);
            if side > size || !self.has(&tier)? {
                break;
            }
            larger = Some(tier);
        }
        if let Some(larger) = larger
            && let Some(opened) = self.open(&larger)?
        {
            (asset, path) = (opened, larger);
        }
        let Some(shape) = self::shape(&asset) else { return Ok(None) };
        Ok(Some(Chosen { mip: shape.mip_within(size), asset, path }))
    }

    /// The pixels of the largest level with sides of at most `size`, or of the smallest level. `None` if the texture is
    /// missing.
    ///
    /// # Errors
    /// If the texture is damaged, or its texels cannot be decoded.
    pub fn pixels(&self, path: &str, size: u32) -> Result<Option<Pixels>> {
        let Some(Chosen { asset, path, mip }) = self.choose(path, size)? else { return Ok(None) };
        let pixels = asset.reader().facet::<dyn Texture>().map(|texture| decode(&texture.level(0, mip)?)).transpose();
        pixels.map_err(|error| error.context(&path))
    }

    /// The file of the largest tier within `size`, under its path.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file(&self, path: &str, size: u32) -> Result<Option<(String, Source)>> {
        let Some(Chosen { asset, path, .. }) = self.choose(path, size)? else { return Ok(None) };
        Ok(Some((path, asset.source().clone())))
    }
}

fn shape(asset: &Asset) -> Option<Shape> {
    asset.reader().facet::<dyn Texture>().map(|texture| texture.shape())
}
