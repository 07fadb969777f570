import type { Context } from "koa";
import type { Id } from "../../kernel/id.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { Gatekeeper, Principal, MembershipAccess } from "../declare/permissions.ts";
import type { AnyCall } from "../declare/operation.ts";
import type { Idempotency } from "./idempotency.ts";
import type { RateLimiter } from "./rate-limits.ts";

export interface MountDependencies {
  readonly gatekeeper: Gatekeeper;
  readonly idempotency: Idempotency;
  readonly rateLimiter: RateLimiter;
  readonly logger: Logger;
  /**
   * Counts what a request of an organization without approval writes, and throws `allowance_used` if that is too much;
   * null if organizations need no approval. `isCreation` is false for requests that must stay possible longest, such as
   * those of the approval itself.
   */
  readonly spend:
    | ((organizationId: Id<"organization">, isCreation: boolean) => WriteContext["spend"])
    | null;
  /**
   * In tests, a response that does not match its record throws. In production it is logged, never a 500 after a commit.
   */
  readonly strictResponses: boolean;
}

/** Supported content encodings, the most compact first. */
export const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

/** Compressed bytes of one body, by encoding. */
export type CompressedForms = Partial<Record<Encoding, Buffer>>;

/** Facts about a request that the middleware in server.ts has established. */
export interface RequestState {
  requestId: string;
  clientAddress: string;
  /** The call of an operation, once the caller is admitted, without the body. */
  call: AnyCall;
  /** The response contains a secret and must not be compressed. */
  isSecret?: true;
  /** Cache for the compressed forms of the body, reused by later requests; absent if the body is not cached. */
  forms?: CompressedForms;
}

/** The Koa context of a request for an operation. */
export type Exchange = Context & { state: RequestState; params?: Record<string, string> };

/** The authenticated caller; both fields are null on public operations. */
export interface Caller {
  readonly principal: Principal | null;
  readonly membership: MembershipAccess | null;
}
