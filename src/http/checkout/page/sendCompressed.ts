import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { PageFile } from "@tributary/checkout/checkoutState";

const compress = promisify(gzip);

/** A file of the page in both forms, with the tag by which a browser asks whether its copy is current. */
export type ServedFile = {
  readonly contentType: string;
  readonly plain: string;
  readonly gzipped: Buffer;
  readonly etag: string;
};

export function prepareFile({ contentType, content }: PageFile): ServedFile {
  const etag = `"${hash("sha256", content, "base64url").slice(0, 22)}"`;
  return { contentType, plain: content, gzipped: gzipSync(content, { level: 9 }), etag };
}

/** Sends a file, or 304 to a browser that has it. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  const { contentType, plain, gzipped, etag } = file;
  reply.headers({ "content-type": contentType, etag, vary: "Accept-Encoding" });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  return acceptsGzip(request) ? reply.header("content-encoding", "gzip").send(gzipped) : reply.send(plain);
}

/** Sends a rendered document. It holds no secret beside what a reader could reflect into it, so compressing both tells nobody anything. */
export async function sendDocument(request: FastifyRequest, reply: FastifyReply, html: string): Promise<FastifyReply> {
  if (!acceptsGzip(request)) return reply.send(html);
  const body = await compress(html);
  return reply.header("content-encoding", "gzip").send(body);
}

function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(String(headers["accept-encoding"] ?? ""));
}
