"""test_output.py - what bench/output.py writes says what the history says.  SPDX-License-Identifier: MIT"""
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import measure  # noqa: E402
import output  # noqa: E402

MACHINE = {"cpu": "Some CPU", "cores": 2, "virtual": True, "memory_gib": 24, "kernel": "6.1", "compiler": "gcc 12", "governor": "performance", "load": [0, 0, 0], "migrations": "counted"}


def figure(key, value, low, high, unit="×", **more):
    return {"key": key, "title": f"title of {key}", "unit": unit, "trial": "t", "of": "a x", "per": "", "value": value, "low": low, "high": high, "n": 8, "disturbed": 1, "state": "measured", **more}


def run_of(date, figures, family="zone", **more):
    rounds = [{"order": ["a"], "s": 1.0, "steal": 0.0, "others": 0.0, "switches": 1, "migrations": 0, "found": {"a": {"x": 1.0}}, "disturbed": i == 0} for i in range(8)]
    part = {"claim": "c", "peer": "p", "command": f"bench/run {family}", "load": [0.1, 0, 0], "seconds": 8.0, "figures": figures,
            "tables": [{"head": ["what", "ratio"], "rows": [["row", "{%s}" % figures[0]["key"]]]}], "trials": [{"name": "t", "seconds": 8.0, "rounds": rounds, "failed": {}}]}
    return {"format": 1, "commit": "0123456789abcdef", "dirty": False, "date": date, "quick": False, "large": False, "against": "", "machine": MACHINE, "families": {family: part}, **more}


class Documents(unittest.TestCase):
    def test_the_documents_say_what_the_history_says(self):
        for path, text in output.documents(ROOT, ROOT / "bench" / "history").items():
            self.assertEqual(path.read_text(), text, f"{path} differs: run bench/fill")

    def test_the_history_is_valid_and_every_place_of_the_costs_has_a_known_family(self):
        for path in (ROOT / "bench" / "history").glob("*.json"):
            run = json.loads(path.read_text())
            self.assertEqual(run["format"], 1)
            self.assertFalse(run["quick"], f"{path}: a quick run has no place there")
        for key, _ in output.PLACE.findall((ROOT / "bench" / "costs.md").read_text()):
            self.assertIn(key.split(".")[0], output.FAMILIES)


class Words(unittest.TestCase):
    def test_a_figure_has_the_digits_that_its_interval_is_worth(self):
        self.assertEqual(output.shown(figure("k", 1.0312, 1.0231, 1.0412)), "1.031 (1.023–1.041)")
        self.assertEqual(output.shown(figure("k", 24.13, 24.02, 24.41, "ns")), "24.1 ns (24.0–24.4)")
        self.assertEqual(output.shown(figure("k", 648757.0, 648757.0, 648757.0, "KiB")), "634 MiB")
        self.assertEqual(output.shown(figure("k", 0.1, -0.2, 0.3, "%")), "0.1 % (-0.2 to 0.3)")
        self.assertEqual(output.shown(figure("k", 8.0, 8.0, 8.0, "instructions", counted=True)), "8")
        self.assertEqual(output.shown(None), "–")

    def test_what_is_not_measurable_has_no_number_but_a_reason(self):
        void = figure("zone.a", 1.2, 0.8, 1.9, state="not measurable here: between 0.8 and 1.9 after 8 rounds")
        text = output.family_text(run_of("2026-01-01T10:00:00", [void]), "zone")
        self.assertIn("| row | not measurable here |", text)
        self.assertIn("title of zone.a: not measurable here: between 0.8 and 1.9", text)

    def test_a_bar_is_missed_only_if_the_whole_interval_lies_above_it(self):
        self.assertIn("missed", output.shown(figure("k", 1.2, 1.1, 1.3, bar=1.05)))
        self.assertNotIn("missed", output.shown(figure("k", 1.2, 1.0, 1.4, bar=1.05)))

    def test_against_prints_old_new_ratio_and_verdict(self):
        slower = figure("zone.a", 1.2, 1.15, 1.251, of_unit="ns", old=20.0, new=24.0)
        text = output.against_text(run_of("2026-01-01T10:00:00", [slower], against="fedcba9876543210"), "zone")
        self.assertIn("| title of zone.a | 20 ns | 24 ns | 1.20 (1.15–1.25) | slower |", text)


