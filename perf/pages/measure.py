#!/usr/bin/env python3
"""How fast pages of `assetq view` are in a browser: size, opening, filters, scrolling, and a mesh that turns.

    python3 perf/pages/measure.py [--assetq PATH] [--browser PATH] [--rounds N] [--keep DIR] [--only WHAT...]

The page of a database of 170 MB has a table of 1.1 million rows; the mesh has 128,000 triangles. Chromium draws by the processor,
at 1440 by 900: tables without any GPU (--disable-gpu), WebGL by SwiftShader. Without a GPU the browser alone limits the frames a
second. The same run measures this limit: on a page with one small box that moves, on a plain list that is scrolled, and on a canvas
that WebGL clears. The wheel and the mouse are moved by the DevTools protocol, 60 times a second for five seconds. Each figure is the
best of the rounds, in brackets the worst.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

WORDS = ["turret", "hull", "-hull", "x", "1", "12", "0.5", "e", "a", "name:deck", "index>3", "parent!=2"]
SECONDS = 5
# Counts frames: the seconds between two calls of requestAnimationFrame.
COUNT = """globalThis.gaps ?? (() => { const gaps = globalThis.gaps = []; let last = performance.now();
  const next = (now) => { gaps.push(now - last); last = now; globalThis.each?.(); requestAnimationFrame(next); };
  requestAnimationFrame(next); })(), 0"""
EMPTY = "<!DOCTYPE html><body style='margin:0'><i style='position:absolute;width:9px;height:9px;background:red'></i>"
LIST = """<!DOCTYPE html><style>body{margin:0}div{height:26px;font:14px sans-serif;white-space:nowrap;border-bottom:1px solid #ddd}
  main{height:100vh;overflow:auto}</style><main tabindex=0></main><script>document.querySelector('main').append(...Array.from({length:9000},(_, n) =>
  Object.assign(document.createElement('div'),{textContent:'content/gameplay/usa/ship/battleship/model '.repeat(4)+n})))</script>"""
CANVAS = """<!DOCTYPE html><body style='margin:0'><canvas width=1120 height=760></canvas><script>const gl=document.querySelector('canvas')
  .getContext('webgl2',{alpha:false,antialias:false});let n=0;globalThis.each=()=>{gl.clearColor(n++%2,0,0,1);gl.clear(gl.COLOR_BUFFER_BIT)}</script>"""


class Browser:
    """A browser that takes messages of the DevTools protocol on descriptor 3 and answers on 4."""

    def __init__(self, program, *flags):
        self.profile = tempfile.mkdtemp()
        (read, self.out), (self.into, write) = os.pipe(), os.pipe()
        arguments = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-sync", *flags,
                     "--disable-background-networking", f"--user-data-dir={self.profile}", "about:blank"]
        shell = f'exec "$@" 3<&{read} 4>&{write}'
        self.process = subprocess.Popen(["sh", "-c", shell, "sh", program, *arguments], pass_fds=(read, write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.numbers = itertools.count(1)
        self.answers, self.changed = {}, threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        rest = b""
        while data := os.read(self.into, 1 << 16):
            *messages, rest = (rest + data).split(b"\0")
            for message in map(json.loads, messages):
                with self.changed:
                    self.answers[message.get("id")] = message
                    self.changed.notify_all()

    def send(self, method, session=None, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return number

    def call(self, method, session=None, **params):
        number = self.send(method, session, **params)
        with self.changed:
            assert self.changed.wait_for(lambda: number in self.answers, 120), method
            answer = self.answers.pop(number)
        assert "error" not in answer, answer
        return answer["result"]

    def end(self):
        self.send("Browser.close")
        self.process.wait(20)
        shutil.rmtree(self.profile, ignore_errors=True)


class Tab:
    def __init__(self, browser, path):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=path.resolve().as_uri())

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def eval(self, js):
        answer = self.call("Runtime.evaluate", expression=js, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, js):
        end = time.monotonic() + 120
        while not self.eval(js):
            assert time.monotonic() < end, js
            time.sleep(0.02)

    def frames(self, act):
        """Frames a second while `act` is called 60 times a second with the number of the call."""
        self.eval(COUNT)
        for number in range(30):
            act(number)
            time.sleep(1 / 60)
        self.eval("gaps.length = 0")
        began, number = time.monotonic(), 0
        while time.monotonic() - began < SECONDS:
            act(number)
            number += 1
            time.sleep(max(0, began + number / 60 - time.monotonic()))
        return self.eval("1000 * gaps.length / gaps.reduce((a, b) => a + b, 0)")

    def mouse(self, kind, x, y, **more):
        self.browser.send("Input.dispatchMouseEvent", self.session, type=kind, x=x, y=y, **more)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


class Figures:
    """The best and the worst of some figures, by name."""

    def __init__(self):
        self.all = {}

    def add(self, name, value, unit, is_more_better=False):
        self.all.setdefault(name, (unit, is_more_better, []))[2].append(value)

    def print(self):
        for name, (unit, is_more_better, values) in self.all.items():
            best, worst = (max(values), min(values)) if is_more_better else (min(values), max(values))
            print(f"{name:52} {best:8.1f} ({worst:.1f}) {unit}")


def opening(browser, page, figures):
    began = time.monotonic()
    tab = Tab(browser, page)
    tab.wait("globalThis.assetq !== undefined && document.querySelector('.line') !== null")
    figures.add("opened, until rows are seen", time.monotonic() - began, "s")
    tab.close()


def filters(browser, page, figures):
    tab = Tab(browser, page)
    tab.wait("globalThis.assetq !== undefined && document.querySelector('.line') !== null")
    largest = tab.eval("assetq.page.parts.filter((part) => part.kind === 'table').sort((a, b) => b.meta.rows - a.meta.rows)[0].id")
    tab.eval(f"assetq.page.go({json.dumps(largest)})")
    view = f"assetq.page.parts.find((part) => part.id === {json.dumps(largest)}).view"
    tab.wait(f"{view}?.laid.size > 0")
    rows = tab.eval(f"{view}.table.rows")
    for word in WORDS:
        js = f"(async () => {{ const v = {view}; const began = performance.now(); v.input.value = {json.dumps(word)}; await v.arrange(); return [performance.now() - began, v.fault.textContent]; }})()"
        took, fault = tab.eval(js)
        assert not fault, fault
        cold = ", the first one" if word == WORDS[0] else ""
        figures.add(f"filter of {rows:,} rows: {word}{cold}", took, "ms")
    tab.close()


def scrolling(browser, page, folder, figures):
    for name, text, act in [
        ("a box that moves", EMPTY, None),
        ("a plain list, scrolled by the wheel", LIST, True),
    ]:
        plain = folder / "plain.html"
        plain.write_text(text)
        tab = Tab(browser, plain)
        tab.wait("document.readyState === 'complete'")
        if not act:
            tab.eval("globalThis.each = (() => { let n = 0; return () => (document.querySelector('i').style.left = `${n++ % 900}px`); })(), 0")
        figures.add(name, tab.frames(lambda _: act and tab.mouse("mouseWheel", 700, 500, deltaX=0, deltaY=78)), "frames a second", True)
        tab.close()
    tab = Tab(browser, page)
    tab.wait("globalThis.assetq !== undefined && document.querySelector('.line') !== null")
    tab.eval("assetq.page.go('table=skeleton_nodes')")
    tab.wait("document.querySelector('.part:not([hidden])')?.getAttribute('aria-label') === 'skeleton_nodes' && document.querySelector('.part:not([hidden]) .line') !== null")
    top = "Number(document.querySelector('.part:not([hidden]) .line').dataset.at)"
    before = tab.eval(top)
    figures.add("1.1 million rows, scrolled by the wheel", tab.frames(lambda _: tab.mouse("mouseWheel", 900, 500, deltaX=0, deltaY=78)), "frames a second", True)
    assert tab.eval(top) > before
    tab.close()


def turning(browser, page, folder, figures):
    plain = folder / "plain.html"
    plain.write_text(CANVAS)
    tab = Tab(browser, plain)
    tab.wait("document.readyState === 'complete'")
    figures.add("a canvas that WebGL clears", tab.frames(lambda _: None), "frames a second", True)
    tab.close()
    tab = Tab(browser, page)
    tab.wait("document.querySelector('[data-ready]') !== null")
    view = "assetq.page.parts.find((part) => part.kind === 'scene').view"
    # One mesh at its finest level, and nothing else.
    tab.eval(f"(async () => {{ const v = {view}; v.shown = new Set(['mesh']); const {{ index }} = v.models.filter(({{ part }}) => part.kind === 'mesh').sort((a, b) => b.part.triangles - a.part.triangles)[0]; "
             f"v.off = new Set(v.models.map((model) => model.index).filter((one) => one !== index)); await v.update(); await v.fit(); }})()")
    count = tab.eval(f"{view}.models.filter((model) => model.isShown).reduce((sum, {{ part }}) => sum + part.triangles, 0)")
    drawn = "Number(document.querySelector('[data-ready]').dataset.frames)"
    tab.wait(f"{drawn} > 1")
    tab.mouse("mousePressed", 700, 450, button="left", buttons=1, clickCount=1)
    move = lambda number: tab.mouse("mouseMoved", 700 + number % 300, 450, button="left", buttons=1)
    # It finds out how roughly it has to draw.
    tab.frames(move)
    frames = tab.eval(drawn)
    began = time.monotonic()
    figures.add(f"{count:,} triangles that turn", tab.frames(move), "frames a second", True)
    figures.add("  frames that it drew", (tab.eval(drawn) - frames) / (time.monotonic() - began), "frames a second", True)
    figures.add("  how roughly, from 0 to 4", tab.eval(f"{view}.renderer.slowness"), "")
    tab.mouse("mouseReleased", 700, 450, button="left", buttons=0, clickCount=1)
    tab.wait("document.querySelector('[data-ready]').dataset.draft === '0'")
    js = f"(async () => {{ const v = {view}; const {{ gl }} = v.renderer; const began = performance.now(); v.draw(false); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); return performance.now() - began; }})()"
    figures.add("  the whole frame, once it rests", tab.eval(js), "ms")
    tab.close()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--assetq", default="assetq")
    options.add_argument("--browser", default=next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None))
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--only", nargs="+", choices=["open", "filter", "scroll", "turn"], default=["open", "filter", "scroll", "turn"])
    given = options.parse_args()
    assert given.browser, "no Chromium at hand: name one with --browser"
    folder = given.keep or pathlib.Path(tempfile.mkdtemp())
    full = folder / "full"
    if not full.exists():
        subprocess.run([given.assetq, "sample", full, "--size", "full", "--seed", "1"], check=True, stdout=subprocess.DEVNULL)
    figures = Figures()
    pages = {}
    for name in ["assets.bin", "ship.geometry"]:
        pages[name] = folder / f"{name}.html"
        began = time.monotonic()
        subprocess.run([given.assetq, "view", full / name, "--to", pages[name], "--force"], check=True)
        figures.add(f"page of {name}, written in", time.monotonic() - began, "s")
        figures.add(f"page of {name}", pages[name].stat().st_size / 1e6, "MB")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for _ in range(given.rounds):
        if set(given.only) - {"scroll"}:
            browser = Browser(given.browser, "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
            if "open" in given.only:
                opening(browser, pages["assets.bin"], figures)
            if "filter" in given.only:
                filters(browser, pages["assets.bin"], figures)
            if "turn" in given.only:
                turning(browser, pages["ship.geometry"], folder, figures)
            browser.end()
        if "scroll" in given.only:
            browser = Browser(given.browser, "--disable-gpu")
            scrolling(browser, pages["assets.bin"], folder, figures)
            browser.end()
    figures.print()
    print(f"load {os.getloadavg()[0]:.1f}")
    if not given.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
