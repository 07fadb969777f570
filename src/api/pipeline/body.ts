import type { Context } from "koa";
import { koaBody } from "koa-body";
import { InvalidRequest } from "../../kernel/errors.ts";
import { PayloadTooLarge, UnsupportedMediaType } from "../declare/problems.ts";

/** Largest accepted JSON body, decompressed, in KiB. */
const jsonSizeMax = 256;
/** Largest accepted form body, in KiB. */
const formSizeMax = 16;

/**
 * Decodes the body as latin-1, one character per byte. As UTF-8, the parser would replace invalid bytes with U+FFFD and
 * the stored body would differ from the one sent.
 */
const readJsonBody = koaBody({
  encoding: "latin1",
  includeUnparsed: true,
  jsonLimit: `${String(jsonSizeMax)}kb`,
  jsonStrict: false,
  text: false,
  urlencoded: false,
  multipart: false,
  parsedMethods: ["POST", "PUT", "PATCH"] as never,
});

const readFormBody = koaBody({
  formLimit: `${String(formSizeMax)}kb`,
  json: false,
  text: false,
  multipart: false,
});

/** Parses the JSON body of a request. @throws PayloadTooLarge, UnsupportedMediaType, InvalidRequest */
export async function readJson(ctx: Context): Promise<unknown> {
  try {
    await readJsonBody(ctx, () => Promise.resolve());
  } catch (error) {
    letGo(ctx, error, jsonSizeMax);
    // The parser refuses names like __proto__ without saying where they are; parseBody reports their place.
    const { body } = error as { body?: unknown };
    return parseJson(typeof body === "string" ? body : "");
  }
  const { body, rawBody } = ctx.request as { body?: unknown; rawBody?: string };
  return rawBody === undefined || isAscii(rawBody) ? body : parseJson(rawBody);
}

/** Whether all bytes are ASCII, which means the same in every encoding that JSON may use. */
function isAscii(bytes: string): boolean {
  // oxlint-disable-next-line no-control-regex -- matches every byte below 0x80
  return /^[\x00-\x7f]*$/.test(bytes);
}

/** Parses the fields of a form. @throws PayloadTooLarge, UnsupportedMediaType, InvalidRequest */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  const form = new URLSearchParams();
  if (ctx.is("application/x-www-form-urlencoded") === false) {
    throw new UnsupportedMediaType("Send the form as application/x-www-form-urlencoded.");
  }
  try {
    await readFormBody(ctx, () => Promise.resolve());
  } catch (error) {
    letGo(ctx, error, formSizeMax);
    throw new InvalidRequest("The form cannot be read. Send its fields the way a browser does.");
  }
  const fields: unknown = ctx.request.body;
  if (typeof fields !== "object" || fields === null) return form;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.set(name, value);
  }
  return form;
}

/** Discards a body that could not be read, and throws if it was too large or its encoding is unsupported. */
function letGo(ctx: Context, error: unknown, sizeMax: number): void {
  // Unread bytes would block the next request on this connection.
  ctx.req.unpipe();
  ctx.req.resume();
  const { status } = error as { status?: unknown };
  if (status === 413) throw new PayloadTooLarge(`Send at most ${String(sizeMax)} KiB.`);
  if (status === 415)
    throw new UnsupportedMediaType(
      "This content encoding is not supported. Send the body uncompressed or with gzip.",
    );
}

/** Strict decoder: throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses JSON given as latin-1, one character per byte. */
function parseJson(bytes: string): unknown {
  try {
    return JSON.parse(utf8.decode(Buffer.from(bytes, "latin1"))) as unknown;
  } catch {
    throw new InvalidRequest(
      "The body is not valid JSON in UTF-8. Check it with a JSON parser and send it again.",
    );
  }
}
