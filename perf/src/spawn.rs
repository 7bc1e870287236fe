//! Whole processes: what the kernel says that they cost.
//!
//! A child's peak memory as the kernel counts it is never below that of the process it was started from. So a fresh
//! and small process of this program starts them: see [`answer`].
#![allow(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The argument that makes this program a starter of others.
pub const STARTER: &str = "start-others";

/// Commands to start in turns.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    pub commands: Vec<Vec<String>>,
    pub rounds: usize,
    /// Files that are dropped from the page cache before each start.
    pub drop: Vec<PathBuf>,
}

/// The cost of one process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Cost {
    pub seconds: f64,
    /// User and system.
    pub cpu: f64,
    pub peak_mb: f64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub code: i32,
}

impl Order {
    /// Starts them; gives the costs of each command, a round each.
    pub fn run(&self) -> Vec<Vec<Cost>> {
        let this = std::env::current_exe().expect("this program has a path");
        let mut starter =
            Command::new(this).arg(STARTER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut to = starter.stdin.take().expect("piped");
        serde_json::to_writer(&mut to, self).expect("it listens");
        drop(to);
        let out = starter.wait_with_output().expect("it ends");
        assert!(out.status.success(), "the starter failed");
        serde_json::from_slice(&out.stdout).expect("it answers")
    }
}

/// The starter's side: reads an order, starts the commands, writes their costs.
pub fn answer() {
    let mut order = String::new();
    io::stdin().read_to_string(&mut order).expect("an order");
    let order: Order = serde_json::from_str(&order).expect("an order");
    let mut costs = vec![Vec::with_capacity(order.rounds); order.commands.len()];
    for _ in 0..order.rounds {
        for (command, costs) in order.commands.iter().zip(&mut costs) {
            order.drop.iter().for_each(|file| drop_from_cache(file));
            costs.push(start(command));
        }
    }
    serde_json::to_writer(io::stdout(), &costs).expect("someone listens");
    io::stdout().flush().expect("someone listens");
}

#[allow(clippy::zombie_processes)] // `wait4` waits for it.
fn start(command: &[String]) -> Cost {
    let begin = Instant::now();
    let child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut status = 0;
    // SAFETY: both pointers are to values of the types that the call fills in; zeroes are a valid `rusage`.
    let (ended, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage), usage)
    };
    let seconds = begin.elapsed().as_secs_f64();
    assert!(ended > 0, "the command is waited for");
    let time = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    Cost {
        seconds,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        // Kilobytes here.
        peak_mb: usage.ru_maxrss as f64 / 1024.0,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        code: if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 },
    }
}

/// Asks the kernel to forget what it holds of a file. Pages that a process has mapped stay.
fn drop_from_cache(file: &Path) {
    let Ok(file) = File::open(file) else { return };
    // Only clean pages are dropped.
    let _ = file.sync_all();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: a hint about an open file.
    unsafe { libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Pages of a file that are in the page cache once it was dropped from there: none, where dropping works.
pub fn left_when_dropped(path: &Path) -> u64 {
    drop_from_cache(path);
    let file = File::open(path).expect("it can be read");
    let len = file.metadata().expect("it can be read").len() as usize;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    let mut resident = vec![0u8; len.div_ceil(PAGE)];
    // SAFETY: the map is only ever asked about, never read; `resident` has a byte for each of its pages.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        assert_ne!(at, libc::MAP_FAILED, "it can be mapped");
        libc::mincore(at, len, resident.as_mut_ptr());
        libc::munmap(at, len);
    }
    resident.iter().map(|&page| u64::from(page & 1)).sum()
}

pub const PAGE: usize = 4096;

/// Minor faults of this process so far.
pub fn minor_faults() -> u64 {
    // SAFETY: the pointer is to a value of the type that the call fills in; zeroes are a valid one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    usage.ru_minflt as u64
}

/// The instructions of a command, counted by callgrind. `None` without callgrind.
pub fn instructions(command: &[String]) -> Option<u64> {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.split_whitespace().next_back()?.parse().ok()
}
