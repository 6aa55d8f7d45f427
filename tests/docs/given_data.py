"""Small synthetic stand-ins for datasets that the pages name and the project does not have.

The folder in which a page is run gets the datasets that its commands name.
"""
import os
import re
import subprocess

# Name in the pages -> options of plackett data synth.
DATASETS = {
    "MQ2007": ["--preset", "mq2008", "--queries", "60"],
    "MQ2008": ["--preset", "mq2008", "--queries", "100"],
    "YOUR_LETOR_FOLDER": ["--preset", "mq2008", "--queries", "60"],
    "MSLR-WEB10K": ["--preset", "mslr", "--queries", "30", "--docs", "30", "--min-docs", "10",
                "--max-docs", "60"],
    "Yahoo": ["--preset", "yahoo", "--queries", "30"],
    "Istella": ["--preset", "istella", "--queries", "30", "--docs", "30", "--min-docs", "10",
                "--max-docs", "60"],
}
# A folder of datasets, for --data-root.
ROOT = "DIR"
ROOT_HOLDS = ["MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo", "Istella"]


def give(folder, text, environment):
    """Makes the datasets that `text` names in `folder`."""
    for name in DATASETS:
        if re.search(rf"(?<![\w/-]){name}\b", text):
            _make(name, os.path.join(folder, name), environment)
    if re.search(rf"--data-root {ROOT}\b", text):
        os.mkdir(os.path.join(folder, ROOT))
        for name in ROOT_HOLDS:
            _make(name, os.path.join(folder, ROOT, name), environment)


def _make(name, path, environment):
    subprocess.run(["plackett", "data", "synth", path, *DATASETS[name]], check=True,
                   env=environment, stdout=subprocess.DEVNULL)
