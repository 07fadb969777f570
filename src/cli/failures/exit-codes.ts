/** Exit codes of the program; `till help exit-codes` prints them. */
export const exitCodes = {
  ok: { code: 0, means: "success, even if a list is empty" },
  failed: { code: 1, means: "failed, or refused by a business rule" },
  usage: { code: 2, means: "wrong command, flag or value" },
  declined: { code: 3, means: "a confirmation was declined" },
  notAllowed: { code: 4, means: "not allowed" },
  notFound: { code: 5, means: "not found" },
  conflict: { code: 6, means: "conflicts with the current state" },
  unhealthy: { code: 7, means: "a health check failed" },
  busy: { code: 75, means: "the store is busy or cannot be reached; try again" },
  settings: { code: 78, means: "invalid settings" },
  interrupted: { code: 130, means: "interrupted with Ctrl-C" },
} as const;

export type ExitReason = keyof typeof exitCodes;

/** Problems that settings cause, whatever their HTTP status. */
const settingsProblems: readonly string[] = ["secret_unusable", "wrong_secret", "networks_unknown"];

/** Maps a problem to the exit code's name. */
export function exitReasonOf(problem: {
  readonly code: string;
  readonly status: number;
}): ExitReason {
  if (settingsProblems.includes(problem.code)) return "settings";
  if (problem.code === "unhealthy") return "unhealthy";
  switch (problem.status) {
    case 400:
      return "usage";
    case 401:
    case 403:
      return "notAllowed";
    case 404:
      return "notFound";
    case 409:
    case 412:
      return "conflict";
    case 429:
    case 503:
      return "busy";
    default:
      return "failed";
  }
}
