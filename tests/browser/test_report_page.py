"""The report in a real browser: nothing sticks out sideways, on a phone or a desktop."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from sample_audit import CASES

from whatleaks.report.html import write

BROWSER = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no chromium on PATH: the page was not looked at in a browser"
)
WIDTHS = (360, 1280)

# Frames have any width, unlike headless windows; the probe writes what it measured into the page.
PROBE = """<!doctype html><body>{frames}<pre id="out"></pre><script>
addEventListener("load", () => {{
  const lines = [];
  for (const frame of document.querySelectorAll("iframe")) {{
    const page = frame.contentDocument, root = page.documentElement;
    for (const fold of page.querySelectorAll("details")) fold.open = true;
    const wide = [...page.querySelectorAll("h1,h2,h3,p,li,dd,dt,summary,pre,.scroll,figure,.track,.gauge,.value b,.value small,.name")]
      .filter(e => e.getBoundingClientRect().right > root.clientWidth + 0.5);
    const small = [...page.querySelectorAll("p,li,dd,dt,td,th,small,summary")]
      .filter(e => parseFloat(page.defaultView.getComputedStyle(e).fontSize) < 12);
    const tracks = [...page.querySelectorAll(".bars .track")].map(e => e.getBoundingClientRect().width);
    lines.push([frame.name, root.clientWidth, root.scrollWidth, wide.length, small.length,
      page.querySelectorAll("script").length, Math.round(Math.min(...tracks))].join(" "));
  }}
  document.getElementById("out").textContent = "measured\\n" + lines.join("\\n") + "\\nend";
}});
</script>"""


def run(profile: Path, *arguments: str) -> str:
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--hide-scrollbars", "--allow-file-access-from-files",
            f"--user-data-dir={profile}", *arguments,
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_no_page_is_wider_than_its_screen(tmp_path: Path) -> None:
    frames = []
    for case, make in CASES.items():
        write(make(), tmp_path / f"{case}.html")
        for width in WIDTHS:
            frames.append(
                f'<iframe name="{case}-{width}" src="{case}.html" width="{width}" height="800"'
                ' style="border:0"></iframe>'
            )
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.format(frames="".join(frames)), encoding="utf-8")
    dom = run(tmp_path / "profile", "--virtual-time-budget=5000", "--dump-dom", probe.as_uri())
    found = re.search(r"measured\n(.*)\nend</pre>", dom, flags=re.DOTALL)
    assert found is not None, "the probe measured nothing"
    lines = [line.split() for line in found[1].splitlines()]
    assert len(lines) == len(CASES) * len(WIDTHS)
    for name, seen, scroll, wide, small, scripts, track in lines:
        assert int(seen) == int(name.rsplit("-", 1)[1])
        assert int(scroll) <= int(seen), f"{name} scrolls sideways"
        assert int(wide) == 0, f"{name}: {wide} elements stick out"
        assert int(small) == 0, f"{name}: {small} texts under 12 px"
        assert int(scripts) == 0, name
        assert int(track) >= 200, f"{name}: figures shrink to {track} px"


def test_it_prints_on_a_few_pages(tmp_path: Path) -> None:
    page = write(CASES["high"](), tmp_path / "report.html")
    pdf = tmp_path / "report.pdf"
    run(tmp_path / "profile", "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))
    assert 3 <= pages <= 9
    a4 = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", pdf.read_bytes())
    assert a4 is not None
    assert (round(float(a4[1])), round(float(a4[2]))) == (595, 842)
