//! A browser without a window, driven over the DevTools protocol.
//!
//! Chromium takes commands from descriptor 3 and answers on 4; a shell puts the pipes of its standard input and output
//! there. Messages are JSON, each ended by a zero byte.
#![allow(dead_code, reason = "several tests share it, and none needs all of it")]

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Names under which browsers that speak the protocol are known.
const NAMES: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];
/// The longest that anything may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser: the one that `ASSETQ_BROWSER` names, or else one that is in the `PATH`.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ASSETQ_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).flat_map(|dir| NAMES.map(|name| dir.join(name)));
    all.into_iter().find(|program| program.is_file())
}

/// The browser that runs now. Tests that run at the same time share it.
static RUNNING: Mutex<Weak<Browser>> = Mutex::new(Weak::new());

/// A running browser. It ends when the last test that holds it does.
pub struct Browser {
    child: Child,
    commands: Mutex<Commands>,
    said: Arc<Mutex<Said>>,
    _profile: TempDir,
}

struct Commands {
    to: ChildStdin,
    last: u64,
    /// Closed when the browser has ended.
    ended: Receiver<()>,
}

/// The messages of the browser, as the thread that reads them left them.
#[derive(Default)]
struct Said {
    /// Who waits for the answer to a command, by the id of the command.
    waiting: HashMap<u64, Sender<Value>>,
    events: Vec<Value>,
}

/// The color scheme of the system.
#[derive(Debug, Clone, Copy)]
pub enum Scheme {
    Light,
    Dark,
}

impl Browser {
    /// The running browser, started if none runs. Without a program to start, prints a line and returns `None`.
    pub fn start() -> Option<Arc<Self>> {
        let mut running = RUNNING.lock().unwrap();
        if let Some(browser) = running.upgrade() {
            return Some(browser);
        }
        let browser = Arc::new(Self::launch()?);
        *running = Arc::downgrade(&browser);
        Some(browser)
    }

