import type { Context, Middleware } from "koa";
import { koaBody } from "koa-body";
import { InvalidRequest } from "../../kernel/errors.ts";
import { PayloadTooLarge, UnsupportedMediaType } from "../declare/problems.ts";

/** Largest accepted JSON body, decompressed, in KiB. */
const jsonSizeMax = 256;
/** Largest accepted form body, in KiB. */
const formSizeMax = 16;

const malformedJson =
  "The body is not valid JSON in UTF-8. Check it with a JSON parser and send it again.";
const malformedForm = "The form cannot be read. Send its fields the way a browser does.";

/**
 * Reads a JSON body as text in latin-1, one character per byte, for `parseJson`. As UTF-8, invalid bytes would be replaced
 * by U+FFFD, and the stored body would differ from the one sent.
 */
export const readJson: Middleware = koaBody({
  json: false,
  urlencoded: false,
  textTypes: ["application/json"],
  textLimit: `${String(jsonSizeMax)}kb`,
  encoding: "latin1",
  onError: (error, ctx) => {
    refuse(ctx, error, jsonSizeMax, malformedJson);
  },
});

/** Reads the fields of a form, for `formOf`. */
export const readForm: Middleware = koaBody({
  json: false,
  text: false,
  formLimit: `${String(formSizeMax)}kb`,
  onError: (error, ctx) => {
    refuse(ctx, error, formSizeMax, malformedForm);
  },
});

/** Strict decoder: throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses the body that `readJson` has read; "" if it is empty. @throws InvalidRequest */
export function parseJson({ request }: Context): unknown {
  const { body: bytes } = request;
  if (typeof bytes !== "string" || bytes === "") return "";
  try {
    return JSON.parse(utf8.decode(Buffer.from(bytes, "latin1"))) as unknown;
  } catch {
    throw new InvalidRequest(malformedJson);
  }
}

/** Returns the fields of the form that `readForm` has read; those that were sent twice are left out. */
export function formOf({ request }: Context): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries((request.body ?? {}) as object)) {
    if (typeof value === "string") form.set(name, value);
  }
  return form;
}

/** Discards a body that could not be read, and says why. */
function refuse(ctx: Context, error: Error, sizeMax: number, malformed: string): never {
  // Unread bytes would block the next request on this connection.
  ctx.req.unpipe();
  ctx.req.resume();
  const { status } = error as { status?: unknown };
  if (status === 413) throw new PayloadTooLarge(`Send at most ${String(sizeMax)} KiB.`);
  if (status === 415)
    throw new UnsupportedMediaType(
      "This content encoding is not supported. Send the body uncompressed or with gzip.",
    );
  throw new InvalidRequest(malformed);
}
