"""Every stored verdict of a tree, judged again from its numbers."""

import sys
from pathlib import Path

root = Path(sys.argv[1])
laboratory = root / "src" / "whatleaks_lab"
if laboratory.is_dir():
    from whatleaks_lab.papers import check, ledger

    results = laboratory / "results"
else:
    from whatleaks.papers import check, ledger

    results = root / "results"

known = check.checks()
for path in sorted(results.glob("*/*.json")):
    if path.stem in known:
        entry = ledger.read(path, known[path.stem])
        stale = ledger.stale(entry, known[path.stem])
        print(path.parent.name, path.stem, entry.judgement.verdict.value, stale)