    fn launch() -> Option<Self> {
        let Some(program) = program().filter(|_| cfg!(unix)) else {
            eprintln!("skipped: no Chromium at hand, and ASSETQ_BROWSER names none");
            return None;
        };
        let profile = TempDir::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]).arg(program);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.args(["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-sync"]);
        command.args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"]);
        command.args(["--hide-scrollbars", "--force-color-profile=srgb"]);
        // Each page is drawn as if it were the only one.
        command.args(["--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding"]);
        command.args(["--disable-background-timer-throttling", "about:blank"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(Said::default()));
        let (end, ended) = channel();
        let hears = said.clone();
        std::thread::spawn(move || {
            let _end: Sender<()> = end;
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let message: Value = serde_json::from_slice(&message).unwrap();
                let mut said = hears.lock().unwrap();
                match message["id"].as_u64() {
                    // A test that failed no longer waits.
                    Some(id) => drop(said.waiting.remove(&id).map(|answer| answer.send(message))),
                    None => said.events.push(message),
                }
            }
            // Callers that still wait see that no answer comes.
            hears.lock().unwrap().waiting.clear();
        });
        Some(Self { child, commands: Mutex::new(Commands { to, last: 0, ended }), said, _profile: profile })
    }

    /// Opens a file in a tab that is `width` by `height`, and waits until the document is there. A page that begins with an
    /// overview is left at the part that follows it.
    pub fn open(&self, file: &Path, width: u32, height: u32, scheme: Scheme) -> Tab<'_> {
        let tab = self.open_first(file, width, height, scheme);
        tab.wait("!document.getElementById('loading')");
        tab.eval(
            "(() => { const [first, next] = globalThis.assetq?.page.parts ?? []; \
             if (['about', 'summary'].includes(first?.kind) && next) location.replace(assetq.page.link(next.id)); })()",
        );
        tab
    }

    /// As [`Self::open`], at the part that the page begins with.
    pub fn open_first(&self, file: &Path, width: u32, height: u32, scheme: Scheme) -> Tab<'_> {
        let url = format!("file://{}", file.canonicalize().unwrap().display());
        self.open_address(&url, width, height, scheme)
    }

    /// As [`Self::open_first`], of any address.
    pub fn open_address(&self, url: &str, width: u32, height: u32, scheme: Scheme) -> Tab<'_> {
        let call = |session: Option<&str>, method: &str, params: Value| self.call(session, method, params);
        // Storage of its own, as in a private window, so that a test sees nothing of another.
        let context = call(None, "Target.createBrowserContext", json!({}));
        let context = context["browserContextId"].as_str().unwrap().to_owned();
        let new = json!({ "url": "about:blank", "browserContextId": context, "newWindow": true });
        let target = call(None, "Target.createTarget", new);
        let target = target["targetId"].as_str().unwrap();
        let attached = call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let tab = Tab { browser: self, session, context, is_frame: false };
        for domain in ["Page", "Runtime", "Log"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        tab.size(width, height);
        let scheme = if matches!(scheme, Scheme::Dark) { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        tab.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        tab.call("Page.navigate", json!({ "url": url }));
        tab.wait("location.href !== 'about:blank' && document.readyState === 'complete'");
        tab
    }

    fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.try_call(session, method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The answer to a command, or the error that the browser returned for it.
    fn try_call(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, Value> {
        let (answer, answered) = channel();
        let mut commands = self.commands.lock().unwrap();
        commands.last += 1;
        let id = commands.last;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.said.lock().unwrap().waiting.insert(id, answer);
        commands.to.write_all(message.to_string().as_bytes()).unwrap();
        commands.to.write_all(&[0]).unwrap();
        commands.to.flush().unwrap();
        drop(commands);
        let answer = answered.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{method}: {e}"));
        if answer["error"].is_null() { Ok(answer["result"].clone()) } else { Err(answer["error"].clone()) }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its processes end when it does, and it takes the others along.
        if let Ok(commands) = self.commands.get_mut() {
            let _ = commands.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
            let _ = commands.to.flush();
            let _ = commands.ended.recv_timeout(Duration::from_secs(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A page in the browser.
pub struct Tab<'b> {
    browser: &'b Browser,
    session: String,
    /// Of this page alone. It closes the page when it is disposed of.
    context: String,
    is_frame: bool,
}

impl Tab<'_> {
    /// A command of the protocol for this page.
    pub fn call(&self, method: &str, params: Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    /// The value of a JavaScript expression; of a promise what it gives.
    pub fn eval(&self, js: &str) -> Value {
        self.try_eval(js).unwrap_or_else(|error| panic!("{js}\n{error}"))
    }

    /// As `eval`. The browser returns an error if another document replaces the page before the expression has a value.
    fn try_eval(&self, js: &str) -> Result<Value, Value> {
        let params = json!({ "expression": js, "awaitPromise": true, "returnByValue": true });
        let answer = self.browser.try_call(Some(&self.session), "Runtime.evaluate", params)?;
        assert!(answer["exceptionDetails"].is_null(), "{js}\n{}", answer["exceptionDetails"]);
        Ok(answer["result"]["value"].clone())
    }

    /// Waits until an expression is true, also in a document that replaces the page meanwhile.
    pub fn wait(&self, js: &str) {
        let began = Instant::now();
        let mut last = self.try_eval(js);
        while last.as_ref().ok() != Some(&Value::Bool(true)) {
            assert!(began.elapsed() < PATIENCE, "never true: {js}\n{last:?}\n{:?}", self.errors());
            // Until the page has painted again, or a while has passed.
            last = self
                .try_eval("new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 30); }).then(() => 0)")
                .and_then(|_| self.try_eval(js));
        }
    }

    /// The document of the frame in this page, if it has an origin of its own.
    pub fn frame(&self) -> Tab<'_> {
        self.frame_at("")
    }

    /// That of the frame whose address begins with `url`.
    pub fn frame_at(&self, url: &str) -> Tab<'_> {
        let began = Instant::now();
        loop {
            let all = self.browser.call(None, "Target.getTargets", json!({}));
            let frame = all["targetInfos"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|target| target["type"] == "iframe" && target["browserContextId"] == self.context.as_str())
                .find(|target| target["url"].as_str().is_some_and(|text| text.starts_with(url)));
            if let Some(frame) = frame {
                let attach = json!({ "targetId": frame["targetId"], "flatten": true });
                let attached = self.browser.call(None, "Target.attachToTarget", attach);
                let session = attached["sessionId"].as_str().unwrap().to_owned();
                let frame = Tab { browser: self.browser, session, context: self.context.clone(), is_frame: true };
                frame.call("Runtime.enable", json!({}));
                frame.call("Log.enable", json!({}));
                return frame;
            }
            assert!(began.elapsed() < PATIENCE, "no frame: {:?}", self.errors());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Chooses files or a folder in an input, as a person does in the system's dialog.
    pub fn choose(&self, selector: &str, paths: &[&Path]) {
        let js = format!("document.querySelector({})", json!(selector));
        let input = self.call("Runtime.evaluate", json!({ "expression": js }));
        let paths: Vec<_> = paths.iter().map(|path| path.canonicalize().unwrap()).collect();
        self.call("DOM.setFileInputFiles", json!({ "files": paths, "objectId": input["result"]["objectId"] }));
    }

    /// Drops files and folders onto the page.
    pub fn drop_files(&self, paths: &[&Path]) {
        let paths: Vec<_> = paths.iter().map(|path| path.canonicalize().unwrap()).collect();
        let data = json!({ "items": [], "files": paths, "dragOperationsMask": 1 });
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.call("Input.dispatchDragEvent", json!({ "type": kind, "x": 600, "y": 400, "data": data }));
        }
    }

    /// Makes the window so large.
    pub fn size(&self, width: u32, height: u32) {
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    /// `mousePressed`, `mouseReleased` or `mouseMoved`, with `left`, `middle`, `right` or `none`.
    pub fn mouse(&self, kind: &str, x: f64, y: f64, button: &str) {
        let held = match (kind, button) {
            ("mouseReleased", _) | (_, "none") => 0,
            (_, "left") => 1,
            (_, "right") => 2,
            _ => 4,
        };
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": held,
            "clickCount": i32::from(kind != "mouseMoved") });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Presses and releases the left button over the middle of the first element that a selector finds.
    pub fn click(&self, selector: &str) {
        let js = format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{block: 'nearest'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        );
        let at = self.eval(&js);
        let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y, if kind == "mouseMoved" { "none" } else { "left" });
        }
    }

    /// Turns the wheel.
    pub fn wheel(&self, x: f64, y: f64, by: f64) {
        let params = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Presses and releases a key by its name, such as `ArrowDown`, `Enter` or `a`.
    pub fn key(&self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "PageUp" => 33,
            "PageDown" => 34,
            _ => 0,
        };
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && !text.is_empty() {
                params["text"] = text.into();
            }
            if kind == "keyDown" && key == "Enter" {
                params["text"] = "\r".into();
            }
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Types text into what has the focus.
    pub fn text(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// `touchStart`, `touchMove` or `touchEnd`, with the fingers that are down then.
    pub fn touch(&self, kind: &str, fingers: &[(f64, f64)]) {
        let points: Vec<Value> =
            fingers.iter().enumerate().map(|(id, (x, y))| json!({ "x": x, "y": y, "id": id })).collect();
        self.call("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
    }

    /// Keeps a picture of the window in the folder that `ASSETQ_SHOTS` names, where it names one.
    pub fn shot(&self, name: &str) {
        let Some(folder) = std::env::var_os("ASSETQ_SHOTS") else { return };
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let picture = decode(answer["data"].as_str().unwrap());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }

    /// Errors that the page has reported so far: exceptions, `console.error`, and whatever its policy refused.
    pub fn errors(&self) -> Vec<String> {
        self.eval("0");
        let said = self.browser.said.lock().unwrap();
        let of_tab = said.events.iter().filter(|event| event["sessionId"] == self.session.as_str());
        let errors = of_tab.filter_map(|event| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if params["type"] == "error" => Some(params["args"].to_string()),
                "Log.entryAdded" if params["entry"]["level"] == "error" => Some(params["entry"].to_string()),
                _ => None,
            }
        });
        errors.collect()
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        if !self.is_frame && !std::thread::panicking() {
            let context = json!({ "browserContextId": self.context });
            self.browser.call(None, "Target.disposeBrowserContext", context);
        }
    }
}

fn decode(base64: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = base64.bytes().filter(|b| *b != b'=').map(|b| digit(b).into()).collect();
    let four = |four: &[u32]| {
        let bits = (0..4).fold(0, |bits, n| bits << 6 | four.get(n).copied().unwrap_or(0));
        bits.to_be_bytes().into_iter().skip(1).take(four.len() * 3 / 4).collect::<Vec<u8>>()
    };
    digits.chunks(4).flat_map(four).collect()
}
