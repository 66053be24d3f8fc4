import type { SeededRandom } from "./seededRandom.ts";
import { mutateValidBody, VALID_BODIES, type PayoutTarget } from "./mutateValidBody.ts";
import { generateBody, generateNumber, generateText } from "./generateText.ts";

/** A request as bytes, with a word about how it was made. */
export type FuzzCase = {
  kind: string;
  bytes: Buffer;
  /** Whether its head was left whole, so that an answer has to come. */
  isAnswered: boolean;
  /** The body of a create whose bytes are known to be its own. */
  createBody?: Buffer;
};

/** What a request needs in order to get past the first checks. */
export type FuzzTargets = {
  apiKey: string;
  /** Keys that are not admitted, each for a reason of its own. */
  invalidKeys: readonly string[];
  version: string;
  intentIds: readonly string[];
  /** Those that may be archived: an archived intent answers nothing but 404 to most. */
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
/** Few, so that they meet again. */
const IDEMPOTENCY_KEYS = ["a", "b", "c"];

export function generateCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  return dice.pick(CASE_GENERATORS)(dice, known);
}

function generateHead(dice: SeededRandom, known: FuzzTargets): RequestHead {
  const [method, template] = dice.pick(PATHS);
  const path = pathOf(dice, known, template);
  return {
    method,
    path,
    headers: [
      ["host", "localhost"],
      ["authorization", `Bearer ${dice.oneIn(60) ? dice.pick(known.invalidKeys) : known.apiKey}`],
      ["service-version", known.version],
      ["connection", "close"],
    ],
  };
}

function pathOf(dice: SeededRandom, { intentIds, archivableIds }: FuzzTargets, template: string): string {
  return template.replace("{id}", dice.pick(template.endsWith("archive") ? archivableIds : intentIds));
}

