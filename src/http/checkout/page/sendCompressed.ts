import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompressSync, constants, gzip, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { PageFile } from "@tributary/checkout/checkoutState";

const compress = promisify(gzip);

/** A file of the page in three forms, with the tag by which a browser asks whether its copy is current. */
export type ServedFile = {
  readonly contentType: string;
  readonly plain: string;
  readonly gzipped: Buffer;
  readonly brotli: Buffer;
  readonly etag: string;
};

export function prepareFile({ contentType, content }: PageFile): ServedFile {
  const etag = `"${hash("sha256", content, "base64url").slice(0, 22)}"`;
  return { contentType, plain: content, gzipped: gzipSync(content, { level: 9 }), brotli: toBrotli(content), etag };
}

/** Sends a file, or 304 to a browser that has it. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  const { contentType, plain, gzipped, brotli, etag } = file;
  reply.headers({ "content-type": contentType, etag, vary: "Accept-Encoding" });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  if (accepts(request, "br")) return reply.header("content-encoding", "br").send(brotli);
  return acceptsGzip(request) ? reply.header("content-encoding", "gzip").send(gzipped) : reply.send(plain);
}

/**
 * Sends a rendered document. It holds no secret beside what a reader could reflect into it, so compressing both tells
 * nobody anything.
 */
export async function sendDocument(request: FastifyRequest, reply: FastifyReply, html: string): Promise<FastifyReply> {
  if (!acceptsGzip(request)) return reply.send(html);
  const body = await compress(html);
  return reply.header("content-encoding", "gzip").send(body);
}

function toBrotli(content: string): Buffer {
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });
}

function acceptsGzip(request: FastifyRequest): boolean {
  return accepts(request, "gzip");
}

/** Whether the browser takes an encoding: a quality of 0 refuses it. */
function accepts({ headers }: FastifyRequest, encoding: "br" | "gzip"): boolean {
  const pattern = new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))|,|$)`, "i");
  return pattern.test(String(headers["accept-encoding"] ?? ""));
}
