import type { z } from "zod";

/** Names of JSON types as error messages use them. */
const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Units of length limits. */
const counted: Readonly<Record<string, string>> = { string: " characters", array: " items" };

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** Error messages for faults without a message in the record's schema. Undefined keeps zod's own message. */
export const fieldWords: z.core.$ZodErrorMap = (issue: RawIssue) => {
  switch (issue.code) {
    case "invalid_type": {
      const kind = kinds[issue.expected];
      return kind === undefined ? undefined : `must be ${kind}`;
    }
    case "too_small": {
      const what = counted[issue.origin] ?? "";
      if (what !== "" && issue.minimum === 1) return "must not be empty";
      return what === ""
        ? `must be ${issue.inclusive === false ? "more than" : "at least"} ${String(issue.minimum)}`
        : `must have at least ${String(issue.minimum)}${what}`;
    }
    case "too_big": {
      const what = counted[issue.origin] ?? "";
      return what === ""
        ? `must be ${issue.inclusive === false ? "less than" : "at most"} ${String(issue.maximum)}`
        : `must have at most ${String(issue.maximum)}${what}`;
    }
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "invalid_format":
      return issue.format === "datetime"
        ? 'must be a time in UTC such as "2026-01-31T12:00:00.000Z"'
        : undefined;
    default:
      return undefined;
  }
};
