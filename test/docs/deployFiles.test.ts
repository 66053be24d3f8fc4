import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseRoles, ROLES } from "../../src/config/operate/roles.ts";
import { renderCli } from "../support/cli.ts";

// The files for containers and machines cannot be run here. What a program can compare with the service is compared.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}/${path}`, "utf8");
const image = read("deploy/Containerfile");
const kubernetes = read("deploy/kubernetes.yaml");
const unit = read("deploy/tributary.service");
const compose = read("deploy/compose.yaml");
const documents = kubernetes.split(/^---$/m);
const deployments = documents.filter((text) => text.includes("kind: Deployment"));

const versionOf = (name: string) =>
  (JSON.parse(read("package.json")) as { dependencies: Record<string, string> }).dependencies[name];

test("the image has two stages with the runtime of the package, and copies what exists", () => {
  const bases = [...image.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  assert.deepEqual(new Set(bases), new Set([`docker.io/library/node:${versionOf("node")}-bookworm-slim`]));
  assert.equal(bases.length, 2);
  const copied = [...image.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) => paths.split(" "));
  assert.ok(copied.length >= 6);
  for (const path of copied) assert.ok(existsSync(`${ROOT}/${path}`), path);
});

test("the image runs without root, and its check asks for the process", () => {
  assert.match(image, /^USER 1000:1000$/m);
  assert.match(image, /^HEALTHCHECK [\s\S]*127\.0\.0\.1:8787\/healthz/m);
});

test("the roles of the deployments are all roles, and only settle mounts keys", () => {
  const roles = deployments.flatMap((text) => [...parseRoles(/"--role", "([^"]+)"/.exec(text)?.[1] ?? "")]);
  assert.deepEqual(roles.toSorted(), ROLES.toSorted());
  const withKeys = deployments.filter((text) => text.includes("tributary-keys"));
  assert.deepEqual(
    withKeys.map((text) => /"--role", "([^"]+)"/.exec(text)?.[1]),
    ["settle"],
  );
});

test("each deployment has probes, a budget, more than one copy, and a file system that is read-only", () => {
  for (const text of deployments) {
    const role = /"--role", "([^"]+)"/.exec(text)?.[1] ?? assert.fail("no role");
    for (const part of [
      "startupProbe: { httpGet: { path: /healthz",
      "livenessProbe: { httpGet: { path: /healthz",
      "readinessProbe: { httpGet: { path: /readyz",
      "runAsNonRoot: true",
      "readOnlyRootFilesystem: true",
      "allowPrivilegeEscalation: false",
    ])
      assert.ok(text.includes(part), `${role}: ${part}`);
    assert.ok(Number(/replicas: (\d+)/.exec(text)?.[1]) > 1, role);
    const budget = documents.find(
      (other) => /kind: PodDisruptionBudget/.test(other) && other.includes(`role: ${role} `),
    );
    assert.ok(budget, `${role} has no disruption budget`);
  }
});

test("the time to stop is longer than the service drains", () => {
  const drainMs = Number(
    /DRAIN_MS_MAX = ([\d_]+)/.exec(read("src/operator/process/shutdown.ts"))?.[1]?.replaceAll("_", ""),
  );
  const seconds = [
    /terminationGracePeriodSeconds: (\d+)/.exec(kubernetes),
    /TimeoutStopSec=(\d+)/.exec(unit),
    /stop_grace_period: (\d+)s/.exec(compose),
  ].map((match) => Number(match?.[1]));
  for (const each of seconds) assert.ok(each * 1_000 > drainMs, `${each} s`);
});

test("the commands of the files exist, and the unit does not restart after a broken invariant", async () => {
  for (const text of [image, unit, kubernetes]) assert.match(text, /serve/);
  const { code } = await renderCli(["serve", "--config", "x", "--role", "api", "--help"]);
  assert.equal(code, 0);
  const fatal = /FATAL_EXIT_CODE = (\d+)/.exec(read("src/operator/process/shutdown.ts"))?.[1];
  assert.match(unit, new RegExp(`^RestartPreventExitStatus=${fatal}$`, "m"));
});
