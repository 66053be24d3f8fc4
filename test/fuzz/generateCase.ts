import type { SeededRandom } from "./seededRandom.ts";
import { mutateValidBody, VALID_BODIES, type PayoutTarget } from "./mutateValidBody.ts";
import { generateBody, generateNumber, generateText } from "./generateText.ts";

/** A request as bytes, with the kind of its generator. */
export type FuzzCase = {
  kind: string;
  bytes: Buffer;
  /** Whether the head is complete, so that the server must answer. */
  isAnswered: boolean;
  /** The create's exact body, for comparison with the stored intent. */
  createBody?: Buffer;
};

/** Valid values that pass the first checks. */
export type FuzzTargets = {
  apiKey: string;
  /** Refused keys, each for a different reason. */
  invalidKeys: readonly string[];
  version: string;
  intentIds: readonly string[];
  /** Ids for archive requests only; most operations return 404 for an archived intent. */
  archivableIds: readonly string[];
  cursors: readonly string[];
  widgetTokens: readonly string[];
  payoutTarget: PayoutTarget;
};

type RequestHead = { method: string; path: string; headers: [name: string, value: string][] };

const CREATE = "/api/v1/intents";
const PATHS: readonly [method: string, path: string][] = [
  ["GET", "/api/v1/intents"],
  ["POST", "/api/v1/intents"],
  ["GET", "/api/v1/intents/{id}"],
  ["GET", "/api/v1/intents/{id}/origins"],
  ["POST", "/api/v1/intents/{id}/source-inbox"],
  ["POST", "/api/v1/intents/{id}/view"],
  ["POST", "/api/v1/intents/{id}/archive"],
  ["GET", "/api/v1/intents/{id}/deposits"],
  ["GET", "/api/v1/intents/{id}/settlements"],
  ["GET", "/api/v1/account"],
  ["PATCH", "/api/v1/account"],
  ["GET", "/api/v1/page-origins"],
  ["PUT", "/api/v1/page-origins"],
];
const METHODS = [
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "CONNECT",
  "get",
  "G@T",
];
const PATH_SEGMENTS = [
  "/",
  "//",
  "api",
  "v1",
  "intents",
  "..",
  ".",
  "%2e%2e",
  "%2F",
  "%00",
  "%zz",
  ";",
  "?",
  "#",
  "\\",
  "%ff",
  "c",
  "docs",
  "errors",
  "session",
  "sdk",
  "openapi.json",
];
const CASE_GENERATORS = [
  bodyCase,
  mutatedBodyCase,
  mutatedBodyCase,
  fieldBytesCase,
  numbersCase,
  queryCase,
  idCase,
  headerCase,
  pathCase,
  checkoutCase,
  rawCase,
] as const;
/** Few keys, so that they repeat. */
const IDEMPOTENCY_KEYS = ["a", "b", "c"];

export function generateCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  return random.pick(CASE_GENERATORS)(random, targets);
}

function generateHead(random: SeededRandom, targets: FuzzTargets): RequestHead {
  const [method, template] = random.pick(PATHS);
  const path = pathOf(random, targets, template);
  return {
    method,
    path,
    headers: [
      ["host", "localhost"],
      ["authorization", `Bearer ${random.oneIn(60) ? random.pick(targets.invalidKeys) : targets.apiKey}`],
      ["service-version", targets.version],
      ["connection", "close"],
    ],
  };
}

function pathOf(random: SeededRandom, { intentIds, archivableIds }: FuzzTargets, template: string): string {
  return template.replace("{id}", random.pick(template.endsWith("archive") ? archivableIds : intentIds));
}

