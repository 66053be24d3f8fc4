import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import type { OperationSpec } from "../../operation.ts";
import { OPERATIONS } from "../../operationList.ts";
import { formatCallExamples } from "./callExamples.ts";

// Each sample runs in its language, with the library replaced by one that prints the request.

type Sent = { method: string; url: string; headers: Record<string, string>; body?: unknown };
type Runner = { program: string; run(samples: readonly string[]): Sent[] };

const BASE_URL = "https://pay.example";
const environment = { PATH: process.env["PATH"], TRIBUTARY_API_KEY: "trib_test_key" };

const curl: Runner = { program: "sh", run: (samples) => samples.map(runShell) };

function runShell(code: string): Sent {
  const script = `curl() { printf '%s\\0' "$@"; }\n${code}`;
  const words = execFileSync("sh", ["-c", script], { env: environment, encoding: "utf8" }).split("\0").slice(0, -1);
  const sent: Sent = { method: "GET", url: "", headers: {} };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-X") sent.method = words.shift() ?? "";
    else if (word === "-d") sent.body = JSON.parse(words.shift() ?? "");
    else if (word === "-N") continue;
    else if (word === "-H") addHeader(sent, words.shift() ?? "");
    else sent.url = word;
  }
  return sent;
}

/** Runs a program that prints each request as one line of JSON on standard error. */
function runProgram(program: string, args: readonly string[]): unknown[] {
  const { stderr, stdout, status } = spawnSync(program, args, { env: environment, encoding: "utf8" });
  assert.equal(status, 0, stderr + stdout);
  return stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

const PYTHON_REQUESTS = `
import json, sys, types
requests = types.ModuleType("requests")
class Response:
    def raise_for_status(self): pass
    def json(self): return ""
def sender(method):
    def send(url, headers, timeout, json=None):
        __import__("sys").stderr.write(__import__("json").dumps({"method": method, "url": url, "headers": headers, **({} if json is None else {"body": json})}) + "\\n")
        return Response()
    return send
for method in ["get", "post", "put", "patch", "delete"]: setattr(requests, method, sender(method.upper()))
sys.modules["requests"] = requests
`;

const python: Runner = {
  program: "python3",
  run: (samples) => runProgram("python3", ["-c", [PYTHON_REQUESTS, ...samples].join("\n")]) as Sent[],
};

const PHP_CURL = `
foreach (["RETURNTRANSFER", "CUSTOMREQUEST", "HTTPHEADER", "POSTFIELDS", "TIMEOUT"] as $name) defined("CURLOPT_$name") || define("CURLOPT_$name", $name);
class Request { public $url; public $options; }
function curl_init($url) { $request = new Request; $request->url = $url; return $request; }
function curl_setopt_array($request, $options) { $request->options = $options; }
function curl_exec($request) {
  $options = $request->options;
  $sent = ["method" => $options[CURLOPT_CUSTOMREQUEST] ?? "GET", "url" => $request->url, "headers" => $options[CURLOPT_HTTPHEADER]];
  if (isset($options[CURLOPT_POSTFIELDS])) $sent["body"] = $options[CURLOPT_POSTFIELDS];
  fwrite(STDERR, json_encode($sent) . "\\n");
  return "{}";
}
`;

type PhpSent = { method: string; url: string; headers: string[]; body?: string };

const php: Runner = {
  program: "php",
  run(samples) {
    const all = runProgram("php", ["-n", "-r", [PHP_CURL, ...samples].join("\n")]) as PhpSent[];
    return all.map(({ headers, body, ...sent }) => {
      const whole: Sent = {
        ...sent,
        headers: {},
        ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }),
      };
      for (const header of headers) addHeader(whole, header);
      return whole;
    });
  },
};

function addHeader(sent: Sent, line: string): void {
  const [name = "", value = ""] = line.split(": ", 2);
  sent.headers[name] = value;
}

function isMissing({ program }: Runner): string | false {
  return spawnSync(program, ["--version"]).error === undefined ? false : `${program} is not installed`;
}

for (const [language, runner] of Object.entries({ curl, python, php })) {
  test(`the ${language} samples send what each operation takes`, { skip: isMissing(runner) }, () => {
    const sampleOf = (operation: OperationSpec) =>
      formatCallExamples(operation, BASE_URL).find((example) => example.language === language)?.code ?? "";
    // A stream has samples for the languages whose usual library reads one.
    const shown = OPERATIONS.filter(({ isStream = false }) => !isStream || language === "curl");
    const all = runner.run(shown.map(sampleOf));
    assert.equal(all.length, shown.length);
    for (const [index, operation] of shown.entries()) {
      const { operationId, method, path, body, bodyExamples = {} } = operation;
      const sent = all[index] ?? assert.fail();
      assert.equal(sent.method, method, operationId);
      assert.match(sent.url, new RegExp(`^${BASE_URL}${path.replace("{id}", "(?:pi|evt|we)_\\w{26}")}$`));
      assert.equal(sent.headers["Authorization"], "Bearer trib_test_key");
      assert.equal(sent.headers["Service-Version"], "2026-11-01");
      assert.equal(
        sent.headers["Idempotency-Key"] !== undefined,
        operation.acceptsIdempotencyKey === true,
        operationId,
      );
      assert.deepEqual(sent.body, body === undefined ? undefined : (Object.values(bodyExamples)[0] ?? {}), operationId);
    }
  });
}

test("a quote, a $ and a word of a language stay text in every sample", () => {
  const [operation] = OPERATIONS.filter(({ operationId }) => operationId === "createPaymentIntent");
  assert.ok(operation);
  const body = { description: `it's $HOME, "true" {null} \\`, metadata: { isNew: true, none: null } };
  const samples = formatCallExamples({ ...operation, bodyExamples: { odd: body } }, BASE_URL);
  for (const [language, runner] of Object.entries({ curl, python, php })) {
    if (isMissing(runner) !== false) continue;
    const code = samples.find((candidate) => candidate.language === language)?.code ?? "";
    assert.deepEqual(runner.run([code])[0]?.body, body, language);
  }
});
