import type Router from "@koa/router";
import type { Context } from "koa";
import { z } from "zod";
import type { Actor } from "../kernel/actor.ts";
import { systemActor } from "../kernel/actor.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { Defect, invalidField, InvalidRequest, notFound } from "../kernel/errors.ts";
import { idPattern, type Id } from "../kernel/id.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { Gatekeeper, Principal, Standing } from "./access.ts";
import { readJson } from "./body.ts";
import { digest, type Idempotency, type KeptAnswer } from "./idempotency.ts";
import { pathParameters, type AnyCall, type Operation } from "./operation.ts";
import { roleMay, scopesMay, type Permission } from "./permissions.ts";
import {
  Forbidden,
  OrganizationSuspended,
  PreconditionFailed,
  Unauthenticated,
  UnsupportedMediaType,
} from "./problems.ts";
import { rateLimitHeaders, rateLimits, type RateLimiter } from "./rate-limits.ts";
import { parseBody, parseQuery } from "./request.ts";

export interface MountDependencies {
  readonly gatekeeper: Gatekeeper;
  readonly idempotency: Idempotency;
  readonly rateLimiter: RateLimiter;
  readonly logger: Logger;
  /** Tests: an answer that does not fit its record throws. Else it is logged, never a 500 after a commit. */
  readonly strictAnswers: boolean;
}

/** What the middleware in server.ts has learned about a request. */
export interface RequestState {
  requestId: string;
  clientAddress: string;
}

/** Puts something on the router; how, it knows itself. */
export type Mountable = (router: Router<RequestState>) => void;

/**
 * Operations with the service that they call, ready for a router. The order is the same for each: limits,
 * authenticate, authorise, parse, handle once per Idempotency-Key, check the answer, send.
 */
export function mountOperations<Service>(
  operations: readonly Operation<Service>[],
  service: Service,
  deps: MountDependencies,
): Mountable {
  return (router) => {
    for (const operation of operations) {
      const path = `/v1${operation.path.replaceAll("{", ":").replaceAll("}", "")}`;
      router.register(path, [operation.method], async (ctx) => {
        const caller = await admit(ctx, operation, deps);
        const call = await parse(ctx, operation, caller);
        await answer(ctx, operation, service, call, deps);
      });
    }
  };
}

type Exchange = Context & { state: RequestState; params?: Record<string, string> };

interface Caller {
  readonly principal: Principal | null;
  readonly standing: Standing | null;
}

// --- limits, authenticate, authorise ------------------------------------------------------------------------------

async function admit(
  ctx: Exchange,
  operation: Operation,
  deps: MountDependencies,
): Promise<Caller> {
  const byClient = rateLimits[operation.limit].by === "client";
  if (byClient) await count(ctx, operation, ctx.state.clientAddress, deps);
  if (operation.access.kind === "public") return { principal: null, standing: null };

  const caller = await authenticate(ctx, deps.gatekeeper);
  if (caller === null) {
    throw new Unauthenticated(
      "Send an access token in the header Authorization (Bearer …) or an API key in the header X-Service-Key. Where one was sent, it is unknown, expired or revoked: refresh the session, log in again or use another key.",
    );
  }
  if (!byClient) await count(ctx, operation, caller.principal.id, deps);
  switch (operation.access.kind) {
    case "authenticated":
      // A key speaks for its organization, so its scopes and its organization's status count here too.
      if (caller.standing !== null) {
        const isRead = operation.method === "GET";
        const permission = isRead ? "organization:read" : "organization:write";
        authorise(caller.standing, caller.principal, permission, !isRead);
      }
      return caller;
    case "organization": {
      const standing = await standingIn(
        parameter(ctx, "organizationId") as Id<"organization">,
        caller,
        deps,
      );
      authorise(
        standing,
        caller.principal,
        operation.access.permission,
        operation.method !== "GET",
      );
      return { principal: caller.principal, standing };
    }
    case "platform":
      if (!platformMay(caller.principal, operation.access.permission)) {
        throw new Forbidden("Only the platform's admins and keys with scope platform may do this.");
      }
      return caller;
  }
}

async function count(ctx: Exchange, operation: Operation, key: string, deps: MountDependencies) {
  const state = await deps.rateLimiter.count(operation.limit, key);
  if (state !== null) ctx.set(rateLimitHeaders(state));
}

