"""Executes the notebooks in examples/notebook, each in an empty folder, and looks at what their cells
show. 77, which is a skip, where nbconvert or a kernel is missing."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NOTEBOOKS = Path(os.environ["PLACKETT_SOURCE_DIR"]) / "examples" / "notebook"
LIMIT_S = 300  # on a busy machine; alone it is a few seconds

try:
    import ipykernel  # noqa: F401
    import nbconvert  # noqa: F401
except ImportError as error:
    print(f"{error.name} is missing (Debian: jupyter-nbconvert, python3-ipykernel)")
    sys.exit(77)


def executed(notebook, folder):
    """Its code cells, with their outputs. Fails if one of them does."""
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
         f"--ExecutePreprocessor.timeout={LIMIT_S}", "--ExecutePreprocessor.kernel_name=python3",
         "--output-dir", str(folder), str(notebook)],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "IPYTHONDIR": str(folder / "ipython")},
        check=True,
        timeout=LIMIT_S,
    )  # fmt: skip
    cells = json.loads((folder / notebook.name).read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def shown(cell):
    """All that a cell shows, as one text."""
    parts = []
    for output in cell["outputs"]:
        parts += output.get("text", [])
        for content in output.get("data", {}).values():
            parts += content
    return "".join(parts)


def main():
    notebooks = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert [one.name for one in notebooks] == ["paper_in_ten_cells.ipynb"]
    stored = json.loads(notebooks[0].read_text())["cells"]
    assert not any(cell.get("outputs") for cell in stored), "stored without outputs"
    with tempfile.TemporaryDirectory() as folder:
        # The kernel runs in the notebook's folder, where a user's MQ2008 would be.
        copy = Path(folder) / "here" / notebooks[0].name
        copy.parent.mkdir()
        copy.write_text(notebooks[0].read_text())
        cells = executed(copy, Path(folder))
    texts = [shown(cell) for cell in cells]
    assert len(texts) == 10
    for place, expected in {
        0: "<table>",
        2: "expected 0.",
        3: "Pair(winner=1",
        5: "Strongest weights",
        6: "data:image/svg+xml;base64,",
        7: "PDGD (neural)",
        8: "chosen: {'learning_rate': ",
        9: "PDGD (linear)",
    }.items():
        assert expected in texts[place], (place, texts[place][:2000])
    before, after = (float(word) for word in texts[5].split() if word.startswith("0."))
    assert after > before, (before, after)
    return 0


sys.exit(main())
