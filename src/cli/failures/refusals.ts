import { defineProblem } from "../../kernel/errors.ts";

/** The command, a flag or a value is wrong. */
export const UsageError = defineProblem({
  code: "usage",
  status: 400,
  title: "Invalid command",
});

/** A printed check result is not healthy. */
export const Unhealthy = defineProblem({
  code: "unhealthy",
  status: 503,
  title: "A check failed",
});

/** The user declined a confirmation. */
export class Declined extends Error {
  override readonly name = "Declined";
}

/** Returns the error for flags that are missing without a terminal to prompt on. */
export function missing(...flags: readonly string[]): Error {
  const named = flags.join(", ");
  return new UsageError(
    `Give ${named}. Without a terminal, the program cannot ask. Nothing was changed.`,
  );
}

/**
 * Refuses `-` for a file or folder that is read or checked more than once, which a stream cannot be.
 * @param subject the thing that lies there, such as `A backup`
 */
export function refuseStream(subject: string, path: string | undefined): void {
  if (path !== "-") return;
  throw new UsageError(
    `${subject} cannot be a stream, because it is read several times: give a name instead of -, or ./- for a file of this name.`,
  );
}
