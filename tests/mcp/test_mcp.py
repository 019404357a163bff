"""test_mcp.py STROBE MAKE_TRACE: speaks the Model Context Protocol with `strobe mcp`.  SPDX-License-Identifier: MIT"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

STROBE = MAKE = None


class Mcp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-mcp-"))
        (cls.folder / "inside").mkdir()
        cls.trace = cls.folder / "inside" / "made.strobe"
        subprocess.run([MAKE, cls.trace, "3000", "2", "10"], check=True, capture_output=True)
        shutil.copy(cls.trace, cls.folder / "outside.strobe")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.server = subprocess.Popen([STROBE, "mcp", "--folder", self.folder / "inside"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.close)
        self.number = 0

    def close(self):
        self.server.stdin.close()
        self.assertEqual(self.server.wait(), 0)
        self.server.stdout.close()

    def send(self, line):
        self.server.stdin.write(line.encode() + b"\n")
        self.server.stdin.flush()

    def read(self):
        return json.loads(self.server.stdout.readline())

    def ask(self, method, **params):
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        reply = self.read()
        self.assertEqual((reply["jsonrpc"], reply["id"]), ("2.0", self.number))
        return reply

    def call(self, tool, fails=False, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        self.assertEqual(result["isError"], fails, result)
        return result["content"][0]["text"]

    def test_it_shakes_hands_in_the_version_that_was_asked_for(self):
        for wanted, given in (("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")):
            result = self.ask("initialize", protocolVersion=wanted, capabilities={})["result"]
            self.assertEqual((result["protocolVersion"], result["serverInfo"]["name"]), (given, "strobe"))
        self.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        self.assertEqual(self.ask("ping")["result"], {})

    def test_its_tools_have_schemas_and_only_read(self):
        tools = self.ask("tools/list")["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], ["info", "query", "explain", "diff", "find"])
        for tool in tools:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertTrue(tool["annotations"]["readOnlyHint"])

    def test_each_tool_answers_as_its_command_does(self):
        self.assertEqual([row["file"] for row in json.loads(self.call("info"))], ["made.strobe"])
        self.assertIn("processes", json.loads(self.call("info", file="made.strobe")))
        rows = self.call("query", file="made.strobe", sql="SELECT count(*) AS n FROM zone")
        direct = subprocess.run([STROBE, "query", "--format", "csv", self.trace, "SELECT count(*) FROM zone"], capture_output=True, text=True)
        self.assertEqual(json.loads(rows)["n"], int(direct.stdout.split()[1]))
        self.assertIn("zone:", self.call("query"))
        self.assertEqual(json.loads(self.call("explain", file="made.strobe"))["statements"][0]["topic"], "cause")
        self.assertIn("zones", json.loads(self.call("diff", a=["made.strobe"], b=["made.strobe"])))
        self.assertIn("counters", json.loads(self.call("diff", a=["made.strobe"], b=["made.strobe"], of="counters", metric="total")))
        name = json.loads(self.call("query", file="made.strobe", sql="SELECT name FROM slowest LIMIT 1"))["name"]
        found = [json.loads(line) for line in self.call("find", file="made.strobe", name=name[1:], limit=3).splitlines()]
        self.assertTrue(0 < len(found) <= 3 and all(name[1:] in row["name"] for row in found))

    def test_what_is_wrong_is_said_and_the_server_goes_on(self):
        self.assertIn("no such table", self.call("query", fails=True, file="made.strobe", sql="SELECT * FROM nowhere"))
        self.assertIn("only be read", self.call("query", fails=True, file="made.strobe", sql="DROP TABLE zone"))
        self.assertIn("missing", self.call("find", fails=True, file="made.strobe"))
        self.assertIn("list", self.call("diff", fails=True, a="made.strobe", b=[]))
        self.assertEqual(self.ask("tools/call", name="remove", arguments={})["error"]["code"], -32602)
        self.assertEqual(self.ask("resources/list")["error"]["code"], -32601)
        for line, code in (("nonsense", -32700), ('{"jsonrpc":"2.0","id":"a"}', -32600), ("x" * (2 << 20), -32700)):
            self.send(line)
            self.assertEqual(self.read()["error"]["code"], code)
        self.assertEqual(self.ask("ping")["result"], {})

    def test_files_outside_of_its_folder_are_none(self):
        (self.folder / "inside" / "link.strobe").symlink_to(self.folder / "outside.strobe")
        self.addCleanup((self.folder / "inside" / "link.strobe").unlink)
        for name in ("../outside.strobe", str(self.folder / "outside.strobe"), "link.strobe", "none.strobe", "/etc/passwd"):
            self.assertIn("no file of that name", self.call("info", fails=True, file=name))
        self.assertIn("processes", json.loads(self.call("info", file=str(self.trace))))

    def test_a_long_answer_is_cut_off_and_says_so(self):
        text = self.call("query", fails=True, file="made.strobe",
                         sql="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
        self.assertLess(len(text), 1 << 21)
        self.assertIn("cut off", text)


if __name__ == "__main__":
    STROBE, MAKE = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
