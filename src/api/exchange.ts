import type { Context } from "koa";
import type { Logger } from "../platform/logger/index.ts";
import type { Gatekeeper, Principal, Standing } from "./access.ts";
import type { Idempotency } from "./idempotency.ts";
import type { RateLimiter } from "./rate-limits.ts";

export interface MountDependencies {
  readonly gatekeeper: Gatekeeper;
  readonly idempotency: Idempotency;
  readonly rateLimiter: RateLimiter;
  readonly logger: Logger;
  /** Tests: an answer that does not fit its record throws. Else it is logged, never a 500 after a commit. */
  readonly strictAnswers: boolean;
}

/** The content encodings on offer, the one that compresses best first. */
export const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

/** Compressed bytes of one body. */
export type CompressedForms = Partial<Record<Encoding, Buffer>>;

/** What the middleware in server.ts has learned about a request. */
export interface RequestState {
  requestId: string;
  clientAddress: string;
  /** The answer carries a secret, so it is not compressed. */
  isSecret?: true;
  /** Where the compressed forms of the answer's body are kept for the next request; absent: nowhere. */
  forms?: CompressedForms;
}

/** A request for an operation and its answer. */
export type Exchange = Context & { state: RequestState; params?: Record<string, string> };

/** Who calls, as authorization found it; nobody on public operations. */
export interface Caller {
  readonly principal: Principal | null;
  readonly standing: Standing | null;
}
