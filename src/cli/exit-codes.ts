/** What the program ends with; `till help exit-codes` prints them. */
export const exitCodes = {
  ok: { code: 0, means: "done; an empty list too" },
  failed: { code: 1, means: "failed, or refused by a rule" },
  usage: { code: 2, means: "the command or what it was given is wrong" },
  declined: { code: 3, means: "a question was answered with no, or not in time" },
  notAllowed: { code: 4, means: "not allowed" },
  notFound: { code: 5, means: "not found" },
  conflict: { code: 6, means: "in conflict with what is there" },
  unhealthy: { code: 7, means: "something that was looked at is not healthy" },
  busy: { code: 75, means: "the store is busy or cannot be reached; try again" },
  settings: { code: 78, means: "settings are wrong" },
  interrupted: { code: 130, means: "interrupted with Ctrl-C" },
} as const;

export type Outcome = keyof typeof exitCodes;

/** Problems that the settings cause, whatever status a client would be answered with. */
const settingsProblems: readonly string[] = ["secret_unusable", "wrong_secret"];

/** How a command that ended with a problem came out. */
export function outcomeOf(problem: { readonly code: string; readonly status: number }): Outcome {
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
