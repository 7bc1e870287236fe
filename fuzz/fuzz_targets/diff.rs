#![no_main]

libfuzzer_sys::fuzz_target!(
    init: assetq_fuzz::one_thread(),
    |data: &[u8]| assetq_fuzz::harness::run("diff", data)
);
