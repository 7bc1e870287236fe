#![no_main]

libfuzzer_sys::fuzz_target!(
    init: assetq_fuzz::start(),
    |data: &[u8]| assetq_fuzz::harness::run("several", data)
);
