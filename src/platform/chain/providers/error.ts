/**
 * The reason why a provider gave no usable response:
 * - `refused`: it rejected the request (invalid key, unsupported method or tag); a retry will not help.
 * - `rate_limited`: it received too many requests; a later retry will help.
 * - `unreachable`: no response, a response after the timeout, or a failure of the provider.
 * - `malformed`: the response does not fit the request.
 * - `range_too_large`: the request must be repeated for fewer blocks.
 */
export type ProviderFault =
  | "refused"
  | "rate_limited"
  | "unreachable"
  | "malformed"
  | "range_too_large";

/**
 * The limit of the provider to which a failure points:
 * - `calls`: the request has too many calls
 * - `blocks`: eth_getLogs is for too many blocks, or finds too much in them
 * - `filter`: eth_getLogs names too many recipients or contracts
 * - `unsaid`: nothing; a smaller request may work
 * - `wait`: the provider needs time; nothing smaller is tried before it had that
 * - `none`: a smaller request would fail too
 */
export type LimitHint = "calls" | "blocks" | "filter" | "unsaid" | "wait" | "none";

interface ProviderErrorDetails {
  readonly kind: ProviderFault;
  /** The provider's origin. */
  readonly provider: string;
  /** The waiting time that the provider asked for, in milliseconds; null if it did not say. */
  readonly retryAfterMs?: number | null;
  /** By default `none`. */
  readonly hint?: LimitHint;
  /** Whether the provider was not asked, because it would refuse; false by default. */
  readonly isUnasked?: boolean;
}

/**
 * A provider's failure. The message names the provider by its origin and contains neither the path of a URL nor a
 * header.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderFault;
  readonly provider: string;
  readonly retryAfterMs: number | null;
  readonly hint: LimitHint;
  readonly isUnasked: boolean;

  constructor(message: string, details: ProviderErrorDetails) {
    super(`${details.provider}: ${message}`);
    this.kind = details.kind;
    this.provider = details.provider;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.hint = details.hint ?? "none";
    this.isUnasked = details.isUnasked ?? false;
  }
}