async function authenticate(
  ctx: Exchange,
  gatekeeper: Gatekeeper,
): Promise<{ principal: Principal; standing: Standing | null } | null> {
  const key = ctx.get("X-Service-Key");
  const authorization = ctx.get("Authorization");
  if (key !== "" && authorization !== "") {
    throw new Unauthenticated(
      "Send one credential: either the header Authorization or X-Service-Key.",
    );
  }
  if (key !== "") return gatekeeper.apiKey(key);
  const bearer = /^Bearer +([^ ]+)$/i.exec(authorization);
  if (bearer?.[1] === undefined) return null;
  const principal = await gatekeeper.session(bearer[1]);
  return principal === null ? null : { principal, standing: null };
}

/** The principal's standing, or the same 404 for another's organization as for one that is not there. */
async function standingIn(
  organizationId: Id<"organization">,
  caller: { principal: Principal; standing: Standing | null },
  deps: MountDependencies,
): Promise<Standing> {
  const { principal, standing: home } = caller;
  const standing =
    principal.type === "api_key"
      ? home
      : await deps.gatekeeper.membership(principal.id, organizationId);
  if (standing === null || standing.organizationId !== organizationId) throw notFound();
  return standing;
}

function authorise(
  standing: Standing,
  principal: Principal,
  permission: Permission,
  isWrite: boolean,
): void {
  const may =
    principal.type === "api_key"
      ? scopesMay(principal.scopes, permission)
      : standing.role !== null && roleMay(standing.role, permission);
  if (!may) {
    throw new Forbidden(
      `This needs the permission ${permission}; docs/permissions.md lists the roles and scopes that have it.`,
    );
  }
  if (isWrite && standing.organizationStatus === "suspended") {
    throw new OrganizationSuspended(
      "The platform has suspended this organization: it can be read, not changed. Ask the operator.",
    );
  }
}

function platformMay(principal: Principal, permission: Permission): boolean {
  return principal.type === "api_key"
    ? scopesMay(principal.scopes, permission)
    : principal.platformRole === "admin";
}

// --- parse --------------------------------------------------------------------------------------------------------

/** The parameters that are no id of a kind. */
const wordPatterns: Partial<Record<keyof typeof pathParameters, RegExp>> = {
  checkoutId: /^chk_[0-9a-z]{26,64}$/,
  queue: /^[\w-]{1,64}$/,
};

function parameter(ctx: Exchange, name: keyof typeof pathParameters): string {
  const value = ctx.params?.[name] ?? "";
  const kind = pathParameters[name];
  const pattern = kind === null ? wordPatterns[name] : idPattern(kind);
  const fits = pattern?.test(value) === true;
  if (!fits) throw notFound();
  return value;
}

async function parse(ctx: Exchange, operation: Operation, caller: Caller): Promise<AnyCall> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(
    (match) => match[1] as keyof typeof pathParameters,
  );
  const params = Object.fromEntries(names.map((name) => [name, parameter(ctx, name)]));
  const query = parseQuery(operation.query, new URLSearchParams(ctx.querystring));
  const body = await bodyOf(ctx, operation);
  const actor: Actor = caller.principal ?? systemActor("public");
  return {
    params,
    query,
    body,
    actor: caller.principal,
    organizationId: caller.standing?.organizationId ?? null,
    standing: caller.standing,
    context: { actor, requestId: ctx.state.requestId, ip: ctx.state.clientAddress },
    expect: expectation(ctx.get("If-Match"), operation),
  };
}

/** What an operation without a record for its body lets through: nothing, or an object without fields. */
const emptyBody = z.strictObject({});

async function bodyOf(ctx: Exchange, operation: Operation): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": encoding } = ctx.req.headers;
  const hasBody = length === undefined ? encoding !== undefined : length !== "0";
  if (!hasBody) {
    if (operation.body === null) return undefined;
    throw new InvalidRequest("This operation needs a JSON body.");
  }
  if (operation.body === null && operation.method !== "POST") {
    throw new InvalidRequest("This operation takes no body: send the request without one.");
  }
  if (ctx.is("application/json") === false) {
    throw new UnsupportedMediaType("Send JSON, with the header Content-Type: application/json.");
  }
  const body = parseBody(operation.body ?? emptyBody, await readJson(ctx));
  return operation.body === null ? undefined : body;
}

// --- entity tags --------------------------------------------------------------------------------------------------

/** The tag of a representation: equal bodies have equal tags. */
function entityTag(body: string): string {
  return `"${digest(body).slice(0, 32)}"`;
}

function tagsOf(header: string): readonly string[] {
  return header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
}

