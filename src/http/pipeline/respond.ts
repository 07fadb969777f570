import type { App } from "../../app.ts";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { csvLine } from "../../kernel/csv.ts";
import { canonicalJson, digest } from "../../kernel/digest.ts";
import { Defect, invalidField } from "../../kernel/errors.ts";
import type { Logger } from "../../platform/logger/index.ts";
import { scopesMay, type Principal } from "../declare/permissions.ts";
import { serialize, tagOfResponse } from "../representation.ts";
import type { CompressedForms, Exchange, MountDependencies } from "./exchange.ts";
import type { StoredResponse } from "./idempotency.ts";
import type { AnyCall, CsvContent, Operation } from "../declare/operation.ts";
import { hasEntityTag } from "../declare/responses.ts";

/** Runs the operation's handler, at most once per Idempotency-Key, and sends the result as its response record. */
export async function respond(
  ctx: Exchange,
  operation: Operation,
  app: App,
  call: AnyCall,
  deps: MountDependencies,
): Promise<void> {
  if (operation.csv !== null) {
    const content = operation.present(await operation.handle(app, call)) as CsvContent;
    await sendCsv(ctx, content, deps.logger);
    return;
  }
  const seesCheckouts = maySeeCheckouts(call.actor);
  const present = (result: unknown): StoredResponse => {
    if (operation.record === null) return { status: operation.status, body: "" };
    const body = checked(operation, result, deps);
    const shown = seesCheckouts ? body : withoutCheckouts(body);
    return { status: operation.status, body: JSON.stringify(shown) };
  };
  if (!operation.idempotent) {
    const result = await operation.handle(app, call);
    send(ctx, operation, seesCheckouts ? rendered(operation, result, present) : present(result));
    return;
  }
  let isFound = false as boolean;
  const principal =
    call.actor === null ? `public:${Object.values(call.params).join(":")}` : call.actor.id;
  const { response, isReplayed } = await deps.idempotency.run(
    {
      key: idempotencyKey(ctx),
      scope: `${principal}\n${operation.id}`,
      fingerprint: digest(canonicalJson([ctx.path, call.query, call.body ?? null])),
      target: digest(canonicalJson([ctx.path, call.query])),
      hasExternalId: namesExternalId(call.body),
      isPublic: call.actor === null,
      isSecret: operation.secretResponse,
    },
    call.context,
    async (context) => {
      const result = await operation.handle(app, { ...call, context });
      isFound = operation.isReplayed(result);
      return result;
    },
    present,
  );
  if (isReplayed || isFound) ctx.set("Idempotent-Replayed", "true");
  send(ctx, operation, response);
}

/** The fields whose value lets its reader act as a payer; all may be null. */
const payersFields: ReadonlySet<string> = new Set(["checkoutId", "checkoutUrl", "openInvoice"]);
/** The field with the merchant's own names and values. */
const ownField = "metadata";

/** Whether a caller may see the pages of payers: everybody but keys that make no invoices. */
function maySeeCheckouts(principal: Principal | null): boolean {
  if (principal?.type !== "api_key") return true;
  return (["invoices:write", "platform:read"] as const).some((permission) =>
    scopesMay(principal.scopes, permission),
  );
}

/** Returns an answer, however deep its records, in which the fields that let a caller act as a payer are null. */
function withoutCheckouts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCheckouts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (name === ownField) return [name, field];
      return [name, payersFields.has(name) ? null : withoutCheckouts(field)];
    }),
  );
}

function namesExternalId(body: unknown): boolean {
  return typeof body === "object" && body !== null && "externalId" in body;
}

interface Rendered extends StoredResponse {
  /** The entity tag, computed on first use. */
  tag?: string;
  readonly forms?: CompressedForms;
}

const renderings = new WeakMap<Operation, WeakMap<object, Rendered>>();

/**
 * Returns the serialized response. If a function returns the same object again because nothing has changed, the
 * validation and serialization are reused; polling of checkouts depends on this.
 */
function rendered(
  operation: Operation,
  result: unknown,
  present: (result: unknown) => StoredResponse,
): Rendered {
  if (typeof result !== "object" || result === null) return present(result);
  let known = renderings.get(operation);
  if (known === undefined) {
    known = new WeakMap();
    renderings.set(operation, known);
  }
  let response = known.get(result);
  if (response === undefined) {
    response = { ...present(result), forms: {} };
    known.set(result, response);
  }
  return response;
}

function idempotencyKey(ctx: Exchange): string | undefined {
  const given = ctx.req.headersDistinct["idempotency-key"] ?? [];
  if (given.length > 1)
    throw invalidField({ header: "Idempotency-Key" }, "repeated", "must be given once");
  return given[0];
}

function checked(operation: Operation, result: unknown, deps: MountDependencies): unknown {
  const { body, fault } = serialize(operation, result);
  if (fault === null) return body;
  if (deps.strictResponses)
    throw new Defect(
      `${operation.id} returned a response that does not match its record: ${fault}`,
    );
  deps.logger.error({ operation: operation.id, fault }, "a response does not match its record");
  return body;
}

function send(ctx: Exchange, operation: Operation, response: Rendered): void {
  if (operation.record === null) {
    ctx.status = response.status;
    ctx.body = null;
    ctx.status = response.status;
    return;
  }
  if (hasEntityTag(operation))
    ctx.set("ETag", (response.tag ??= tagOfResponse(operation, response.body)));
  if (operation.secretResponse) ctx.state.isSecret = true;
  if (response.forms !== undefined) ctx.state.forms = response.forms;
  ctx.status = response.status;
  ctx.type = "application/json";
  ctx.body = response.body;
}

/**
 * Sends a CSV file while it is read: no more than a page waits for a slow client. An error before the first page is an
 * ordinary problem; after that the connection breaks, so that the client does not take a part for the whole.
 */
export async function sendCsv(ctx: Exchange, content: CsvContent, logger: Logger): Promise<void> {
  const { fileName } = content;
  const isRead = ctx.method !== "HEAD";
  const lines = csvText(content);
  const first = isRead ? await lines.next() : null;
  ctx.status = 200;
  ctx.set("Content-Type", "text/csv; charset=utf-8; header=present");
  ctx.set("Content-Disposition", `attachment; filename="${fileName}"`);
  if (first === null || first.done === true) {
    ctx.body = "";
    return;
  }
  const { value: start } = first;
  ctx.respond = false;
  const { res } = ctx;
  res.statusCode = 200;
  async function* all(): AsyncGenerator<string> {
    yield start;
    yield* lines;
  }
  try {
    await pipeline(Readable.from(all()), res);
  } catch (error) {
    // The client has left, or the rest could not be read. Either way, the connection has ended.
    if (!hasLeft(error)) logger.error({ err: error, fileName }, "an export ended early");
  }
}

/** Returns the text of a CSV file in parts: its head with the first page, and then a page at a time. */
async function* csvText({ head, pages }: CsvContent): AsyncGenerator<string, void> {
  let before = csvLine(head);
  for await (const page of pages) {
    yield before + page.map(csvLine).join("");
    before = "";
  }
  if (before !== "") yield before;
}

function hasLeft(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return ["ERR_STREAM_PREMATURE_CLOSE", "EPIPE", "ECONNRESET"].includes(String(error.code));
}
