//! Textures: their texels, channels and levels, at any size.

use super::*;

const VIEW: &str = "assetq.page.parts.find(({ kind }) => kind === 'image').view";

#[test]
fn a_texture_shows_texels_channels_and_levels_at_any_size() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "hull_a.dds", Size::Small);
    let tab = view(&browser, dir.path(), "hull_a.dds", 1280, Scheme::Light);
    go(&tab, "image");
    tab.wait(&format!("{VIEW}?.zoom > 0"));
    // All of it is in sight, in whole pixels.
    let zoom = || tab.eval(&format!("{VIEW}.zoom")).as_f64().unwrap();
    let fitted = zoom();
    assert!(fitted >= 2.0 && fitted.fract() == 0.0, "{fitted}");
    // The texel under the pointer has the bytes that an export of the level has.
    run(dir.path(), 0, &["export", "hull_a.dds", "--to", "level.png"]);
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(dir.path().join("level.png")).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let samples = info.color_type.samples();
    for (x, y) in [(0, 0), (5, 2), (info.width - 1, info.height - 1)] {
        let at = tab.eval(&format!("(() => {{ const {{ left, top }} = {VIEW}.canvas.getBoundingClientRect(); return [left + ({x} + 0.5) * {VIEW}.zoom, top + ({y} + 0.5) * {VIEW}.zoom]; }})()"));
        tab.mouse("mouseMoved", at[0].as_f64().unwrap(), at[1].as_f64().unwrap(), "none");
        let first = (y * info.width + x) as usize * samples;
        let [r, g, b] = [0, 1, 2].map(|channel| pixels[first + if samples > 2 { channel } else { 0 }]);
        let expected = format!("x {x}  y {y}   R {r}  G {g}  B {b}  A 255   #{r:02x}{g:02x}{b:02x}");
        tab.wait(&format!("document.querySelector('.image-texel').textContent === '{expected}'"));
    }
    // One channel by itself is grey, and the address names it, with the level.
    tab.eval("(() => { const e = document.querySelector('[aria-label=channels]'); e.value = 'g'; e.dispatchEvent(new Event('change')); })()");
    tab.eval("(() => { const e = document.querySelector('[aria-label=level]'); e.value = '2'; e.dispatchEvent(new Event('change')); })()");
    tab.wait("location.hash === '#image&level=2&channel=g'");
    let grey = format!(
        "(() => {{ const {{ width, height }} = {VIEW}.canvas; const {{ data }} = {VIEW}.canvas.getContext('2d').getImageData(0, 0, width, height); \
        for (let at = 0; at < data.length; at += 4) if (data[at] !== {VIEW}.image.data[at + 1] || data[at + 2] !== data[at]) return false; return width; }})()"
    );
    assert_eq!(tab.eval(&grey), info.width / 4);
    // Keys zoom, and fit it again.
    tab.eval("document.querySelector('.image-body').focus()");
    tab.key("1");
    assert_eq!(zoom(), 1.0);
    tab.key("+");
    assert_eq!(zoom(), 2.0);
    tab.key("f");
    assert!(zoom() >= fitted);
    tab.shot("texture");
    reload(&tab);
    tab.wait(&format!("{VIEW}?.level.value === '2' && {VIEW}.channel.value === 'g'"));
    assert_eq!(tab.errors(), [""; 0]);
}