function expectation(ifMatch: string, operation: Operation): (current: unknown) => void {
  if (!operation.conditional) {
    return () => {
      throw new Defect(`${operation.id} honours If-Match and does not say so`);
    };
  }
  if (ifMatch === "" || ifMatch === "*") return () => undefined;
  const tags = tagsOf(ifMatch);
  return (current) => {
    if (tags.includes(entityTag(JSON.stringify(serialize(operation, current).body)))) return;
    throw new PreconditionFailed(
      "Somebody changed the object since it was read. Read it again, then repeat the change with the new ETag.",
    );
  };
}

// --- handle, check, send ------------------------------------------------------------------------------------------

async function answer<Service>(
  ctx: Exchange,
  operation: Operation<Service>,
  service: Service,
  call: AnyCall,
  deps: MountDependencies,
): Promise<void> {
  const present = (result: unknown): KeptAnswer => ({
    status: operation.status,
    body: operation.record === null ? "" : JSON.stringify(checked(operation, result, deps)),
  });
  if (!operation.idempotent) {
    send(ctx, operation, rendered(operation, await operation.handle(service, call), present));
    return;
  }
  let isFound = false as boolean;
  const principal =
    call.actor === null ? `public:${Object.values(call.params).join(":")}` : call.actor.id;
  const { answer: kept, isReplayed } = await deps.idempotency.run(
    {
      key: idempotencyKey(ctx),
      scope: `${principal}\n${operation.id}`,
      fingerprint: digest(canonicalJson([ctx.path, call.query, call.body ?? null])),
      isSecret: operation.secretAnswer,
    },
    call.context,
    async (context) => {
      const result = await operation.handle(service, { ...call, context });
      isFound = operation.isReplayed(result);
      return result;
    },
    present,
  );
  if (isReplayed || isFound) ctx.set("Idempotent-Replayed", "true");
  send(ctx, operation, kept);
}

interface Rendered extends KeptAnswer {
  /** The entity tag, once somebody needed it. */
  tag?: string;
}

const renderings = new WeakMap<Operation, WeakMap<object, Rendered>>();

/**
 * A result as it is sent. A service that gives the same object again, because nothing about it has changed, is spared
 * the checking and the writing: polled checkouts live on it.
 */
function rendered(
  operation: Operation,
  result: unknown,
  present: (result: unknown) => KeptAnswer,
): Rendered {
  if (typeof result !== "object" || result === null) return present(result);
  let known = renderings.get(operation);
  if (known === undefined) {
    known = new WeakMap();
    renderings.set(operation, known);
  }
  let answer = known.get(result);
  if (answer === undefined) {
    answer = { ...present(result) };
    known.set(result, answer);
  }
  return answer;
}

function idempotencyKey(ctx: Exchange): string | undefined {
  const given = ctx.req.headersDistinct["idempotency-key"] ?? [];
  if (given.length > 1) throw invalidField("Idempotency-Key", "repeated", "must be given once");
  return given[0];
}

function serialize(operation: Operation, result: unknown): { body: unknown; fault: string | null } {
  const presented = operation.present(result);
  if (operation.record === null) return { body: null, fault: null };
  const parsed = operation.record.safeParse(presented);
  if (!parsed.success) return { body: presented, fault: parsed.error.message };
  const dropped = fieldCount(presented) - fieldCount(parsed.data);
  const fault = dropped === 0 ? null : `${String(dropped)} fields are not in the record`;
  return { body: parsed.data, fault };
}

function checked(operation: Operation, result: unknown, deps: MountDependencies): unknown {
  const { body, fault } = serialize(operation, result);
  if (fault === null) return body;
  if (deps.strictAnswers) throw new Defect(`${operation.id} answers outside its record: ${fault}`);
  deps.logger.error({ operation: operation.id, fault }, "an answer does not fit its record");
  return body;
}

function fieldCount(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + fieldCount(item), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + fieldCount(item), 0);
}

function send(ctx: Exchange, operation: Operation, kept: Rendered): void {
  if (operation.record === null) {
    ctx.status = kept.status;
    ctx.body = null;
    ctx.status = kept.status;
    return;
  }
  const isSingle = operation.method !== "POST" && !operation.query["cursor"];
  if (isSingle) {
    const tag = (kept.tag ??= entityTag(kept.body));
    ctx.set("ETag", tag);
    const known = ctx.get("If-None-Match");
    if (
      operation.method === "GET" &&
      known !== "" &&
      (known === "*" || tagsOf(known).includes(tag))
    ) {
      ctx.status = 304;
      return;
    }
  }
  ctx.status = kept.status;
  ctx.type = "application/json";
  ctx.body = kept.body;
}
