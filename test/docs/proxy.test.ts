import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { OPERATIONS } from "../../src/http/operationList.ts";

const PAGE = readFileSync(new URL("../../docs/operate/proxy.md", import.meta.url), "utf8");
const [, SAMPLE = ""] = /```nginx\n([\s\S]*?)```/.exec(PAGE) ?? [];

/** Debian's place is not on the path of every user. */
const NGINX = ["/usr/sbin/nginx", "nginx"].find((path) => spawnSync(path, ["-v"]).status === 0);

test("nginx accepts the sample as it is", { skip: NGINX === undefined && "nginx is not installed" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-nginx-"));
  try {
    const tls = join(folder, "tls/pay.example");
    mkdirSync(join(folder, "tls"));
    const subject = ["-subj", "/CN=pay.example", "-days", "1", "-keyout", `${tls}.key`, "-out", `${tls}.pem`];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync("openssl", ["req", "-x509", "-nodes", ...key, ...subject], { stdio: "ignore" });
    const file = join(folder, "nginx.conf");
    writeFileSync(file, SAMPLE);
    const checked = spawnSync(NGINX ?? "", ["-t", "-p", folder, "-c", file, "-e", "stderr", "-g", "pid nginx.pid;"]);
    assert.equal(checked.status, 0, String(checked.stderr));
    assert.doesNotMatch(String(checked.stderr), /\[(?:warn|emerg)\]/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the sample buffers no stream", () => {
  const [, streams = ""] = /location ~ (\S+) \{\s+proxy_pass[^}]*proxy_buffering off;/.exec(SAMPLE) ?? [];
  const isStream = new RegExp(streams);
  assert.ok(isStream.test("/c/pi_1/events"));
  const streamed = OPERATIONS.filter(({ path }) => isStream.test(path)).map(({ operationId }) => operationId);
  assert.deepEqual(streamed, ["streamEvents"]);
});