function serializeRequest({ method, path, headers }: RequestHead, body?: Buffer | string): Buffer {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  const length: [string, string][] = body === undefined ? [] : [["content-length", String(bytes.length)]];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n`, "latin1"), bytes]);
}

function postHead(random: SeededRandom, targets: FuzzTargets): RequestHead {
  let head = generateHead(random, targets);
  while (head.method !== "POST") head = generateHead(random, targets);
  head.headers.push(["content-type", "application/json"]);
  return head;
}

function bodyCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  return caseWithBody("body", postHead(random, targets), Buffer.from(generateBody(random)));
}

/** A request that includes its create's body for comparison. */
function caseWithBody(kind: string, head: RequestHead, body: Buffer): FuzzCase {
  const comparison = head.path === CREATE ? { createBody: body } : {};
  return { kind, bytes: serializeRequest(head, body), isAnswered: true, ...comparison };
}

/** A create with numbers in many spellings, which must stay exact when accepted. About half of them are valid. */
function numbersCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const head = { ...postHead(random, targets), path: CREATE };
  const price = random.oneIn(4) ? generateNumber(random) : String(1 + random.below(random.oneIn(2) ? 2 ** 53 : 1_000));
  const spelledPrice = random.pick([price, price, `${price}.0`, `${price}e0`, `${price}0E-1`, `${price}.5`]);
  const kept = Array.from({ length: random.below(3) }, () =>
    random.oneIn(6)
      ? generateNumber(random)
      : `${random.pick(["", "-"])}${1 + random.below(999)}${random.pick(["", ".50", "e2", "E-7"])}`,
  );
  const reference = generateText(random).slice(0, 90);
  const merchantReference = random.oneIn(6) ? reference : reference.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, "x");
  const body = `{"priceUnits":${spelledPrice},"metadata":{"kept":[${kept.join(",")}]},"merchantReference":${JSON.stringify(merchantReference)}}`;
  return caseWithBody("numbers", head, Buffer.from(body));
}

function mutatedBodyCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const [template, right] = random.pick(Object.entries(VALID_BODIES));
  const head = postHead(random, targets);
  head.path = pathOf(random, targets, template);
  head.method = PATHS.find(([method, path]) => path === template && method !== "GET")?.[0] ?? "POST";
  if (random.oneIn(4)) head.headers.push(["idempotency-key", random.pick(IDEMPOTENCY_KEYS)]);
  const body = mutateValidBody(random, right(random, targets.payoutTarget));
  if (!random.oneIn(4)) return caseWithBody("nearly right", head, Buffer.from(body));
  head.headers.push(["transfer-encoding", random.oneIn(9) ? "gzip, chunked" : "chunked"]);
  return {
    kind: "nearly right",
    bytes: Buffer.concat([serializeRequest(head), encodeChunked(random, Buffer.from(body))]),
    isAnswered: true,
  };
}

function encodeChunked(random: SeededRandom, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < body.length;) {
    const chunk = body.subarray(start, start + 1 + random.below(random.oneIn(2) ? 9 : 40_000));
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
    start += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** A payer's browser request, without key and version. */
function checkoutCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const id = random.oneIn(4) ? encodeURIComponent(generateText(random).toWellFormed()) : random.pick(targets.intentIds);
  const headers: RequestHead["headers"] = [
    ["host", "localhost"],
    ["connection", "close"],
    ["origin", random.pick(["null", "https://shop.example", "https://listed.example", plain(generateText(random))])],
    ["cookie", `${random.pick(["session", "__Host-session", "a"])}=${plain(generateText(random))}`],
  ];
  const rest = random.pick(["", "/session", "/session", "/status", "/qr.svg?of=address&of=x", "/x"]);
  const head = {
    method: rest === "/session" ? "POST" : random.pick(METHODS.slice(0, 6)),
    path: `/c/${id}${rest}`,
    headers,
  };
  if (head.method !== "POST") return { kind: "checkout", bytes: serializeRequest(head), isAnswered: true };
  headers.push(["content-type", "application/json"]);
  const token = random.pick(targets.widgetTokens);
  const body = mutateValidBody(random, random.pick([{ widgetToken: token }, { ticket: token }, {}]));
  return { kind: "checkout", bytes: serializeRequest(head, body), isAnswered: true };
}

/** A body with a few random bytes changed. */
function fieldBytesCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const body = Buffer.from(generateBody(random));
  for (let times = random.below(4); times > 0 && body.length > 0; times -= 1)
    body[random.below(body.length)] = random.below(256);
  return caseWithBody("bytes of a body", postHead(random, targets), body);
}

function queryCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const cursor = random.pick(targets.cursors);
  const flipped = Buffer.from(cursor);
  if (flipped.length > 0) flipped[random.below(flipped.length)] = 33 + random.below(90);
  const values = [
    generateText(random),
    generateNumber(random),
    cursor,
    flipped.toString("latin1"),
    `${cursor}${cursor}`,
    "100",
    "",
  ];
  const parameters = Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(["limit", "cursor", "merchantReference", "after", "limit[]", "__proto__", "constructor"]);
    const value = random.pick(values);
    return `${name}=${random.oneIn(6) ? plain(value) : encodeURIComponent(value.toWellFormed())}`;
  });
  const head = generateHead(random, targets);
  const [path = ""] = head.path.split("?");
  return {
    kind: "query",
    bytes: serializeRequest({
      ...head,
      method: "GET",
      path: `${random.oneIn(3) ? path : "/api/v1/intents"}?${parameters.join("&")}`,
    }),
    isAnswered: true,
  };
}

function hasBody({ method }: RequestHead): boolean {
  return method !== "GET";
}

function idCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const head = generateHead(random, targets);
  const id = random.oneIn(3) ? plain(generateText(random)) : encodeURIComponent(generateText(random).toWellFormed());
  const path = head.path.replace(/pi_[0-9a-z]+/, id);
  return {
    kind: "id",
    bytes: serializeRequest({ ...head, path }, hasBody(head) ? "{}" : undefined),
    isAnswered: true,
  };
}

function headerCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const head = generateHead(random, targets);
  const names = [
    "service-version",
    "authorization",
    "content-type",
    "content-encoding",
    "idempotency-key",
    "x-forwarded-for",
    "expect",
    "upgrade",
    "cookie",
    "accept",
    "range",
    "origin",
  ];
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    const name = random.pick(names);
    const value = random.oneIn(2)
      ? plain(generateText(random))
      : random.pick([
          targets.version,
          "2025-02-30",
          "Bearer x",
          "gzip",
          "text/plain",
          "application/json;charset=utf-16",
          "100-continue",
          "websocket",
          "k",
        ]);
    if (random.oneIn(2)) head.headers = head.headers.filter(([had]) => had !== name);
    head.headers.push([name, value]);
  }
  return {
    kind: "header",
    bytes: serializeRequest(head, hasBody(head) ? generateBody(random) : undefined),
    isAnswered: true,
  };
}

function pathCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  const path = `/${Array.from({ length: random.below(9) }, () => random.pick(PATH_SEGMENTS)).join(random.oneIn(2) ? "/" : "")}`;
  const head = generateHead(random, targets);
  return { kind: "path", bytes: serializeRequest({ ...head, method: random.pick(METHODS), path }), isAnswered: true };
}

/** A valid request with cut, added or changed bytes, for the HTTP parser. */
function rawCase(random: SeededRandom, targets: FuzzTargets): FuzzCase {
  let bytes = serializeRequest(postHead(random, targets), generateBody(random));
  switch (random.below(8)) {
    case 7:
      bytes = Buffer.from(
        bytes
          .toString("latin1")
          .replace("\r\n", `\r\nconnection: upgrade\r\nupgrade: ${random.pick(["h2c", "x"])}\r\n`),
        "latin1",
      );
      break;
    case 0:
      bytes = bytes.subarray(0, random.below(bytes.length));
      break;
    case 1:
      bytes = Buffer.concat([random.bytes(1 + random.below(40)), bytes]);
      break;
    case 2:
      bytes = Buffer.from(
        bytes.toString("latin1").replaceAll("\r\n", random.pick(["\n", "\r", "\n\r", "\r\n \r\n"])),
        "latin1",
      );
      break;
    case 3:
      bytes = Buffer.from(
        bytes
          .toString("latin1")
          .replace(
            "\r\n",
            `\r\ntransfer-encoding: ${random.pick(["chunked", "gzip", "chunked, chunked", "xchunked", "gzip, chunked", ""])}\r\n`,
          ),
        "latin1",
      );
      break;
    case 4:
      bytes = Buffer.from(
        bytes.toString("latin1").replace("\r\n", `\r\nx-long: ${"a".repeat(random.below(40_000))}\r\n`),
        "latin1",
      );
      break;
    case 5:
      bytes = Buffer.from(
        bytes
          .toString("latin1")
          .replace("HTTP/1.1", random.pick(["HTTP/0.9", "HTTP/2.0", "HTTP/1.0", "http/1.1", "", "HTTP/1.1 x"])),
        "latin1",
      );
      break;
    default:
      bytes = Buffer.from(bytes);
      for (let times = 1 + random.below(6); times > 0; times -= 1)
        bytes[random.below(bytes.length)] = random.below(256);
  }
  return { kind: "raw", bytes, isAnswered: false };
}

/** Removes bytes that would end a header line. */
function plain(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "").slice(0, 4_000);
}
