"""Write the site to build/site: ``make site``.

Sphinx reads build/pages, which is made from docs/. A warning is an error, and so is a
link that leads nowhere. Nothing is fetched.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tools.site.output import broken_links, missing_names, write_llms
from tools.site.stage import ROOT, stage


def main() -> int:
    """Write the pages and look at them; return the exit status."""
    staged, site = ROOT / "build" / "pages", ROOT / "build" / "site"
    shutil.rmtree(site, ignore_errors=True)
    stage(staged)
    options = ["-q", "-W", "--keep-going", "-E", "-c", str(Path(__file__).parent)]
    cache = ["-d", str(ROOT / "build" / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, *cache, str(staged), str(site)],
        check=False,
    )
    if done.returncode:
        return done.returncode
    write_llms(staged, site)
    wrong = [*broken_links(site), *missing_names(site / "reference" / "api")]
    for each in wrong:
        print(each, file=sys.stderr)
    print(f"{'failed' if wrong else 'wrote'} {site.relative_to(ROOT)}/index.html")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