class History(unittest.TestCase):
    def test_the_newest_full_run_of_a_family_fills_the_documents(self):
        with tempfile.TemporaryDirectory() as folder:
            for run in (run_of("2026-01-01T10:00:00", [figure("zone.a", 1.1, 1.09, 1.11)]), run_of("2026-01-02T10:00:00", [figure("zone.a", 1.2, 1.19, 1.21)]),
                        run_of("2026-01-03T10:00:00", [figure("quiet.a", 2.0, 2.0, 2.0)], "quiet"), run_of("2026-01-04T10:00:00", [figure("zone.a", 9.0, None, None)], quick=True),
                        run_of("2026-01-05T10:00:00", [figure("zone.a", 8.0, 8.0, 8.0)], against="fedcba9")):
                output.save(run, folder)
            runs = output.full_runs(folder)
        text = output.filled_document("a\n<!-- figures: zone -->\nold\n<!-- end of figures -->\nb\n<!-- figures: quiet -->\n<!-- end of figures -->\n", runs)
        self.assertIn("| row | 1.200 (1.190–1.210) |", text)
        self.assertIn("8 rounds in 8 s, 1 disturbed", text)
        self.assertIn("| row | 2 |", text)
        self.assertNotIn("old", text)
        self.assertEqual(output.filled_document(text, runs), text)

    def test_the_picture_is_valid_and_has_a_point_and_an_interval_per_run(self):
        runs = [run_of(f"2026-01-0{day}T10:00:00", [figure("zone.a", 1 + day / 10, day / 10 + 0.9, day / 10 + 1.1)]) for day in (1, 2, 3)]
        tree = xml.etree.ElementTree.fromstring(output.picture(runs, ["zone.a", "zone.absent"]))
        classes = [node.get("class") for node in tree.iter()]
        self.assertEqual((classes.count("dot"), classes.count("bar"), classes.count("line")), (3, 3, 1))
        xml.etree.ElementTree.fromstring(output.picture([], ["zone.a"]))

    def test_a_saved_run_is_the_same_when_it_is_read(self):
        run = run_of("2026-01-01T10:00:00", [figure("zone.a", 1.1, 1.09, 1.11)])
        self.assertEqual(json.loads(output.dumped(run)), run)


class Rounds(unittest.TestCase):
    """measure.run_trial on contestants that are made up."""

    def trial(self, ours, figures, **more):
        bench = measure.Bench(tree=None, old=more.pop("old", None))
        bench.say = lambda text: None
        trial = measure.Trial("t", ours, figures, **more)
        done = measure.run_trial(trial, bench)
        return done, measure.results(trial, done, bench)

    def test_rounds_end_when_the_interval_is_narrow(self):
        done, (found,) = self.trial({"a": lambda _: {"x": 2.0}, "b": lambda _: {"x": 1.0}}, [measure.Figure("f", "f", "×", "a x", "b x")])
        self.assertEqual(len(done["rounds"]), measure.ENOUGH_ROUNDS)
        self.assertEqual((found["value"], found["low"], found["high"], found["state"]), (2.0, 2.0, 2.0, "measured"))

    def test_every_contestant_is_first_and_last_as_often(self):
        done, _ = self.trial({name: lambda _: {"x": 1.0} for name in "ab"}, [measure.Figure("f", "f", "×", "a x", "b x")])
        firsts = [one["order"][0] for one in done["rounds"]]
        self.assertEqual(firsts.count("a"), firsts.count("b"))

    def test_a_number_that_changes_by_half_is_not_measurable(self):
        values = iter([1.0, 3.0] * 100)
        done, (found,) = self.trial({"a": lambda _: {"x": next(values)}}, [measure.Figure("f", "f", "ns", "a x")], rounds=6)
        self.assertTrue(found["state"].startswith("not measurable here: between 1 and 3 after"), found["state"])
        self.assertEqual(found["n"], len(done["rounds"]))

    def test_a_failing_peer_is_left_out_with_its_reason(self):
        def fails(_):
            raise measure.Failed("no such thing")
        done, found = self.trial({"a": lambda _: {"x": 1.0}}, [measure.Figure("f", "f", "ns", "a x"), measure.Figure("g", "g", "×", "a x", "b x")], peers={"b": fails})
        self.assertEqual([one["key"] for one in found], ["f"])
        self.assertEqual(done["failed"], {"b": "b: no such thing"})

    def test_against_compares_both_trees_round_by_round(self):
        old, new = object(), None
        done, (found,) = self.trial({"a": lambda tree: {"x": 3.0 if tree is new else 2.0}}, [measure.Figure("f", "f", "ns", "a x")], old=old, peers={"b": lambda _: 1 / 0})
        for name, value in (("old", 2.0), ("new", 3.0), ("value", 1.5), ("low", 1.5), ("high", 1.5)):
            self.assertAlmostEqual(found[name], value)
        self.assertEqual(found["of_unit"], "ns")

    def test_against_what_may_be_zero_is_compared_by_its_difference(self):
        old, new = object(), None
        figures = [measure.Figure("f", "f", "ms", "a x", plain=True), measure.Figure("g", "g", "ms", "a x", is_context=True)]
        done, (found,) = self.trial({"a": lambda tree: {"x": -0.1 if tree is new else 0.2}}, figures, old=old)
        self.assertAlmostEqual(found["high"], -0.3)
        self.assertEqual((found["unit"], found["key"]), ("ms", "f"))

    def test_a_round_is_disturbed_by_steal_by_others_by_switches_and_by_migrations(self):
        calm = {"steal": 0.0, "others": 0.01, "switches": 10, "migrations": 2}
        rounds = [dict(calm) for _ in range(7)]
        self.assertFalse(measure.is_disturbed(calm, rounds))
        for what, value in (("steal", 0.02), ("others", 0.06), ("switches", 51), ("migrations", 27)):
            self.assertTrue(measure.is_disturbed({**calm, what: value}, rounds), what)
        self.assertFalse(measure.is_disturbed({**calm, "migrations": None}, [{**calm, "migrations": None}]))


if __name__ == "__main__":
    unittest.main()
