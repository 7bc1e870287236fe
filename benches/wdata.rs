//! Questions to a map of 50 MB and 100,000 boxes, and what they cost next to reading all of it.

#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::rusty_hearts::wdata::{BoxType, Map, Section};
use assetq::table::Region;
use assetq_sample::wdata::{large, write};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

/// A box as programs keep it that read everything at once.
#[derive(Default)]
struct Owned {
    name: String,
    place: [f32; 13],
    texts: Vec<String>,
    ints: Vec<i32>,
    floats: Vec<f32>,
    cameras: Vec<Camera>,
}

#[derive(Default)]
struct Camera {
    target: String,
    name: String,
    numbers: [f32; 21],
    build_pvs: bool,
    ids: Vec<u32>,
    events: Vec<(u32, String)>,
    lists: [Vec<(u32, String)>; 8],
    positions: Vec<[f32; 3]>,
}

/// Reads the event boxes of a map of main version 22 and event-box version 9 in the plainest way.
struct Eager<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Eager<'_> {
    fn word(&mut self) -> [u8; 4] {
        self.at += 4;
        self.bytes[self.at - 4..self.at].try_into().unwrap()
    }

    fn int(&mut self) -> i32 {
        i32::from_le_bytes(self.word())
    }

    fn uint(&mut self) -> u32 {
        u32::from_le_bytes(self.word())
    }

    fn float(&mut self) -> f32 {
        f32::from_le_bytes(self.word())
    }

    fn text(&mut self) -> String {
        let units = u16::from_le_bytes(self.bytes[self.at..self.at + 2].try_into().unwrap()) as usize;
        let bytes = &self.bytes[self.at + 2..self.at + 2 + 2 * units];
        self.at += 2 + 2 * units;
        let units: Vec<u16> = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        String::from_utf16(&units).unwrap().trim_end_matches('\0').to_owned()
    }

    fn entries(&mut self, count: u32) -> Vec<(u32, String)> {
        (0..count).map(|_| (self.uint(), self.text())).collect()
    }

    fn camera(&mut self) -> Camera {
        let mut camera = Camera { target: self.text(), name: self.text(), ..Camera::default() };
        camera.numbers = std::array::from_fn(|_| self.float());
        camera.build_pvs = self.uint() != 0;
        let counts: [u32; 11] = std::array::from_fn(|_| self.uint());
        camera.ids = (0..counts[0]).map(|_| self.uint()).collect();
        camera.events = self.entries(counts[1]);
        camera.lists = std::array::from_fn(|i| self.entries(counts[2 + i]));
        camera.positions = (0..counts[10]).map(|_| std::array::from_fn(|_| self.float())).collect();
        camera
    }

    /// `fields` names the kinds of a box's fields: text, int, float.
    fn one(&mut self, number: usize) -> Owned {
        let mut owned = Owned { name: self.text(), ..Owned::default() };
        owned.place = std::array::from_fn(|_| self.float());
        let fields = match number {
            0 => {
                owned.ints.push(self.int());
                owned.cameras = (0..4).map(|_| self.camera()).collect();
                ""
            }
            1 => "iitftiiiiiii",
            3 => "ittifff",
            4 => "ifffff",
            5 => "itffffth",
            6 => "tii",
            7 => "tiiiii",
            8 => "iii",
            9 => "tii",
            2 | 10 | 12 | 15 | 16 => "i",
            13 => "ii",
            17 => "ifl",
            _ => "",
        };
        for kind in fields.bytes() {
            match kind {
                b't' => owned.texts.push(self.text()),
                b'i' => owned.ints.push(self.int()),
                b'f' => owned.floats.push(self.float()),
                b'h' => {
                    let count = self.int() + self.int();
                    owned.floats.extend((0..count).map(|_| self.float()));
                }
                _ => {
                    let count = self.int();
                    owned.ints.extend((0..count).map(|_| self.int()));
                    owned.floats.extend((0..count).map(|_| self.float()));
                }
            }
        }
        owned
    }

    fn all(bytes: &[u8], index_at: usize) -> Vec<Vec<Owned>> {
        let mut reader = Eager { bytes, at: index_at };
        let types = reader.uint();
        let rows: Vec<(usize, u32)> = (0..types).map(|_| (reader.uint() as usize, reader.uint())).collect();
        let boxes = rows.into_iter().enumerate().map(|(number, (offset, count))| {
            reader.at = offset;
            (0..count).map(|_| reader.one(number)).collect()
        });
        boxes.collect()
    }
}

