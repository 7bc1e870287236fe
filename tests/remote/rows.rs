use super::{Server, run};
use assetq::{Asset, Options, Source};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A database of tens of megabytes.
fn large() -> Vec<u8> {
    assetq_sample::bwdb::demo_of(1, 64 << 20)
}

fn open(url: &str) -> Asset {
    Asset::open_at(Path::new(url), &Options::default()).unwrap()
}

/// All cells of all tables.
fn rows(asset: &Asset) -> Vec<String> {
    let mut rows = Vec::new();
    for table in asset.reader().tables() {
        for row in 0..table.len().unwrap() {
            let cells = (0..table.columns().len()).map(|column| table.value(row, column).unwrap().to_string());
            rows.push(format!("{}: {}", table.name(), cells.collect::<Vec<_>>().join(" ")));
        }
    }
    rows
}

#[test]
fn a_lookup_reads_a_few_blocks_of_a_large_file() {
    let folder = TempDir::new().unwrap();
    let bytes = large();
    let size = bytes.len();
    fs::write(folder.path().join("assets.bin"), &bytes).unwrap();
    let (paths, _) = run(folder.path(), 0, &["ls", "assets.bin", "-t", "paths", "-f", "csv"], &[]);
    let id = paths.lines().nth(20_000).unwrap().split(',').next().unwrap();
    let sql = format!("SELECT id, path FROM paths WHERE id = '{id}'");
    let server = Server::of(bytes);
    let url = &*server.url("assets.bin");
    // The question in SQL checks the layouts of all types of records first.
    for (args, most) in [(&["resolve", "--no-path", id, "--db"][..], 1_000_000), (&["sql", &sql], size / 2)] {
        let before = (server.requests(), server.bytes());
        let (there, stats) = run(folder.path(), 0, &[args, &[url]].concat(), &[("ASSETQ_REMOTE_STATS", "1")]);
        let (here, _) = run(folder.path(), 0, &[args, &["assets.bin"]].concat(), &[]);
        assert_eq!(there, here);
        let (requests, sent) = (server.requests() - before.0, server.bytes() - before.1);
        assert!(sent < most && size > 20 << 20, "{args:?}: {requests} requests, {sent} of {size} bytes");
        assert!(stats.starts_with(&format!("assetq: {requests} requests, ")), "{stats}");
    }
}

#[test]
fn opening_is_one_request() {
    let server = Server::of(large());
    let asset = open(&server.url("assets.bin"));
    let stats = asset.source().remote_stats().unwrap();
    assert_eq!((asset.format().name(), stats.requests, stats.bytes), ("bwdb", 1, 1 << 16));
    assert_eq!((asset.source().name(), asset.source().path()), (&*server.url("assets.bin"), None));
}

#[test]
fn all_rows_are_those_of_the_local_file() {
    for (name, bytes) in [
        ("assets.bin", assetq_sample::bwdb::demo_of(2, 1 << 20)),
        ("space.bin", assetq_sample::space::space_bin(2, assetq_sample::Size::Small)),
    ] {
        let server = Server::of(bytes.clone());
        let local = Asset::open(Source::from_vec(name, bytes)).unwrap();
        let remote = open(&server.url(name));
        assert!(rows(&local) == rows(&remote), "{name}");
        assert!(remote.source().fault().is_none());
    }
}

/// Threads that read different and equal pages at the same time.
#[test]
fn many_threads_read_the_same_bytes() {
    let bytes: Vec<u8> = (0..5_000_001_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let server = Server::of(bytes.clone());
    let source = Source::open_url(&server.url("noise"), false, None).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (source, bytes) = (&source, &bytes);
            scope.spawn(move || {
                for n in 0..5000_usize {
                    let at = (n * 7_654_321 + thread % 4 * 1_234_567) % bytes.len();
                    assert_eq!(source.bytes()[at], bytes[at], "{at}");
                }
            });
        }
    });
    assert!(source.bytes() == bytes);
    // No block twice, and a scan fetches many at once.
    assert_eq!(source.remote_stats().unwrap().bytes, bytes.len() as u64);
    let scanned = Source::open_url(&server.url("noise"), false, None).unwrap();
    assert!(scanned.bytes() == bytes);
    assert!(scanned.remote_stats().unwrap().requests < 16, "{:?}", scanned.remote_stats());
}

#[test]
fn files_of_any_size_are_read() {
    for size in [0, 1, 4096, 65_535, 65_536, 65_537, 200_000] {
        let bytes = vec![7; size];
        let empty = |request: &super::server::Request, file: &[u8]| match file.len() {
            0 => super::server::Answer::Raw(super::server::answer(
                "416 Range Not Satisfiable",
                &["Content-Range: bytes */0", "Content-Length: 0"],
                b"",
            )),
            _ => super::server::ranges(request, file),
        };
        let server = Server::that(bytes.clone(), empty);
        for whole in [false, true] {
            let source = Source::open_url(&server.url("a"), whole, None).unwrap();
            assert!(source.bytes() == bytes, "{size}");
        }
    }
}

#[test]
fn a_download_says_so_and_is_the_same_file() {
    let folder = TempDir::new().unwrap();
    let bytes = assetq_sample::bwdb::demo_of(2, 1 << 20);
    fs::write(folder.path().join("assets.bin"), &bytes).unwrap();
    let size = bytes.len();
    let server = Server::of(bytes);
    let url = &*server.url("assets.bin");
    let (there, said) = run(folder.path(), 0, &["ls", "--no-mmap", "-f", "csv", url], &[]);
    assert_eq!(there, run(folder.path(), 0, &["ls", "-f", "csv", "assets.bin"], &[]).0);
    assert_eq!(said, format!("assetq: {url}: downloading all {size} bytes to a temporary file\n"));
}

/// Bytes of the mapped file go to the system as they are.
#[test]
fn a_patched_copy_is_that_of_the_local_file() {
    let folder = TempDir::new().unwrap();
    let bytes = assetq_sample::bwdb::demo_of(2, 1 << 20);
    fs::write(folder.path().join("assets.bin"), &bytes).unwrap();
    let server = Server::of(bytes);
    let url = &*server.url("assets.bin");
    let sql = "UPDATE material_properties SET value = 'false' WHERE type = 'bool' AND record = 0";
    let update = |file: &str, to: &str| run(folder.path(), 0, &["sql", sql, file, "--to", to], &[]);
    update("assets.bin", "here.bin");
    update(url, "there.bin");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("here.bin") == read("there.bin"));
    let (_, refused) = run(folder.path(), 2, &["sql", sql, url, "--in-place"], &[]);
    assert!(refused.contains("--to"), "{refused}");
}
