import { promisify } from "node:util";
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from "node:zlib";
import type { Middleware } from "koa";
import { entityTag, tagsOf } from "./pipeline/entity-tags.ts";
import {
  encodings,
  type CompressedForms,
  type Encoding,
  type Exchange,
  type RequestState,
} from "./pipeline/exchange.ts";

/** Minimum size for compression, in bytes. Smaller bodies fit into one packet anyway. */
const compressedFrom = 1_024;

/** Compressible content types. Event streams are excluded because their data would be stuck in the compressor. */
const textTypes =
  /^(?:text\/(?!event-stream)|application\/(?:json|problem\+json|javascript)$|image\/svg)/;

/**
 * Chooses the representation of a response: compressed or not, with an ETag for that form, or 304 if the client has it.
 * - Text of 1 KiB or more is compressed if the client accepts an encoding. A response with a secret is not: compressed
 * together with text that an attacker chose, its length would reveal the secret (BREACH).
 * - Each encoding has its own strong tag (RFC 9110, 8.8.3.3): `"…"`, `"…-br"`, `"…-gzip"`.
 * - HEAD runs like GET so that its headers are the same; Koa omits the body.
 */
export function representAnswers(): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const { body } = ctx as { body: unknown };
    if (typeof body !== "string" && !Buffer.isBuffer(body)) return;
    const isText = textTypes.test(ctx.type) && ctx.length >= compressedFrom;
    const isCompressible = isText && ctx.state.isSecret !== true;
    if (isCompressible) ctx.vary("Accept-Encoding");
    const encoding = isCompressible ? acceptedEncoding(ctx) : null;

    const isRead = (ctx.method === "GET" || ctx.method === "HEAD") && ctx.status === 200;
    const given = ctx.res.getHeader("ETag") ?? (isRead && isText ? entityTag(body) : null);
    const tag = given === null ? null : encodedTag(String(given), encoding);
    if (tag !== null) ctx.set("ETag", tag);
    if (isRead && tag !== null && isKnown(ctx.get("If-None-Match"), tag)) {
      ctx.status = 304;
    } else if (encoding !== null) {
      ctx.set("Content-Encoding", encoding);
      const forms = ctx.state.forms ?? {};
      ctx.body = forms[encoding] ??= compress(body, encoding);
    }
  };
}

/** Maximum number of Accept-Encoding headers whose encoding is kept. Browsers send a handful of different ones. */
const acceptedMax = 100;
const accepted = new Map<string, Encoding | null>();

function acceptedEncoding(ctx: Exchange): Encoding | null {
  const header = ctx.get("Accept-Encoding");
  if (header === "") return null;
  const known = accepted.get(header);
  if (known !== undefined) return known;
  const found = encodings.find((encoding) => ctx.acceptsEncodings(encoding) === encoding) ?? null;
  if (accepted.size >= acceptedMax) accepted.clear();
  accepted.set(header, found);
  return found;
}

function encodedTag(tag: string, encoding: Encoding | null): string {
  return encoding === null ? tag : tag.replace(/"$/, `-${encoding}"`);
}

/** Compares weakly, as RFC 9110 requires for If-None-Match. */
function isKnown(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch === "*" || tagsOf(ifNoneMatch).includes(tag);
}

/**
 * Compresses a response that is used once, synchronously at the lowest level: 0.05 ms for 20 KB, which is less than the
 * overhead of zlib's thread pool.
 */
function compress(body: string | Buffer, encoding: Encoding): Buffer {
  if (encoding === "gzip") return exactly(gzipSync(body, { level: 1 }));
  return exactly(brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }));
}

/** Copies what zlib returns, which is the beginning of a block of 16 KiB, so that a kept form takes only its own length. */
function exactly(compressed: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(compressed.length);
  compressed.copy(copy);
  return copy;
}

/** A body that is created once and sent to all clients, with its tag and compressed forms. */
export interface KeptBody {
  readonly type: string;
  readonly body: string | Buffer;
  readonly tag: string;
  readonly forms: CompressedForms;
}

export const htmlType = "text/html; charset=utf-8";

/** Returns a text whose compressed forms are made, quickly, when a client first accepts them. */
export function keepText(type: string, body: string): KeptBody {
  return { type, body, tag: entityTag(body), forms: {} };
}

const bestBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Computes the tag and, off the main thread, the compressed forms of a body. */
export async function keepBody(type: string, body: string | Buffer): Promise<KeptBody> {
  const tag = entityTag(body);
  if (!textTypes.test(type) || Buffer.byteLength(body) < compressedFrom) {
    return { type, body, tag, forms: {} };
  }
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(body, bestBrotli),
    promisify(gzip)(body),
  ]);
  return { type, body, tag, forms: { br, gzip: gzipped } };
}

export function sendKept(ctx: Exchange, kept: KeptBody): void {
  ctx.state.forms = kept.forms;
  ctx.set("ETag", kept.tag);
  ctx.type = kept.type;
  ctx.body = kept.body;
}
