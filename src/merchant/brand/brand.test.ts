import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../../test/support/database.ts";
import { insertAccount } from "../../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import { sanitizeLogo } from "../logo/logo.ts";
import { brandCss, parseColor, parseFont, textColorOn } from "./brand.ts";
import { parseBrandChange, readBrand, updateBrand } from "./updateBrand.ts";

let world: StationWorld;
before(async () => {
  world = stationWorld(await openTestDatabase("postgres"));
});
after(() => world.db.close());

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M0 0h10v10z" fill="#7a1f3d"/></svg>';

test("colours and fonts get one form, and texts that CSS would read otherwise are refused", () => {
  assert.equal(parseColor("#0F5470"), "#0f5470");
  assert.equal(parseColor("#abc"), "#aabbcc");
  for (const text of ["red", "#12345", "#1234567", "0f5470", "#0f5470;}body{display:none", "#0f5470 ", "url(x)"])
    assert.equal(parseColor(text), undefined, text);
  assert.equal(parseFont(`Inter, "Noto Sans" ,'Süd', sans-serif`), '"Inter", "Noto Sans", "Süd", sans-serif');
  for (const text of [
    "",
    "a,,b",
    'a";}',
    "a;b",
    "a}b",
    "url(x)",
    "a\\b",
    "a\nb",
    "<b>",
    "a,b,c,d,e,f,g",
    "x".repeat(41),
  ])
    assert.equal(parseFont(text), undefined, text);
});

test("the text on an accent is black or white, always with a contrast of at least 4.5", () => {
  const channels = [0, 51, 102, 118, 119, 128, 153, 204, 255];
  for (const red of channels)
    for (const green of channels)
      for (const blue of channels) {
        const color = `#${[red, green, blue].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
        assert.ok(contrast(color, textColorOn(color)) >= 4.5, color);
      }
});

function contrast(one: string, other: string): number {
  const luminances = [one, other].map((color) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
      const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255;
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
}

test("a brand is stored field by field, and becomes custom properties", async () => {
  const accountId = await insertAccount(world.db);
  await updateBrand(world, accountId, parseBrandChange({ accent: "#ABC", radiusPx: 8, support: "help@shop.example" }));
  const brand = await updateBrand(
    world,
    accountId,
    parseBrandChange({ font: "Inter", radiusPx: null, logo: Buffer.from(SVG) }),
  );
  assert.deepEqual(await readBrand(world, accountId), brand);
  assert.deepEqual([brand.accent, brand.radiusPx, brand.support], ["#aabbcc", null, "mailto:help@shop.example"]);
  assert.equal(brandCss(brand), ':root{--tr-accent:#aabbcc;--tr-on-accent:#000000;--tr-font:"Inter"}');
  assert.equal(brandCss({ accent: null, accentDark: null, radiusPx: null, font: null }), "");
});

test("a wrong value is refused with its name", async () => {
  const cases = [
    { accent: "red" },
    { accentDark: "#12" },
    { radiusPx: 25 },
    { radiusPx: 1.5 },
    { font: "a;b" },
    { support: "javascript:alert(1)" },
    { support: "http://shop.example" },
    { logo: Buffer.from("no image") },
  ];
  for (const change of cases) {
    const [param] = Object.keys(change);
    assert.throws(() => parseBrandChange(change), { code: "invalid_request", param });
    assert.throws(() => parseBrandChange(change, "brand."), { code: "invalid_request", param: `brand.${param}` });
  }
  await assert.rejects(updateBrand(world, "acct_0", { accent: "#abc" }), { code: "not_found" });
});

test("an SVG keeps what draws, and loses scripts, styles, links, handlers and foreign addresses", () => {
  const clean = (svg: string) => {
    const logo = sanitizeLogo(Buffer.from(svg));
    return logo && Buffer.from(logo.bytes).toString();
  };
  const root = '<svg xmlns="http://www.w3.org/2000/svg">';
  assert.equal(clean(SVG), SVG);
  assert.equal(clean(`<?xml version="1.0"?><!-- a --><svg>x<g id="a"/></svg>`), `${root}<g id="a"/></svg>`);
  const dropped = [
    "<script>alert(1)</script>",
    '<script href="//evil.example"/>',
    "<style>*{fill:url(//evil.example)}</style>",
    '<a href="https://evil.example"><path d="M0 0"/></a>',
    '<image href="https://evil.example/x.png"/>',
    '<use xlink:href="https://evil.example/#a"/>',
    "<foreignObject><body><iframe></iframe></body></foreignObject>",
    '<animate attributeName="href" to="javascript:alert(1)"/>',
    '<set attributeName="onload" to="alert(1)"/>',
  ];
  for (const part of dropped) assert.equal(clean(`<svg>${part}</svg>`), `${root}</svg>`, part);
  for (const attribute of [
    'onload="alert(1)"',
    'style="fill:red"',
    'fill="url(https://evil.example/#a)"',
    'fill="URL(//evil.example)"',
    'fill="&#106;avascript:"',
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
    'href="#a"',
  ])
    assert.equal(clean(`<svg><g ${attribute}/></svg>`), `${root}<g/></svg>`, attribute);
  assert.equal(clean('<svg><g fill="url(#a)"/></svg>'), `${root}<g fill="url(#a)"/></svg>`);
});

test("what is not one well-formed image is refused", () => {
  for (const text of [
    "",
    "x",
    "<html/>",
    "<svg>",
    "<svg></g></svg>",
    "<svg/><svg/>",
    "<svg/>x",
    '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>',
    "<svg><![CDATA[<script>]]></svg>",
    '<svg a="<script>"/>',
    "<svg><g a=b/></svg>",
    `<svg>${"<g/>".repeat(9_000)}</svg>`,
  ])
    assert.equal(sanitizeLogo(Buffer.from(text)), undefined, text.slice(0, 40));
});

test("a PNG keeps its image and loses texts and what follows; a broken or large one is refused", () => {
  const image = [chunk("IHDR", header(10, 10)), chunk("IDAT", deflateSync(Buffer.alloc(110))), chunk("IEND")];
  const [first, ...rest] = image;
  const png = Buffer.concat([SIGNATURE, ...image]);
  assert.deepEqual(Buffer.from(sanitizeLogo(png)?.bytes ?? []), png);
  const more = Buffer.concat([
    SIGNATURE,
    first ?? png,
    chunk("tEXt", Buffer.from("a\0b")),
    ...rest,
    Buffer.from("<svg/>"),
  ]);
  assert.deepEqual(Buffer.from(sanitizeLogo(more)?.bytes ?? []), png);
  assert.equal(sanitizeLogo(png.subarray(0, -1)), undefined);
  assert.equal(sanitizeLogo(Buffer.concat([SIGNATURE, ...rest])), undefined);
  assert.equal(sanitizeLogo(Buffer.concat([SIGNATURE, chunk("IHDR", header(1_025, 1)), ...rest])), undefined);
  assert.equal(sanitizeLogo(Buffer.concat([png, Buffer.alloc(32_768)])), undefined);
});

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

function header(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.writeUInt32BE(width, 0);
  bytes.writeUInt32BE(height, 4);
  bytes.set([8, 0], 8);
  return bytes;
}

/** A chunk with a checksum of zero, which browsers refuse and the sanitizer passes on. */
function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.write(type, 4, "latin1");
  return Buffer.concat([frame, data, Buffer.alloc(4)]);
}
