const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const SIDE_PIXELS_MAX = 1_024;
/** The chunks that draw. All others hold texts, times and profiles. */
const DRAWING_CHUNKS = ["IHDR", "PLTE", "tRNS", "sRGB", "gAMA", "IDAT", "IEND"];
const CHUNK_FRAME_BYTES = 12;

/**
 * A PNG with its drawing chunks alone; undefined for other bytes, a broken structure or more than 1,024 pixels a side.
 */
export function sanitizePng(bytes: Uint8Array): Uint8Array | undefined {
  const png = Buffer.from(bytes);
  if (!png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return undefined;
  const kept: Buffer[] = [SIGNATURE];
  let isFirst = true;
  for (let at = SIGNATURE.length; at + CHUNK_FRAME_BYTES <= png.length;) {
    const end = at + CHUNK_FRAME_BYTES + png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    if (end > png.length || isFirst !== (type === "IHDR")) return undefined;
    if (isFirst && !isSizeAllowed(png.subarray(at + 8, end - 4))) return undefined;
    isFirst = false;
    if (DRAWING_CHUNKS.includes(type)) kept.push(png.subarray(at, end));
    // Whatever follows the end of the image is dropped.
    if (type === "IEND") return new Uint8Array(Buffer.concat(kept));
    at = end;
  }
  return undefined;
}

function isSizeAllowed(header: Buffer): boolean {
  if (header.length !== 13) return false;
  return [header.readUInt32BE(0), header.readUInt32BE(4)].every((side) => side > 0 && side <= SIDE_PIXELS_MAX);
}