fn bench(criterion: &mut Criterion) {
    let written = write(&large(100_000));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&written.bytes).unwrap();
    let source = Source::open(file.path()).unwrap();
    let size = written.bytes.len();
    assert!((45_000_000..60_000_000).contains(&size), "{size} bytes");
    let index_at = written.start("event_box_index");
    let portals = written.table("portal_boxes").len();
    drop(written);

    let mut group = criterion.benchmark_group("wdata");
    group.sample_size(20).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_millis(500));

    group.bench_function("open", |b| {
        b.iter(|| {
            let map = Map::open(Source::open(file.path()).unwrap()).unwrap();
            assert_eq!(map.box_count(BoxType::PortalBox).unwrap() as usize, portals);
            map
        });
    });

    group.bench_function("one type: names and targets of all portals", |b| {
        b.iter(|| {
            let map = Map::open(source.clone()).unwrap();
            let boxes = map.boxes(BoxType::PortalBox).unwrap();
            let lengths = boxes.iter().map(|portal| {
                let target = portal.text("warp_map_name").unwrap().unwrap();
                portal.name().unwrap().units().len()
                    + target.units().len()
                    + usize::try_from(portal.get("id").unwrap()).unwrap()
            });
            assert_eq!(boxes.len(), portals);
            black_box(lengths.sum::<usize>())
        });
    });

    group.bench_function("full parse of the boxes into owned structs", |b| {
        b.iter(|| {
            let all = Eager::all(source.bytes(), index_at);
            assert_eq!(all[7].len(), portals);
            assert!(all[0].iter().all(|camera| camera.cameras.len() == 4));
            all
        });
    });

    group.throughput(Throughput::Bytes(size as u64));
    group.bench_function("skip pass: every record of the file, one thread", |b| {
        b.iter(|| {
            let map = Map::open(source.clone()).unwrap();
            let boxes: usize = BoxType::ALL.iter().map(|t| map.boxes(*t).unwrap().len()).sum();
            assert_eq!(boxes, 100_000);
            assert!(map.section(Section::SceneResources).unwrap().unwrap().check().is_ok());
            map
        });
    });
    group.bench_function("skip pass: every record of the file, all threads", |b| {
        b.iter(|| {
            let map = Map::open(source.clone()).unwrap();
            map.find_all_boxes();
            assert!(map.section(Section::SceneResources).unwrap().unwrap().check().is_ok());
            map
        });
    });
    group.bench_function("verify", |b| {
        b.iter(|| {
            let map = Map::open(source.clone()).unwrap();
            let report = map.verify(&assetq::formats::report::Progress::default());
            assert!(report.is_ok());
            report
        });
    });

    let map = Map::open(source.clone()).unwrap();
    let center = map.boxes(BoxType::NpcBox).unwrap().get(7000).unwrap().volume().unwrap().unwrap().center;
    let point = Region::Point(center);
    let hits = map.boxes_at(&point).unwrap();
    assert!(!hits.boxes.is_empty() && hits.undecided == 0);
    group.bench_function("point query over all boxes, nothing found before", |b| {
        b.iter(|| {
            let map = Map::open(source.clone()).unwrap();
            assert_eq!(map.boxes_at(&point).unwrap(), hits);
            map
        });
    });
    group.bench_function("point query over all boxes", |b| {
        b.iter(|| assert_eq!(map.boxes_at(&point).unwrap(), hits));
    });
    let region = Region::Box(center.map(|c| c - 1000.0), center.map(|c| c + 1000.0));
    let met = map.boxes_at(&region).unwrap();
    assert!(hits.boxes.iter().all(|hit| met.boxes.contains(hit)));
    group.bench_function("box query over all boxes", |b| {
        b.iter(|| assert_eq!(map.boxes_at(&region).unwrap(), met));
    });
    group.finish();

    let text = {
        let all = Eager::all(source.bytes(), index_at);
        let last = all[0].last().unwrap();
        let camera = &last.cameras[3];
        (
            last.name.len(),
            last.place[0],
            camera.target.len(),
            camera.lists[0].len(),
            camera.ids.len(),
            camera.name.len(),
        )
    };
    black_box(text);
}

criterion_group!(benches, bench);
criterion_main!(benches);