function serializeRequest({ method, path, headers }: RequestHead, body?: Buffer | string): Buffer {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  const length: [string, string][] = body === undefined ? [] : [["content-length", String(bytes.length)]];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n`, "latin1"), bytes]);
}

function postHead(dice: SeededRandom, known: FuzzTargets): RequestHead {
  let head = generateHead(dice, known);
  while (head.method !== "POST") head = generateHead(dice, known);
  head.headers.push(["content-type", "application/json"]);
  return head;
}

function bodyCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  return caseWithBody("body", postHead(dice, known), Buffer.from(generateBody(dice)));
}

/** A request whose body is told to whoever compares what is kept of it. */
function caseWithBody(kind: string, head: RequestHead, body: Buffer): FuzzCase {
  const told = head.path === CREATE ? { createBody: body } : {};
  return { kind, bytes: serializeRequest(head, body), isAnswered: true, ...told };
}

/** A create of numbers in any spelling: what is accepted of them must not be rounded. Every other one may be accepted. */
function numbersCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const head = { ...postHead(dice, known), path: CREATE };
  const price = dice.oneIn(4) ? generateNumber(dice) : String(1 + dice.below(dice.oneIn(2) ? 2 ** 53 : 1_000));
  const spelled = dice.pick([price, price, `${price}.0`, `${price}e0`, `${price}0E-1`, `${price}.5`]);
  const kept = Array.from({ length: dice.below(3) }, () =>
    dice.oneIn(6)
      ? generateNumber(dice)
      : `${dice.pick(["", "-"])}${1 + dice.below(999)}${dice.pick(["", ".50", "e2", "E-7"])}`,
  );
  const reference = generateText(dice).slice(0, 90);
  const named = dice.oneIn(6) ? reference : reference.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, "x");
  const body = `{"priceUnits":${spelled},"metadata":{"kept":[${kept.join(",")}]},"merchantReference":${JSON.stringify(named)}}`;
  return caseWithBody("numbers", head, Buffer.from(body));
}

function mutatedBodyCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const [template, right] = dice.pick(Object.entries(VALID_BODIES));
  const head = postHead(dice, known);
  head.path = pathOf(dice, known, template);
  if (dice.oneIn(4)) head.headers.push(["idempotency-key", dice.pick(IDEMPOTENCY_KEYS)]);
  const body = mutateValidBody(dice, right(dice, known.payoutTarget));
  if (!dice.oneIn(4)) return caseWithBody("nearly right", head, Buffer.from(body));
  head.headers.push(["transfer-encoding", dice.oneIn(9) ? "gzip, chunked" : "chunked"]);
  return {
    kind: "nearly right",
    bytes: Buffer.concat([serializeRequest(head), encodeChunked(dice, Buffer.from(body))]),
    isAnswered: true,
  };
}

function encodeChunked(dice: SeededRandom, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < body.length;) {
    const chunk = body.subarray(start, start + 1 + dice.below(dice.oneIn(2) ? 9 : 40_000));
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
    start += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** What a payer's browser asks for, which has neither key nor version. */
function checkoutCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const id = dice.oneIn(4) ? encodeURIComponent(generateText(dice).toWellFormed()) : dice.pick(known.intentIds);
  const headers: RequestHead["headers"] = [
    ["host", "localhost"],
    ["connection", "close"],
    ["origin", dice.pick(["null", "https://shop.example", "https://listed.example", plain(generateText(dice))])],
    ["cookie", `${dice.pick(["session", "__Host-session", "a"])}=${plain(generateText(dice))}`],
  ];
  const rest = dice.pick(["", "/session", "/session", "/status", "/qr.svg?of=address&of=x", "/x"]);
  const head = {
    method: rest === "/session" ? "POST" : dice.pick(METHODS.slice(0, 6)),
    path: `/c/${id}${rest}`,
    headers,
  };
  if (head.method !== "POST") return { kind: "checkout", bytes: serializeRequest(head), isAnswered: true };
  headers.push(["content-type", "application/json"]);
  const token = dice.pick(known.widgetTokens);
  const body = mutateValidBody(dice, dice.pick([{ widgetToken: token }, { ticket: token }, {}]));
  return { kind: "checkout", bytes: serializeRequest(head, body), isAnswered: true };
}

/** A body whose bytes are broken somewhere. */
function fieldBytesCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const body = Buffer.from(generateBody(dice));
  for (let times = dice.below(4); times > 0 && body.length > 0; times -= 1)
    body[dice.below(body.length)] = dice.below(256);
  return caseWithBody("bytes of a body", postHead(dice, known), body);
}

function queryCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const cursor = dice.pick(known.cursors);
  const flipped = Buffer.from(cursor);
  if (flipped.length > 0) flipped[dice.below(flipped.length)] = 33 + dice.below(90);
  const values = [
    generateText(dice),
    generateNumber(dice),
    cursor,
    flipped.toString("latin1"),
    `${cursor}${cursor}`,
    "100",
    "",
  ];
  const parameters = Array.from({ length: 1 + dice.below(3) }, () => {
    const name = dice.pick(["limit", "cursor", "merchantReference", "after", "limit[]", "__proto__", "constructor"]);
    const value = dice.pick(values);
    return `${name}=${dice.oneIn(6) ? plain(value) : encodeURIComponent(value.toWellFormed())}`;
  });
  const head = generateHead(dice, known);
  const [path = ""] = head.path.split("?");
  return {
    kind: "query",
    bytes: serializeRequest({
      ...head,
      method: "GET",
      path: `${dice.oneIn(3) ? path : "/api/v1/intents"}?${parameters.join("&")}`,
    }),
    isAnswered: true,
  };
}

function idCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const head = generateHead(dice, known);
  const id = dice.oneIn(3) ? plain(generateText(dice)) : encodeURIComponent(generateText(dice).toWellFormed());
  const path = head.path.replace(/pi_[0-9a-z]+/, id);
  return {
    kind: "id",
    bytes: serializeRequest({ ...head, path }, head.method === "POST" ? "{}" : undefined),
    isAnswered: true,
  };
}

function headerCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const head = generateHead(dice, known);
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
  for (let times = 1 + dice.below(3); times > 0; times -= 1) {
    const name = dice.pick(names);
    const value = dice.oneIn(2)
      ? plain(generateText(dice))
      : dice.pick([
          known.version,
          "2025-02-30",
          "Bearer x",
          "gzip",
          "text/plain",
          "application/json;charset=utf-16",
          "100-continue",
          "websocket",
          "k",
        ]);
    if (dice.oneIn(2)) head.headers = head.headers.filter(([had]) => had !== name);
    head.headers.push([name, value]);
  }
  return {
    kind: "header",
    bytes: serializeRequest(head, head.method === "POST" ? generateBody(dice) : undefined),
    isAnswered: true,
  };
}

function pathCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  const path = `/${Array.from({ length: dice.below(9) }, () => dice.pick(PATH_SEGMENTS)).join(dice.oneIn(2) ? "/" : "")}`;
  const head = generateHead(dice, known);
  return { kind: "path", bytes: serializeRequest({ ...head, method: dice.pick(METHODS), path }), isAnswered: true };
}

/** A good request that was cut, doubled, or has bytes that do not belong: what the parser itself meets. */
function rawCase(dice: SeededRandom, known: FuzzTargets): FuzzCase {
  let bytes = serializeRequest(postHead(dice, known), generateBody(dice));
  switch (dice.below(8)) {
    case 7:
      bytes = Buffer.from(
        bytes.toString("latin1").replace("\r\n", `\r\nconnection: upgrade\r\nupgrade: ${dice.pick(["h2c", "x"])}\r\n`),
        "latin1",
      );
      break;
    case 0:
      bytes = bytes.subarray(0, dice.below(bytes.length));
      break;
    case 1:
      bytes = Buffer.concat([dice.bytes(1 + dice.below(40)), bytes]);
      break;
    case 2:
      bytes = Buffer.from(
        bytes.toString("latin1").replaceAll("\r\n", dice.pick(["\n", "\r", "\n\r", "\r\n \r\n"])),
        "latin1",
      );
      break;
    case 3:
      bytes = Buffer.from(
        bytes
          .toString("latin1")
          .replace(
            "\r\n",
            `\r\ntransfer-encoding: ${dice.pick(["chunked", "gzip", "chunked, chunked", "xchunked", "gzip, chunked", ""])}\r\n`,
          ),
        "latin1",
      );
      break;
    case 4:
      bytes = Buffer.from(
        bytes.toString("latin1").replace("\r\n", `\r\nx-long: ${"a".repeat(dice.below(40_000))}\r\n`),
        "latin1",
      );
      break;
    case 5:
      bytes = Buffer.from(
        bytes
          .toString("latin1")
          .replace("HTTP/1.1", dice.pick(["HTTP/0.9", "HTTP/2.0", "HTTP/1.0", "http/1.1", "", "HTTP/1.1 x"])),
        "latin1",
      );
      break;
    default:
      bytes = Buffer.from(bytes);
      for (let times = 1 + dice.below(6); times > 0; times -= 1) bytes[dice.below(bytes.length)] = dice.below(256);
  }
  return { kind: "raw", bytes, isAnswered: false };
}

/** What can stand in a head without ending a line of it. */
function plain(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "").slice(0, 4_000);
}
