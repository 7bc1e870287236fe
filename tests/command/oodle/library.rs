//! A library with the function of Oodle's: pairs of a count and a byte, as the sample builder packs them. `oodle.rs` compiles
//! it. $TOY_OODLE selects a fault.

/// As Oodle's: the decoded length, 0 on failure.
#[no_mangle]
pub unsafe extern "system" fn OodleLZ_Decompress(
    packed: *const u8,
    packed_len: isize,
    out: *mut u8,
    len: isize,
    fuzz_safe: i32,
    check_crc: i32,
    verbosity: i32,
    window: *mut u8,
    window_len: isize,
    callback: *mut u8,
    argument: *mut u8,
    scratch: *mut u8,
    scratch_len: isize,
    threads: i32,
) -> isize {
    let pointers = [window, callback, argument, scratch];
    let numbers = [fuzz_safe, check_crc, verbosity, threads];
    if numbers != [1, 0, 0, 3] || pointers.iter().any(|p| !p.is_null()) || [window_len, scratch_len] != [0, 0] {
        return -1000;
    }
    let packed = std::slice::from_raw_parts(packed, packed_len as usize);
    let out = std::slice::from_raw_parts_mut(out, len as usize);
    let mut filled = 0;
    for pair in packed.chunks(2) {
        let end = filled + usize::from(pair[0]);
        match out.get_mut(filled..end) {
            Some(run) => run.fill(pair[1]),
            None => return 0,
        }
        filled = end;
    }
    match std::env::var("TOY_OODLE").as_deref() {
        Ok("more") => len + 1,
        Ok("less") => len - 1,
        Ok("negative") => -1,
        Ok("nothing") => 0,
        Ok("wrong") => {
            out[0] ^= 1;
            len
        }
        Ok("crash") => {
            std::ptr::null_mut::<u8>().write_volatile(1);
            len
        }
        _ => filled as isize,
    }
}
