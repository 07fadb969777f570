import type { Context, Middleware } from "koa";
import { koaBody } from "koa-body";
import * as z from "zod";
import { systemActor, type Actor } from "../../kernel/actor.ts";
import { InvalidRequest, notFound, NotFound, type Problem } from "../../kernel/errors.ts";
import { idPattern, idPrefixes } from "../../kernel/id.ts";
import { expectation } from "../representation.ts";
import type { Caller, Exchange } from "./exchange.ts";
import { mayLackBody, pathParameters, type AnyCall, type Operation } from "../declare/operation.ts";
import { PayloadTooLarge, UnsupportedMediaType } from "../declare/problems.ts";
import { parseBody, queryParser } from "../declare/request.ts";

/** Returns the parser of an operation's requests, which validates them by the operation's declaration, without the body. */
export function callParser(operation: Operation): (ctx: Exchange, caller: Caller) => AnyCall {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(
    (match) => match[1] as keyof typeof pathParameters,
  );
  const readQuery = queryParser(operation.query);
  return (ctx, caller) => {
    const params = Object.fromEntries(names.map((name) => [name, pathParameter(ctx, name)]));
    const query = readQuery(ctx.querystring);
    checkBody(ctx, operation);
    const actor: Actor = caller.principal ?? systemActor("public");
    return {
      params,
      query,
      body: undefined,
      actor: caller.principal,
      organizationId: caller.membership?.organizationId ?? null,
      membership: caller.membership,
      context: { actor, requestId: ctx.state.requestId, ip: ctx.state.clientAddress },
      expect: expectation(ctx.get("If-Match"), operation),
    };
  };
}

/** Accepted body of a POST without a body schema: an object without fields. */
const emptyBody = z.strictObject({});

function hasBody(ctx: Exchange): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = ctx.req.headers;
  return length === undefined ? encoding !== undefined : length !== "0";
}

/** Refuses a request whose body can be none of the operation's, before it is read. */
function checkBody(ctx: Exchange, operation: Operation): void {
  if (!hasBody(ctx)) {
    if (operation.body === null || mayLackBody(operation)) return;
    throw new InvalidRequest("This operation requires a JSON body.");
  }
  if (operation.body === null && operation.method !== "POST") {
    throw new InvalidRequest("This operation takes no body. Send the request without one.");
  }
  if (ctx.is("application/json") === false) {
    throw new UnsupportedMediaType("Send JSON with the header Content-Type: application/json.");
  }
}

/** Returns the body of a request, once it is read. */
export function bodyOf(ctx: Exchange, operation: Operation): unknown {
  if (!hasBody(ctx)) return operation.body === null ? undefined : operation.body.parse({});
  const body = parseBody(operation.body ?? emptyBody, parseJson(ctx));
  return operation.body === null ? undefined : body;
}

type ParameterName = keyof typeof pathParameters;

/** Formats of the path parameters that are not ids. */
const wordPatterns: Partial<Record<ParameterName, RegExp>> = {
  checkoutId: /^chk_[0-9a-z]{26,64}$/,
  queue: /^[\w-]{1,64}$/,
  network: /^[\w-]{1,40}$/,
};

const patterns: ReadonlyMap<string, RegExp | undefined> = new Map(
  Object.entries(pathParameters).map(([name, kind]) => [
    name,
    kind === null ? wordPatterns[name as ParameterName] : idPattern(kind),
  ]),
);

/** Returns a path parameter. A malformed one is a 404, like an unknown id. */
export function pathParameter(ctx: Exchange, name: ParameterName): string {
  const value = ctx.params?.[name] ?? "";
  if (patterns.get(name)?.test(value) === true) return value;
  throw name === "invoiceId" && !value.startsWith(invoicePrefix) ? noInvoiceId() : notFound();
}

const invoicePrefix = `${idPrefixes.invoice}_`;

/** Creates the response for a path with another text than an invoice's id, such as the merchant's own `externalId`. */
function noInvoiceId(): Problem {
  return new NotFound(
    `The invoiceId in the path is not the id of an invoice, which begins with ${invoicePrefix}. To find invoices by your externalId, list those of the organization with ?externalId=; by a publicId, with ?search=.`,
  );
}

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
function parseJson({ request }: Context): unknown {
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
