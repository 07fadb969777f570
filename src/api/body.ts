import type { Context } from "koa";
import { koaBody } from "koa-body";
import { InvalidRequest } from "../kernel/errors.ts";
import { PayloadTooLarge, UnsupportedMediaType } from "./problems.ts";

/** The largest JSON that a request may send, unpacked, in KiB. */
const jsonSizeMax = 256;
/** The largest form. Pages have small ones. */
const formSizeMax = 16;

/**
 * The text is taken byte by byte, since the reader would put U+FFFD where the bytes are not UTF-8, and the body that is
 * kept were not the one that was sent.
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

/** The value that a request's JSON says. @throws PayloadTooLarge, UnsupportedMediaType, InvalidRequest */
export async function readJson(ctx: Context): Promise<unknown> {
  try {
    await readJsonBody(ctx, () => Promise.resolve());
  } catch (error) {
    letGo(ctx, error, jsonSizeMax);
    // The reader refuses names like __proto__ without saying where: parseBody names them.
    const { body } = error as { body?: unknown };
    return parseJson(typeof body === "string" ? body : "");
  }
  const { body, rawBody } = ctx.request as { body?: unknown; rawBody?: string };
  return rawBody === undefined || isAscii(rawBody) ? body : parseJson(rawBody);
}

/** Text of one byte a letter that means the same in every encoding that JSON is sent in. */
function isAscii(bytes: string): boolean {
  // eslint-disable-next-line no-control-regex -- every byte below 0x80 is meant
  return /^[\x00-\x7f]*$/.test(bytes);
}

/** The fields of a form. @throws PayloadTooLarge, UnsupportedMediaType, InvalidRequest */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  const form = new URLSearchParams();
  if (ctx.is("application/x-www-form-urlencoded") === false) {
    throw new UnsupportedMediaType("Send the form as application/x-www-form-urlencoded.");
  }
  try {
    await readFormBody(ctx, () => Promise.resolve());
  } catch (error) {
    letGo(ctx, error, formSizeMax);
    throw new InvalidRequest("The form cannot be read. Send its fields as a browser does.");
  }
  const fields: unknown = ctx.request.body;
  if (typeof fields !== "object" || fields === null) return form;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.set(name, value);
  }
  return form;
}

/** Lets go of a body that could not be read, and says why where the reason is not its text. */
function letGo(ctx: Context, error: unknown, sizeMax: number): void {
  // What was not read must not stand in the way of the connection's next request.
  ctx.req.unpipe();
  ctx.req.resume();
  const { status } = error as { status?: unknown };
  if (status === 413) throw new PayloadTooLarge(`Send at most ${String(sizeMax)} KiB.`);
  if (status === 415) throw new UnsupportedMediaType("The content encoding is not supported.");
}

/** Strict: bytes that are no UTF-8 are no text, and a mark of the byte order is none of it. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What JSON says, given as one letter a byte. */
function parseJson(bytes: string): unknown {
  try {
    return JSON.parse(utf8.decode(Buffer.from(bytes, "latin1"))) as unknown;
  } catch {
    throw new InvalidRequest(
      "The body is not JSON in UTF-8. Check it with a JSON parser and send it again.",
    );
  }
}
