//! The machine that runs this: what it is, and what its cores give at best.

use crate::record::Machine;
use std::fs;
use std::hint::black_box;

/// The description of the system, without anything that identifies the machine.
pub fn describe() -> Machine {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = field("/proc/meminfo", "MemTotal").and_then(|kb| kb.split(' ').next()?.parse::<u64>().ok());
    Machine {
        cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: cores(),
        memory_gb: memory.unwrap_or(0) / 1_000_000,
        system: std::env::consts::OS.to_owned(),
    }
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// A chain of dependent multiplications, without memory or shared state.
pub fn multiply(steps: u64) -> u64 {
    (0..steps).fold(black_box(1), |x: u64, _| x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7))
}

/// The chain of MurmurHash3_x86_32 over `words` words that cost nothing to read.
pub fn murmur_chain(words: usize) -> u32 {
    let word = black_box(0x1234_5678u32);
    (0..words).fold(black_box(0), |h: u32, _| (h ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64))
}
