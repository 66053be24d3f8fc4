import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { PageFile } from "@tributary/checkout/checkoutState";

const compress = promisify(gzip);
const compressByBrotli = promisify(brotliCompress);
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
/** For what each request renders: as quick as gzip, and smaller. */
const QUICK_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** A file in three forms, with the tag by which a browser asks whether its copy is current. */
export type ServedFile = {
  readonly contentType: string;
  readonly plain: string;
  readonly gzipped: Buffer;
  readonly brotli: Buffer;
  readonly etag: string;
};

export function prepareFile({ contentType, content }: PageFile): ServedFile {
  const gzipped = gzipSync(content, { level: 9 });
  return { contentType, plain: content, gzipped, brotli: brotliCompressSync(content, BROTLI), etag: etagOf(content) };
}

/**
 * The same for a document that the first request renders. It compresses on other threads, so that nobody waits for it.
 */
export async function prepareDocument(contentType: string, content: string): Promise<ServedFile> {
  const [gzipped, brotli] = await Promise.all([compress(content, { level: 9 }), compressByBrotli(content, BROTLI)]);
  return { contentType, plain: content, gzipped, brotli, etag: etagOf(content) };
}

function etagOf(content: string): string {
  return `"${hash("sha256", content, "base64url").slice(0, 22)}"`;
}

/** Sends a file, or 304 to a browser that has it. A `vary` of the reply is kept. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  const { contentType, plain, gzipped, brotli, etag } = file;
  const vary = [reply.getHeader("vary"), "Accept-Encoding"].filter((each) => each !== undefined).join(", ");
  reply.headers({ "content-type": contentType, etag, vary });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  if (accepts(request, "br")) return reply.header("content-encoding", "br").send(brotli);
  return accepts(request, "gzip") ? reply.header("content-encoding", "gzip").send(gzipped) : reply.send(plain);
}

/**
 * Sends a rendered document. It holds no secret beside what a reader could reflect into it, so compressing both tells
 * nobody anything.
 */
export async function sendDocument(request: FastifyRequest, reply: FastifyReply, html: string): Promise<FastifyReply> {
  if (accepts(request, "br"))
    return reply.header("content-encoding", "br").send(await compressByBrotli(html, QUICK_BROTLI));
  if (accepts(request, "gzip")) return reply.header("content-encoding", "gzip").send(await compress(html));
  return reply.send(html);
}

/** Whether the browser takes an encoding: a quality of 0 refuses it. */
function accepts({ headers }: FastifyRequest, encoding: "br" | "gzip"): boolean {
  const pattern = new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))|,|$)`, "i");
  return pattern.test(String(headers["accept-encoding"] ?? ""));
}
