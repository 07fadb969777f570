/** The result of one check of `till doctor`. */
export interface Finding {
  /** The subject, such as `secret` or `provider tron`. */
  readonly check: string;
  /** `skipped`: it could not be checked. Only a `problem` makes the command fail. */
  readonly status: "ok" | "fixed" | "skipped" | "warning" | "problem";
  readonly message: string;
  /** The remedy in one line; null if none is needed. */
  readonly remedy: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message, remedy: null };
}

export function skipped(check: string, message: string, remedy: string | null = null): Finding {
  return { check, status: "skipped", message, remedy };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, status: "warning", message, remedy };
}

export function problem(check: string, message: string, remedy: string): Finding {
  return { check, status: "problem", message, remedy };
}

/** Returns the reason of a failure, for a message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError" || error.name === "AbortError") return "no answer in time";
  const { cause } = error;
  if (cause instanceof Error) return reasonOf(cause);
  const code = "code" in error ? String(error.code) : "";
  return /^E[A-Z]/.test(code) && !error.message.includes(code)
    ? `${error.message} (${code})`
    : error.message;
}
