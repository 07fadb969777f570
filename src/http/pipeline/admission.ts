import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import {
  keyRefusal,
  permissions,
  roleMay,
  scopesMay,
  type Gatekeeper,
  type MembershipAccess,
  type Permission,
  type Principal,
} from "../declare/permissions.ts";
import type { Caller, Exchange, MountDependencies } from "./exchange.ts";
import type { Operation } from "../declare/operation.ts";
import { pathParameter } from "./parse-call.ts";
import {
  Forbidden,
  OrganizationSuspended,
  suspendedAdvice,
  Unauthenticated,
} from "../declare/problems.ts";
import { rateLimitHeaders, rateLimits } from "./rate-limits.ts";

/**
 * Admits the caller or throws: counts the request against the limit of its client or checkout, authenticates, counts it
 * against the limits of the credential and the organization, and authorizes.
 */
export async function admit(
  ctx: Exchange,
  operation: Operation,
  deps: MountDependencies,
): Promise<Caller> {
  const { by } = rateLimits[operation.limit];
  if (by === "client") await count(ctx, operation, ctx.state.clientAddress, deps);
  if (by === "checkout") await count(ctx, operation, pathParameter(ctx, "checkoutId"), deps);
  if (operation.access.kind === "public") return { principal: null, membership: null };

  const caller = await authenticate(ctx, deps.gatekeeper);
  if (caller === null) throw new Unauthenticated(unauthenticatedAdvice(ctx));
  if (by === "credential") await count(ctx, operation, caller.principal.id, deps);
  if (caller.membership !== null) await countOrganization(caller.membership, deps);
  switch (operation.access.kind) {
    case "authenticated":
      // An API key acts for its organization, so its scopes and the organization's status count here too.
      if (caller.membership !== null && operation.access.permission !== null) {
        const { permission } = operation.access;
        authorize(caller.membership, caller.principal, permission, operation.method !== "GET");
      }
      return caller;
    case "organization": {
      const membership = await membershipIn(
        pathParameter(ctx, "organizationId") as Id<"organization">,
        caller,
        deps,
      );
      authorize(
        membership,
        caller.principal,
        operation.access.permission,
        operation.method !== "GET",
      );
      return { principal: caller.principal, membership };
    }
    case "platform":
      if (!platformMay(caller.principal, operation.access.permission)) {
        throw new Forbidden(
          "Only platform admins and API keys with the scope platform may do this.",
        );
      }
      return caller;
  }
}

async function count(ctx: Exchange, operation: Operation, key: string, deps: MountDependencies) {
  const state = await deps.rateLimiter.count(operation.limit, key);
  if (state !== null) ctx.set(rateLimitHeaders(state));
}

/** Counts a request against all of its organization. The headers tell the limit of the credential, which is smaller. */
async function countOrganization(
  { organizationId, isApproved }: MembershipAccess,
  { rateLimiter }: MountDependencies,
): Promise<void> {
  await rateLimiter.count(isApproved ? "organization" : "newOrganization", organizationId);
}

async function authenticate(
  ctx: Exchange,
  gatekeeper: Gatekeeper,
): Promise<{ principal: Principal; membership: MembershipAccess | null } | null> {
  const key = ctx.get("X-Service-Key");
  const authorization = ctx.get("Authorization");
  if (key !== "" && authorization !== "") {
    throw new Unauthenticated(
      "Send only one credential, in either the Authorization or the X-Service-Key header.",
    );
  }
  if (key !== "") return gatekeeper.apiKey(key);
  const bearer = /^Bearer +([^ ]+)$/i.exec(authorization);
  if (bearer?.[1] === undefined) return null;
  const principal = await gatekeeper.session(bearer[1]);
  return principal === null ? null : { principal, membership: null };
}

/** Says what is wrong with the credential of a request, as far as its headers show it. Repeats nothing of them. */
function unauthenticatedAdvice(ctx: Exchange): string {
  const key = ctx.get("X-Service-Key").trim();
  const authorization = ctx.get("Authorization").trim();
  if (key === "" && /^(Bearer)?$/i.test(authorization)) {
    return "The request has no credential, or an empty one. Send an API key in the X-Service-Key header, or an access token in the Authorization header (Bearer …).";
  }
  if (/^Bearer +till_(live|test)_/i.test(authorization)) {
    return "The Authorization header has an API key, and takes access tokens only. Send the key in the X-Service-Key header.";
  }
  return "Send an access token in the Authorization header (Bearer …) or an API key in the X-Service-Key header. The one that you sent is unknown, expired or revoked: refresh the session, log in again or use another key.";
}

/** Returns the principal's membership. Another tenant's organization gets the same 404 as one that does not exist. */
async function membershipIn(
  organizationId: Id<"organization">,
  caller: { principal: Principal; membership: MembershipAccess | null },
  deps: MountDependencies,
): Promise<MembershipAccess> {
  const { principal, membership: home } = caller;
  const membership =
    principal.type === "api_key"
      ? home
      : await deps.gatekeeper.membership(principal.id, organizationId);
  if (membership === null || membership.organizationId !== organizationId) throw notFound();
  if (principal.type === "user") await countOrganization(membership, deps);
  return membership;
}

function authorize(
  membership: MembershipAccess,
  principal: Principal,
  permission: Permission,
  isWrite: boolean,
): void {
  const may =
    principal.type === "api_key"
      ? scopesMay(principal.scopes, permission)
      : membership.role !== null && roleMay(membership.role, permission);
  if (!may) {
    throw new Forbidden(`${missing(membership, principal, permission)} See /docs/permissions.`);
  }
  if (isWrite && membership.organizationStatus === "suspended") {
    throw new OrganizationSuspended(suspendedAdvice);
  }
}

/** Names the scopes or the role that would do, and those that the caller has. */
function missing(
  membership: MembershipAccess,
  principal: Principal,
  permission: Permission,
): string {
  const rule = permissions[permission];
  return principal.type === "api_key"
    ? keyRefusal(rule, principal.scopes)
    : `This needs at least the role ${String(rule.role)} in the organization; your role is ${String(membership.role)}.`;
}

function platformMay(principal: Principal, permission: Permission): boolean {
  return principal.type === "api_key"
    ? scopesMay(principal.scopes, permission)
    : principal.platformRole === "admin";
}
