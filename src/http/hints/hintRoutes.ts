import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { HintProvider } from "../../config/config.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { registerProviderHint } from "../../view/registerProviderHint.ts";
import { limitFailedAuth } from "../checks/checkApiKey.ts";
import type { HttpContext } from "../httpContext.ts";
import { HintLimits } from "./hintLimits.ts";
import { PROOFS } from "./hintProof.ts";

// The only way in for others than merchants and payers: a provider says that an address was paid. It is believed in
// nothing, and makes the watcher look sooner.

const PATH = "/hooks/:provider/:chain";
const BODY_BYTES_MAX = 1_048_576;
/** Hints that are being looked up. Further ones are dropped: they only save time. */
const RUNNING_MAX = 4;

const unzip = promisify(gunzip);

type Source = { chain: Caip2; provider: HintProvider; secret: string };

export function addHintRoutes(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  const limits = new HintLimits(world.clock);
  let running = 0;

  /** Throws not_found where no such provider is configured, or this process lacks its secret. */
  function findSource(request: FastifyRequest): Source {
    const { provider, chain: slug } = request.params as { provider: string; chain: string };
    const chain = world.config.chains.find((each) => each.slug === slug);
    const source = chain?.hints?.find((each) => each.provider === provider);
    if (chain === undefined || source?.secret === undefined)
      throw new Fault("not_found", { message: "No route matches this method and path." });
    return { chain: chain.caip2, provider: source.provider, secret: source.secret.reveal() };
  }

  async function refuse(request: FastifyRequest): Promise<never> {
    limits.countRefused(request.ip);
    await limitFailedAuth(context, request.ip);
    throw new Fault("unauthorized", { message: "The provider's proof is missing, wrong or too old." });
  }

  async function look(source: Source, body: Uint8Array): Promise<void> {
    if (running >= RUNNING_MAX) return;
    running += 1;
    try {
      const message = Buffer.from(body).toString("latin1");
      const inboxes = await registerProviderHint(world, { ...source, message });
      if (inboxes > 0) world.log.debug({ chain: source.chain, provider: source.provider, inboxes }, "provider hint");
    } catch (err) {
      world.log.debug({ err, chain: source.chain, provider: source.provider }, "provider hint dropped");
    } finally {
      running -= 1;
    }
  }

  void server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: BODY_BYTES_MAX }, (_request, body, parsed) =>
      parsed(null, body),
    );
    scope.setErrorHandler((error, _request, _reply) => {
      throw Reflect.get(error as object, "code") === "FST_ERR_CTP_BODY_TOO_LARGE"
        ? new Fault("payload_too_large")
        : error;
    });
    scope.post(PATH, {
      bodyLimit: BODY_BYTES_MAX,
      // Before the body is read.
      onRequest: async (request, reply) => {
        const { provider, secret } = findSource(request);
        if (!PROOFS[provider].isPlausible(request.headers, secret)) await refuse(request);
        limits.beginReading(request.ip, reply.raw);
      },
      handler: async (request, reply) => {
        const source = findSource(request);
        const { headers } = request;
        const body = await readBody(request);
        const nowS = world.clock.now().getTime() / 1_000;
        const isValid =
          body !== undefined && PROOFS[source.provider].isValid({ headers, body, secret: source.secret, nowS });
        if (!isValid) return refuse(request);
        limits.countHint(source.chain);
        void look(source, body);
        return reply.code(202).send();
      },
    });
    done();
  });
}

/** Undefined for a compressed body that is none, or too long. */
async function readBody({ body, headers }: FastifyRequest): Promise<Buffer | undefined> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (headers["content-encoding"] !== "gzip") return bytes;
  return unzip(bytes, { maxOutputLength: BODY_BYTES_MAX }).catch(() => undefined);
}
