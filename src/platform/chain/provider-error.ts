/**
 * Why a provider gave no usable answer:
 * - `refused`: it answered and will not do it (a bad key, a method or tag that it lacks); asking again is no use.
 * - `rate_limited`: asked too often; good again later.
 * - `unreachable`: no answer, too late, or its own failure.
 * - `malformed`: an answer that is not what was asked for.
 * - `range_too_large`: ask for fewer blocks.
 */
export type ProviderFault =
  "refused" | "rate_limited" | "unreachable" | "malformed" | "range_too_large";

export interface ProviderErrorDetails {
  readonly kind: ProviderFault;
  /** The provider's origin. */
  readonly provider: string;
  /** How long the provider asked to be left alone; null where it did not say. */
  readonly retryAfterMs?: number | null;
}

/** Its message names the provider by origin and holds neither a URL's path nor a header. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderFault;
  readonly provider: string;
  readonly retryAfterMs: number | null;

  constructor(message: string, details: ProviderErrorDetails) {
    super(`${details.provider}: ${message}`);
    this.kind = details.kind;
    this.provider = details.provider;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}
